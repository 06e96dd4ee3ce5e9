/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and time to the machines of letter mode of one node, which is headend, transit device and far gateway at once. Each
 * step of the input: a byte that says how (below), a byte of time, the length of a message in two bytes, the message.
 * Instead of a message of the input, one that the node has sent itself can come back, changed at one place. What is reserved
 * is what the pool lacks, at every instant; once the neighbours have gone and every End is answered nothing is left.
 */
#include "rsvp/rsvp_letter.h"
#include "test/fuzz/fuzz.h"

#define KEPT 8
#define EACH 2	      /* messages of a kind that one step sends are kept */
#define ECHO 0x01     /* a message of the node, sent back; the length chooses it, two bytes say what is changed */
#define NEIGHBOR 0x02 /* the neighbour goes (time odd) or comes */
#define CLOSE 0x04    /* or open */
#define COUNT 0x08    /* data moves */
#define FAMILY 0x10   /* the message came with IPv4 */
#define ZONE 0x20     /* from a network of strangers */
#define KNOBS 0x40    /* a reload: refresh, units and rate are those of the time */

#define SESSIONS 8
#define POOL (40ull << 20)
#define ENDINGS 64 /* rounds in which all must be over */

static struct {
	struct letter_node *node;
	struct letter_config config;
	struct letter_session *session;
	uint64_t now, pool, received, freed;
	struct ip_addr neighbor;
	uint8_t kept[KEPT][700];
	uint16_t kept_bytes[KEPT];
	unsigned int sent;
	unsigned int sent_now[RSVP_KIND_COUNT]; /* by this step, of each kind */
	uint8_t how;				/* of the step */
} f;
static struct rsvp_message message;

/*
 * Writing and reading cost more than all else, and timers send the same thing many times: the first of a kind in each step is
 * written and read again, and one more is kept.
 */
static void send_it(void *arg, const struct rsvp_way *way, struct rsvp_message *m)
{
	unsigned int i = f.sent % KEPT, before = f.sent_now[m->kind]++;

	(void)arg;
	f.neighbor = way->along ? f.neighbor : way->to;
	if (before >= EACH)
		return;
	f.sent++;
	f.kept_bytes[i] = (uint16_t)rsvp_write(&rsvp_letter, m, f.kept[i], sizeof(f.kept[i]));
	must(m->kind == RSVP_INIT || f.kept_bytes[i], "a message that cannot be written");
	if (!before && f.kept_bytes[i])
		must(!rsvp_read(&rsvp_letter, f.kept[i], f.kept_bytes[i], &message), "a message that nobody reads");
}

static struct ip_addr own_of(uint8_t family)
{
	struct ip_addr a = {.family = family};

	a.b[0] = family == 4 ? 10 : 0xfd;
	a.b[family == 4 ? 3 : 15] = 7;
	return a;
}

static struct rsvp_way way_to(uint8_t family, uint8_t port)
{
	return (struct rsvp_way){.here = own_of(family), .port = port};
}

/* The last byte of the session's address decides about the role. */
static int route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct letter_route *out)
{
	(void)arg;
	(void)arrival;
	switch (m->session.dst.b[m->session.dst.family == 4 ? 3 : 15] % 4) {
	case 0:
		return -RSVP_REFUSE_ROUTE;
	case 1:
		out->role = RSVP_TRANSIT;
		for (out->branches = 0; out->branches < 2; out->branches++)
			out->way[out->branches] = way_to(m->session.dst.family, (uint8_t)(3 + out->branches));
		return 0;
	case 3:
		out->joined = true;
		out->bytes = 5 << 20;
		out->role = RSVP_FAR;
		return 0;
	default:
		out->role = RSVP_FAR;
		return 0;
	}
}

static struct ip_addr own(void *arg, uint16_t zone, const struct ip_addr *neighbor)
{
	(void)arg;
	(void)zone;
	return own_of(neighbor->family);
}

static bool carried(void *arg, uint16_t zone, const struct rsvp_session *session, const struct rsvp_sender *sender)
{
	(void)arg;
	(void)zone;
	(void)session;
	(void)sender;
	return f.session != NULL;
}

static bool take(void *arg, uint64_t bytes)
{
	(void)arg;
	if (f.pool < bytes)
		return false;
	f.pool -= bytes;
	return true;
}

static void give(void *arg, uint64_t bytes)
{
	(void)arg;
	f.pool += bytes;
}

static void changed(void *arg, const struct letter_session *s, bool on)
{
	struct rsvp_path_view v;

	(void)arg;
	letter_show(s, &v);
	must(!on || v.current, "credit without a next hop");
}

static const struct letter_ops ops = {.send = send_it,
	.route = route,
	.own = own,
	.carried = carried,
	.take = take,
	.give = give,
	.changed = changed};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void open_session(void)
{
	static const struct rsvp_session session = {.dst = {.family = 6, .b = {0xfd, [15] = 9}},
		.protocol = 17,
		.port = 4791};
	static const struct rsvp_sender sender = {.src = {.family = 6, .b = {0xfd, 1}}, .port = 49169};
	static const struct rsvp_tspec tspec = {.depth = 1, .least = 64, .most = 4096};
	const struct rsvp_way way[2] = {way_to(6, 0), way_to(6, 1)};

	f.session = letter_open(f.node, f.now, &session, &sender, &tspec, way, 2);
}

static void check_pool(void)
{
	must(letter_stats_of(f.node)->reserved + f.pool == POOL, "the pool");
}

static void check_sessions(void)
{
	const struct letter_stats *s = letter_stats_of(f.node);
	unsigned int sessions = 0;

	check_pool();
	for (uint32_t i = 0; i < SESSIONS; i++) {
		struct letter_session *x = letter_at(f.node, i);
		struct rsvp_path_view v;

		if (!x)
			continue;
		sessions++;
		letter_show(x, &v);
		must(letter_slot(x) == i, "a slot");
		must(*rsvp_grantor_state_name(v.grantor) != '?' && *rsvp_user_state_name(v.user) != '?', "a state");
		must(!letter_gate(x) || letter_gate(x)->open, "a gate");
	}
	must(sessions == s->sessions, "%u sessions", sessions);
}

static void run_until(uint64_t until)
{
	uint64_t next;

	do {
		letter_poll(f.node, f.now, 16, &next);
		check_pool();
		f.now = next < f.now ? f.now : next < until ? next : until;
	} while (f.now < until);
	check_sessions();
}

static void hand_over(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = fuzz_exact(data, bytes);
	struct ip_addr from = own_of(f.how & FAMILY ? 4 : 6);

	from.b[from.family == 4 ? 3 : 15] = 2;
	if (!rsvp_read(&rsvp_letter, copy, bytes, &message)) {
		message.zone = f.how & ZONE ? 1 : 0;
		message.send_ttl = 64;
		letter_receive(f.node, f.now, &message, &from, 1);
	}
	free(copy);
	check_sessions();
}

static void echo(struct fuzz_input *in, uint16_t which)
{
	uint8_t changed_message[700];
	uint16_t bytes = f.kept_bytes[which % KEPT], at = (uint16_t)(fuzz_byte(in) << 1);

	if (bytes < 8)
		return;
	memcpy(changed_message, f.kept[which % KEPT], bytes);
	if (at >= 8 && at < bytes)
		changed_message[at] ^= fuzz_byte(in);
	/* what went down comes from above, and the other way round */
	if (which & 0x100)
		changed_message[1] = (uint8_t)(28 + which / 0x200 % 4);
	rsvp_checksum(changed_message, bytes);
	hand_over(changed_message, bytes);
}

/* Of every session: more has arrived and gone on; of the own one: more was sent. */
static void move_data(uint8_t by)
{
	struct credit_letter_gate *gate = f.session ? letter_gate(f.session) : NULL;

	f.received += (uint64_t)by << 14;
	f.freed = by & 1 ? f.received : f.freed + ((uint64_t)by << 13);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		struct letter_session *s = letter_at(f.node, i);
		struct letter_grant *g = NULL;
		struct rsvp_path_view v;

		if (s) {
			letter_show(s, &v);
			g = letter_grant_of(s, &v.phop);
		}
		if (g)
			letter_freed(f.node, f.now, g, f.received, f.freed);
	}
	if (gate && credit_letter_passes(gate, (uint32_t)by << 14)) {
		credit_letter_taken(gate, (uint32_t)by << 14, f.now);
		letter_sent(f.node, f.now, f.session, by & 2);
	}
}

static void step(struct fuzz_input *in)
{
	uint8_t how = fuzz_byte(in), time = fuzz_byte(in);
	uint16_t length = (uint16_t)(fuzz_byte(in) << 8);
	const uint8_t *data;
	size_t taken;

	length = (uint16_t)(length | fuzz_byte(in));
	f.how = how;
	memset(f.sent_now, 0, sizeof(f.sent_now));
	run_until(f.now + (1ull << time % 37)); /* up to 68 s */
	if (how & KNOBS) {
		f.config.refresh = time & 1;
		f.config.unit = time & 2 ? CREDIT_LETTER_UNIT_BYTES : CREDIT_LETTER_UNIT_MB;
		if (!f.received) /* a bucket with a debt is asked each ns for 1 ms after that: slow in virtual time */
			f.config.rate = time & 4 ? 0 : 10000;
		letter_set(f.node, &f.config);
	}
	if (how & NEIGHBOR)
		letter_neighbor(f.node, f.now, 0, &f.neighbor, !(time & 1));
	if (how & CLOSE && f.session) {
		letter_close(f.node, f.now, f.session);
		f.session = NULL;
	} else if (how & CLOSE) {
		open_session();
	}
	if (how & CLOSE)
		letter_carried(f.node, f.now);
	if (how & COUNT)
		move_data(time);
	if (how & ECHO) {
		echo(in, length);
		return;
	}
	data = fuzz_bytes(in, length, &taken);
	hand_over(data, taken);
}

/* The next hop that is shown of a session has heard its End. */
static void answer_end(const struct letter_session *s, const struct rsvp_path_view *v)
{
	const struct rsvp_way *way = letter_way_of(s);
	struct rsvp_message *m = &message;

	if (!way)
		return;
	rsvp_clear(m, RSVP_END_ACK);
	m->session = v->session;
	m->sender = v->sender;
	m->hop = (struct rsvp_hop){.addr = v->nhop.family ? v->nhop : f.neighbor, .lih = v->lih};
	m->count[RSVP_O_SESSION] = m->count[RSVP_O_TEMPLATE] = m->count[RSVP_O_HOP] = 1;
	m->zone = way->zone;
	letter_receive(f.node, f.now, m, &m->hop.addr, 1);
}

/* The neighbours above go, and those below answer. */
static void end_all(void)
{
	for (uint32_t i = 0; i < SESSIONS; i++) {
		struct letter_session *s = letter_at(f.node, i);
		struct rsvp_path_view v;

		if (!s)
			continue;
		letter_show(s, &v);
		letter_neighbor(f.node, f.now, 0, &v.phop, false);
		letter_neighbor(f.node, f.now, 1, &v.phop, false);
		s = letter_at(f.node, i);
		if (s)
			answer_end(s, &v);
	}
	run_until(f.now + 3 * NSEC_PER_SEC);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};

	memset(&f, 0, sizeof(f));
	f.config = letter_config_default;
	f.config.sessions_max = SESSIONS;
	f.pool = POOL;
	f.neighbor = own_of(6);
	f.now = 1000;
	f.node = letter_new(&f.config, &ops, NULL, 4711);
	must(f.node, "no memory");
	open_session();
	for (unsigned int i = 0; in.left && i < 24; i++)
		step(&in);
	memset(f.sent_now, 0, sizeof(f.sent_now));
	if (f.session)
		letter_close(f.node, f.now, f.session);
	f.session = NULL;
	for (unsigned int i = 0; i < ENDINGS && letter_stats_of(f.node)->sessions; i++)
		end_all();
	must(!letter_stats_of(f.node)->sessions && f.pool == POOL, "%llu sessions are left",
		(unsigned long long)letter_stats_of(f.node)->sessions);
	letter_free(f.node);
	return 0;
}
