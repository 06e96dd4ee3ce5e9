/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State messages to a PFC relay, and time. Records: a byte of flags, four times 100 us to wait, the message of up to 63
 * bytes.
 *
 *   bits 0-1  which far PE it comes from     bits 2-7  its length
 *
 * For every input: a message that is read can be written again, an accepted message is new, a hold never lasts longer than the
 * longest lease, and the gateway is resumed when no more messages arrive.
 */
#include "pfc/pfc_relay.h"
#include "pfc/pfc_state.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

#define PEERS 4

static const struct pfc_relay_config config = {.mode = PFC_RELAY_REGENERATE,
	.from_bps = 100000000000ull,
	.watchdog = {PFC_WATCHDOG_RELEASE, 100 * NSEC_PER_MSEC, 200 * NSEC_PER_MSEC, 200 * NSEC_PER_MSEC}};

static void read_again(const struct pfc_state *s)
{
	uint8_t m[PFC_STATE_BYTES_MAX];
	struct pfc_state t;
	size_t n = pfc_state_write(m, s);

	must(pfc_state_read(m, n, &t) == 0 && s->keyed == t.keyed && s->key_id == t.key_id &&
			s->speaks_for == t.speaks_for && s->stopped == t.stopped && s->epoch == t.epoch &&
			s->sequence == t.sequence && s->slice == t.slice && s->lease_ns == t.lease_ns,
		"it does not survive being written");
}

static void check_holds(const struct pfc_relay_port *p, uint64_t now)
{
	const struct pfc_heed all = {0};

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		uint64_t until = pfc_holds_until(&p->holds, PFC_ALL_SLICES, i, all);

		must(until <= now + PFC_STATE_LEASE_MAX_NS, "a hold of %llu ns", (unsigned long long)(until - now));
		must(!(p->stopped >> i & 1) || until > now, "stopped without a hold");
	}
}

static void take(struct pfc_relay_port *p, struct pfc_state_receiver *r, unsigned int peer, const struct pfc_state *s,
	uint64_t now)
{
	struct pfc_party party = {.sid = PFC_SID_STATE, .source.b = {[15] = (uint8_t)peer}};
	struct pfc_request out;

	read_again(s);
	if (!pfc_state_receiver_take(r, s))
		return;
	must(!pfc_state_receiver_take(r, s), "the same message twice");
	if (pfc_relay_state(p, &config, &party, s->speaks_for, s->stopped, s->lease_ns, now, &out))
		must(out.enable, "a frame that says nothing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pfc_relay_port p = {.bps = 100000000000ull};
	struct pfc_state_receiver r[PEERS] = {{.sequence = 0}};
	struct fuzz_input in = {data, size};
	uint64_t now = 1, next;
	struct pfc_request out;

	while (in.left) {
		uint8_t flags = fuzz_byte(&in), message[64];
		struct pfc_state s;
		size_t bytes;
		const uint8_t *from;

		now += fuzz_byte(&in) * 4 * 100 * NSEC_PER_USEC;
		pfc_relay_poll(&p, &config, now, &out, &next);
		check_holds(&p, now);
		from = fuzz_bytes(&in, MIN_OF(flags >> 2, sizeof(message)), &bytes);
		memcpy(message, from, bytes);
		memset(&s, 0, sizeof(s));
		if (pfc_state_read(message, bytes, &s) == 0)
			take(&p, &r[flags & 3], flags & 3, &s, now);
		pfc_relay_poll(&p, &config, now, &out, &next);
		check_holds(&p, now);
	}
	now += PFC_STATE_LEASE_MAX_NS;
	pfc_relay_poll(&p, &config, now, &out, &next);
	must(!p.stopped, "the gateway is held for ever");
	return 0;
}
