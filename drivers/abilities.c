/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of what drivers can do, for use before a device is opened: frame length, MAC address, MTU, MAC control frames,
 * PFC. Constant data; main and management thread.
 */
#include "drivers/abilities.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "drivers/spread.h"

/* From the sources of DPDK 22.11. */
static const struct {
	const char *driver;
	bool any_length; /* frames of any length, as chains of buffers */
	const char *limits[3];
} known[] = {
	{"net_pcap", true,
		{"cannot set a MAC address (sluice uses the configured one in software), an MTU or promiscuous mode",
			"one transmit queue; no link state; ignores the time stamps of the capture"}},
	{"net_af_packet", false,
		{"one transmit queue; sets MAC address and MTU of the kernel's interface and reads its carrier",
			"a frame must fit a slot and a buffer: mtu at most 1968, or 2000 with "
			"framesz=2080,blocksz=266240, or 10160 with framesz=10240,blocksz=40960 and "
			"memory.buffer-size 10K",
			"does not report losses of the kernel's ring; turn off the offloads of a veth peer (ethtool "
			"-K)"}},
	{"net_memif", true,
		{"the link is up when both ends are connected; cannot set a MAC address (sluice uses the configured "
		 "one in "
		 "software)",
			"reports an MTU of 1500; bsize must hold the longest frame"}},
	{"net_null", true, {"discards transmitted frames, receives empty ones"}},
	{"net_ring", true, {"loops transmitted frames back; cannot set an MTU"}},
	{"net_tap", false, {"creates a kernel interface while the node runs"}},
	{"net_bonding", false,
		{"spreads by its transmit policy, which sees no flow label: all packets of a path leave by one member",
			"no lossless classes; two ports with equal routes do more (docs/nics.md)"}},
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
		for (size_t k = 0; k < ARRAY_LEN(known[i].limits) && strcmp(known[i].driver, driver) == 0; k++)
			if (known[i].limits[k])
				fprintf(out, "%s%s\n", indent, known[i].limits[k]);
}

/* By kernel driver: what the poll-mode driver for the same NICs does, from the sources of DPDK 22.11. */
static const struct {
	const char *kernel_driver, *mac_control;
	enum port_pfc pfc;
	bool swallows;		 /* drops MAC control frames that software sends */
	enum port_spread spread; /* over several receive queues */
} nics[] = {
	{"ixgbe", "passes MAC control frames to software on request; PFC in hardware", PORT_PFC_SOFTWARE, false,
		PORT_SPREAD_OUTER},
	{"i40e", "passes MAC control frames to software on request, but drops those that software sends",
		PORT_PFC_SOFTWARE, true, PORT_SPREAD_OUTER},
	{"ice", "does not pass MAC control frames to software; no PFC in DPDK 22.11", PORT_PFC_BLIND, false,
		PORT_SPREAD_OUTER},
	{"igb", "passes MAC control frames to software on request; no PFC", PORT_PFC_SOFTWARE, false,
		PORT_SPREAD_OUTER},
	{"igc", "passes MAC control frames to software on request; no PFC", PORT_PFC_SOFTWARE, false,
		PORT_SPREAD_OUTER},
	{"e1000e", "passes MAC control frames to software on request; no PFC", PORT_PFC_SOFTWARE, false,
		PORT_SPREAD_OUTER},
	{"bnxt_en", "does not pass MAC control frames to software; no PFC in DPDK", PORT_PFC_BLIND, false,
		PORT_SPREAD_OUTER},
	{"mlx5_core", "does not pass MAC control frames to software; the kernel's dcb tool configures PFC in hardware",
		PORT_PFC_BLIND, false, PORT_SPREAD_RULE},
	{"hns3", "does not pass MAC control frames to software; PFC in hardware", PORT_PFC_HARDWARE, false,
		PORT_SPREAD_OUTER},
	{"rvu_nicpf",
		"does not pass MAC control frames to software; PFC of transmit queues in hardware, one for each "
		"lossless class",
		PORT_PFC_HARDWARE, false, PORT_SPREAD_INNER},
};

void abilities_of_kernel_driver(const char *kernel_driver, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(nics); i++)
		if (strcmp(nics[i].kernel_driver, kernel_driver) == 0)
			snprintf(buf, size, "%s", nics[i].mac_control);
}

struct port_abilities abilities_expected(const char *kernel_driver, const struct cfg_port *port)
{
	struct port_abilities a = {.driver = kernel_driver};

	for (size_t i = 0; i < ARRAY_LEN(nics); i++) {
		if (strcmp(nics[i].kernel_driver, kernel_driver) != 0)
			continue;
		a.pfc = (uint8_t)nics[i].pfc;
		a.pfc_swallows = nics[i].swallows;
		a.spread = spread_with_software((uint8_t)(port->rx_queues == 1 ? PORT_SPREAD_ONE : nics[i].spread),
			(enum cfg_rx_spread)port->rx_spread);
	}
	if (a.pfc == PORT_PFC_HARDWARE && port->pfc.hardware != PFC_HARDWARE_AUTO)
		a.pfc = PORT_PFC_BLIND;
	return a;
}

const char *abilities_problem(const struct cfg_port *port, const struct port_abilities *a,
	const struct cfg_relayed *relayed)
{
	if (port->pfc.priorities.n && (a->pfc == PORT_PFC_BLIND || a->pfc_swallows))
		return abilities_pfc(a);
	if (relayed->reads && a->pfc == PORT_PFC_HARDWARE)
		return "the device obeys PFC itself, so the PFC relay of this port would receive none";
	if (relayed->writes && a->pfc_swallows)
		return "the device drops PFC frames that software sends, so the PFC relay of this port could not pause "
		       "the gateway";
	return NULL;
}

int abilities_lossless(const struct cfg_port *port, const struct port_abilities *a, const struct cfg_relayed *relayed,
	char *err, size_t size)
{
	const char *problem = abilities_problem(port, a, relayed);

	if (!problem || port->pfc.blind == PFC_BLIND_ACCEPT)
		return 0;
	return text_fail(err, size, -ENOTSUP,
		"port %s (%s): lossless classes would lose packets: %s; use a NIC of another driver (docs/queues.md), "
		"remove %s, or set pfc.blind to accept",
		port->name, a->driver, problem, port->pfc.priorities.n ? "pfc.priorities" : "the relay");
}

const char *abilities_pfc(const struct port_abilities *a)
{
	switch ((enum port_pfc)a->pfc) {
	case PORT_PFC_SOFTWARE:
		return a->pfc_swallows ? "software obeys PFC, but the device drops PFC frames that software sends: the "
					 "neighbour cannot be paused"
				       : "software sends and obeys PFC";
	case PORT_PFC_HARDWARE:
		if (a->pfc_queues)
			return "the device obeys PFC, invisible to software: a pause stops the transmit queue of its "
			       "priority; control traffic goes on, other data waits while that queue is full; software "
			       "sends PFC";
		return "the device obeys PFC, invisible to software: a pause stops its single transmit queue, control "
		       "traffic included; software sends PFC";
	case PORT_PFC_BLIND:
		return "the device neither passes PFC frames to software nor obeys them: the neighbour cannot pause "
		       "this "
		       "port";
	}
	return "";
}
