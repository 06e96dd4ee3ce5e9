/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a link under virtual time: serialiser, propagation and faults. Single-threaded; time is an argument.
 */
#include "drivers/virtual/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

#define PS_PER_NS 1000u
#define PS_PER_S 1000000000000ull
#define RING_MIN 4096u /* a network of many lines stays in the cache; long ones grow */

/* Frames in order of arrival, back to back in a ring of bytes. A frame is never split: the end may be skipped. */
struct ring {
	uint8_t *bytes;
	size_t size, head, used; /* size: a power of two; used: bytes from head, including skipped ones */
	size_t skip;		 /* unused bytes at the end */
};

/* A reordered frame: others overtake it. */
struct straggler {
	struct line_frame *frame;
	uint64_t number; /* breaks ties: first in, first out */
};

/* What each frame touches comes first, so that it takes few cache lines. */
struct line {
	struct ring ring;
	uint64_t free_ps; /* when the serialiser is free */
	uint64_t last_bits,
		last_ps; /* length of the last frame, and its time on the line: mostly the next one's, too */
	uint64_t last_arrival_ns;
	uint64_t up_since_ns;
	uint64_t frames, bytes, memory;
	struct straggler *late; /* a binary heap by arrival */
	uint32_t n_late, room_late;
	struct line_frame *given; /* straggler returned to the caller; valid until the next call */
	size_t given_ring;	  /* bytes of the ring returned to the caller; likewise */
	bool up, outage[2];	  /* outage: of control frames, of others */
	bool perfect;		  /* no frame is lost, changed, doubled or late */
	struct line_stats stats;
	struct line_config config;
	uint64_t random;
	uint64_t run; /* current number of consecutive losses of watched frames */
	uint64_t numbers;
};

size_t line_frame_memory(uint32_t captured)
{
	return (sizeof(struct line_frame) + captured + 7) & ~(size_t)7;
}

struct line *line_new(const struct line_config *config)
{
	struct line *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->config = *config;
	l->perfect = !(config->loss > 0 || config->corruption > 0 || config->duplication > 0 || config->reordering > 0);
	l->random = config->seed;
	l->up = true;
	l->ring.size = RING_MIN;
	l->ring.bytes = malloc(l->ring.size);
	if (!l->ring.bytes) {
		free(l);
		return NULL;
	}
	return l;
}

void line_free(struct line *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->n_late; i++)
		free(l->late[i].frame);
	free(l->late);
	free(l->given);
	free(l->ring.bytes);
	free(l);
}

/* Double the ring and move its frames to the start. */
static int ring_grow(struct ring *r)
{
	uint8_t *bytes = malloc(r->size * 2);
	size_t first = MIN_OF(r->used, r->size - r->head), second = r->used - first;

	if (!bytes)
		return -ENOMEM;
	first -= r->skip;
	memcpy(bytes, r->bytes + r->head, first);
	memcpy(bytes + first, r->bytes, second);
	free(r->bytes);
	*r = (struct ring){.bytes = bytes, .size = r->size * 2, .used = first + second};
	return 0;
}

/* Reserve room for one frame at the tail; NULL if it does not fit. */
static struct line_frame *ring_put(struct line *l, size_t need)
{
	struct ring *r = &l->ring;

	for (;;) {
		size_t tail = (r->head + r->used) & (r->size - 1), to_end = r->size - tail;
		size_t skip = to_end < need ? to_end : 0;

		if (r->used + skip + need <= r->size) {
			if (skip)
				r->skip = skip;
			r->used += skip + need;
			return (struct line_frame *)(void *)(r->bytes + (skip ? 0 : tail));
		}
		if (r->size * 2 > l->config.memory_max || ring_grow(r) < 0)
			return NULL;
	}
}

static struct line_frame *ring_head(struct ring *r)
{
	if (r->skip && r->head == r->size - r->skip) {
		r->used -= r->skip;
		r->skip = 0;
		r->head = 0;
	}
	return r->used ? (struct line_frame *)(void *)(r->bytes + r->head) : NULL;
}

/* An empty ring starts over, so that a line with few frames on it stays in the cache. */
static void ring_drop(struct ring *r, size_t n)
{
	r->used -= n;
	r->head = r->used ? (r->head + n) & (r->size - 1) : 0;
}

static bool comes_before(const struct straggler *a, const struct straggler *b)
{
	if (a->frame->arrival_ns != b->frame->arrival_ns)
		return a->frame->arrival_ns < b->frame->arrival_ns;
	return a->number < b->number;
}

static int late_put(struct line *l, struct line_frame *f)
{
	struct straggler s = {.frame = f, .number = l->numbers++};
	uint32_t i = l->n_late;

	if (l->n_late == l->room_late) {
		uint32_t room = l->room_late ? l->room_late * 2 : 16;
		struct straggler *late = realloc(l->late, room * sizeof(*late));

		if (!late)
			return -ENOMEM;
		l->late = late;
		l->room_late = room;
	}
	for (l->n_late++; i && comes_before(&s, &l->late[(i - 1) / 2]); i = (i - 1) / 2)
		l->late[i] = l->late[(i - 1) / 2];
	l->late[i] = s;
	return 0;
}

static struct line_frame *late_take(struct line *l)
{
	struct line_frame *first = l->late[0].frame;
	struct straggler last = l->late[--l->n_late];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < l->n_late) {
		if (child + 1 < l->n_late && comes_before(&l->late[child + 1], &l->late[child]))
			child++;
		if (!comes_before(&l->late[child], &last))
			break;
		l->late[i] = l->late[child];
		i = child;
	}
	l->late[i] = last;
	return first;
}

/* Put a copy of a frame on the line. */
static int put(struct line *l, struct line_frame *head, const void *bytes, bool straggles)
{
	size_t need = line_frame_memory(head->captured);
	struct line_frame *f = straggles ? malloc(need) : ring_put(l, need);

	if (!f || l->memory + need > l->config.memory_max) {
		if (straggles)
			free(f);
		return -ENOBUFS;
	}
	*f = *head;
	memcpy(f->bytes, bytes, f->captured);
	if (straggles && late_put(l, f) < 0) {
		free(f);
		return -ENOBUFS;
	}
	l->memory += need;
	l->frames++;
	l->bytes += f->length;
	l->stats.most_bytes = MAX_OF(l->stats.most_bytes, l->bytes);
	l->stats.most_frames = MAX_OF(l->stats.most_frames, l->frames);
	return 0;
}

static bool happens(struct line *l, double share)
{
	return !l->perfect && share > 0 && line_random_share(&l->random) < share;
}

static void gone(const struct line *l, const char *why, const void *bytes, uint32_t captured)
{
	if (l->config.gone)
		l->config.gone(l->config.arg, why, bytes, captured);
}

static void count_watched(struct line *l, bool lost)
{
	l->stats.watched++;
	l->stats.watched_lost += lost;
	l->run = lost ? l->run + 1 : 0;
	l->stats.watched_run = MAX_OF(l->stats.watched_run, l->run);
}

static bool is_control(const struct line *l, const void *bytes, uint32_t captured)
{
	return l->config.control && l->config.control(bytes, captured);
}

/* Do the faults of the line concern a frame, and does an outage? */
static bool concerns(const struct line *l, const void *bytes, uint32_t captured, bool *cut)
{
	bool control;

	*cut = false;
	if (l->config.faults == LINE_FAULTS_ALL && !l->outage[0] && !l->outage[1])
		return true;
	control = is_control(l, bytes, captured);
	*cut = l->outage[!control];
	return l->config.faults == LINE_FAULTS_ALL || control == (l->config.faults == LINE_FAULTS_CONTROL);
}

/* Apply delay and faults to a frame after the serialiser. 0, or -ENOBUFS if the frame was lost for lack of memory. */
static int propagate(struct line *l, struct line_frame *f, const void *bytes)
{
	bool cut, concerned = concerns(l, bytes, f->captured, &cut);
	bool straggles = concerned && happens(l, l->config.reordering);
	uint64_t jitter = concerned && l->config.jitter_ns ? line_random(&l->random) % (l->config.jitter_ns + 1) : 0;
	bool lost = concerned && happens(l, l->config.loss);

	if (l->config.watched && l->config.watched(bytes, f->captured))
		count_watched(l, lost || cut);
	if (cut) {
		l->stats.cut++;
		gone(l, "outage of the link", bytes, f->captured);
		return 0;
	}
	if (lost) {
		l->stats.lost++;
		gone(l, "lost on the link", bytes, f->captured);
		return 0;
	}
	f->corrupt = concerned && happens(l, l->config.corruption);
	f->arrival_ns = f->departure_ns + l->config.delay_ns + jitter;
	if (straggles) {
		f->arrival_ns += l->config.reorder_ns;
		l->stats.reordered++;
	} else {
		f->arrival_ns = MAX_OF(f->arrival_ns, l->last_arrival_ns);
		l->last_arrival_ns = f->arrival_ns;
	}
	if (put(l, f, bytes, straggles) < 0) {
		l->stats.lost++;
		gone(l, "no memory for frames in flight", bytes, f->captured);
		return -ENOBUFS;
	}
	if (concerned && happens(l, l->config.duplication) && put(l, f, bytes, straggles) == 0)
		l->stats.duplicated++;
	return 0;
}

uint64_t line_send(struct line *l, uint64_t now, const void *bytes, uint32_t captured, uint32_t length, int *rc)
{
	uint64_t bits = (uint64_t)(MAX_OF(length, (uint32_t)LINE_FRAME_MIN) + LINE_OVERHEAD) * 8;
	struct line_frame f = {.length = length, .captured = (uint16_t)MIN_OF(captured, (uint32_t)LINE_SNAP_MAX)};
	int failed = 0;

	if (bits != l->last_bits) {
		l->last_bits = bits;
		l->last_ps = bits * PS_PER_S / l->config.rate_bps;
	}
	l->free_ps = MAX_OF(l->free_ps, now * PS_PER_NS) + l->last_ps;
	f.departure_ns = (l->free_ps + PS_PER_NS - 1) / PS_PER_NS;
	l->stats.sent++;
	l->stats.sent_bytes += length;
	if (length > l->config.frame_max) {
		l->stats.oversize++;
		gone(l, "exceeds the link's MTU", bytes, f.captured);
	} else {
		failed = propagate(l, &f, bytes);
	}
	if (rc)
		*rc = failed;
	return f.departure_ns;
}

uint64_t line_free_at(const struct line *l)
{
	return l->free_ps / PS_PER_NS;
}

/* Free the frame that the last call returned. */
static void take_back(struct line *l)
{
	free(l->given);
	l->given = NULL;
	if (l->given_ring)
		ring_drop(&l->ring, l->given_ring);
	l->given_ring = 0;
}

uint64_t line_next(const struct line *l)
{
	struct ring r = l->ring;
	struct line_frame *f;
	uint64_t next = l->n_late ? l->late[0].frame->arrival_ns : TIME_NEVER;

	if (l->given_ring)
		ring_drop(&r, l->given_ring);
	f = ring_head(&r);
	return f ? MIN_OF(next, f->arrival_ns) : next;
}

/* Remove the next frame that is due by `now`; NULL if there is none. */
static struct line_frame *take(struct line *l, uint64_t now)
{
	struct line_frame *f, *late = l->n_late ? l->late[0].frame : NULL;

	take_back(l);
	f = ring_head(&l->ring);
	if (late && (!f || late->arrival_ns < f->arrival_ns))
		f = late;
	if (!f || f->arrival_ns > now)
		return NULL;
	if (f == late)
		l->given = late_take(l);
	else
		l->given_ring = line_frame_memory(f->captured);
	l->frames--;
	l->bytes -= f->length;
	l->memory -= line_frame_memory(f->captured);
	return f;
}

static void flip_bit(struct line *l, struct line_frame *f)
{
	uint64_t bit = line_random(&l->random) % (8ull * f->captured);

	f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	f->corrupt = false;
	l->stats.flipped++;
}

const struct line_frame *line_receive(struct line *l, uint64_t now)
{
	struct line_frame *f;

	while ((f = take(l, now))) {
		/* the line must have been up from the frame's departure until now */
		if (!l->up || f->departure_ns < l->up_since_ns || f->stopped) {
			l->stats.cut++;
			gone(l, "link was down", f->bytes, f->captured);
			continue;
		}
		if (f->corrupt && l->config.deliver_corrupt && f->captured)
			flip_bit(l, f);
		if (f->corrupt) {
			l->stats.corrupt++;
		} else {
			l->stats.delivered++;
			l->stats.delivered_bytes += f->length;
		}
		return f;
	}
	return NULL;
}

void line_set_up(struct line *l, uint64_t now, bool up)
{
	if (up && !l->up)
		l->up_since_ns = now;
	l->up = up;
}

void line_stop(struct line *l, uint64_t now)
{
	struct ring r = l->ring;
	struct line_frame *f;

	if (l->given_ring)
		ring_drop(&r, l->given_ring);
	for (; (f = ring_head(&r)); ring_drop(&r, line_frame_memory(f->captured)))
		f->stopped |= f->departure_ns > now;
	for (uint32_t i = 0; i < l->n_late; i++)
		l->late[i].frame->stopped |= l->late[i].frame->departure_ns > now;
}

void line_set_outage(struct line *l, bool control, bool others)
{
	l->outage[0] = control;
	l->outage[1] = others;
}

void line_set_rate(struct line *l, uint64_t rate_bps)
{
	l->config.rate_bps = rate_bps;
	l->last_bits = 0;
}

void line_lines(const struct line *l, void (*found)(void *arg, const void *at, size_t bytes), void *arg)
{
	found(arg, l, sizeof(*l));
	found(arg, l->ring.bytes, sizeof(struct line_frame) + 2 * CACHE_LINE_BYTES);
}

uint64_t line_frames(const struct line *l)
{
	return l->frames;
}

uint64_t line_bytes(const struct line *l)
{
	return l->bytes;
}

const struct line_stats *line_stats(const struct line *l)
{
	return &l->stats;
}

bool line_conserves(const struct line *l)
{
	const struct line_stats *s = &l->stats;

	return s->sent + s->duplicated == s->delivered + s->corrupt + s->lost + s->cut + s->oversize + l->frames;
}
