/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures packets to pcapng files: starts and stops captures, and drains the rings into which lcores copy packets.
 * Management thread.
 */
#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "capture/pcapng.h"
#include "pkt/filter.h"
#include "pkt/pkt.h"

#include <unistd.h>

#include <rte_ring.h>

#define CAPTURES_MAX 16
#define CAPTURE_RING 4096  /* copies in transit from one lcore */
#define CAPTURE_POOL 8191  /* buffers for copies of all lcores */
#define CAPTURE_BYTES 2048 /* of a frame in each buffer; a longer frame takes several */
#define FRAME_MAX 65536

struct session {
	FILE *f; /* NULL: free */
	char *file;
	struct capture_filter filter;
	struct pkt_filter *match; /* NULL: all */
	uint64_t packets, bytes;
};

struct capture_set {
	struct capture_source source;
	struct session session[CAPTURES_MAX];
	struct rte_mempool *pool;
	uint8_t frame[FRAME_MAX];
};

struct capture_set *capture_new(const struct capture_source *source)
{
	struct capture_set *s = calloc(1, sizeof(*s));

	if (s)
		s->source = *source;
	return s;
}

/* Rings and pool are created on first use and kept, because lcores may access them at any time afterwards. */
static int prepare(struct capture_set *s)
{
	char name[28];

	if (!s->pool) {
		snprintf(name, sizeof(name), "%x.cap", (unsigned int)((uintptr_t)s >> 4));
		s->pool = pkt_pool_create(name, CAPTURE_POOL, 0, CAPTURE_BYTES, s->source.socket, true);
		if (!s->pool)
			return -ENOMEM;
	}
	for (unsigned int i = 0; i < s->source.n_taps; i++) {
		struct pkt_tap *t = s->source.taps[i];

		pkt_tap_find_stamps(t);
		if (t->ring)
			continue;
		snprintf(name, sizeof(name), "%x.cap.%u", (unsigned int)((uintptr_t)s >> 4), i);
		t->pool = s->pool;
		t->ring = rte_ring_create(name, CAPTURE_RING, s->source.socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (!t->ring)
			return -ENOMEM;
	}
	return 0;
}

/* The union of the selections of all captures. */
static void switch_taps(struct capture_set *s)
{
	struct capture_filter all = {0};

	for (unsigned int i = 0; i < CAPTURES_MAX; i++) {
		if (!s->session[i].f)
			continue;
		all.rx_ports |= s->session[i].filter.rx_ports;
		all.tx_ports |= s->session[i].filter.tx_ports;
		all.drops |= s->session[i].filter.drops;
		all.oam |= s->session[i].filter.oam;
	}
	for (unsigned int i = 0; i < s->source.n_taps; i++) {
		__atomic_store_n(&s->source.taps[i]->rx_ports, all.rx_ports, __ATOMIC_RELEASE);
		__atomic_store_n(&s->source.taps[i]->tx_ports, all.tx_ports, __ATOMIC_RELEASE);
		__atomic_store_n(&s->source.taps[i]->drops, (uint64_t)all.drops, __ATOMIC_RELEASE);
		__atomic_store_n(&s->source.taps[i]->oam, (uint64_t)all.oam, __ATOMIC_RELEASE);
	}
}

/* Open nonblocking: a FIFO without a reader must not block the node. A regular file ignores the flag. */
static FILE *open_file(const char *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

static int begin_file(const struct capture_set *s, FILE *f)
{
	char description[64];
	int rc = pcapng_begin(f, "sluice");

	/* dropped packets that the node originated have no port: one more interface */
	for (unsigned int i = 0; i <= s->source.n_ports && rc == 0; i++) {
		const char *name = i < s->source.n_ports ? s->source.port_name[i] : "(local)";

		snprintf(description, sizeof(description), "sluice port %s", name);
		rc = pcapng_interface(f, name, description);
	}
	return rc == 0 && fflush(f) != 0 ? -errno : rc;
}

int capture_start(struct capture_set *s, const struct capture_filter *filter, const char *file, char *err, size_t size)
{
	struct pkt_filter *match = NULL;
	struct session *new = NULL;
	int number = 0;

	for (int i = 0; i < CAPTURES_MAX && !new; i++) {
		if (!s->session[i].f) {
			new = &s->session[i];
			number = i + 1;
		}
	}
	if (!new) {
		snprintf(err, size, "%d captures run already; stop one first", CAPTURES_MAX);
		return -EBUSY;
	}
	if (filter->expression) {
		match = pkt_filter_new(filter->expression, err, size);
		if (!match)
			return -EINVAL;
	}
	if (prepare(s) < 0) {
		pkt_filter_free(match);
		snprintf(err, size, "no memory for copies of packets");
		return -ENOMEM;
	}
	*new = (struct session){.f = open_file(file), .file = strdup(file), .filter = *filter, .match = match};
	if (!new->f || !new->file || begin_file(s, new->f) < 0) {
		int rc = errno ? -errno : -EIO;

		snprintf(err, size, "cannot write %s: %s", file, strerror(-rc));
		if (new->f)
			fclose(new->f);
		free(new->file);
		pkt_filter_free(match);
		*new = (struct session){0};
		return rc;
	}
	switch_taps(s);
	return number;
}

static void end_session(struct capture_set *s, struct session *x)
{
	bool failed = ferror(x->f); /* already logged */

	if (fclose(x->f) != 0 && !failed)
		log_error(main, "capture %s: %s", x->file, strerror(errno));
	free(x->file);
	pkt_filter_free(x->match);
	*x = (struct session){0};
	switch_taps(s);
}

static void fail_session(struct capture_set *s, struct session *x)
{
	log_error(main, "capture %s ends after %llu packets: %s", x->file, (unsigned long long)x->packets,
		strerror(errno));
	end_session(s, x);
}

int capture_stop(struct capture_set *s, int number)
{
	if (number < 1 || number > CAPTURES_MAX || !s->session[number - 1].f)
		return -ENOENT;
	capture_poll(s);
	end_session(s, &s->session[number - 1]);
	return 0;
}

static bool wants(const struct session *x, const struct tap_record *r)
{
	if (!x->f)
		return false;
	if (r->direction == TAP_DROP)
		return x->filter.drops;
	if (r->direction == TAP_OAM)
		return x->filter.oam;
	return (r->direction == TAP_RX ? x->filter.rx_ports : x->filter.tx_ports) >> r->port & 1;
}

static void write_record(struct capture_set *s, struct session *x, const struct tap_record *r, uint32_t captured)
{
	static const enum pcapng_direction directions[] = {PCAPNG_INBOUND, PCAPNG_OUTBOUND, PCAPNG_UNKNOWN,
		PCAPNG_INBOUND};
	char comment[80] = "";
	uint32_t interface = r->port < s->source.n_ports ? r->port : s->source.n_ports;
	int rc;

	if (r->direction == TAP_DROP)
		snprintf(comment, sizeof(comment), "dropped: %s", s->source.reason_name(r->reason));
	else if (r->direction == TAP_OAM)
		snprintf(comment, sizeof(comment), "O-flag");
	else if (r->stamp && r->direction == TAP_RX)
		snprintf(comment, sizeof(comment), "device time %llu", (unsigned long long)r->stamp);
	rc = pcapng_packet(x->f, interface, r->time_ns + s->source.wall_offset_ns, s->frame, captured, r->length,
		directions[r->direction], comment[0] ? comment : NULL);
	if (rc < 0) {
		fail_session(s, x);
		return;
	}
	x->packets++;
	x->bytes += captured;
	if (x->filter.count && x->packets >= x->filter.count)
		end_session(s, x);
}

static void take(struct capture_set *s, struct rte_mbuf *m)
{
	const struct tap_record *r = (const struct tap_record *)rte_mbuf_to_priv(m);
	uint32_t captured = pkt_copy_out(m, 0, s->frame, sizeof(s->frame));

	for (unsigned int i = 0; i < CAPTURES_MAX; i++)
		if (wants(&s->session[i], r) && pkt_filter_match(s->session[i].match, s->frame, captured, r->length))
			write_record(s, &s->session[i], r, captured);
	rte_pktmbuf_free(m);
}

unsigned int capture_poll(struct capture_set *s)
{
	struct rte_mbuf *pkts[64];
	unsigned int work = 0, n;

	for (unsigned int i = 0; i < s->source.n_taps; i++) {
		struct rte_ring *ring = s->source.taps[i]->ring;

		/* bounded, because an lcore may copy faster than this loop writes */
		for (unsigned int done = 0; ring && done < CAPTURE_RING; done += n) {
			n = rte_ring_sc_dequeue_burst(ring, (void **)pkts, 64, NULL);
			if (!n)
				break;
			for (unsigned int k = 0; k < n; k++)
				take(s, pkts[k]);
			work += n;
		}
	}
	/* a reader of the growing file sees complete blocks */
	for (unsigned int i = 0; work && i < CAPTURES_MAX; i++)
		if (s->session[i].f && fflush(s->session[i].f) != 0)
			fail_session(s, &s->session[i]);
	return work;
}

/* Copy a sample that its lcore may be writing. Returns false when there is none, or no consistent copy was possible. */
static bool read_sample(const struct tap_sample *from, struct tap_sample *to)
{
	for (int tries = 0; tries < 100; tries++) {
		uint32_t seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);

		if (!seq)
			return false;
		if (seq & 1)
			continue;
		*to = *from;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&from->seq, __ATOMIC_RELAXED) == seq)
			return true;
	}
	return false;
}

static int write_samples(const struct capture_set *s, const struct tap_samples *from, FILE *f)
{
	struct tap_sample x;
	char comment[80];
	int n = 0, rc;

	for (unsigned int r = 0; r < DROP_COUNT; r++) {
		for (unsigned int i = 0; i < TAP_SAMPLES; i++) {
			if (!read_sample(&from->sample[r][i], &x))
				continue;
			snprintf(comment, sizeof(comment), "dropped: %s", s->source.reason_name(r));
			rc = pcapng_packet(f, MIN_OF(x.port, s->source.n_ports), x.time_ns + s->source.wall_offset_ns,
				x.bytes, x.captured, x.length, PCAPNG_UNKNOWN, comment);
			if (rc < 0)
				return rc;
			n++;
		}
	}
	return n;
}

int capture_write_samples(struct capture_set *s, const char *file, char *err, size_t size)
{
	FILE *f = open_file(file);
	int total = 0, n = f ? begin_file(s, f) : -errno;

	for (unsigned int i = 0; i < s->source.n_taps && n >= 0; i++) {
		n = s->source.taps[i]->samples ? write_samples(s, s->source.taps[i]->samples, f) : 0;
		total += n;
	}
	if (f && fclose(f) != 0 && n >= 0)
		n = -errno;
	if (n < 0) {
		snprintf(err, size, "cannot write %s: %s", file, strerror(-n));
		return n;
	}
	return total;
}

bool capture_active(const struct capture_set *s)
{
	for (unsigned int i = 0; i < CAPTURES_MAX; i++)
		if (s->session[i].f)
			return true;
	return false;
}

void capture_each(const struct capture_set *s, void (*fn)(void *arg, const struct capture_info *i), void *arg)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < s->source.n_taps; i++)
		lost += stat_read(&s->source.taps[i]->lost);
	for (int i = 0; i < CAPTURES_MAX; i++) {
		const struct session *x = &s->session[i];
		struct capture_info info = {.number = i + 1,
			.file = x->file,
			.packets = x->packets,
			.bytes = x->bytes,
			.lost = lost};

		if (x->f)
			fn(arg, &info);
	}
}

void capture_free(struct capture_set *s)
{
	if (!s)
		return;
	capture_poll(s);
	for (unsigned int i = 0; i < CAPTURES_MAX; i++)
		if (s->session[i].f)
			end_session(s, &s->session[i]);
	for (unsigned int i = 0; i < s->source.n_taps; i++) {
		rte_ring_free(s->source.taps[i]->ring);
		s->source.taps[i]->ring = NULL;
	}
	rte_mempool_free(s->pool);
	free(s);
}
