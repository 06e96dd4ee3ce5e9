/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology file in memory. The configuration loader fills it by the schema of topology_schema.c; it is freed as a
 * whole. Times are ns, rates bit/s, shares 0 to 1.
 */
#ifndef LAB_TOPOLOGY_H
#define LAB_TOPOLOGY_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"

enum topo_frames { FRAMES_HEADERS, FRAMES_WHOLE };
enum topo_lossless { LOSSLESS_AUTO, LOSSLESS_REQUIRED, LOSSLESS_OFF };
enum topo_direction { DIRECTION_BOTH, DIRECTION_A_TO_B, DIRECTION_B_TO_A };
enum topo_transport { TRANSPORT_RC, TRANSPORT_DATAGRAM };
enum topo_repeat { REPEAT_GO_BACK_N, REPEAT_SELECTIVE };
enum topo_profile { DCQCN_PAPER, DCQCN_NIC };
enum topo_rsvp_data { HOST_RSVP_FREE, HOST_RSVP_GATED };
enum topo_rsvp { HOST_RSVP_OFF, HOST_RSVP_EXT, HOST_RSVP_LETTER };
enum topo_arrivals { ARRIVALS_CONSTANT, ARRIVALS_POISSON };

struct topo_lab {
	struct cfg_mark at;
	char *name;
	uint64_t run_ns, drain_ns;
	uint64_t seed;
	uint32_t frames;    /* enum topo_frames */
	uint64_t memory;    /* bytes */
	uint64_t sample_ns; /* 0: by the size of the network (lab_sample.c) */
	uint32_t lossless;  /* enum topo_lossless */
	uint64_t counters;  /* of credit: where they begin */
};

struct topo_node {
	struct cfg_mark at;
	char *name;
	char *file;	       /* or NULL */
	struct config *config; /* inline, or loaded from `file` by topo_check */
	uint64_t cpu_hz, cycles, pass_cycles;
};

enum topo_after { AFTER_XOFF, AFTER_XON, AFTER_PAUSED, AFTER_RESUMED };
enum topo_traffic { TRAFFIC_ALL, TRAFFIC_CONTROL, TRAFFIC_DATA };

/* A time relative to a pause, in place of one since the start. */
struct topo_when {
	struct cfg_mark at;
	uint32_t after; /* enum topo_after */
	char *port;	/* NODE.PORT or HOST.PORT; NULL: the time is given as such */
	uint64_t priority, count, delay_ns;
};

struct topo_failure {
	struct cfg_mark at;
	uint64_t start_ns, for_ns;
	struct topo_when when;
	uint32_t traffic; /* enum topo_traffic */
	bool remote_fault;
	uint32_t direction; /* enum topo_direction */
	uint64_t detect_ns; /* TIME_NEVER: never */
	uint64_t repeat, every_ns;
	uint64_t rate_bps; /* that the link has meanwhile; 0: none, it is down */
};

struct topo_link {
	struct cfg_mark at;
	char *name;  /* NULL: built from its ends */
	char *a, *b; /* NODE.PORT or HOST.PORT */
	uint64_t rate_bps;
	uint64_t delay_ns, km; /* either; km: kilometres of fibre at 5 us */
	uint32_t faulty;       /* enum topo_direction: direction of jitter, loss, ... */
	uint32_t faults;       /* enum topo_traffic: frames that these concern */
	uint64_t jitter_ns, reorder_ns;
	double loss, corruption, duplication, reordering;
	bool fcs; /* receivers detect corruption */
	uint64_t mtu;
	CFG_LIST(struct topo_failure) failures;
};

struct topo_stall {
	struct cfg_mark at;
	uint64_t start_ns, for_ns;
};

struct topo_sink {
	struct cfg_mark at;
	uint64_t drain_bps;	    /* 0: at once */
	uint64_t buffer, xoff, xon; /* bytes */
	uint64_t quanta;
	CFG_LIST(struct topo_stall) stalls; /* in chronological order */
};

#define TOPO_FRAME_MAX 192 /* bytes */

struct topo_injection {
	struct cfg_mark at;
	uint64_t start_ns, repeat, every_ns;
	char *frame; /* hexadecimal, without FCS */
};

struct topo_host {
	struct cfg_mark at;
	char *name;
	CFG_LIST(struct ip_prefix) addresses;
	struct eth_addr mac;	/* zero: derived from its number */
	CFG_LIST(uint64_t) pfc; /* priorities with PFC */
	uint64_t response_ns;	/* from an XOFF to its effect; TIME_NEVER: the limit of IEEE 802.1Q */
	uint64_t pipeline;	/* bytes that leave after that */
	struct topo_sink sink;
	CFG_LIST(struct topo_injection) send;
	uint32_t rsvp;		  /* enum topo_rsvp */
	uint32_t rsvp_data;	  /* enum topo_rsvp_data */
	uint64_t rsvp_end_ns;	  /* its sessions end; TIME_NEVER: with the run */
	uint64_t rsvp_refresh_ns; /* mode letter; 0: never */
	CFG_LIST(struct topo_stall) rsvp_restarts;
};

struct topo_flow {
	struct cfg_mark at;
	char *name; /* NULL: FROM-TO */
	char *from, *to;
	uint32_t transport; /* enum topo_transport */
	uint64_t family;    /* 4 or 6 */
	uint64_t queue_pairs;
	bool overruns;		    /* it does not wait for credit */
	uint64_t message, messages; /* bytes of a message; messages of each queue pair, 0: until the end */
	uint64_t start_ns;
	uint64_t rate_bps; /* of a queue pair; 0: rate of the port */
	uint64_t window;   /* most unacknowledged bytes; 0: no limit */
	uint64_t mtu;	   /* payload of one packet */
	uint64_t ack_every, timeout, retries;
	uint64_t dscp, priority;
	uint64_t cnp_dscp, cnp_priority;
	bool ecn, dcqcn, slow_restart;
	uint32_t dcqcn_profile; /* enum topo_profile */
	uint32_t repeat;	/* enum topo_repeat */
	uint32_t arrivals;	/* enum topo_arrivals; datagrams */
};

struct topo_capture {
	struct cfg_mark at;
	char *place; /* NODE.PORT or HOST.PORT */
	char *file;
	uint64_t count;
};

struct topo_event {
	struct cfg_mark at;
	uint64_t time_ns;
	struct topo_when when;
	char *node;
	char *command, *reload; /* one of them */
	uint64_t restart_ns;	/* TIME_NEVER: no restart */
};

struct topology {
	struct cfg_mark at;
	struct topo_lab lab;
	CFG_LIST(struct topo_node) nodes;
	CFG_LIST(struct topo_host) hosts;
	CFG_LIST(struct topo_link) links;
	CFG_LIST(struct topo_flow) flows;
	CFG_LIST(struct topo_capture) captures;
	CFG_LIST(struct topo_event) schedule;

	char *file;
	struct arena *arena;
	struct cfg_marks *marks;
};

#define TOPO_HOST_PORTS 2 /* eth0, eth1 */

/* An end of a link, or a capture point. */
struct topo_end {
	int node, host; /* index, or -1 */
	uint16_t port;
};

struct cfg_map;
extern const struct cfg_map topo_root;

/*
 * Load and check a topology with the configurations of all its nodes. On errors NULL, with messages in `diags`. A
 * message about a node's own file is reported at the node's "file" key.
 */
struct topology *topo_load_file(const char *path, struct cfg_diags *diags);
struct topology *topo_load_text(const char *name, const char *text, size_t size, struct cfg_diags *diags);
void topo_free(struct topology *t); /* NULL is fine */

/* Resolve an end such as "leaf1.wan0". 0, or -ENOENT with a message in err. */
int topo_find_end(const struct topology *t, const char *text, struct topo_end *end, char *err, size_t size);

/* Parse pairs of hexadecimal digits and white space; returns the number of bytes, or -1 if invalid or over `room`. */
int topo_frame(const char *text, uint8_t *out, size_t room);

/*
 * The lossless classes: a bit per priority with PFC on a port of any node, or of any host if no node has one. *required:
 * a loss of them fails the run.
 */
uint8_t topo_lossless(const struct topology *t, bool *required);

/* One-way propagation delay of a link. */
uint64_t topo_delay(const struct topo_link *l);

/* Position of a member in the topology file. */
struct cfg_mark topo_where(const struct topology *t, const void *member);

/* Memory needed by a run, by part; for the check before the start and for messages. */
struct topo_memory {
	uint64_t nodes, lines, hosts, eal; /* bytes; lines: links full of frames of full size */
	char widest[512];		   /* the calculation for the link that holds most */
};
void topo_memory(const struct topology *t, struct topo_memory *out);

/* config/lab/reference.yaml */
void topo_emit_reference(FILE *out);

#endif
