/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A configuration in memory: plain structs that the loader fills by the schema (schema.c) and that are freed as a
 * whole. Every struct of a YAML mapping begins with the place of the mapping in the file.
 *
 * Immutable after loading and checking; management thread. Addresses are in network order, all other members in host
 * order. The schema gives the units.
 */
#ifndef CONFIG_MODEL_H
#define CONFIG_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "config/words.h"
#include "wire/addr.h"

/* A place in the file, line and column from 1; 0:0: the value was not given. */
struct cfg_mark {
	uint32_t line, column;
};

#define CFG_LIST(type) \
	struct { \
		type *items; \
		uint32_t n; \
	}

#define CFG_NONE UINT64_MAX

#define CFG_VLAN_UNTAGGED 0
#define CFG_VLAN_MAX 4094
#define CFG_MAX_INTERFACES 1024

#define CFG_SLICE_ARGUMENT_BITS 16

static inline bool cfg_encap_is_l2(uint32_t encap)
{
	return encap == ENCAP_H_ENCAPS_L2 || encap == ENCAP_H_ENCAPS_L2_RED;
}

struct cfg_usid {
	struct cfg_mark at;
	struct ip_prefix block;
	CFG_LIST(struct ip_prefix) more_blocks;
	uint64_t node;
};

struct cfg_node {
	struct cfg_mark at;
	char *name;
	struct ip_addr loopback;
	struct cfg_usid usid;
	CFG_LIST(struct ip_prefix) sid_blocks;
	CFG_LIST(struct ip_prefix) infrastructure;
	uint64_t slice_option; /* option type; 0: none */
};

struct cfg_lcores {
	struct cfg_mark at;
	uint64_t control;
	CFG_LIST(uint64_t) rx;
	CFG_LIST(uint64_t) worker;
	char *cpus; /* "0@0,1@0" or NULL: lcore N on CPU N */
};

struct cfg_memory {
	struct cfg_mark at;
	uint32_t hugepages;   /* enum cfg_hugepages */
	uint32_t fib;	      /* enum cfg_fib_kind; ignored */
	uint64_t buffers;     /* CFG_NONE: by the budget (cfg_pool) */
	uint64_t pool;	      /* in a reload, the buffers of the running node's pool (cfg_keep_pool); else 0 */
	uint64_t buffer_size; /* bytes of a frame that fit into one buffer */
	uint64_t lossless;    /* buffers that profiles with alpha share */
	uint64_t ring;
};

struct cfg_idle {
	struct cfg_mark at;
	uint32_t policy; /* enum cfg_idle_policy */
	uint64_t max_sleep_us;
};

struct cfg_icmp {
	struct cfg_mark at;
	uint64_t errors_per_port; /* per second */
	uint64_t errors;	  /* per second */
	uint64_t echo;		  /* per second */
	uint32_t path_mtu;	  /* enum cfg_path_mtu */
};

struct cfg_discovery {
	struct cfg_mark at;
	uint64_t retransmit_ms;
	uint64_t probes;
	uint64_t reachable_ms;
	uint64_t stale_ms;
	uint64_t hold;
	uint64_t hold_total;
	uint64_t max;
};

struct cfg_failover {
	struct cfg_mark at;
	uint64_t hold_ms;
	uint64_t hold_max_ms;
	uint64_t window_ms;
};

struct cfg_metrics {
	struct cfg_mark at;
	char *listen; /* "127.0.0.1:9111"; NULL: none */
};

struct cfg_log {
	struct cfg_mark at;
	uint32_t to;	/* enum cfg_log_to */
	uint32_t level; /* enum log_level */
	uint64_t rate;	/* lines per second and module */
};

struct cfg_descriptors {
	struct cfg_mark at;
	uint64_t rx, tx;
};

struct cfg_slice {
	struct cfg_mark at;
	char *name;
	uint64_t id; /* unique in the whole network, as sent on the wire; 0: none */
	uint64_t weight;
	uint64_t min_rate_bps; /* 0: none is guaranteed */
	uint64_t max_rate_bps; /* 0: no limit */
};

/* Code points, or classes, and the class or DSCP that a map gives them. */
struct cfg_range {
	struct cfg_mark at;
	uint64_t from, to; /* to, if not given: from */
	uint64_t value;
};

struct cfg_class_map {
	struct cfg_mark at;
	char *name;
	CFG_LIST(struct cfg_range) dscp;
	CFG_LIST(struct cfg_range) pcp;
	CFG_LIST(struct cfg_range) classes;
};

struct cfg_dscp_map {
	struct cfg_mark at;
	char *name;
	CFG_LIST(struct cfg_range) map;
};

struct cfg_ecn {
	struct cfg_mark at;
	CFG_LIST(uint64_t) classes;
	uint64_t min, max; /* bytes */
};

/* After ALPHA_STATIC, powers of two from 1/128; order of words_alpha in schema_qos.c. */
enum cfg_alpha { ALPHA_STATIC, ALPHA_FIRST, ALPHA_ONE = ALPHA_FIRST + 7, ALPHA_LAST = ALPHA_FIRST + 10 };

struct cfg_buffer_profile {
	struct cfg_mark at;
	char *name;
	uint32_t alpha;	      /* enum cfg_alpha */
	uint64_t xoff, xon;   /* bytes; CFG_NONE: computed */
	uint64_t headroom;    /* bytes; CFG_NONE: computed */
	bool forced;	      /* headroom counts even if it is less than computed */
	uint64_t min_frame;   /* bytes */
	uint64_t response_us; /* of this node */
	uint64_t jitter_us;   /* of the path */
	uint64_t losses;      /* PFC frames in a row that may be lost */
	uint64_t selective;   /* bytes; CFG_NONE: by the number of slices */
};

struct cfg_watchdog {
	struct cfg_mark at;
	uint32_t action;			  /* enum cfg_watchdog_action */
	uint64_t release_us;			  /* for which pauses of tunnels are ignored */
	uint64_t alarm_ms, detect_ms, restore_ms; /* CFG_NONE: derived from the longest possible pause */
};

struct cfg_pfc {
	struct cfg_mark at;
	CFG_LIST(uint64_t) priorities;
	CFG_LIST(struct eth_addr) peers;
	bool learn;
	bool learn_tunnels;
	bool lenient_cev, lenient_pad;
	uint32_t hardware;	   /* enum cfg_pfc_hardware */
	uint32_t blind;		   /* enum cfg_pfc_blind */
	char *buffer;		   /* a buffer profile, or NULL: the built-in one */
	uint64_t length_m;	   /* CFG_NONE: not given; then HEADROOM_LENGTH_M for a link */
	uint64_t round_trip_us;	   /* of PFC frame and data; CFG_NONE: by length_m */
	uint64_t outage_ms;	   /* lossless packets for the port wait so long while its link is down */
	uint64_t peer_descriptors; /* frames that the neighbour still sends after it received PFC */
	struct cfg_watchdog watchdog;
};

/* RFC 5880 section 6.8.1; intervals in microseconds. */
struct cfg_bfd_profile {
	struct cfg_mark at;
	char *name;
	uint64_t transmit_us, receive_us;
	uint64_t multiplier;
	uint64_t echo_us, echo_receive_us; /* CFG_NONE: off */
	bool passive, shutdown;
	uint32_t auth;	   /* enum cfg_bfd_auth */
	uint64_t auth_key; /* 0: none */
};

struct cfg_sbfd_reflector {
	struct cfg_mark at;
	uint64_t discriminator; /* 0: none */
	uint64_t rate;		/* answers per second */
};

struct cfg_port {
	struct cfg_mark at;
	char *name;
	char *device;
	uint32_t side; /* enum cfg_side */
	char *vrf;     /* NULL: the underlay's table */
	uint64_t mtu;
	struct eth_addr mac; /* zero: the device's own */
	uint64_t speed_bps;  /* 0: what the device reports */
	uint64_t rx_queues;
	uint32_t rx_spread; /* enum cfg_rx_spread */
	bool rss_symmetric, hardware_timestamps;
	struct cfg_descriptors descriptors;
	uint64_t worker;	/* CFG_NONE: any */
	uint64_t queue_limit;	/* packets */
	uint64_t buffer_limit;	/* packet buffers */
	uint64_t control_limit; /* packet buffers */
	uint64_t control_rate;	/* packets per second */
	uint64_t link_delay_us; /* one way; CFG_NONE: measured, or by the length of the link */
	char *slice;		/* or NULL */
	char *class_map;	/* or NULL */
	char *dscp_in;		/* dscp-map, or NULL */
	char *dscp_out;		/* dscp-map, or NULL */
	uint64_t bounce_class;
	struct cfg_ecn ecn;
	struct cfg_pfc pfc;
	CFG_LIST(uint32_t) boundary_off; /* enum cfg_boundary */
	CFG_LIST(struct ip_prefix) allow_sids;
	uint32_t hmac; /* enum cfg_hmac_check */
	char *bfd;     /* profile of all next hops on it, or NULL */
	CFG_LIST(struct ip_prefix) addresses;
};

/* A VLAN of a port as a routed interface with its own addresses and neighbours. */
struct cfg_interface {
	struct cfg_mark at;
	char *name;
	char *port;
	uint64_t vlan;	     /* outer tag */
	uint64_t inner_vlan; /* 0: one tag */
	uint32_t tag;	     /* enum cfg_tag, of the outer tag */
	char *vrf;	     /* NULL: the underlay's table */
	char *slice;	     /* or NULL */
	uint64_t mtu;	     /* CFG_NONE: the port's */
	char *bfd;	     /* profile of all next hops on it, or NULL */
	CFG_LIST(struct ip_prefix) addresses;
};

struct cfg_neighbor {
	struct cfg_mark at;
	char *port; /* a port or an interface, as for every next hop */
	struct ip_addr address;
	struct eth_addr mac;
	char *bfd; /* profile, or NULL */
};

struct cfg_route {
	struct cfg_mark at;
	struct ip_prefix prefix;
	char *port;		/* or NULL */
	struct ip_addr nexthop; /* family 0: on-link */
	char *policy;		/* or NULL; VRF routes only */
	char *bfd;		/* profile, or NULL */
};

struct cfg_vrf {
	struct cfg_mark at;
	char *name;
	char *slice; /* or NULL */
	CFG_LIST(struct cfg_route) routes;
};

/* A further member of the set J of an adjacency SID. */
struct cfg_adjacency {
	struct cfg_mark at;
	char *port;
	struct ip_addr nexthop;
	char *bfd; /* profile, or NULL */
};

struct cfg_sid {
	struct cfg_mark at;
	struct ip_prefix sid;
	uint32_t behavior;	    /* enum cfg_behavior */
	CFG_LIST(uint32_t) flavors; /* enum cfg_flavor; none: the behaviour's default */
	char *port;
	struct ip_addr nexthop;
	char *bfd; /* profile of the next hop, or NULL */
	char *vrf;
	CFG_LIST(uint32_t) allow; /* enum cfg_allow; none: ping */
	uint32_t hmac;		  /* enum cfg_hmac_check */
	char *slice;		  /* or NULL */
	char *class_map;	  /* or NULL */
	uint32_t dscp_mode;	  /* enum cfg_inner_dscp */
	char *dscp_map;		  /* or NULL */
	CFG_LIST(struct cfg_adjacency) adjacencies;
	CFG_LIST(struct ip_prefix) allowed_sources; /* none: all infrastructure sources */
	uint32_t pfc_hmac;			    /* enum cfg_hmac_check */
	CFG_LIST(uint64_t) message_keys;	    /* of PFC frames: ids, one of which is required; none: no digest */
	uint32_t slice_by;			    /* enum cfg_slice_by */
	bool lenient_cev;
	uint64_t jitter_us; /* time by which a pause exceeds the end given by its frame */
	uint64_t outage_ms; /* the same, for an interruption of the way back */
};

#define CFG_SID_OUTAGE_MS 50 /* default of outage_ms */

struct cfg_path {
	struct cfg_mark at;
	char *name;
	CFG_LIST(struct ip_addr) segments;
	uint64_t weight;
	bool backup;
	char *bfd;		  /* profile of its S-BFD session, or NULL */
	struct ip_addr reflector; /* family 0: none */
	uint64_t reflector_discriminator;
};

struct cfg_policy {
	struct cfg_mark at;
	char *name;
	uint32_t encap;			/* enum cfg_encap */
	struct ip_addr source;		/* family 0: the node's loopback */
	struct ip_prefix source_prefix; /* family 0: none */
	uint64_t hmac_key;		/* 0: no HMAC TLV */
	uint64_t hop_limit;
	uint32_t dscp_mode; /* enum cfg_dscp_mode */
	uint64_t dscp;
	char *dscp_map;	     /* or NULL */
	uint64_t flow_label; /* 0: hash of the inner packet */
	char *class_map;     /* or NULL */
	uint32_t slice_by;   /* enum cfg_slice_by, not argument: those are in the segments */
	uint64_t flows;	     /* places in the flow table of each rx lcore; 0: no table */
	uint32_t flow_key;   /* enum cfg_flow_key */
	bool roce;	     /* PSNs of RoCEv2 are looked at */
	bool feedback;	     /* flows leave congested paths */
	uint32_t disjoint;   /* enum cfg_disjoint */
	CFG_LIST(struct cfg_path) paths;
};

struct cfg_steering {
	struct cfg_mark at;
	uint64_t idle_s;
	uint64_t interval_ns, gap_ns;
	uint64_t margin, share;			  /* percent */
	uint64_t queue_limit_ns, credit_limit_ns; /* 0: off */
	uint64_t pause_limit;			  /* percent; 0: off */
};

/* A flow and the path that it takes. */
struct cfg_placement {
	struct cfg_mark at;
	char *flow; /* steer/steer_key.h */
	char *policy, *path;
	bool pinned;
};

struct cfg_hmac {
	struct cfg_mark at;
	char *keys;	  /* file, or NULL */
	uint32_t profile; /* enum cfg_hmac_profile */
};

struct cfg_secrets;

/* A port, or a VLAN of it, as one end of a layer-2 tunnel. */
struct cfg_circuit {
	struct cfg_mark at;
	char *name;
	char *port;
	uint64_t
		vlan; /* outer tag, or CFG_VLAN_UNTAGGED; CFG_NONE: all frames that no other circuit of the port takes */
	char *policy;
};

/* PFC of the gateway on a port, carried across the WAN (draft-he). */
struct cfg_relay {
	struct cfg_mark at;
	char *name;
	char *port;
	struct ip_prefix sid; /* family 0: nothing is received */
	uint32_t mode;	      /* enum cfg_relay_mode */
	uint64_t from_bps;    /* CFG_NONE: the rate of `port` */
	uint64_t jitter_us, hold_min_us;
	uint64_t outage_ms;		   /* interruption of the way back that a pause outlives */
	CFG_LIST(struct ip_addr) segments; /* none: nothing is sent */
	uint64_t flow_label;
	uint64_t hmac_key; /* 0: none */
	bool honour_local;
	uint32_t carrier;  /* enum cfg_carrier */
	uint64_t udp_port; /* 0: not given */
	uint64_t lease_us;
	CFG_LIST(uint64_t) message_keys;	    /* of frames or messages: ids; the first one is used to send */
	CFG_LIST(struct ip_prefix) allowed_sources; /* none: all infrastructure sources */
	struct cfg_watchdog watchdog;
};

/* A tunnel that carries the back-pressure of a slice upstream (draft-ruan section 3, scenario 1). */
struct cfg_pfc_tunnel {
	struct cfg_mark at;
	char *name;
	char *slice; /* or NULL */
	char *port;  /* on which the data is received */
	CFG_LIST(uint64_t) priorities;
	CFG_LIST(struct ip_addr) segments;
	uint64_t far_bps; /* 0: the rate of `port` */
	uint64_t flow_label;
	uint64_t hmac_key;     /* 0: none */
	uint64_t message_key;  /* 0: frames have no digest */
	uint32_t slice_by;     /* enum cfg_slice_by */
	struct ip_addr source; /* outer source of the data from the tunnel's far end; family 0: all data */
	bool repeat;
	uint64_t outage_ms; /* time for which XON is repeated */
};

/* Tunnels learnt from data (scenario 2). */
struct cfg_pfc_learning {
	struct cfg_mark at;
	uint64_t tunnels;
	uint64_t idle_s, max_rtt_ms;
	uint64_t far_bps; /* 0: the rate of the port on which the data is received */
	uint64_t flow_label;
	uint64_t hmac_key;    /* 0: none */
	uint64_t message_key; /* 0: frames have no digest */
	uint32_t slice_by;    /* enum cfg_slice_by */
	bool repeat;
	uint64_t outage_ms; /* time for which XON is repeated */
};

#define CFG_REMOTE_SIDS_MAX 32768 /* limit for the configuration, and for each file */

#define CFG_REMOTE_OTHER BEHAVIOR_COUNT /* a behaviour without a name here, given by its code point */

/* A SID of another node (draft-ruan section 2 leaves its advertisement to IGP and BGP-LS). */
struct cfg_remote_sid {
	struct cfg_mark at;
	struct ip_prefix sid;
	uint32_t behavior;	    /* enum cfg_behavior, or CFG_REMOTE_OTHER */
	CFG_LIST(uint32_t) flavors; /* enum cfg_flavor; none: the behaviour's default */
	uint64_t code;		    /* 0: that of the behaviour */
	char *owner;
	uint64_t block_bits, node_bits, function_bits, argument_bits; /* CFG_NONE: by config/remote_sids.h */
};

/* A JSON file of remote SIDs. */
struct cfg_remote_file {
	struct cfg_mark at;
	const char *path; /* as in messages */
	CFG_LIST(struct cfg_remote_sid) sids;
};

struct cfg_credit_key {
	struct cfg_mark at;
	uint64_t id;
	uint32_t digest;	  /* enum cfg_digest */
	uint64_t from_s, until_s; /* UNIX times; CFG_NONE: for ever */
};

struct cfg_credit_neighbor {
	struct cfg_mark at;
	struct ip_addr address;
	char *port;    /* NULL: a node of the domain; else a server on that link */
	uint32_t mode; /* enum cfg_speech */
	uint64_t hops;
	CFG_LIST(struct cfg_credit_key) keys; /* of a server */
	uint64_t buffer;		      /* units; CFG_NONE: that of all */
	uint64_t rate;			      /* messages per second */
};

struct cfg_credit_accept {
	struct cfg_mark at;
	struct ip_prefix sources;
	uint64_t buffer; /* units; CFG_NONE: that of all */
	uint64_t total;	 /* units of all of them; CFG_NONE: what the pool has */
	char *join;	 /* name of a session to a server, which carries their data on; NULL: none */
};

/* Data that belongs to sessions, whether they are known here or not. */
struct cfg_credit_data_of {
	struct cfg_mark at;
	struct ip_prefix sources;
	uint64_t class;
};

/* Packets whose first one begins a session. */
struct cfg_credit_match {
	struct cfg_mark at;
	struct ip_prefix sources, destinations; /* family 0: any */
};

struct cfg_credit_session {
	struct cfg_mark at;
	char *name;
	char *policy; /* NULL: to a server */
	char *port;   /* of the server; NULL: along the policy */
	struct ip_addr to;
	uint64_t class;
	uint64_t rate_bps;
	uint64_t buffer;      /* bytes */
	uint64_t on_demand_s; /* it ends after that time without data; 0: it does not wait for data */
	struct cfg_credit_match match;
};

/* Sessions by the letter of the draft (docs/credit.md 2.4). */
struct cfg_credit_letter {
	struct cfg_mark at;
	uint64_t grant_mb;
	uint32_t unit;	     /* enum cfg_return_unit */
	uint32_t comparison; /* enum cfg_comparison */
	uint64_t rate;	     /* 29s a second to a neighbour; 0: one for each packet */
	uint64_t heartbeat_ms;
	bool refresh;
	uint64_t class;
};

/* Credit flow control signalled by RSVP (docs/credit.md). */
struct cfg_credit {
	struct cfg_mark at;
	uint32_t mode;	    /* enum cfg_credit_mode */
	uint32_t data;	    /* enum cfg_credit_data */
	uint32_t integrity; /* enum cfg_integrity */
	CFG_LIST(struct cfg_credit_key) keys;
	uint64_t clock_s;
	uint64_t window;
	uint64_t paths;
	uint64_t unit;		       /* log2 of bytes */
	uint64_t pool, buffer, margin; /* units */
	uint64_t oversubscription;
	uint64_t refresh_ms, losses, rapid_ms, rapid_copies, repeat_max_ms;
	uint64_t select_ms, offer_ms, idle_ms, lease_ms, repair_ms, heartbeat_ms, wait_ms;
	uint64_t overhead; /* bytes */
	uint64_t alpha;	   /* 0: no shares */
	uint32_t overrun;  /* enum cfg_overrun */
	bool share;
	uint64_t return_ms; /* 0: D_idle or two loops; CFG_NONE: never */
	uint64_t blockade, max_hops;
	CFG_LIST(uint64_t) message_types; /* none: those of the draft */
	CFG_LIST(uint64_t) classes;	  /* none: those of docs/credit.md 2.1 */
	uint64_t enterprise;
	struct cfg_credit_letter letter;
	CFG_LIST(struct cfg_credit_neighbor) neighbors;
	CFG_LIST(struct cfg_credit_accept) accept;
	CFG_LIST(struct cfg_credit_session) sessions;
	CFG_LIST(struct cfg_credit_data_of) data_of;
};

struct arena;
struct cfg_marks;
struct cfg_names;

struct config {
	struct cfg_mark at;
	char *file;
	char *text; /* as loaded; NULL: inside another file */
	struct cfg_node node;
	struct cfg_lcores lcores;
	struct cfg_memory memory;
	struct cfg_idle idle;
	struct cfg_icmp icmp;
	struct cfg_discovery discovery;
	struct cfg_failover failover;
	struct cfg_metrics metrics;
	struct cfg_log log;
	CFG_LIST(struct cfg_port) ports;
	CFG_LIST(struct cfg_interface) interfaces;
	CFG_LIST(struct cfg_slice) slices;
	CFG_LIST(struct cfg_class_map) class_maps;
	CFG_LIST(struct cfg_dscp_map) dscp_maps;
	CFG_LIST(struct cfg_buffer_profile) buffer_profiles;
	CFG_LIST(struct cfg_bfd_profile) bfd_profiles;
	struct cfg_sbfd_reflector sbfd_reflector;
	CFG_LIST(struct cfg_neighbor) neighbors;
	CFG_LIST(struct cfg_route) routes;
	CFG_LIST(struct cfg_vrf) vrfs;
	CFG_LIST(struct cfg_sid) sids;
	CFG_LIST(struct cfg_policy) policies;
	struct cfg_steering steering;
	CFG_LIST(struct cfg_placement) placements;
	CFG_LIST(struct cfg_circuit) circuits;
	CFG_LIST(struct cfg_relay) relays;
	CFG_LIST(struct cfg_pfc_tunnel) pfc_tunnels;
	struct cfg_pfc_learning pfc_learning;
	CFG_LIST(struct cfg_remote_sid) remote_sids;
	CFG_LIST(char *) remote_files;

	struct cfg_hmac hmac;
	struct cfg_credit credit;
	CFG_LIST(struct cfg_remote_file) imported; /* SIDs of remote_files */
	struct cfg_secrets *secrets;		   /* keys of hmac.keys; NULL: not read */
	struct arena *arena;			   /* owns everything above */
	struct cfg_marks *marks;		   /* place of each scalar in the file */
	struct cfg_names *names;		   /* sorted names of objects that others refer to */
};

#endif
