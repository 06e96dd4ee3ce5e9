/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures at the ends of links: pcapng files whose clock is virtual time, starting at the epoch. With headers only,
 * frames are truncated. Writes files. The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/pcapng.h"
#include "lab/lab_priv.h"
#include "wire/outline.h"

struct lab_capture {
	const struct topo_capture *topo;
	struct topo_end place;
	FILE *file;
	uint64_t left;
	struct lab_capture *next;
};

/* RSVP messages that nodes and hosts send, one of each outline, for other software to read. */
struct lab_messages {
	FILE *file;
	struct wire_outlines outlines;
};

static struct lab_capture *find(const struct lab *lab, const struct topo_end *place)
{
	struct lab_capture *c = lab->capture;

	while (c && (c->place.node != place->node || c->place.host != place->host || c->place.port != place->port))
		c = c->next;
	return c;
}

bool lab_captures_at(const struct lab *lab, const struct topo_end *place)
{
	return lab->messages || find(lab, place);
}

void lab_captured(struct lab *lab, const struct topo_end *place, bool outbound, const void *bytes, uint32_t captured,
	uint32_t length)
{
	struct lab_capture *c = find(lab, place);
	struct lab_messages *m = lab->messages;

	if (m && outbound && wire_outline_is_new(&m->outlines, bytes, captured) &&
		pcapng_packet(m->file, 0, lab->now, bytes, captured, length, PCAPNG_OUTBOUND, NULL) < 0)
		lab_violate(lab, "capture", "cannot write %s", lab->options.messages);
	if (!c || !c->file || !c->left)
		return;
	c->left--;
	if (pcapng_packet(c->file, 0, lab->now, bytes, captured, length, outbound ? PCAPNG_OUTBOUND : PCAPNG_INBOUND,
		    NULL) < 0)
		lab_violate(lab, "capture", "cannot write %s", c->topo->file);
}

static int open_capture(struct lab *lab, const struct topo_capture *t, char *err, size_t size)
{
	struct lab_capture *c = calloc(1, sizeof(*c));
	char path[1024];

	if (!c)
		return -ENOMEM;
	c->topo = t;
	c->left = t->count ? t->count : UINT64_MAX;
	c->next = lab->capture;
	lab->capture = c;
	topo_find_end(lab->topo, t->place, &c->place, err, size);
	snprintf(path, sizeof(path), "%s/%s", lab->options.out, t->file);
	c->file = fopen(path, "we");
	if (c->file && pcapng_begin(c->file, "sluice-lab") == 0 &&
		pcapng_interface(c->file, t->place, "virtual time") == 0)
		return 0;
	snprintf(err, size, "%s: %s", path, strerror(errno));
	return -EIO;
}

static int open_messages(struct lab *lab, char *err, size_t size)
{
	struct lab_messages *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->file = fopen(lab->options.messages, "we");
	if (m->file && pcapng_begin(m->file, "sluice-lab") == 0 &&
		pcapng_interface(m->file, "all", "virtual time") == 0) {
		lab->messages = m;
		return 0;
	}
	snprintf(err, size, "%s: %s", lab->options.messages, strerror(errno));
	if (m->file)
		fclose(m->file);
	free(m);
	return -EIO;
}

int lab_captures_init(struct lab *lab, char *err, size_t size)
{
	int rc = 0;

	for (uint32_t i = 0; lab->options.out && i < lab->topo->captures.n && rc == 0; i++)
		rc = open_capture(lab, &lab->topo->captures.items[i], err, size);
	return rc == 0 && lab->options.messages ? open_messages(lab, err, size) : rc;
}

void lab_captures_fini(struct lab *lab)
{
	struct lab_capture *c;

	while ((c = lab->capture)) {
		lab->capture = c->next;
		if (c->file)
			fclose(c->file);
		free(c);
	}
	if (lab->messages)
		fclose(lab->messages->file);
	free(lab->messages);
	lab->messages = NULL;
}
