/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a hop that gives credit (docs/credit.md 2.5, 2.6, 2.9, 2.11). It turns what rx and workers counted into 29s,
 * heals what the user's statements show to be lost, and opens epochs. Pure; control lcore, which writes every member.
 */
#ifndef CREDIT_CREDIT_GRANTOR_H
#define CREDIT_CREDIT_GRANTOR_H

#include "credit/credit_hot.h"

#define CREDIT_STATEMENTS 4  /* statements remembered until their fences come */
#define CREDIT_DIRTY_TICKS 3 /* ticks at which a change is repeated (2.9) */

/* What marker or sample have led to. Bits. */
enum credit_heard {
	CREDIT_ANSWER = 1,  /* send a 29 at once */
	CREDIT_HEALED = 2,  /* LOST grew */
	CREDIT_LOWERED = 4, /* LOST fell: doubled packets, or a wrong declaration before */
	CREDIT_OPENED = 8,  /* a new epoch has begun: answer with an S */
	CREDIT_COMMIT = 16, /* answer with an S of the current epoch */
	CREDIT_STALE = 32,  /* of another epoch: counted, nothing changes */
	CREDIT_BAD = 64,    /* states more than was granted: counted, nothing changes */
};

struct credit_statement {
	uint64_t number;   /* of the fence; 0: unused */
	uint64_t fctbs;	   /* units sent in front of it */
	uint32_t sequence; /* of the CBFC_HOP */
};

struct credit_grantor {
	/* the epoch */
	uint64_t base;	    /* units received since the start, when the epoch began (D63) */
	uint64_t fccl, abr; /* last ones sent; they never fall */
	int64_t lost;	    /* units sent and not arrived, minus units that arrived twice (D46) */
	uint64_t fctbs;	    /* newest that the user stated */
	uint64_t returned;  /* FREED when the last update was made */
	uint32_t epoch;	    /* 0: none yet */
	uint32_t sequence;  /* of the last update */
	uint32_t buf;	    /* units reserved */
	uint32_t floor;	    /* least buf; set before the first epoch */
	uint32_t opened;    /* sequence of the 28 that opened the epoch */
	uint32_t heard;	    /* newest sequence of a CBFC_HOP: the echo */
	uint32_t corrected; /* sequence of the statement or IDLE that LOST was last taken from */
	uint32_t want;	    /* window that the user asked for last; 0: as it is */
	struct credit_statement statement[CREDIT_STATEMENTS];
	uint8_t next_statement, dirty;
	bool known;	    /* a 28 has opened an epoch here: `opened` counts */
	bool corrected_any; /* `corrected` counts */
	/* arrivals, for the rule that lets LOST fall without a fence */
	uint64_t quiet_rcvd, quiet_ns; /* rcvd, and since when it stands still */
};

/* The counters of the current epoch. */
static inline uint64_t credit_rcvd(const struct credit_grantor *g, struct credit_totals t)
{
	return t.rcvd - g->base;
}

/* FREED begins at minus the backlog (D63): every end counts from there on, of old and new packets alike. */
static inline int64_t credit_freed(const struct credit_grantor *g, struct credit_totals t)
{
	return credit_ahead(t.freed, g->base);
}

/* Units received and still held here. */
static inline uint64_t credit_backlog(struct credit_totals t)
{
	return t.rcvd - t.freed;
}

/*
 * Begin the first epoch, or the first one after a restart. hop: the 28 that asks for it, or NULL if the grantor commits by
 * itself. epoch: at random, not 0. buf: units reserved, at least g->floor. The session has to be committed by an S.
 */
void credit_grantor_open(struct credit_grantor *g, const struct credit_hop *hop, uint32_t epoch, uint32_t buf,
	struct credit_totals t);

/* Reserve another number of units. Credit that was granted stays granted: less takes effect as packets leave. */
void credit_grantor_resize(struct credit_grantor *g, uint32_t buf);

/* The next 29 of the session: sets all but hb_us and the flag S. */
void credit_grantor_update(struct credit_grantor *g, struct credit_totals t, struct credit_update *out);

/*
 * Units of the pool that the session holds: what the user may still send or has on its way, and what is queued here.
 * `open` false: the promise has ended (lease, End), and only the backlog is held.
 */
uint64_t credit_grantor_held(const struct credit_grantor *g, struct credit_totals t, bool open);

/*
 * A CBFC_HOP of the user. samples: the context's CREDIT_SAMPLES. idle_ns: D_idle. Returns bits of enum credit_heard. A 28
 * with epoch 0 and IDLE that is newer than the one that opened the epoch opens the next one; its `want`, if there is
 * one and it is smaller, becomes the reservation (D52).
 */
unsigned int credit_grantor_hear(struct credit_grantor *g, const struct credit_hop *hop, struct credit_totals t,
	const struct credit_sample *samples, uint64_t idle_ns, uint64_t now);

/* A fence was sampled: apply its statement if that came first. Returns bits of enum credit_heard. */
unsigned int credit_grantor_sampled(struct credit_grantor *g, const struct credit_sample *samples);

/* When updates go out (2.9). All in units. */
struct credit_pace {
	uint32_t batch; /* N2 of the session */
	uint32_t mtu;	/* cost of the largest packet */
	bool tick;	/* T_sync has come round */
};

/*
 * Is an update due? At a tick this also ages `dirty`. A caller that is told so sends one. Rule 4 of 2.9 is the bits that
 * credit_grantor_hear returns.
 */
bool credit_grantor_due(struct credit_grantor *g, struct credit_totals t, struct credit_pace pace);

/* Note at a tick whether anything has arrived since the last one. */
void credit_grantor_watch(struct credit_grantor *g, struct credit_totals t, uint64_t now);

#endif
