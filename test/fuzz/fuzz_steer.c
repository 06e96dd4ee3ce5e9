/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What flows are found by. First byte with bit 7: the rest is a flow, a filter of flows as text. Else it is packets of one
 * flow, two bytes of length and an IP packet each: transport headers of RoCEv2 are read, and their PSNs counted.
 */
#include "steer/flow_table.h"
#include "steer/steer_key.h"
#include "test/fuzz/fuzz.h"
#include "wire/roce.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

/* The IP header of a packet is one that the classifier lets pass. */
static bool has_header(const uint8_t *ip, size_t n)
{
	if (!n)
		return false;
	if (ip[0] >> 4 == 6)
		return n >= 40;
	return ip[0] >> 4 == 4 && n >= 20 && (ip[0] & 15) >= 5 && n >= (ip[0] & 15u) * 4;
}

/* Where the transport header would be, read in another way. 0: it is not UDP to port 4791. */
static size_t transport_of(const uint8_t *ip, size_t n)
{
	size_t at = ip[0] >> 4 == 6 ? 40 : (ip[0] & 15u) * 4;
	bool fragment = ip[0] >> 4 == 4 && ((ip[6] & 0x3f) || ip[7]);

	if (fragment || ip[ip[0] >> 4 == 6 ? 6 : 9] != 17 || n < at + 8 || ip[at + 2] != 0x12 || ip[at + 3] != 0xb7)
		return 0;
	return at + 8;
}

static uint32_t number(const uint8_t *b)
{
	return (uint32_t)b[0] << 16 | (uint32_t)b[1] << 8 | b[2];
}

/* What a receiver sends back, read in another way: by the table of IBA 9.7.5.2.1. ROCE_NONE: nothing of that. */
static enum roce_kind answer_of(const uint8_t *bth, size_t n)
{
	static const enum roce_kind rows[] = {ROCE_ACKS, ROCE_RNR, ROCE_NONE, ROCE_NAK};

	if (bth[1] & 15)
		return ROCE_NONE;
	if (bth[0] == 0x81)
		return n >= 28 ? ROCE_CONGESTION : ROCE_NONE;
	if ((bth[0] != 0x11 && bth[0] != 0x12) || n < 16)
		return ROCE_NONE;
	return bth[12] % 128 == 0x60 ? ROCE_NAK_SEQUENCE : rows[bth[12] / 32 % 4];
}

/* PSNs of a flow, counted in another way. */
struct model {
	bool seen;
	uint32_t qp, expected, gaps, duplicates;
};

static void expect(struct model *m, uint32_t qp, uint32_t psn)
{
	int32_t ahead = (int32_t)((psn - m->expected) << 8) >> 8;

	if (m->seen && m->qp == qp && ahead < 0) {
		m->duplicates++;
		return;
	}
	if (m->seen && m->qp == qp)
		m->gaps += (uint32_t)ahead;
	*m = (struct model){true, qp, (psn + 1) & 0xffffff, m->gaps, m->duplicates};
}

static void one(const uint8_t *ip, size_t n, struct flow_roce *flow, struct model *m)
{
	uint32_t at = roce_find(ip, 0, ip[0] >> 4, (uint32_t)n);
	struct roce r;

	must(at == transport_of(ip, n), "transport header at %u", at);
	if (!at)
		return;
	r = roce_read(ip, at, (uint32_t)n);
	if (n < at + 12) {
		must(r.kind == ROCE_NONE, "kind %u of a header that is cut", r.kind);
		return;
	}
	must(r.opcode == ip[at] && r.qp == number(ip + at + 5) && r.psn == number(ip + at + 9), "fields");
	must(r.ack_request == ip[at + 8] >> 7, "request of an ACK");
	must(!roce_is_answer(r.kind) || r.kind == answer_of(ip + at, n - at), "kind %u, not %u", r.kind,
		answer_of(ip + at, n - at));
	must(roce_is_answer(r.kind) || !answer_of(ip + at, n - at), "an answer was not seen");
	if (r.kind != ROCE_DATA)
		return;
	must(ip[at] < 0x20 && ip[at] != 0x11 && ip[at] != 0x12, "opcode %u has data", ip[at]);
	flow_count_psn(flow, r.qp, r.psn);
	expect(m, r.qp, r.psn);
	must(flow->gaps == m->gaps && flow->duplicates == m->duplicates, "%u gaps and %u duplicates, not %u and %u",
		flow->gaps, flow->duplicates, m->gaps, m->duplicates);
}

static void packets(struct fuzz_input in)
{
	struct flow_roce flow = {0};
	struct model m = {0};

	while (in.left > 2) {
		size_t n = (size_t)fuzz_byte(&in) << 8, taken;
		const uint8_t *from;
		uint8_t *copy;

		n |= fuzz_byte(&in);
		from = fuzz_bytes(&in, n, &taken);
		copy = fuzz_exact(from, taken);
		if (has_header(copy, taken))
			one(copy, taken, &flow, &m);
		free(copy);
	}
}

/* What is accepted is printed as text that means the same. */
static void text(const char *t)
{
	struct steer_key key = {0}, again = {0};
	char vrf[STEER_NAME] = "", vrf_again[STEER_NAME] = "", err[256] = "", printed[STEER_TEXT];
	struct steer_filter filter;

	if (steer_key_parse(t, &key, vrf, err, sizeof(err)) == 0) {
		steer_key_format(&key, vrf, printed);
		must(steer_key_parse(printed, &again, vrf_again, err, sizeof(err)) == 0, "%s: %s", printed, err);
		must(steer_same(&key, &again) && !strcmp(vrf, vrf_again), "%s is another flow", printed);
	} else {
		must(err[0], "no message about %s", t);
	}
	err[0] = 0;
	if (steer_filter_parse(t, &filter, err, sizeof(err)) == 0)
		steer_filter_matches(&filter, &key, vrf, "policy", "path");
	else
		must(err[0], "no message about the filter %s", t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	char *t;

	if (!(fuzz_byte(&in) & 0x80)) {
		packets(in);
		return 0;
	}
	t = (char *)malloc(in.left + 1);
	if (!t)
		abort();
	if (in.left)
		memcpy(t, in.at, in.left);
	t[in.left] = 0;
	text(t);
	free(t);
	return 0;
}
