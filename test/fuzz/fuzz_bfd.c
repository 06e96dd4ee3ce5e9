/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One BFD control packet. What is accepted fits into its bytes and survives being written; what is signed is found to
 * be signed, and a changed byte is found out.
 */
#include "bfd/bfd_packet.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void check_signature(uint8_t *message, size_t bytes)
{
	static const struct bfd_key key = {.id = 7, .key = "sixteen bytes it"};

	bfd_packet_sign(message, bytes, &key);
	must(bfd_packet_is_signed(message, bytes, &key), "its own signature");
	message[bytes / 2] ^= 1;
	must(!bfd_packet_is_signed(message, bytes, &key), "a changed byte is not found out");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = fuzz_exact(data, size), again[BFD_MESSAGE_MAX];
	enum bfd_refusal refusal;
	struct bfd_packet p, q;
	size_t n;

	refusal = bfd_packet_read(copy, size, &p);
	must(*bfd_refusal_name(refusal) != '?', "a refusal without a name");
	must(*bfd_diag_text(p.diag) && *bfd_state_name(p.state) != '?', "no names");
	must(*bfd_state_name(4u + (unsigned int)size) == '?', "a name for no state");
	if (refusal == BFD_ACCEPTED) {
		must(p.bytes >= sizeof(struct bfd_hdr) && p.bytes <= size && p.multiplier && p.my_discr,
			"rules of 6.8.6");
		n = bfd_packet_write(again, &p);
		must(bfd_packet_read(again, n, &q) == BFD_ACCEPTED, "it does not survive being written");
		must(p.state == q.state && p.diag == q.diag && p.poll == q.poll && p.final == q.final &&
				p.demand == q.demand && p.my_discr == q.my_discr && p.your_discr == q.your_discr &&
				p.required_rx_us == q.required_rx_us,
			"it was changed");
		if (q.has_auth)
			check_signature(again, n);
	}
	free(copy);
	return 0;
}
