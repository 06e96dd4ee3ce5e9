/* SPDX-License-Identifier: BSD-3-Clause */
#include "drivers/abilities.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"

/* Read in the sources of DPDK 22.11. */
static const struct {
	const char *driver, *says;
} known[] = {
	{"net_pcap", "cannot set a MAC (the configured one is used in software), an MTU or promiscuous mode"},
	{"net_pcap", "one transmit queue; no link state; time stamps of the capture are ignored"},
	{"net_af_packet", "one transmit queue; frames over 2 KB need framesz and blocksz arguments"},
	{"net_af_packet", "losses of the kernel's ring are not reported; the link counts as up"},
	{"net_af_packet", "cannot set a MAC: give the interface's own, or have the kernel change it"},
	{"net_memif", "link is up once both ends are connected; cannot set a MAC (used in software)"},
	{"net_null", "swallows what is sent, receives empty frames"},
	{"net_ring", "a loop of its own; cannot set an MTU"},
	{"net_tap", "a kernel interface appears while the node runs"},
};

void abilities_print(const struct cfg_port *port, const char *indent, FILE *out)
{
	char driver[32];
	size_t n = 0;

	while (n < sizeof(driver) - 1 && port->device[n] && !isdigit((unsigned char)port->device[n]) &&
		port->device[n] != ',') {
		driver[n] = port->device[n];
		n++;
	}
	driver[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i].driver, driver) == 0)
			fprintf(out, "%s%s\n", indent, known[i].says);
}
