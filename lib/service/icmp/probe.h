/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: series of echo requests that the node sends, for ping and traceroute at the console. The management thread orders
 * them and takes the results; the control lcore sends, matches what comes back, and ends a probe. A probe is bounded: at most
 * PROBE_REQUESTS_MAX requests, each with a time limit.
 */
#ifndef SERVICE_ICMP_PROBE_H
#define SERVICE_ICMP_PROBE_H

#include "icmp/echo.h"
#include "node/node.h"

#define PROBES_MAX 8 /* at a time */
#define PROBE_REQUESTS_MAX 100
#define PROBE_PER_HOP 3	     /* requests with the same hop limit, of a traceroute */
#define PROBE_BYTES_MAX 9216 /* of a request, without outer headers */

enum probe_way {
	PROBE_ROUTED,	/* by the table of a VRF */
	PROBE_SEGMENTS, /* by way of SIDs, in an SRH; routed in the underlay */
	PROBE_TO_END, /* along a path of a policy: the ICMP header follows its outer headers, and its last SID answers */
	PROBE_THROUGH, /* along a path of a policy: an IP packet, which its last SID decapsulates */
};

struct probe_order {
	enum probe_way way;
	bool trace;	  /* traceroute: PROBE_PER_HOP requests with hop limit 1, with 2 ... until the target answers */
	bool path_source; /* along a path: the outer source is that of the path; else the node's loopback */
	struct echo echo; /* from, to, data */
	struct ipv6_addr segment[ECHO_SEGMENTS_MAX];
	unsigned int n_segments;
	uint16_t
		vrf; /* table of PROBE_ROUTED, in which answers arrive; errors about outer headers come in the underlay */
	uint32_t path;	      /* id */
	uint32_t fingerprint; /* of that path: it has not been changed by a reload meanwhile */
	unsigned int count;   /* requests, or hops; both within PROBE_REQUESTS_MAX */
	uint64_t interval_ns; /* between requests; 0 for a traceroute */
	uint64_t timeout_ns;  /* for an answer, from its request on */
};

struct probe_request {
	bool sent; /* false: it has no way out, or is too long for it */
	uint8_t hop_limit;
	/* of the answer, if there is one: */
	enum echo_answer answer;
	uint8_t code;
	uint8_t heard_hop_limit;
	struct ip_addr from;
	uint64_t rtt_ns;
	uint64_t sent_ns; /* lcore time */
};

enum probe_state {
	PROBE_FREE,  /* the management thread may use it */
	PROBE_RUNS,  /* belongs to the control lcore */
	PROBE_ENDED, /* the results belong to the management thread */
};

struct probe {
	uint8_t state; /* enum probe_state; release by the one who gives it away, acquire */
	bool stop;     /* written by the management thread: nobody wants the results any more; relaxed */
	struct probe_order order;
	uint16_t id; /* in the ICMP header */
	uint64_t nonce;
	/* written by the control lcore, read by the management thread when it has ended: */
	uint64_t due_ns; /* the next request */
	unsigned int n;	 /* requests so far */
	struct probe_request request[PROBE_REQUESTS_MAX];
};

/* --- management thread --- */

/* Begin. Returns the number of the probe, or -EBUSY: PROBES_MAX are running. */
int probe_begin(struct node *n, const struct probe_order *order);
/* The probe if it has ended; NULL: not yet. The results are valid until probe_end. */
const struct probe *probe_ended(const struct node *n, unsigned int number);
/* The results are not needed any more; the probe ends if it has not yet. Call once. */
void probe_end(struct node *n, unsigned int number);

/* Control lcore: is there one that it has not seen? Part of node_lcore_has_input. */
bool control_probe_waits(const struct control_role *c);

#endif
