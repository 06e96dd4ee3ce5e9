/* SPDX-License-Identifier: BSD-3-Clause */
/* RoCEv2 transport headers after UDP (InfiniBand Architecture volume 1, chapter 9 and annex A17). */
#ifndef WIRE_ROCE_H
#define WIRE_ROCE_H

#include "wire/bytes.h"

enum roce_opcode {
	ROCE_RC_WRITE_FIRST = 0x06,
	ROCE_RC_WRITE_MIDDLE = 0x07,
	ROCE_RC_WRITE_LAST = 0x08,
	ROCE_RC_WRITE_ONLY = 0x0a,
	ROCE_RC_ACK = 0x11,
	ROCE_UD_SEND_ONLY = 0x64,
	ROCE_CNP = 0x81,
};

#define ROCE_PSN_MASK 0x00ffffffu
#define ROCE_ACK_REQUEST 0x80000000u /* in bth.psn */
#define ROCE_ICRC_BYTES 4

/* Base transport header. */
struct roce_bth {
	uint8_t opcode;
	uint8_t flags; /* SE(1) M(1) pad(2) version(4) */
	be16_t pkey;
	be32_t qp;  /* FECN(1) BECN(1) reserved(6) destination queue pair(24) */
	be32_t psn; /* ACK request(1) reserved(7) PSN(24) */
};
WIRE_SIZE(struct roce_bth, 12);
WIRE_AT(struct roce_bth, qp, 4);
WIRE_AT(struct roce_bth, psn, 8);

/* RDMA extended transport header, in the first packet of a WRITE. */
struct roce_reth {
	be64_t address;
	be32_t key;
	be32_t length;
};
WIRE_SIZE(struct roce_reth, 16);
WIRE_AT(struct roce_reth, length, 12);

/* ACK extended transport header. */
struct roce_aeth {
	be32_t syndrome_msn; /* syndrome(8) message sequence number(24) */
};
WIRE_SIZE(struct roce_aeth, 4);

#define ROCE_SYNDROME_ACK 0x1fu		 /* ACK, no credit limit */
#define ROCE_SYNDROME_NAK_SEQUENCE 0x60u /* NAK, PSN sequence error */

#endif
