/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One credit hop in Promela, written from docs/credit.md 2.5, 2.6 and 2.11 and not from lib/credit, so that a fault in the
 * C objects or in their model does not repeat here. test/model/spin.py says which macros take out what.
 */
#define WINDOW 2
#ifdef NOT_ZERO
#define SIZE 2
#define BUF 3
#else
#define SIZE 1
#define BUF WINDOW
#endif
#ifndef PACKETS
#define PACKETS 4
#endif
#define MOST (PACKETS * SIZE)
#ifndef FENCES
#define FENCES 2
#endif
#ifndef UPDATES
#define UPDATES 3
#endif

#define DATA 0
#define FENCE 1

chan data = [3] of { byte, byte, byte };	/* kind, number of the fence, epoch */
chan credit = [2] of { byte, byte, short };	/* epoch, sequence, FCCL */
chan statement = [2] of { byte, byte, byte };	/* epoch, number, FCTBS in front of that fence */

byte epoch = 1, sequence, fctbs, sent;		/* user */
short fccl = BUF;
byte grantor_epoch = 1, said, rcvd, queued;	/* grantor */
short freed, lost, said_fccl = BUF;
byte sampled, sample, stated, stated_fctbs;	/* number of the last fence, RCVD there; last statement */
byte ring, late;				/* units not counted, a fence not sampled: with faults only */
byte fences, losses, doubles, resyncs, kept;	/* what has happened */
bool alien;

inline forward_limit(limit)
{
	limit = freed + lost + BUF;
	if
	:: limit < said_fccl -> limit = said_fccl
	:: else
	fi
}

/* A statement and its fence have met. */
inline apply(x)
{
#ifdef UNSIGNED
	if
	:: x - sample > lost -> lost = x - sample
	:: else
	fi;
#else
	lost = x - sample;
#endif
	/* nothing was sent since that fence: the sum is exact (I7) */
	if
	:: x == fctbs && grantor_epoch == epoch && !ring -> assert(lost == losses - doubles)
	:: else
	fi
}

inline count(e)
{
	rcvd = rcvd + SIZE;
	queued = queued + SIZE;
	if
	:: e != grantor_epoch -> alien = true
	:: else
	fi
}

inline take_sample(n)
{
	sampled = n;
	sample = rcvd;
	if
	:: stated == n -> apply(stated_fctbs)
	:: else
	fi
}

inline arrive()
{
	data?k, n, e;
	if
	:: k == DATA ->
#ifdef RING
		ring = ring + SIZE
#else
		count(e)
#endif
	:: k == FENCE && e == grantor_epoch ->
#ifdef LATE
		late = n
#else
		take_sample(n)
#endif
	:: else
	fi
}

inline hear_statement()
{
	if
	:: e == grantor_epoch ->
		stated = n;
		stated_fctbs = x;
		if
		:: sampled == n -> apply(x)
		:: else
		fi
	:: else
	fi
}

inline hear_credit()
{
	if
#ifdef DELTA
	:: e == epoch -> fccl = fccl + l
#else
	:: e == epoch && s > sequence ->
		sequence = s;
		if
		:: l > fccl -> fccl = l
		:: else
		fi
#endif
	:: else
	fi
}

/* Both ends begin a new epoch; the user has been silent for D_idle. */
inline resync()
{
	resyncs++;
	epoch = epoch + 1;
	grantor_epoch = epoch;
#ifdef NO_BACKLOG
	freed = 0;
#else
	freed = -queued;
#endif
	rcvd = 0; lost = 0; losses = 0; doubles = 0;
	sampled = 0; stated = 0; stated_fctbs = 0; sample = 0; late = 0;
	said = 0; sequence = 0; fctbs = 0;
	said_fccl = freed + BUF;
	fccl = said_fccl
}

#define PROMISES \
	assert(queued + ring <= BUF + doubles_ever * SIZE); \
	assert(fctbs <= fccl || doubles_ever); \
	assert(!alien); \
	assert(doubles_ever || fccl <= freed + lost + BUF); \
	assert(queued || !rcvd || kept == 0)

byte doubles_ever;

active proctype hop()
{
	byte k, n, e, s, x;
	short l;

end:	do
#ifdef NOT_ZERO
	:: atomic { sent < MOST && nfull(data) && fctbs != fccl && fctbs < fccl -> data!DATA, 0, epoch;
#else
	:: atomic { sent < MOST && nfull(data) && fctbs + SIZE <= fccl -> data!DATA, 0, epoch;
#endif
		fctbs = fctbs + SIZE; sent = sent + SIZE; PROMISES }
#ifndef IDLE_ANY_TIME
	:: atomic { fences < FENCES && nfull(data) && nfull(statement) -> fences++; data!FENCE, fences, epoch;
		statement!epoch, fences, fctbs; PROMISES }
#else
	/* ABR := FCTBS, whatever is on its way */
	:: atomic { fences < FENCES && nfull(statement) -> fences++; statement!epoch, fences, fctbs }
	:: atomic { statement?e, n, x -> lost = x - rcvd; PROMISES }
#endif
	:: atomic { nempty(data) -> arrive(); PROMISES; k = 0; n = 0; e = 0 }
	:: atomic { losses < 1 && data?[DATA, n, e] -> data?k, n, e;
		losses = losses + (e == epoch -> SIZE : 0); k = 0; n = 0; e = 0 }
	:: atomic { data?[FENCE, n, e] -> data?k, n, e; k = 0; n = 0; e = 0 }
#ifdef DOUBLED
	:: atomic { doubles_ever < 1 && data?[DATA, n, e] -> data?k, n, e; count(e); count(e); doubles++; doubles_ever++; PROMISES;
		k = 0; n = 0; e = 0 }
#endif
#ifdef RING
	:: atomic { ring -> ring = ring - SIZE; e = epoch; count(e); PROMISES; e = 0 }
#endif
#ifdef LATE
	:: atomic { late -> n = late; late = 0; take_sample(n); PROMISES; n = 0 }
#endif
#ifndef IDLE_ANY_TIME
	:: atomic { statement?e, n, x -> hear_statement(); PROMISES; e = 0; n = 0; x = 0 }
	:: atomic { statement?<e, n, x> -> hear_statement(); PROMISES; e = 0; n = 0; x = 0 }
#endif
	:: atomic { nempty(statement) -> statement?e, n, x; e = 0; n = 0; x = 0 }
	:: atomic { queued -> queued = queued - SIZE; freed = freed + SIZE; PROMISES }
#ifdef KEPT_DROPS
	/* a packet ends here, and nothing is freed: the credit of it never comes back */
	:: atomic { queued -> queued = queued - SIZE; kept = kept + SIZE; PROMISES }
#endif
	:: atomic { nfull(credit) && said < UPDATES -> said++; forward_limit(l);
#ifdef DELTA
		credit!grantor_epoch, said, l - said_fccl;
#else
		credit!grantor_epoch, said, l;
#endif
		said_fccl = l; l = 0 }
	:: atomic { credit?e, s, l -> hear_credit(); PROMISES; e = 0; s = 0; l = 0 }
	:: atomic { credit?<e, s, l> -> hear_credit(); PROMISES; e = 0; s = 0; l = 0 }
	:: atomic { nempty(credit) -> credit?e, s, l; e = 0; s = 0; l = 0 }
	:: atomic { len(credit) == 2 -> credit?e, s, l; credit!e, s, l; e = 0; s = 0; l = 0 }
	:: atomic { len(statement) == 2 -> statement?e, n, x; statement!e, n, x; e = 0; n = 0; x = 0 }
#ifdef RESYNC
#ifdef NO_QUARANTINE
	:: atomic { resyncs < 1 -> resync(); PROMISES }
#else
	:: atomic { resyncs < 1 && empty(data) && !ring -> resync(); PROMISES }
#endif
#endif
	od
}
