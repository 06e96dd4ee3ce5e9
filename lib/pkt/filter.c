/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles a pcap filter expression in the management thread; lcores match frames against the result. */
#include "pkt/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pcap/pcap.h>

struct pkt_filter {
	struct bpf_program program;
};

struct pkt_filter *pkt_filter_new(const char *expression, char *err, size_t size)
{
	struct pkt_filter *f = calloc(1, sizeof(*f));
	pcap_t *p = pcap_open_dead(DLT_EN10MB, 65535);

	if (!f || !p) {
		strncpy(err, "out of memory", size);
	} else if (pcap_compile(p, &f->program, expression ? expression : "", 1, PCAP_NETMASK_UNKNOWN) == 0) {
		pcap_close(p);
		return f;
	} else {
		strncpy(err, pcap_geterr(p), size - 1);
		err[size - 1] = '\0';
	}
	if (p)
		pcap_close(p);
	free(f);
	return NULL;
}

void pkt_filter_free(struct pkt_filter *f)
{
	if (!f)
		return;
	pcap_freecode(&f->program);
	free(f);
}

bool pkt_filter_match(const struct pkt_filter *f, const uint8_t *frame, uint32_t captured, uint32_t length)
{
	return !f || bpf_filter(f->program.bf_insns, frame, length, captured) != 0;
}
