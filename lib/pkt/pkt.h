/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet: an rte_mbuf whose private area holds the result of classification.
 *
 * Rules for the private area: classification writes every member that it or a later stage reads, because the buffer's
 * old contents remain. No code reads a member before that. The lcore that holds a packet owns it. Ownership moves only
 * through a ring. The frame stays as received until the egress rewrites it.
 */
#ifndef PKT_PKT_H
#define PKT_PKT_H

#include <rte_mbuf.h>

#include "base/compiler.h"
#include "pkt/poison.h"
#include "pkt/tap.h"
#include "stats/stats.h"
#include "wire/ipv6.h"

/* Changes to the packet at the egress, apart from decrementing the hop limit and writing a new Ethernet header. */
#define PKT_OP_DA 0x01	    /* write pkt.da over the destination address */
#define PKT_OP_SL 0x02	    /* write pkt.segments_left into the SRH */
#define PKT_OP_POP_SRH 0x04 /* unlink the SRH (PSP) */
#define PKT_OP_TOS 0x08	    /* write pkt.tos over TOS or traffic class */
#define PKT_OP_ENCAP 0x10   /* prepend the outer headers of path pkt.path */
/* no change: the packet is queued at another egress than its home, whose port is mbuf.vlan_tci (queue/rebind.h) */
#define PKT_OP_GUEST 0x20
#define PKT_OP_SPENT 0x40     /* an SRH before pkt.srh is used up: write 0 into its Segments Left; with PKT_OP_SL */
#define PKT_OP_POP_SPENT 0x80 /* unlink it; with PKT_OP_SPENT */

enum pkt_verdict {
	PKT_FORWARD, /* to the owner of port pkt.egress */
	PKT_PUNT,    /* to the control lcore, for the purpose in pkt.punt */
	PKT_DROP,    /* counted as pkt.reason */
	PKT_GATED,   /* as PKT_FORWARD, with the credit of the session in struct pkt_credit (queue/line.h) */
};

enum pkt_punt {
	PUNT_ND, /* ICMPv6 types 133 to 137 */
	PUNT_ARP,
	PUNT_PFC,	 /* MAC control, on a port that has PFC; the rx role handles it */
	PUNT_LOCAL,	 /* to an own address or SID, for example ping; pkt.strip is its IP header */
	PUNT_ERROR,	 /* dropped for pkt.reason; an ICMP error may be due */
	PUNT_PFC_RELAY,	 /* legal PFC of a gateway, the whole frame, for a tunnel */
	PUNT_PFC_TUNNEL, /* frame from a tunnel to pkt.sid, at pkt.strip; the outer IPv6 header is at pkt.srh */
	PUNT_PFC_STATE,	 /* state message of a PFC relay, to an own address; pkt.strip is its IP header */
	PUNT_BFD,	 /* BFD to an own address; pkt.strip is its IP header, and UDP follows that */
	PUNT_FRAGMENT,	 /* IPv4, may be fragmented, exceeds the MTU of its way, which is pkt.icmp_arg */
	/*
	 * RSVP: to an own address, or with router alert on its way; pkt.strip is its IP header. In an SRv6 tunnel at a local
	 * SID, pkt.strip is the outer IPv6 header and pkt.srh the inner one; else pkt.srh is 0.
	 */
	PUNT_RSVP,
	PUNT_LAST = PUNT_RSVP,
};

#define PKT_FRAME 0 /* struct pkt.family: sent as it is, with its own Ethernet header */

#define PKT_SID_NONE UINT32_MAX
#define PKT_VRF_NONE UINT16_MAX /* the node sends it to a station of a link, and nowhere else */
/* From this id on the neighbour is the destination itself, on the interface in the low bits. The egress looks it up. */
#define PKT_NEIGH_LINK 0xffff0000u

/*
 * Data classes are 0 to PKT_CLASSES - 1. Control traffic has a class of its own, with strict priority and its own
 * queue.
 */
#define PKT_CLASSES 8
#define PKT_CLASS_CONTROL PKT_CLASSES

/*
 * Bit of pkt.priority: the packet's buffer was granted by credit, not by PFC. Tables by priority have a second half for such
 * packets, so that no code has to tell them from others.
 */
#define PKT_GRANTED 8
#define PKT_PRIORITIES 16

struct pkt {
	struct rte_mbuf *next; /* in a FIFO; written by the lcore that owns the FIFO */
	uint32_t neigh;	       /* neighbour id, or PKT_NEIGH_LINK + interface */
	uint32_t path;	       /* PKT_OP_ENCAP */
	uint32_t hash;	       /* of the flow; 0: not computed */
	uint16_t trace;	       /* number of the packet in a trace; 0: not traced */
	uint16_t strip;	       /* offset from the start of the frame to the IP or Ethernet header that is sent first */
	union {
		struct {
			uint16_t epoch; /* of the snapshot that resolved it, low bits */
			union {
				struct { /* PUNT_ERROR: as ICMPv6, translated for IPv4 */
					uint8_t icmp_type, icmp_code;
				};
				struct {	       /* PKT_FORWARD */
					uint8_t slice; /* slice id */
					uint8_t priority; /* class on arrival, whose buffer it occupies; 0 for control. PKT_GRANTED */
				};
			};
			uint8_t tclass;	 /* class it is queued in: 0 to 7, or PKT_CLASS_CONTROL */
			uint8_t egress;	 /* port */
			uint8_t verdict; /* enum pkt_verdict */
			union {
				uint8_t punt;	  /* PKT_PUNT: enum pkt_punt */
				uint8_t lossless; /* queued: not counted among the packets of lossy classes */
			};
		};
		uint64_t kind; /* all of the above: packets with the same value share a queue and an account */
	};
	uint8_t ops;	       /* PKT_OP_... */
	uint8_t hops;	       /* to subtract from hop limit or TTL */
	uint8_t tos;	       /* PKT_OP_TOS: DSCP(6) ECN(2) */
	uint8_t segments_left; /* PKT_OP_SL */
	uint8_t family;	       /* of the header at strip: 4 or 6, IP; PKT_FRAME, Ethernet */
	uint8_t reason;	       /* enum reason */
	uint16_t l3_bytes;     /* length at strip: of the IP packet, from its header, or of the frame */
	uint16_t srh;	       /* offset of the SRH from the start of the frame: PKT_OP_SL, PKT_OP_POP_SRH */
	uint16_t vrf;	       /* table of the last lookup */
	struct ipv6_addr da;   /* PKT_OP_DA */
	union {
		uint32_t icmp_arg; /* PUNT_ERROR: pointer or MTU; host order */
		uint32_t sid;	   /* last local SID executed, or PKT_SID_NONE */
	};
};
_Static_assert(sizeof(struct pkt) == 64, "struct pkt is one cache line");

static inline struct pkt *pkt_of(struct rte_mbuf *m)
{
	return (struct pkt *)rte_mbuf_to_priv(m);
}

/*
 * Credit of a packet, in mbuf.hash, which nobody else uses after reception. It is there only if the verdict is PKT_GATED or
 * pkt.priority has PKT_GRANTED.
 */
struct pkt_credit {
	uint16_t grant; /* PKT_GRANTED: number of the reservation whose units it occupies */
	uint16_t line;	/* PKT_GATED: number of the line whose units it spends */
	uint16_t units;
	uint8_t passed; /* PKT_GATED: it is behind the gate, and its units are pending */
	uint8_t fence;	/* PKT_GATED: it is a fence, which costs nothing */
};
_Static_assert(sizeof(struct pkt_credit) == sizeof(((struct rte_mbuf *)NULL)->hash), "it fits mbuf.hash");

static inline struct pkt_credit *pkt_credit_of(struct rte_mbuf *m)
{
	return (struct pkt_credit *)&m->hash;
}

static inline bool pkt_has_credit(const struct pkt *x)
{
	return x->verdict == PKT_GATED || x->priority & PKT_GRANTED;
}

/* A fence behind the gate of its session. */
static inline bool pkt_is_fence(struct rte_mbuf *m)
{
	return pkt_of(m)->verdict == PKT_GATED && pkt_credit_of(m)->fence;
}

/*
 * The pool of a node: buffers of one size, each preceded by a struct pkt. `bytes` is the frame data of one buffer,
 * without headroom; with headroom it is at most UINT16_MAX. `shared_cpu`: lcores may be preempted.
 */
struct rte_mempool *pkt_pool_create(const char *name, unsigned int buffers, unsigned int cache, uint32_t bytes,
	int socket, bool shared_cpu);

/* Memory in bytes that one such buffer takes, overhead included. */
static inline uint64_t pkt_buffer_memory(uint64_t bytes)
{
	return bytes + RTE_PKTMBUF_HEADROOM + sizeof(struct rte_mbuf) + sizeof(struct pkt) + 192;
}

/* Return a whole frame to its pool. */
static inline void pkt_free(struct rte_mbuf *m)
{
	pkt_unpoison(m);
	rte_pktmbuf_free(m);
}

/* End a packet for a reason. It is counted; a dropped packet is also kept as a sample under its ingress port. */
static inline void pkt_end(struct rte_mbuf *m, enum reason reason, struct lcore_stats *stats)
{
	stat_add(&stats->port[m->port].reason[reason], 1);
	if (likely(stats->tap))
		pkt_tap_end(stats->tap, m, reason);
	pkt_free(m);
}

/*
 * A frame's length is pkt_len. In the lab the last buffer may hold fewer bytes than that, because some frames carry
 * only their headers. So code that walks a chain also stops at the end of the chain.
 */

/* Cut a frame to `bytes`, from 1 to pkt_len. Buffers of the chain that become empty are freed. */
void pkt_cut(struct rte_mbuf *m, uint32_t bytes);

/* Copy up to `bytes` from offset `at` of a frame, across buffers. Returns the number of bytes copied. */
uint32_t pkt_copy_out(const struct rte_mbuf *m, uint32_t at, void *out, uint32_t bytes);

#endif
