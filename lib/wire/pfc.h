/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC control frames: PFC (IEEE 802.1Q clause 36, formerly 802.1Qbb) and PAUSE (IEEE 802.3 annex 31B). */
#ifndef WIRE_PFC_H
#define WIRE_PFC_H

#include "wire/eth.h"

#define MAC_CONTROL_PAUSE 0x0001
#define MAC_CONTROL_PFC 0x0101

#define PFC_PRIORITIES 8
#define PFC_QUANTUM_BITS 512 /* bit times of the receiving port */
#define PFC_QUANTA_MAX 65535
#define PFC_PARSED_BYTES 34 /* the rest of the frame is padding */

/* Destination of all MAC control frames. No bridge forwards it. */
#define MAC_CONTROL_DA \
	{ \
		{ \
			0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 \
		} \
	}

struct pfc_frame {
	struct eth_hdr eth;
	be16_t opcode;
	uint8_t enable_hi;	     /* high octet of the class enable vector: 0 */
	uint8_t enable;		     /* bit n: time[n] is valid */
	be16_t time[PFC_PRIORITIES]; /* quanta; 0: resume (XON) */
	uint8_t pad[26];
};
WIRE_SIZE(struct pfc_frame, ETH_MIN_LEN);
WIRE_AT(struct pfc_frame, opcode, 14);
WIRE_AT(struct pfc_frame, enable_hi, 16);
WIRE_AT(struct pfc_frame, enable, 17);
WIRE_AT(struct pfc_frame, time, 18);
WIRE_AT(struct pfc_frame, pad, PFC_PARSED_BYTES);

#endif
