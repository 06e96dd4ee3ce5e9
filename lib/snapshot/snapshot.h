/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forwarding state that lcores read: one immutable object. snapshot_build (management thread) makes it from a
 * checked configuration. The object is published as a pointer and freed after a grace period. Nothing writes it after
 * publication: the published pointer and the pointers inside it are to const. Only the build (build_priv.h) has
 * writable ones.
 *
 * Ids of neighbours, paths, SIDs and VRFs are stable. The same object keeps its id from one snapshot to the next. The
 * id of a removed object is not assigned again while a queued packet may refer to it. All indices in packets are such
 * ids.
 */
#ifndef SNAPSHOT_SNAPSHOT_H
#define SNAPSHOT_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "bfd/bfd.h"
#include "config/words.h"
#include "fib/fib.h"
#include "hmac/hmac.h"
#include "pfc/pfc_buffer.h"
#include "pfc/pfc_remote.h"
#include "pfc/pfc_watchdog.h"
#include "pkt/punt.h"
#include "rsvp/rsvp_integrity.h"
#include "rsvp/rsvp_letter.h"
#include "rsvp/rsvp_node.h"
#include "stats/stats.h"
#include "wire/addr.h"
#include "wire/eth.h"

#define SNAP_NEIGH_MAX 4096 /* configured next hops and static neighbours */
#define SNAP_PATH_MAX (64u * 1024)
#define SNAP_SID_MAX (64u * 1024)
#define SNAP_INTERFACE_MAX 1024
#define SNAP_VRF_MAX 8193 /* the underlay's table is VRF 0 */
#define SNAP_GROUP_MAX 64
#define SNAP_SLICE_MAX 128 /* twice the configuration's maximum: ids of removed slices stay reserved */
#define SNAP_SLICE_NONE 0  /* traffic without a slice */
#define SNAP_SLICE_KEEP 0xff
#define SNAP_POLICY_BUCKETS_LOG2 6 /* number of high bits of a flow's hash that choose the path */
#define SNAP_POLICY_BUCKETS (1 << SNAP_POLICY_BUCKETS_LOG2)
#define SNAP_ENCAP_BYTES_MAX (40 + 16 + 8 + 16 * 16 + 40)
#define VRF_UNDERLAY 0
#define SNAP_DSCPS 64

/* Classes as in pkt.tclass, control included. No packet leaves or enters a tunnel in the control class. */
#define SNAP_TUNNEL_CLASSES 9

/*
 * Interfaces by number. A port's number is its index. The number of a VLAN interface has the port's index in the low
 * bits and the interface's stable id above. Row 0 is that of ports, row 1 that of PORT_LOCAL.
 */
#define SNAP_INTERFACE_ROW MAX_PORTS
_Static_assert(SNAP_INTERFACE_MAX + 2 == INTERFACE_SLOTS, "a row of counters for each");

static inline uint16_t snap_interface_number(uint16_t port, uint32_t id)
{
	return (uint16_t)((id + 2) * SNAP_INTERFACE_ROW + port);
}

/* Port of an interface. */
static inline uint8_t snap_interface_of(uint32_t interface)
{
	return (uint8_t)(interface % SNAP_INTERFACE_ROW);
}

static inline bool snap_is_vlan(uint32_t interface)
{
	return interface >= 2 * SNAP_INTERFACE_ROW;
}

/* A prefix of IPv6 as two masked words. */
struct snap_match {
	uint64_t hi, lo, mask_hi, mask_lo;
};

static inline bool snap_match_has(const struct snap_match *m, uint64_t hi, uint64_t lo)
{
	return (hi & m->mask_hi) == m->hi && (lo & m->mask_lo) == m->lo;
}

struct snap_interface {
	struct eth_addr mac;
	uint16_t vrf;
	uint16_t mtu;
	uint8_t side; /* enum cfg_side */
	uint8_t n_own;
	uint8_t slice;		   /* of packets received here */
	uint8_t bounce_class;	   /* queue of lossless packets that leave by their ingress port */
	uint8_t ecn_classes;	   /* bit per class whose queue marks */
	uint32_t queue_limit;	   /* packets of one queue */
	uint32_t buffer_limit;	   /* buffers of all queues of lossy classes */
	uint32_t control_limit;	   /* buffers of the control queue */
	uint32_t ecn_min, ecn_max; /* bytes of a queue */
	uint64_t control_rate;	   /* packets a second, of each rx role */
	uint8_t lossless;	   /* bit per class: PFC priorities */
	uint8_t pfc_pass;	   /* PFC_UNPADDED, PFC_ANY_ENABLE */
	uint8_t n_pfc_peers;
	bool pfc_learn;
	bool pfc_relayed;     /* received PFC goes into a tunnel */
	bool pfc_obeyed;      /* a port with pfc_relayed obeys received PFC as well */
	bool pfc_regenerated; /* far PEs pause the neighbour through a relay that regenerates */
	bool pfc_tunnelled;   /* PFC for the neighbour goes into tunnels instead */
	bool pfc_learning;    /* tunnels are learnt from data received here */
	bool examined;	      /* services look at every packet received here (struct rx_hooks) */
	bool pfc_shares;      /* traffic is counted per contributor, to choose the one to pause */
	uint64_t speed_bps;   /* 0: unknown, and lossless is 0 then */
	uint64_t loop_ns;     /* from a request to the neighbour to its effect here, reactions at both ends included */
	uint64_t ring_ns;     /* time in which the device sends a full transmit ring of longest frames */
	uint64_t outage_ns;   /* time for which lossless packets wait while the link is down */
	struct eth_addr pfc_peer[8];
	struct pfc_buffer_config buffer; /* of each lossless class */
	/* A receive ring is short if it holds so few frames, or was empty so short a time ago (lossless ports). */
	uint32_t
		credited; /* buffers that credit stands for which this node grants to what is behind the port; 0: none */
	uint64_t short_ns;
	uint32_t short_frames;
	struct pfc_watchdog_config watchdog; /* of each queue */
	uint8_t tclass_of_dscp[64];
	uint8_t tclass_of_pcp[8];
	/* DSCP by DSCP, of IP packets that are received, and of the outermost header of those that are sent; NULL: the same */
	const uint8_t *dscp_in, *dscp_out;
	bool sids_closed;    /* packets into the SID space are dropped unless allowed */
	bool any_source;     /* packets to own SIDs may have any source */
	bool sources_closed; /* underlay packets from here must not have a source inside the domain */
	bool hmac;	     /* SIDE_HOST: an HMAC authorises SIDs outside allow_sids */
	uint8_t n_allow_sids;
	const struct snap_match *allow_sids;	   /* SIDE_HOST */
	const struct snap_circuit *const *circuit; /* by VLAN id of the outer tag, [0]: untagged; NULL: no circuits */
	/* bit per value of the last six bits of its IPv6 and of its IPv4 addresses; 0: no address has it */
	uint64_t own6_hints, own4_hints;
	const struct ip_prefix *own; /* addresses with their subnets; the first one is link-local IPv6 */
	const char *name;
	/* VLAN interfaces on it: numbers by the id of the only tag, tables by the id of the outer tag; 0, NULL: none */
	const uint16_t *vlan;
	const uint16_t *const *inner_vlan;
	uint16_t n_links;	/* they and the port itself */
	bool link_delay_fixed;	/* even if another one is measured */
	uint32_t link_delay_us; /* one way; UINT32_MAX: unknown */
	/* only for a VLAN interface, which is a port in all other respects: */
	uint16_t interface; /* number; a port's own index */
	uint8_t n_tags;
	struct snap_tag {
		uint16_t type, id;
	} tag[2]; /* outer first */
};

struct snap_neigh {
	uint16_t port;
	uint16_t interface;
	uint16_t mtu; /* of that interface */
	bool used;    /* false: a free id */
	bool is_static;
	struct eth_addr mac; /* is_static */
	struct ip_addr addr;
};

struct snap_group {
	uint8_t n;
	target_t member[SNAP_GROUP_MAX]; /* TARGET_NEIGH or TARGET_LINK */
};

struct snap_slice {
	const char *name; /* NULL: a free id; "": SNAP_SLICE_NONE */
	uint32_t weight;
	uint32_t wire_id;      /* of the whole network; 0: none */
	uint64_t min_rate_bps; /* 0: none is guaranteed */
	uint64_t max_rate_bps; /* 0: no limit */
};

struct snap_vrf {
	const char *name; /* NULL: a free id */
	uint8_t slice;
	struct fib *v4, *v6; /* shared by snapshots, counted; read only (fib.h) */
};

/* The outer headers of a tunnel for PFC frames, ready to be copied (H.Encaps.L2.Red). */
#define SNAP_PFC_STATE_BYTES 28 /* UDP header and state message */
#define SNAP_PFC_KEYED_BYTES 68 /* the same with a digest */
#define SNAP_MESSAGE_KEYS 8

/* Keys of PFC frames and state messages: the first is used to send, any to receive. None: there are no digests. */
struct snap_message_keys {
	const struct hmac_key *key[SNAP_MESSAGE_KEYS];
	uint8_t n;
};

struct snap_pfc_outer {
	uint16_t bytes; /* 0: none */
	uint8_t header[SNAP_ENCAP_BYTES_MAX];
	/* frames have a trailer (docs/protocol.md 5.8): */
	uint32_t message_key; /* id; 0: they have none */
	uint32_t slice;	      /* id that the packet carries; 0: none */
	struct ipv6_addr end; /* destination of the packet at its end */
};

struct snap_relay {
	const char *name;
	uint8_t port;
	uint8_t mode;  /* enum pfc_relay_mode */
	bool receives; /* far PEs can pause the gateway */
	uint64_t from_bps, jitter_ns, hold_min_ns, outage_ns;
	struct pfc_watchdog_config watchdog; /* of the gateway's priorities */
	struct snap_pfc_outer outer;	     /* of the tunnel for the gateway's PFC */
	uint16_t udp_port;		     /* carrier: state; 0: frames */
	struct snap_message_keys keys;
	uint64_t lease_ns;
	uint32_t n_allowed; /* sources of state messages; 0: any infrastructure source */
	const struct snap_match *allowed;
};

struct snap_pfc_tunnel {
	const char *name;
	uint8_t slice, port, priorities;
	bool repeat, has_source;
	bool carries;		 /* its packets carry the slice's id */
	struct ipv6_addr source; /* of the data, if has_source */
	uint64_t far_bps;
	uint64_t outage_ns; /* XON is repeated for so long */
	struct snap_pfc_outer outer;
};

struct snap_pfc_learning {
	bool any; /* some port learns */
	bool repeat;
	uint32_t max;
	uint32_t flow_label, hmac_key, message_key; /* key ids, 0: none */
	uint8_t slice_by;			    /* enum cfg_slice_by */
	uint64_t idle_ns, max_rtt_ns, outage_ns;
	uint64_t far_bps;		/* 0: the rate of the port */
	struct ip_prefix block[1 + 16]; /* blocks whose uSIDs share containers */
	uint8_t n_blocks;
};

/* The end of a PFC tunnel at a SID: End.X.PFC and uA.PFC, or DX2 of a PFC relay. */
struct snap_pfc_sid {
	uint32_t ports; /* End.X.PFC: bit per port of the set J; 0: the frame is relayed */
	uint8_t slice;	/* slice whose queues pause */
	bool lenient_cev;
	const struct snap_relay *relay; /* of the gateway that receives the frames; NULL: End.X.PFC */
	bool hmac;			/* an HMAC TLV is required */
	struct snap_message_keys keys;	/* End.X.PFC: one of them is required */
	uint64_t jitter_ns, outage_ns;	/* End.X.PFC: added to a frame's pause time */
	uint32_t n_allowed;		/* 0: any infrastructure source */
	const struct snap_match *allowed;
};

/* A behaviour as a set of properties (RFC 8986 section 4, RFC 9800 section 4). */
struct snap_sid {
	uint8_t behavior;	     /* enum cfg_behavior, for show */
	uint8_t shift_bits;	     /* NEXT-CSID: LNFL, 16 or 32; 0: not compressed */
	uint8_t block_bits;	     /* in_container: LBL */
	bool psp, usp, usd;	     /* flavours */
	bool decap4, decap6, decap2; /* End.DT*, End.DX*: allowed inner packets */
	bool last;		     /* End.DT*, End.DX*: no segment may follow */
	bool used;
	bool hmac;		    /* an HMAC TLV is required */
	bool closer;		    /* the SID needs more than the shift behind a /32: hmac, slice_by, block, dscp_of */
	uint8_t slice_by;	    /* enum cfg_slice_by: source of the slice of packets and PFC frames */
	uint8_t slice_shift;	    /* SLICE_BY_ARGUMENT: bits of the address after the argument */
	bool in_container;	    /* may follow other uSIDs of a container */
	bool allow_ping, allow_udp; /* upper layers addressed to the node itself */
	uint8_t port;		    /* End.DX2: egress port */
	uint8_t slice;		    /* of packets that the SID processes, or SNAP_SLICE_KEEP */
	uint64_t arg_hi, arg_lo;    /* mask of the argument after the SID (D26); shift_bits */
	uint64_t arg_word[2];	    /* the same as it lies in memory */
	uint8_t tclass_of[SNAP_TUNNEL_CLASSES]; /* End.DT*: class after the tunnel, by class in it */
	uint16_t vrf;				/* table of End's next lookup and of the decapsulated packet */
	uint16_t code;				/* IANA SRv6 Endpoint Behaviors */
	target_t adjacency;		/* End.X, End.DX4, End.DX6: TARGET_NEIGH, of a set J TARGET_GROUP; 0: none */
	const struct snap_pfc_sid *pfc; /* NULL: no PFC frames end here */
	const uint8_t *dscp_of; /* uniform model: inner DSCP by that of the outer header; NULL: pipe model, it stays */
	struct ip_prefix prefix;
};

struct snap_path {
	uint16_t bytes;		/* of the outer headers; 0: a free id */
	uint8_t next_header_at; /* offset of the byte with the inner header's type */
	uint8_t slice_at;	/* offset of the slice's id in the headers; 0: none */
	uint8_t dscp;		/* 0 to 47, SNAP_DSCP_COPY or SNAP_DSCP_MAP */
	bool backup;
	uint16_t inner_mtu;	    /* largest packet or frame, in bytes, that fits the way out; see path_mtu.h */
	uint32_t fingerprint;	    /* of the outer headers */
	uint32_t weight;	    /* share of the flows among the paths that carry traffic */
	uint32_t policy_index;	    /* of the policy that contains it */
	const uint64_t *learnt_mtu; /* entry in the table of path_mtu.h */
	uint32_t flow_label;	    /* 0: hash */
	target_t via;		    /* target of the first address; 0: no way out */
	uint8_t tclass_of[SNAP_TUNNEL_CLASSES]; /* class in the tunnel, by class of the inner packet */
	const char *policy, *name;
	const uint8_t
		*dscp_of; /* SNAP_DSCP_MAP: outer DSCP by that of the inner packet; 48 to 63: as with SNAP_DSCP_COPY */
	uint8_t header[SNAP_ENCAP_BYTES_MAX];
};
#define SNAP_DSCP_COPY 0xff
#define SNAP_DSCP_MAP 0xfe

struct snap_policy {
	const char *name;
	/* largest packet or frame, in bytes, that fits the ways out; 65535 when no path has one; see path_mtu.h */
	uint16_t inner_mtu;
	uint16_t n_paths;		      /* at least 1 */
	uint8_t flow_key;		      /* enum cfg_flow_key */
	bool roce;			      /* PSNs are followed */
	bool feedback;			      /* flows leave congested paths */
	uint32_t flows;			      /* places in the flow table of an rx role; 0: flows are not looked up */
	uint32_t fingerprint;		      /* of the outer headers of all paths */
	const uint64_t *learnt_mtu;	      /* entry in the table of path_mtu.h */
	const uint32_t *path;		      /* ids, in the order of the configuration, backups included */
	uint32_t bucket[SNAP_POLICY_BUCKETS]; /* path ids, each in proportion to its weight */
};

/* An attachment circuit: frames of a port, or of one of its VLANs, are sent through a tunnel. */
struct snap_circuit {
	const char *name;
	uint32_t policy; /* index */
	uint16_t vlan;	 /* its VLAN id, 0: untagged; SNAP_VLAN_ANY */
	uint8_t port;
};
#define SNAP_VLAN_ANY 0xffff
#define SNAP_VLANS 4096

/* Direct index by the 16 bits after the block (docs/design.md section 2, docs/protocol.md 3.3). */
struct snap_usid {
	uint64_t block;			 /* the first 32 bits of its addresses; SNAP_USID_NONE: none, or no /32 */
	const target_t *entry;		 /* 65536 */
	const target_t *const *subtable; /* by TARGET_SUBTABLE index: 65536 by second id; [65536]: the /48's own */
	uint32_t n_subtables;
};

#define SNAP_PLACES 8 /* NUMA nodes with rx lcores */

#define SNAP_USID_NONE UINT64_MAX /* no address has this block */
#define SNAP_SUBTABLE_BASE 65536  /* index of the /48's own entry in a subtable */

/* A BFD session. */
struct snap_bfd {
	struct bfd_peer peer; /* user: index in snapshot.bfd of this snapshot */
	struct bfd_config config;
	uint32_t id;	     /* neighbour id; BFD_SBFD: path id */
	const char *profile; /* name */
};

/* A node with which RSVP messages are exchanged. */
struct snap_rsvp_neighbor {
	struct ip_addr addr;
	struct ip_addr own; /* RSVP_HOP address of this node to it: of the link that both are on, else the loopback */
	bool letter;	    /* it speaks by the letter of the draft */
	uint8_t least_hop_limit; /* of its messages for one hop (D57); 0: not checked */
	uint16_t zone; /* 0: a node of the domain; else a server: number of its interface, plus 1 (rsvp/rsvp_node.h) */
	uint32_t buffer; /* units that its sessions are offered at most */
	uint64_t rate;	 /* messages per second */
	uint32_t
		n_keys; /* of a server, or in letter mode; other nodes of the domain share those of struct snap_credit */
	const struct rsvp_key *key;
};

/* A server that is heard natively. */
struct snap_rsvp_server {
	uint64_t hi, lo; /* of its address; IPv4: 0, and the address */
	uint16_t zone;
};

/* Sessions that may end here. */
struct snap_rsvp_accept {
	struct snap_match sources;
	uint32_t buffer; /* units that each is offered at most */
	uint64_t total;	 /* units that all of them are granted at most; CFG_NONE: no limit */
	uint32_t join;	 /* session that carries their data on, plus 1; 0: none must */
};

/* A session that begins here. */
struct snap_rsvp_session {
	const char *name;
	struct ip_addr to;
	struct rsvp_tspec tspec;
	uint32_t policy; /* index; of no meaning if it goes to a server */
	uint32_t next;	 /* session of the same policy, plus 1; 0: none */
	uint16_t zone;	 /* of the server; 0: along the policy */
	uint8_t traffic_class;
	uint32_t demand;       /* index in snap_credit.demand, plus 1; 0: it does not wait for data */
	uint64_t on_demand_ns; /* it ends after that time without data */
};

/* A session that waits for data: what rx lcores compare with packets that its policy takes. */
struct snap_rsvp_demand {
	struct ip_prefix sources, destinations; /* family 0: any */
	uint32_t session;
	uint32_t next; /* of the same policy, plus 1; 0: none */
	uint8_t traffic_class;
};

/* Credit flow control signalled by RSVP. */
struct snap_credit {
	bool on;
	struct rsvp_config config;
	struct rsvp_numbers numbers;
	uint32_t overhead;  /* bytes charged for headers */
	uint64_t wait_ns;   /* for which packets wait for a session without credit */
	uint8_t alpha;	    /* of a session's share of a port's buffer; 0: no shares */
	bool overrun_drops; /* beyond twice that share */
	uint32_t floor;	    /* units that a session keeps when it gives its credit back; 0: it does not */
	uint64_t return_ns; /* after which it does, or D_idle, or two loops */
	uint64_t clock_s;
	uint64_t repair_ms; /* W of RFC 2205 section 3.6 */
	uint32_t window;
	uint32_t n_keys, n_neighbors, n_accepts, n_sessions;
	uint32_t n_servers;
	uint32_t n_data_of;
	struct {
		struct snap_match sources;
		uint8_t traffic_class;
	} data_of[LIMIT_CREDIT_DATA_OF]; /* data that belongs to sessions */
	uint32_t n_letters, n_letters4;	 /* neighbours of letter mode; of them with IPv4 */
	struct letter_config letter;
	struct rsvp_numbers letter_numbers;
	const struct rsvp_key *key;
	const struct snap_rsvp_neighbor *neighbor;
	const struct snap_rsvp_server *server; /* by zone and address */
	const uint32_t *of_policy;	       /* by policy: the first session along it, plus 1; 0: none */
	const struct snap_rsvp_accept *accept;
	const struct snap_rsvp_session *session;
	const struct snap_rsvp_demand *demand;
	const uint32_t *demand_of; /* by path: the first one of its policy, plus 1; NULL: there are none */
	uint32_t n_demands;
};

/* Timers and limits of neighbour discovery (RFC 4861 section 10, RFC 7048). */
struct snap_discovery {
	uint64_t retransmit_ms, probes, reachable_ms, stale_ms;
	uint32_t hold, hold_total; /* packets held for a neighbour, and for all neighbours of a worker */
	uint32_t max;		   /* entries of the neighbour cache */
};

/* Return to a link or next hop that has failed (service/nexthop). */
struct snap_failover {
	uint64_t hold_ns, hold_max_ns; /* time for which it must work before it is used again: first and longest */
	uint64_t window_ns;	       /* a failure within this time of the last return doubles the hold-down */
};

struct liveness;

struct snapshot {
	uint64_t generation; /* number of the snapshot */
	uint64_t epoch;	     /* of its ids: the snapshots of an epoch have dropped no id that was assigned again */
	const struct liveness *live; /* outlives the snapshot; liveness.h */
	struct ipv6_addr loopback;
	struct snap_interface port[MAX_PORTS];
	uint32_t n_ports;
	const struct snap_interface *const *interface; /* VLAN interfaces by row of their number; NULL: a free id */
	uint32_t n_interfaces;			       /* rows */
	struct snap_usid usid;
	struct snap_match infrastructure[64];
	uint32_t n_infrastructure;
	struct snap_match sid_space[2 + 16 + 16]; /* destinations closed to traffic from outside */
	uint32_t n_sid_space;

	struct snap_slice slice[SNAP_SLICE_MAX]; /* by slice id */
	const uint8_t (*dscp_map)[SNAP_DSCPS];	 /* DSCP by DSCP, in the order of the configuration */
	uint8_t slice_option;			 /* type of the hop-by-hop option with a slice's wire id; 0: none */
	uint64_t pass_ns; /* longest pass of an lcore under load, so that no receive ring overflows; 0: any */
	uint32_t n_slices;
	const struct snap_vrf *vrf; /* by VRF id */
	uint32_t n_vrfs;
	const struct snap_neigh *neigh; /* by neighbour id */
	uint32_t n_neighs;
	const struct snap_sid *sid; /* by SID id */
	uint32_t n_sids;
	const struct snap_path *path; /* by path id */
	uint32_t n_paths;
	const struct snap_group *group;
	uint32_t n_groups;
	const struct snap_policy *policy;
	uint32_t n_policies;
	uint64_t flows; /* of all policies */
	bool roce;	/* of some policy */
	bool feedback;	/* likewise */
	const struct snap_circuit *circuit;
	uint32_t n_circuits;
	const struct snap_relay *relay;
	uint32_t n_relays;
	const struct snap_pfc_tunnel *pfc_tunnel;
	uint32_t n_pfc_tunnels;
	struct snap_pfc_learning pfc_learning;
	struct pfc_remotes remotes; /* SIDs of the domain, own ones included: PFC tunnels are learnt by them */
	const struct hmac_key *key; /* for HMAC TLVs */
	uint32_t n_keys;

	const struct snap_bfd *bfd;
	uint32_t n_bfd;
	uint32_t sbfd_reflector; /* discriminator; 0: none */
	uint64_t sbfd_rate;	 /* its answers per second */
	bool takes_bfd;		 /* there are sessions or a reflector: BFD to own addresses goes to the control lcore */
	uint64_t bfd_rate
		[MAX_PORTS]; /* BFD packets per second that a port may need, of each rx role; 0: no session there */

	struct snap_credit credit;

	uint64_t shared_buffers; /* of lossless classes with alpha */
	uint32_t tunnelled;	 /* bit per port: pfc_tunnelled */

	/* limits of the control lcore */
	uint64_t icmp_errors, icmp_errors_per_port, icmp_echo; /* per second */
	struct punt_limit punt[PUNT_KIND_COUNT];	       /* of each port, on each rx lcore */
	uint8_t path_mtu;				       /* enum cfg_path_mtu */
	struct snap_discovery discovery;
	struct snap_failover failover;

	/* By place (build.h): this snapshot, but its route and uSID tables are on that NUMA node. [0] is this one. */
	struct snapshot *near[SNAP_PLACES];
	const struct config *config; /* source of the snapshot; owned by the publisher, outlives the snapshot */
	struct arena *arena;	     /* owns the arrays */
};

/* An interface by number; NULL: it was removed. */
static inline const struct snap_interface *snap_interface(const struct snapshot *s, uint32_t number)
{
	if (!snap_is_vlan(number))
		return &s->port[number];
	return number / SNAP_INTERFACE_ROW < s->n_interfaces ? s->interface[number / SNAP_INTERFACE_ROW] : NULL;
}

/* Member of an ECMP group that is the home of a flow with this hash. */
static inline unsigned int snap_member_index(const struct snapshot *s, const struct snap_group *g, uint32_t hash)
{
	/* use bits not in the flow label, and a seed per node; otherwise all nodes would select alike */
	return ((hash ^ (uint32_t)ipv6_lo(&s->loopback)) * 0x85ebca6bu >> 16) % g->n;
}

/* The table of a VRF id. */
static inline const struct snap_vrf *snap_vrf_of(const struct snapshot *s, uint16_t vrf)
{
	return &s->vrf[vrf];
}

static inline bool snap_in_sid_space(const struct snapshot *s, uint64_t hi, uint64_t lo)
{
	for (uint32_t i = 0; i < s->n_sid_space; i++)
		if (snap_match_has(&s->sid_space[i], hi, lo))
			return true;
	return false;
}

/* The relay whose state messages have this UDP port (host order), or NULL. */
static inline const struct snap_relay *snap_relay_at(const struct snapshot *s, uint16_t udp_port)
{
	for (uint32_t i = 0; i < s->n_relays; i++)
		if (s->relay[i].udp_port == udp_port)
			return &s->relay[i];
	return NULL;
}

/* Is a source among `allowed`? An empty list: all of the infrastructure, which is checked elsewhere. */
static inline bool snap_is_allowed(const struct snap_match *allowed, uint32_t n, const struct ipv6_addr *source)
{
	for (uint32_t i = 0; i < n; i++)
		if (snap_match_has(&allowed[i], ipv6_hi(source), ipv6_lo(source)))
			return true;
	return n == 0;
}

static inline bool snap_is_infrastructure(const struct snapshot *s, uint64_t hi, uint64_t lo)
{
	for (uint32_t i = 0; i < s->n_infrastructure; i++)
		if (snap_match_has(&s->infrastructure[i], hi, lo))
			return true;
	return false;
}

/*
 * Does a relay accept a state message that a port has received, whose IP header is at `at` in the frame and was looked up
 * in `vrf`? It arrived on a wan port, in no tunnel, from a PE that may pause the gateway.
 */
static inline bool snap_relay_trusts(const struct snapshot *s, const struct snap_relay *r, uint16_t port, uint16_t at,
	uint16_t vrf, const struct ipv6_addr *source)
{
	return s->port[port].side == SIDE_WAN && at == sizeof(struct eth_hdr) && vrf == VRF_UNDERLAY &&
	       snap_is_infrastructure(s, ipv6_hi(source), ipv6_lo(source)) &&
	       snap_is_allowed(r->allowed, r->n_allowed, source);
}

#endif
