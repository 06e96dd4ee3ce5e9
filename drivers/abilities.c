/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each DPDK driver and kernel driver can do, known before a device is opened: MAC control frames, PFC, frame
 * length. Constant tables; main and management thread.
 */
#include "drivers/abilities.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"

/* Read in the sources of DPDK 22.11. */
static const struct {
	const char *driver;
	bool any_length; /* chains of buffers, no limit but memory */
	const char *says[3];
} known[] = {
	{"net_pcap", true,
		{"cannot set a MAC (the configured one is used in software), an MTU or promiscuous mode",
			"one transmit queue; no link state; time stamps of the capture are ignored"}},
	{"net_af_packet", false,
		{"one transmit queue; sets MAC and MTU of the kernel's interface, reads its carrier",
			"a frame must fit a slot and a buffer: mtu 1968 at most, 2000 with "
			"framesz=2080,blocksz=266240; 10160 with "
			"framesz=10240,blocksz=40960 and memory.buffer-size 10K",
			"losses of the kernel's ring are not reported; offloads of a veth peer must be off (ethtool "
			"-K)"}},
	{"net_memif", true,
		{"link is up once both ends are connected; cannot set a MAC (the configured one is used in software)",
			"reports an MTU of 1500; needs a bsize that holds the longest frame"}},
	{"net_null", true, {"swallows what is sent, receives empty frames"}},
	{"net_ring", true, {"a loop of its own; cannot set an MTU"}},
	{"net_tap", false, {"a kernel interface appears while the node runs"}},
};

bool abilities_any_length(const char *driver)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i].driver, driver) == 0)
			return known[i].any_length;
	return false;
}

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
		for (size_t k = 0; k < ARRAY_LEN(known[i].says) && strcmp(known[i].driver, driver) == 0; k++)
			if (known[i].says[k])
				fprintf(out, "%s%s\n", indent, known[i].says[k]);
}

/* DPDK 22.11's poll-mode drivers for the NICs of these kernel drivers, as their sources say. */
static const struct {
	const char *kernel_driver, *mac_control;
} nics[] = {
	{"ixgbe", "hands MAC control frames to software on request; has PFC of its own"},
	{"i40e", "hands MAC control frames to software on request, but drops those that software sends"},
	{"ice", "does not hand MAC control frames to software; no PFC in DPDK 22.11"},
	{"igb", "hands MAC control frames to software on request; no PFC"},
	{"igc", "hands MAC control frames to software on request; no PFC"},
	{"e1000e", "hands MAC control frames to software on request; no PFC"},
	{"bnxt_en", "does not hand MAC control frames to software; no PFC in DPDK"},
	{"mlx5_core",
		"does not hand MAC control frames to software; PFC by the kernel's dcb tool beside the application"},
	{"hns3", "does not hand MAC control frames to software; has PFC of its own"},
};

void abilities_of_kernel_driver(const char *kernel_driver, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(nics); i++)
		if (strcmp(nics[i].kernel_driver, kernel_driver) == 0)
			snprintf(buf, size, "%s", nics[i].mac_control);
}

const char *abilities_pfc(const struct port_abilities *a)
{
	switch ((enum port_pfc)a->pfc) {
	case PORT_PFC_SOFTWARE:
		return a->pfc_swallows ? "PFC is heard by software, but the device drops the PFC frames that software "
					 "sends: the "
					 "neighbour cannot be paused"
				       : "PFC by software, both ways";
	case PORT_PFC_HARDWARE:
		return "the device obeys PFC itself and shows software none of it: a pause stops all of its one "
		       "transmit queue, "
		       "control traffic too; PFC frames are sent by software";
	case PORT_PFC_BLIND:
		return "the device neither hands PFC frames to software nor obeys them: the neighbour cannot pause "
		       "this port";
	}
	return "";
}
