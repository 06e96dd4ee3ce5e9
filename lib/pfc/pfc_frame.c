/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes PFC frames (IEEE 802.1Qbb, 802.3 annex 31D). Pure. */
#include "pfc/pfc_frame.h"

static const struct eth_addr mac_control_da = MAC_CONTROL_DA;

enum pfc_fault pfc_read(const void *frame, size_t size, unsigned int pass, struct pfc_request *out)
{
	const struct pfc_frame *f = frame;
	uint16_t opcode;

	if (size < (pass & PFC_UNPADDED ? PFC_PARSED_BYTES : sizeof(*f)))
		return PFC_SHORT;
	if (!eth_equal(&f->eth.dst, &mac_control_da))
		return PFC_BAD_DA;
	if (be16_get(f->eth.type) != ETH_TYPE_MAC_CONTROL)
		return PFC_BAD_TYPE;
	opcode = be16_get(f->opcode);
	if (opcode != MAC_CONTROL_PFC)
		return opcode == MAC_CONTROL_PAUSE ? PFC_IS_PAUSE : PFC_BAD_OPCODE;
	if (f->enable_hi && !(pass & PFC_ANY_ENABLE))
		return PFC_BAD_ENABLE;
	out->enable = f->enable;
	memset(out->time, 0, sizeof(out->time));
	FOR_EACH_BIT(i, f->enable)
		out->time[i] = be16_get(f->time[i]);
	return PFC_LEGAL;
}

void pfc_write(struct pfc_frame *out, const struct eth_addr *source, const struct pfc_request *request)
{
	*out = (struct pfc_frame){
		.eth = {.dst = mac_control_da, .src = *source, .type = be16(ETH_TYPE_MAC_CONTROL)},
		.opcode = be16(MAC_CONTROL_PFC),
		.enable = request->enable,
	};
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (request->enable & 1u << i)
			out->time[i] = be16(request->time[i]);
}
