/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC relay (draft-he; docs/protocol.md 5.3, 5.5): what the far PE hands to the gateway, and what the PE beside the congestion
 * sends into the tunnel.
 *
 *   transparent  every frame as it came (the letter of draft-he); right only between ports of one speed
 *   scaled       pause times converted between the speeds of the two ports
 *   regenerate   the tunnel says what is to stop and for how long; the far PE itself keeps its gateway paused by fresh
 *                frames, so that jitter, lost refreshes and lost resumes do not matter (default)
 *
 * The port's owner alone touches the state of a port. Pure: no packets, no clock.
 */
#ifndef PFC_PFC_RELAY_H
#define PFC_PFC_RELAY_H

#include "pfc/pfc_history.h"
#include "pfc/pfc_watchdog.h"

enum pfc_relay_mode { PFC_RELAY_TRANSPARENT, PFC_RELAY_SCALED, PFC_RELAY_REGENERATE };

struct pfc_relay_config {
	uint8_t mode;			     /* enum pfc_relay_mode */
	uint64_t from_bps;		     /* port where the frames are born, beside the congestion */
	uint64_t jitter_ns;		     /* J_max: delay variation of the tunnel and the losses it is to survive */
	uint64_t hold_min_ns;		     /* shortest hold */
	struct pfc_watchdog_config watchdog; /* release: what tunnels say is set aside while a storm lasts; alert */
};

/* How long the far PE holds a priority for a request (regenerate): quanta at the rate of birth, J_max, at least hold_min. */
uint64_t pfc_relay_hold_ns(const struct pfc_relay_config *c, uint16_t quanta);

#define RELAY_COUNTERS(X) \
	X(counter, relayed, "out_of_tunnels", "frames", "sluice_pfc_relay_received", "PFC frames taken from tunnels") \
	X(counter, sent, "to_gateway", "frames", "sluice_pfc_relay_sent", "PFC frames sent to the gateway") \
	X(counter, refreshes, "refreshes", "frames", "sluice_pfc_relay_refreshes", \
		"of these, frames that only renew a pause") \
	X(counter, expired, "expired", "pauses", "sluice_pfc_relay_expired", \
		"pauses that ended because no further frame came") \
	X(counter, refused, "refused", "requests", "sluice_pfc_relay_refused", \
		"requests to pause that were refused: too many tunnels pause the gateway already")

/* Of frames of the gateway on their way into the tunnel. */
#define THINNER_COUNTERS(X) \
	X(counter, passed, "into_tunnel", "frames", "sluice_pfc_relay_forwarded", "PFC frames sent into the tunnel") \
	X(counter, thinned, "left_out", "frames", "sluice_pfc_relay_left_out", \
		"refreshes not sent into the tunnel, for the pause they renew lasts long enough")

/* A port behind which a gateway is paused. */
struct pfc_relay_port {
	uint64_t bps;	 /* its rate; set before use */
	uint8_t stopped; /* regenerate: priorities that the gateway was told to stop */
	struct pfc_holds holds;
	uint64_t refresh_at[PFC_PRIORITIES];
	RELAY_COUNTERS(STAT_DECLARE)
	bool busy;	 /* pfc_relay_poll wants to be called */
	uint8_t release; /* transparent, scaled: priorities in a storm that the gateway must be told to go on with */
	uint64_t watch_events; /* alarms, storms, restorations */
	struct pfc_watchdog watchdog[PFC_PRIORITIES];
	struct pfc_history history[PFC_PRIORITIES];
};

/*
 * A frame out of a tunnel: `party` is (SID, tunnel source). True: *out is to be sent to the gateway at once.
 */
bool pfc_relay_frame(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_party *party,
	const struct pfc_request *request, uint64_t now, struct pfc_request *out);

/* The same for a leased state (docs/protocol.md 5.6): every priority of `speaks_for` is stopped for lease_ns or may go on. */
bool pfc_relay_state(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_party *party,
	uint8_t speaks_for, uint8_t stopped, uint64_t lease_ns, uint64_t now, struct pfc_request *out);

/* Renew and end pauses, look for storms; as long as p->busy. True: *out is to be sent. *next: when to call again, TIME_NEVER for never. */
bool pfc_relay_poll(struct pfc_relay_port *p, const struct pfc_relay_config *c, uint64_t now, struct pfc_request *out,
	uint64_t *next);

/* The sending side of `regenerate` with frames: refreshes thinned out. Per port and tunnel. */
struct pfc_thinner {
	uint8_t stopped;
	uint64_t sent_at[PFC_PRIORITIES], hold_end[PFC_PRIORITIES];
	THINNER_COUNTERS(STAT_DECLARE)
};

/*
 * Shall this frame go into the tunnel? In the other modes whenever it enables anything; with `regenerate` when it changes
 * something, and of refreshes one in a third of the shortest hold.
 */
bool pfc_thinner_frame(struct pfc_thinner *t, const struct pfc_relay_config *c, const struct pfc_request *request,
	uint64_t now);

#endif
