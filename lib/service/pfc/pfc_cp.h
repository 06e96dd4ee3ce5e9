/* SPDX-License-Identifier: BSD-3-Clause */
/* State of PFC across the WAN. Written by the control lcore only; others read counters, relaxed. */
#ifndef SERVICE_PFC_CONTROL_PFC_H
#define SERVICE_PFC_CONTROL_PFC_H

#include "base/bucket.h"
#include "service/pfc/carrier_cp.h"
#include "node/control_send.h"
#include "service/pfc/service_pfc.h"
#include "pfc/pfc_fanout.h"
#include "pfc/pfc_relay.h"
#include "pfc/pfc_trailer.h"
#include "pfc/pfc_tunnel.h"

/* State of a tunnel, by its id. */
struct control_tunnel {
	uint8_t port;  /* where the data comes in: source MAC of the frames inside */
	uint8_t party; /* contributor of that port that it leads to */
	struct snap_pfc_outer outer;
};

/*
 * A contributor that can be paused: an ingress node within a slice, or a whole slice. All its tunnels carry the same
 * requests.
 */
struct control_party {
	bool used;
	bool has_source;
	uint8_t slice;
	uint8_t priorities; /* priorities that its tunnels control */
	uint8_t want;	    /* the subset that must be paused */
	struct ipv6_addr source;
};

struct control_pfc {
	uint64_t sealed_ns;			/* since 1970: when the last frame with a trailer was sent */
	struct pfc_seen_table seen;		/* frames with a trailer that were received */
	struct bucket frames[PORT_SLOTS];	/* out of tunnels, by the port they came in by */
	struct pfc_relay_port relay[MAX_PORTS]; /* gateways */
	struct pfc_thinner thinner[MAX_PORTS];
	uint64_t asked_until[MAX_PORTS]
			    [PFC_PRIORITIES]; /* ns: end of the pauses that gateways ask for; relaxed readers */
	bool started;			      /* relays have been told of the start */
	struct carrier carrier[MAX_PORTS];
	uint64_t generation; /* of the snapshot whose tunnels these are */
	uint32_t changes;    /* of pfc_tunnels.changes, told to rx roles */
	/* over the parties of a slice at the port */
	struct pfc_fanout fanout[MAX_PORTS][PFC_PRIORITIES][SNAP_SLICE_MAX];
	struct control_party party[MAX_PORTS][PFC_CONTRIBUTORS_MAX];
	uint32_t turns[MAX_PORTS];		       /* of service_pfc_port.turns, seen */
	uint64_t look_at[MAX_PORTS];		       /* when whom to stop must be thought over again; TIME_NEVER */
	struct control_tunnel tunnel[PFC_TUNNELS_MAX]; /* by tunnel id */
	struct pfc_tunnels tunnels;
};

static inline struct control_pfc *control_pfc(const struct control_role *c)
{
	return service_pfc(c->node)->control;
}

/* pfc_common_cp.c: a frame of 60 bytes behind outer headers, routed by the underlay. */
void control_pfc_send(struct control_role *c, const struct snap_pfc_outer *outer, const void *frame);

/*
 * Send PFC to the gateway of a port; apply a state message to it; return whether the rate limit permits another message
 * of that port.
 */
void control_say_to_gateway(struct control_role *c, uint16_t port, const struct pfc_request *request);
bool control_pfc_state(struct control_role *c, const struct snap_relay *r, const struct pfc_party *party,
	const struct pfc_state *state, struct pfc_request *out);
bool control_pfc_may_listen(struct control_role *c, uint16_t port);
struct pfc_relay_config control_relay_config(const struct snap_relay *r);

/* carrier_cp.c: state messages between PEs instead of frames */
bool control_carrier_take(struct control_role *c,
	struct rte_mbuf *m); /* PUNT_PFC_STATE, PUNT_LOCAL; true: it was one, and is consumed */
void control_carrier_heard(struct control_role *c, const struct snap_relay *r, const struct pfc_request *request);
unsigned int control_carrier_poll(struct control_role *c, uint64_t *next); /* lowers *next */

/* seal_cp.c: trailers of frames in tunnels (docs/protocol.md 5.8) */
void control_seal_start(struct control_role *c);
/* Write the trailer behind the frame. Returns false when the key is gone: the frame cannot be sent. */
bool control_seal(struct control_role *c, const struct snap_pfc_outer *outer, struct pfc_sealed *sealed);
/* Is the PFC frame of m, to this SID, genuine? *seal is then filled. */
bool control_seal_is_genuine(const struct control_role *c, const struct rte_mbuf *m, const struct snap_sid *sid,
	const struct ipv6_addr *source, struct pfc_seal *seal);

/* watch_ctl.c, pauses_ctl.c and held_ctl.c: the management thread's parts of the service */
void service_watch_report(struct node *n);
void service_watch_fini(struct node *n);
void node_clear_pfc(struct node *n);
void service_pfc_held(const struct node *n, const struct snapshot *next, void (*say)(void *arg, const char *text),
	void *arg);

/* tunnels_cp.c: where the back-pressure of this node's own buffers goes */
void control_tunnels_init(struct control_role *c);
unsigned int control_tunnels_poll(struct control_role *c, uint64_t *next); /* lowers *next */
bool control_tunnels_have_input(const struct control_role *c); /* has the state of a tunnelled buffer changed? */

#endif
