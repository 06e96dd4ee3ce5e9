/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC relay (draft-he; docs/protocol.md 5.3, 5.5): the frames that the far PE sends to the gateway, and the frames
 * that the PE next to the congestion sends into the tunnel.
 *
 *   transparent  every frame as received (the letter of draft-he); correct only between ports of the same speed
 *   scaled       pause times are converted between the speeds of the two ports; what one frame cannot say is renewed
 *   regenerate   the tunnel carries which priorities to stop and for how long; the far PE keeps its gateway paused
 *                with frames of its own, so jitter, lost refreshes and lost resumes have no effect (default)
 *
 * Only the control lcore touches the state of a port. Pure: no packets, no clock.
 */
#ifndef PFC_PFC_RELAY_H
#define PFC_PFC_RELAY_H

#include "pfc/pfc_history.h"
#include "pfc/pfc_watchdog.h"

enum pfc_relay_mode { PFC_RELAY_TRANSPARENT, PFC_RELAY_SCALED, PFC_RELAY_REGENERATE };

struct pfc_relay_config {
	uint8_t mode;	      /* enum pfc_relay_mode */
	uint64_t from_bps;    /* bits per second of the port where the frames originate, next to the congestion */
	uint64_t jitter_ns;   /* J_max in ns: delay variation of the tunnel, plus the losses to survive */
	uint64_t hold_min_ns; /* shortest hold in ns */
	uint64_t outage_ns;   /* ns by which a hold outlasts its request: an interruption of the way back */
	/* Of the gateway. Action release: requests of tunnels are ignored during a storm; or alert. */
	struct pfc_watchdog_config watchdog;
};

#define RELAY_COUNTERS(X) \
	X(counter, relayed, "out_of_tunnels", "frames", "sluice_pfc_relay_received", \
		"PFC frames received through tunnels") \
	X(counter, sent, "to_gateway", "frames", "sluice_pfc_relay_sent", "PFC frames sent to the gateway") \
	X(counter, refreshes, "refreshes", "frames", "sluice_pfc_relay_refreshes", \
		"PFC frames sent to the gateway that only renew a pause") \
	X(counter, expired, "expired", "pauses", "sluice_pfc_relay_expired", \
		"pauses that expired because no further frame arrived") \
	X(counter, refused, "refused", "requests", "sluice_pfc_relay_refused", \
		"pause requests refused because too many tunnels already pause the gateway")

/* Counters of the gateway's frames on their way into the tunnel. */
#define THINNER_COUNTERS(X) \
	X(counter, passed, "into_tunnel", "frames", "sluice_pfc_relay_forwarded", "PFC frames sent into the tunnel") \
	X(counter, thinned, "left_out", "frames", "sluice_pfc_relay_left_out", \
		"refreshes not sent into the tunnel because the pause lasts long enough")

/* A port whose gateway is paused by the relay. */
struct pfc_relay_port {
	uint64_t bps;			     /* line rate in bits per second; set before use */
	uint8_t stopped;		     /* regenerate: bit per priority stopped at the gateway */
	struct pfc_holds holds;		     /* of all tunnels */
	uint64_t refresh_at[PFC_PRIORITIES]; /* time in ns of the next refresh to the gateway */
	/* scaled: end in ns of a pause that is longer than one frame to the gateway can say; 0: none */
	uint64_t longer_until[PFC_PRIORITIES];
	RELAY_COUNTERS(STAT_DECLARE)
	bool busy;	       /* pfc_relay_poll must be called */
	uint8_t release;       /* transparent, scaled: bit per priority in a storm that the gateway must resume */
	uint64_t watch_events; /* alarms, storms and restorations since start */
	struct pfc_watchdog watchdog[PFC_PRIORITIES]; /* by priority */
	struct pfc_history history[PFC_PRIORITIES];   /* pauses of the gateway, by priority */
};

/*
 * Process a frame received from a tunnel at `now` (ns); `party` is (SID, tunnel source). True: send *out to the
 * gateway at once.
 */
bool pfc_relay_frame(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_party *party,
	const struct pfc_request *request, uint64_t now, struct pfc_request *out);

/*
 * The node has just started at `now` (ns), and does not know what far PEs have asked for: the gateway's `priorities` (a
 * bit each) are stopped until a far PE has spoken about them, or for as long
 * as a pause can be in force without a word, by frames or by messages of `lease_ns` (0: frames). True: send *out to the gateway.
 */
bool pfc_relay_start(struct pfc_relay_port *p, const struct pfc_relay_config *c, uint8_t priorities, uint64_t lease_ns,
	uint64_t now, struct pfc_request *out);

/*
 * The same for a leased state message (docs/protocol.md 5.6): each priority of `speaks_for` is stopped for lease_ns if
 * it is in `stopped`, else resumed.
 */
bool pfc_relay_state(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_party *party,
	uint8_t speaks_for, uint8_t stopped, uint64_t lease_ns, uint64_t now, struct pfc_request *out);

/*
 * Renew and end pauses, and run the watchdogs. Call as long as p->busy is set. True: send *out to the gateway. *next:
 * time in ns of the next call; TIME_NEVER: none.
 */
bool pfc_relay_poll(struct pfc_relay_port *p, const struct pfc_relay_config *c, uint64_t now, struct pfc_request *out,
	uint64_t *next);

/*
 * The sending side of `regenerate` with frames: it leaves out refreshes that are not necessary. One per port and
 * tunnel.
 */
struct pfc_thinner {
	uint8_t stopped; /* bit per priority stopped by the last frame sent */
	uint8_t said;	 /* bit per priority about which a frame was sent since the start */
	/* Time in ns of the last frame sent, and the end of the hold that it causes at the far PE. */
	uint64_t sent_at[PFC_PRIORITIES], hold_end[PFC_PRIORITIES];
	uint64_t bps;			   /* line rate in bits per second of the port to the gateway; set before use */
	uint64_t quiet_at[PFC_PRIORITIES]; /* ns: when the gateway's pause has run out without XON; 0: none */
	uint8_t resumed;		   /* bit per priority whose XON must be repeated */
	uint64_t resumed_at, repeat_at;	   /* ns: of the last XON; of its next repeat */
	THINNER_COUNTERS(STAT_DECLARE)
};

/*
 * Must this frame be sent into the tunnel? In the modes transparent and scaled: if it enables any priority. With
 * `regenerate`: if it changes the state, or if a third of the shortest hold has passed since the last frame.
 */
bool pfc_thinner_frame(struct pfc_thinner *t, const struct pfc_relay_config *c, const struct pfc_request *request,
	uint64_t now);

/*
 * `regenerate`: XON is repeated for as long as the far PE would hold the gateway without it, and said for a gateway whose
 * pause has run out. True: send *out into the tunnel at `now` (ns). *next: time in ns of the next call; TIME_NEVER: none.
 */
bool pfc_thinner_poll(struct pfc_thinner *t, const struct pfc_relay_config *c, uint64_t now, struct pfc_request *out,
	uint64_t *next);

#endif
