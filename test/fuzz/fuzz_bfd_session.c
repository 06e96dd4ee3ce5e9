/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BFD messages to the sessions of a node, and time. There are four sessions: plain, meticulous SHA-1, with echo, and an
 * S-BFD initiator; and a reflector. Records: a byte of flags, a byte of time, the message of up to 52 bytes.
 *
 *   flags   bits 0-1 session it is made for   bit 2 its discriminator is put in   bit 3 it is signed
 *           bits 4-5 port: control, echo, S-BFD, reply of a reflector             bit 6 hop limit 254   bit 7 another sender
 *   time    bits 0-5: 1, 2, 4 ... ms to wait and poll before   bits 6-7: the message is 14 bytes shorter for each
 *
 * For every input: a refused packet changes no state, states and counters fit together, no timer is lost, answers are
 * packets, and every session is heard of or goes down when nothing more arrives.
 */
#include "bfd/bfd_priv.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

#define SESSIONS 4
#define REFLECTOR 0x0a000001u

static uint8_t state_seen[SESSIONS];

static void send_message(void *arg, const struct bfd_session *s, uint16_t port, const void *message, size_t bytes)
{
	struct bfd_packet p;

	(void)arg;
	if (port == BFD_PORT_ECHO) {
		must(s->echoing && bytes == sizeof(struct bfd_echo), "an echo packet of %zu bytes", bytes);
		return;
	}
	must(bfd_packet_read(message, bytes, &p) == BFD_ACCEPTED, "a packet that it would refuse");
	must(!(p.poll && p.final), "P and F");
	must(p.state == s->state && p.my_discr == s->local_discr, "not what it is");
	must(s->state == BFD_UP || p.desired_tx_us >= BFD_SLOW_US, "fast while it is %s", bfd_state_name(s->state));
	if (p.has_auth)
		must(bfd_packet_is_signed(message, bytes, &s->config.key), "not signed");
}

static void changed(void *arg, const struct bfd_session *s, const struct bfd_change *change)
{
	(void)arg;
	must(change->to == s->state, "another state");
	if (change->from == change->to)
		return;
	must(state_seen[s->peer.user] == change->from, "a change is missing");
	state_seen[s->peer.user] = change->to;
}

static const struct bfd_ops ops = {.send = send_message, .changed = changed};

static void start(struct bfd_table *t, uint64_t now)
{
	struct bfd_config c = {.tx_us = 10000, .rx_us = 10000, .multiplier = 3};
	struct bfd_peer peer = {.interface = 5,
		.local = {.family = 4, .b = {10, 0, 0, 1}},
		.remote = {.family = 4, .b = {10, 0, 0, 2}}};

	for (uint32_t i = 0; i < SESSIONS; i++) {
		peer.user = i;
		peer.remote.b[3] = (uint8_t)(2 + i);
		peer.kind = i == 3 ? BFD_SBFD : BFD_SINGLE_HOP;
		c.reflector = i == 3 ? REFLECTOR : 0;
		c.auth_type = i == 1 ? BFD_AUTH_METICULOUS_SHA1 : BFD_AUTH_NONE;
		c.key = (struct bfd_key){.id = 7, .key = "sixteen bytes it"};
		c.echo_us = i == 2 ? 5000 : 0;
		state_seen[i] = BFD_DOWN;
		must(bfd_add(t, now, &peer, &c), "no session");
	}
	bfd_set_reflector(t, REFLECTOR);
}

static void poll(struct bfd_table *t, uint64_t now)
{
	uint64_t next;

	for (unsigned int i = 0; i < 1000; i++) {
		bfd_poll(t, now, 32, &next);
		if (next > now)
			break;
	}
	must(next > now, "it never ends");
	for (uint32_t i = 0; i < SESSIONS; i++) {
		const struct bfd_session *s = t->slot[i];

		must(s->state <= BFD_UP && s->stats.state == s->state, "state %u", s->state);
		must(s->stats.ups - s->stats.downs == (s->state == BFD_UP), "ups and downs");
		must(s->state < BFD_INIT || timer_is_set(&s->detect.timer), "nothing watches a session that is %s",
			bfd_state_name(s->state));
		must(s->state == BFD_UP || !s->echoing, "echo of a session that is not Up");
	}
}

static void prepare(struct bfd_table *t, uint8_t flags, uint8_t *message, size_t bytes)
{
	struct bfd_session *s = t->slot[flags & 3];
	struct bfd_echo *e = (struct bfd_echo *)message;
	struct bfd_hdr *h = (struct bfd_hdr *)message;

	if (flags & 4 && bytes >= sizeof(*h)) {
		if ((flags >> 4 & 3) == 1)
			*e = (struct bfd_echo){.discr = be32(s->local_discr),
				.sequence = be32(s->echo_sequence - message[4] % 20),
				.cookie = be64(s->echo_cookie),
				.sent = e->sent};
		else if ((flags >> 4 & 3) == 2)
			h->your_discr = be32(REFLECTOR);
		else
			h->your_discr = be32(s->local_discr);
		if ((flags >> 4 & 3) == 3)
			h->my_discr = be32(REFLECTOR);
	}
	if (flags & 8 && bytes == BFD_MESSAGE_MAX)
		bfd_packet_sign(message, bytes, &s->config.key);
}

static void give(struct bfd_table *t, uint64_t now, uint8_t flags, uint8_t *message, size_t bytes)
{
	static const uint16_t ports[] = {BFD_PORT_CONTROL, BFD_PORT_ECHO, BFD_PORT_SBFD, BFD_PORT_SBFD};
	struct bfd_received r = {.data = message, .size = bytes, .interface = 5, .port = ports[flags >> 4 & 3]};
	struct bfd_session before[SESSIONS];
	uint8_t answer[BFD_MESSAGE_MAX];
	struct bfd_packet p;
	enum bfd_refusal refusal;
	size_t answered;

	prepare(t, flags, message, bytes);
	r.reply = (flags >> 4 & 3) == 3;
	r.hop_limit = flags & 0x40 ? 253 : 255;
	r.from = t->slot[flags & 3]->peer.remote;
	r.from.b[3] = (uint8_t)(r.from.b[3] ^ (flags & 0x80));
	for (unsigned int i = 0; i < SESSIONS; i++)
		before[i] = *t->slot[i];
	refusal = bfd_receive(t, now, &r, answer, &answered);
	must(*bfd_refusal_name(refusal) != '?' && *bfd_diag_text(flags & 31) && *bfd_state_name(flags & 7), "names");
	if (answered)
		must(bfd_packet_read(answer, answered, &p) == BFD_ACCEPTED && !p.demand && p.my_discr == REFLECTOR,
			"a bad answer");
	for (unsigned int i = 0; i < SESSIONS && refusal != BFD_ACCEPTED; i++) {
		before[i].stats.refused = t->slot[i]->stats.refused;
		must(memcmp(&before[i], t->slot[i], sizeof(before[i])) == 0, "%s changes session %u",
			bfd_refusal_name(refusal), i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bfd_table *t = bfd_table_new(&ops, NULL, 1);
	struct fuzz_input in = {data, size};
	uint64_t now = NSEC_PER_SEC;

	must(t, "no memory");
	start(t, now);
	while (in.left) {
		uint8_t flags = fuzz_byte(&in), time = fuzz_byte(&in), *message;
		size_t bytes;
		const uint8_t *from = fuzz_bytes(&in, BFD_MESSAGE_MAX - (time >> 6) * 14u, &bytes);

		if (time & 0x3f) {
			now += NSEC_PER_MSEC << time % 6;
			poll(t, now);
		}
		message = fuzz_exact(from, bytes);
		give(t, now, flags, message, bytes);
		free(message);
	}
	/* the longest detection time is 255 times 2^32 us, and is capped at 2^32 us */
	for (unsigned int i = 0; i < 8; i++) {
		for (unsigned int k = 0; k < SESSIONS; k++)
			if (timer_is_set(&t->slot[k]->detect.timer))
				now = MAX_OF(now, t->slot[k]->detect.timer.at);
		poll(t, now + 1);
	}
	for (unsigned int k = 0; k < SESSIONS; k++)
		must(t->slot[k]->state == BFD_DOWN, "session %u is %s in spite of silence", k,
			bfd_state_name(t->slot[k]->state));
	bfd_table_free(t);
	return 0;
}
