/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * debug rsvp; show rsvp messages, with every object that the codec knows (RFC 2205 appendix A; docs/credit.md 1.5, 2.2).
 * Management thread.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "command/command_priv.h"
#include "service/rsvp/service_rsvp.h"

static json_t *address(const struct ip_addr *a)
{
	char text[IP_ADDR_TEXT];

	return json_string(a->family ? ip_addr_format(a, text) : "");
}

static json_t *big(uint64_t v)
{
	return json_integer((json_int_t)v);
}

/* All ones say that a number is not known. */
static json_t *known(uint64_t v, uint64_t unknown)
{
	return v == unknown ? json_null() : big(v);
}

/* --- objects: row i of each sort --- */

static json_t *of_integrity(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{so so si sb}", "key", big(m->integrity.key_id), "sequence", big(m->integrity.sequence),
		"digest_bytes", (int)m->integrity.digest_bytes, "handshake", (int)m->integrity.handshake);
}

static json_t *of_ack(const struct rsvp_message *m, unsigned int i)
{
	return json_pack("{so so ss}", "epoch", big(m->ack[i].epoch), "id", big(m->ack[i].id), "meaning",
		m->ack[i].nack ? "NACK" : "ACK");
}

static json_t *of_id(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{so so sb}", "epoch", big(m->id.epoch), "id", big(m->id.id), "ack_desired",
		(int)m->id.ack_desired);
}

static json_t *of_id_list(const struct rsvp_message *m, unsigned int i)
{
	json_t *ids = json_array();

	for (unsigned int k = 0; k < m->id_list[i].count; k++)
		json_array_append_new(ids, big(be32_get(m->id_list[i].ids[k])));
	return json_pack("{so so}", "epoch", big(m->id_list[i].epoch), "ids", ids);
}

static json_t *of_challenge(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{so so}", "key", big(m->challenge.key_id), "cookie",
		json_sprintf("0x%016llx", (unsigned long long)m->challenge.cookie));
}

static json_t *of_session(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{so si si}", "to", address(&m->session.dst), "protocol", (int)m->session.protocol, "port",
		(int)m->session.port);
}

static json_t *of_hop(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{so so}", "address", address(&m->hop.addr), "lih", json_sprintf("0x%x", m->hop.lih));
}

static json_t *of_time(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{so}", "refresh_ms", big(m->refresh_ms));
}

static json_t *of_error(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{so si so}", "node", address(&m->error.node), "code", (int)m->error.code, "value",
		json_sprintf("0x%04x", m->error.value));
}

static json_t *of_confirm(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{so}", "receiver", address(&m->confirm));
}

static json_t *of_credit(const struct rsvp_message *m, unsigned int i)
{
	static const struct {
		uint8_t flag;
		const char *word;
	} words[] = {{RSVP_CREDIT_OFFER, "offer"}, {RSVP_CREDIT_COMMIT, "commit"}, {RSVP_CREDIT_UPDATE, "update"},
		{RSVP_CREDIT_END, "end"}};
	const struct rsvp_credit *c = &m->credit[i];
	json_t *o, *flags = json_array();

	if (c->form != RSVP_CREDIT_TOTALS && c->form != RSVP_CREDIT_OF_CONTEXT)
		return json_pack("{so}", "amount", big(c->amount));
	for (unsigned int k = 0; k < ARRAY_LEN(words); k++)
		if (c->flags & words[k].flag)
			json_array_append_new(flags, json_string(words[k].word));
	o = json_pack("{so si si so so so so so so}", "flags", flags, "class", (int)c->traffic_class, "unit",
		(int)c->unit, "epoch", big(c->epoch), "fccl", big(c->fccl), "abr", big(c->abr), "buffer",
		big(c->buffer), "heartbeat_us", big(c->heartbeat_us), "sequence", big(c->sequence));
	if (c->form == RSVP_CREDIT_OF_CONTEXT) {
		json_object_set_new(o, "lih", json_sprintf("0x%x", c->lih));
		json_object_set_new(o, "echo", big(c->echo));
	}
	return o;
}

static json_t *of_cbfc_hop(const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_cbfc_hop *h = &m->cbfc_hop[i];
	json_t *o, *flags = json_array();

	if (h->flags & RSVP_HOP_IDLE)
		json_array_append_new(flags, json_string("idle"));
	if (h->flags & RSVP_HOP_ASK)
		json_array_append_new(flags, json_string("ask"));
	if (h->flags & RSVP_HOP_FINAL)
		json_array_append_new(flags, json_string("final"));
	o = json_pack("{so si si so so so so}", "flags", flags, "class", (int)h->traffic_class, "unit", (int)h->unit,
		"epoch", big(h->epoch), "fctbs", big(h->fctbs), "sequence", big(h->sequence), "heartbeat_us",
		big(h->heartbeat_us));
	if (h->of_context) {
		json_object_set_new(o, "lih", json_sprintf("0x%x", h->lih));
		json_object_set_new(o, "want", big(h->want));
		json_object_set_new(o, "fence", json_sprintf("0x%llx", (unsigned long long)h->fence));
	}
	return o;
}

static json_t *of_cbfc_path(const struct rsvp_message *m, unsigned int i)
{
	json_t *devices = json_array();

	(void)i;
	for (unsigned int k = 0; k < m->path.hops; k++) {
		struct ip_addr a = ip_addr_from6(&m->path.addrs[k]);

		json_array_append_new(devices, address(&a));
	}
	return json_pack("{so si si so}", "nonce", big(m->path.nonce), "path", (int)m->path.path, "hops_max",
		(int)m->path.hops_max, "devices", devices);
}

static json_t *of_offer(const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_cbfc_offer *x = &m->offer[i];

	return json_pack("{si so so so si sb}", "path", (int)x->path, "buffer", known(x->buffer, UINT64_MAX),
		"rate_bps", known(x->rate, UINT64_MAX), "delay_us", known(x->delay_us, UINT32_MAX), "hops",
		(int)x->hops, "selected", (int)(x->flags & RSVP_OFFER_SELECTED));
}

static json_t *of_passed(const struct rsvp_message *m, unsigned int i)
{
	const struct rsvp_obj *h = (const struct rsvp_obj *)m->passed[i].at;

	return json_pack("{si si si}", "class", (int)h->class_num, "c_type", (int)h->c_type, "bytes",
		(int)m->passed[i].bytes);
}

static json_t *sender(const struct rsvp_sender *s)
{
	return json_pack("{so ss so}", "source", address(&s->src), "kind", s->labelled ? "label" : "port", "number",
		s->labelled ? json_sprintf("0x%05x", s->port) : big(s->port));
}

static json_t *of_template(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return sender(&m->sender);
}

/* As received, a number may be anything. */
static json_t *real(float f)
{
	return isfinite(f) ? json_real((double)f) : json_string("not finite");
}

static json_t *tspec(const struct rsvp_tspec *t)
{
	return json_pack("{so so so so so}", "rate", real(t->rate), "depth", real(t->depth), "peak", real(t->peak),
		"least", big(t->least), "most", big(t->most));
}

static json_t *of_tspec(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return tspec(&m->tspec);
}

static json_t *of_style(const struct rsvp_message *m, unsigned int i)
{
	(void)i;
	return json_pack("{ss}", "style", m->style == RSVP_STYLE_WF ? "WF" : m->style == RSVP_STYLE_FF ? "FF" : "SE");
}

static const struct {
	uint8_t object;
	const char *name;
	json_t *(*of)(const struct rsvp_message *m, unsigned int i);
} shown[] = {
	{RSVP_O_INTEGRITY, "INTEGRITY", of_integrity},
	{RSVP_O_ACK, "MESSAGE_ID_ACK", of_ack},
	{RSVP_O_ID, "MESSAGE_ID", of_id},
	{RSVP_O_ID_LIST, "MESSAGE_ID_LIST", of_id_list},
	{RSVP_O_CHALLENGE, "CHALLENGE", of_challenge},
	{RSVP_O_SESSION, "SESSION", of_session},
	{RSVP_O_HOP, "RSVP_HOP", of_hop},
	{RSVP_O_TIME, "TIME_VALUES", of_time},
	{RSVP_O_ERROR, "ERROR_SPEC", of_error},
	{RSVP_O_CONFIRM, "RESV_CONFIRM", of_confirm},
	{RSVP_O_CREDIT, "CREDIT", of_credit},
	{RSVP_O_CBFC_HOP, "CBFC_HOP", of_cbfc_hop},
	{RSVP_O_CBFC_PATH, "CBFC_PATH", of_cbfc_path},
	{RSVP_O_CBFC_OFFER, "CBFC_OFFER", of_offer},
	{RSVP_O_POLICY, "passed on", of_passed},
	{RSVP_O_TEMPLATE, "SENDER_TEMPLATE", of_template},
	{RSVP_O_TSPEC, "SENDER_TSPEC", of_tspec},
	{RSVP_O_STYLE, "STYLE", of_style},
};

static void add_object(json_t *list, const char *name, json_t *what)
{
	json_t *o = json_pack("{ss}", "object", name);

	json_object_update(o, what);
	json_decref(what);
	json_array_append_new(list, o);
}

static json_t *objects_of(const struct rsvp_message *m)
{
	json_t *list = json_array();

	for (unsigned int k = 0; k < ARRAY_LEN(shown); k++)
		for (unsigned int i = 0; i < m->count[shown[k].object]; i++)
			add_object(list, shown[k].name, shown[k].of(m, i));
	for (unsigned int i = 0; i < m->flows; i++) {
		if (m->flow[i].has_spec)
			add_object(list, "FLOWSPEC", tspec(&m->flow[i].spec));
		if (m->flow[i].has_filter)
			add_object(list, "FILTER_SPEC", sender(&m->flow[i].filter));
	}
	return list;
}

/* --- messages --- */

static const char *verdict_of(const struct rsvp_about *a)
{
	switch ((enum rsvp_verdict)a->verdict) {
	case RSVP_VERDICT_SENT:
		return "sent";
	case RSVP_VERDICT_ACCEPTED:
		return "accepted";
	case RSVP_VERDICT_REFUSED:
		return "refused";
	default:
		return "without effect";
	}
}

/* Of a message that cannot be read, the reason says why; its type is shown as a number. */
static json_t *of_record(const struct node *n, const struct rsvp_record *r, struct rsvp_message *m)
{
	const struct rsvp_about *a = &r->about;
	const struct rsvp_hdr *h = (const struct rsvp_hdr *)r->message;
	bool whole = a->bytes <= sizeof(r->message);
	enum rsvp_refusal read = rsvp_read(&n->snapshot->credit.numbers, r->message,
		MIN_OF(a->bytes, sizeof(r->message)), m);
	bool readable = read == RSVP_ACCEPTED || read == RSVP_REFUSED_unknown_class ||
			read == RSVP_REFUSED_unknown_c_type;
	json_t *o = json_pack("{so ss ss so so sb}", "number", big(r->number), "result", verdict_of(a), "why", a->why,
		"peer", address(&a->peer), "port", json_string(a->port < n->n_ports ? n->port[a->port]->name : ""),
		"along", (int)a->along);
	uint64_t now = stat_read(&n->control->now);

	json_object_set_new(o, "since_ms", big(now > a->time_ns ? (now - a->time_ns) / NSEC_PER_MSEC : 0));
	json_object_set_new(o, "message",
		readable		 ? json_string(rsvp_kind_name(m->kind))
		: a->bytes >= sizeof(*h) ? json_sprintf("type %u", h->type)
					 : json_string("?"));
	json_object_set_new(o, "bytes", big(a->bytes));
	json_object_set_new(o, "objects",
		readable ? objects_of(m) : json_string(whole ? "not readable" : "longer than what is recorded"));
	return o;
}

int cmd_show_rsvp_messages(struct command_call *c)
{
	uint32_t skip = 0, last = 0;
	struct rsvp_record *r = malloc(sizeof(*r));
	struct rsvp_message *m = malloc(sizeof(*m));

	c->result = json_array();
	if (!r || !m) {
		free(r);
		free(m);
		return command_fail(c, -ENOMEM, "out of memory");
	}
	if (c->arg[0] && node_rsvp(c->node)->journal) {
		last = __atomic_load_n(&node_rsvp(c->node)->journal->last, __ATOMIC_ACQUIRE);
		skip = last > c->number[0] ? last - (uint32_t)c->number[0] : 0;
	}
	while (rsvp_record_next(c->node, skip, r)) {
		json_array_append_new(c->result, of_record(c->node, r, m));
		skip = r->number;
	}
	free(r);
	free(m);
	return 0;
}

int cmd_debug_rsvp(struct command_call *c)
{
	bool on = c->number[0] == 0;

	if (rsvp_debug(c->node, on) < 0)
		return command_fail(c, -ENOMEM, "out of memory");
	c->result = json_pack("{ss}", "debug rsvp", on ? "on" : "off");
	return 0;
}
