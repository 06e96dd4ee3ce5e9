/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes blocks of a pcapng file: section header, interface description, enhanced packet (draft-ietf-opsawg-pcapng).
 * Management thread.
 */
#include "capture/pcapng.h"

#include <errno.h>
#include <string.h>

#define BLOCK_SECTION 0x0a0d0d0au
#define BLOCK_INTERFACE 0x00000001u
#define BLOCK_PACKET 0x00000006u
#define LINKTYPE_ETHERNET 1

#define OPT_END 0
#define OPT_COMMENT 1
#define OPT_SHB_USERAPPL 4
#define OPT_IF_NAME 2
#define OPT_IF_DESCRIPTION 3
#define OPT_IF_TSRESOL 9
#define OPT_EPB_FLAGS 2

#define OPTIONS_MAX 1024

/* Options of one block, padded to 32 bits. */
struct options {
	uint8_t bytes[OPTIONS_MAX];
	uint32_t n;
};

static void put_option(struct options *o, uint16_t code, const void *value, uint16_t size)
{
	uint16_t head[2] = {code, size};
	uint32_t padded = (size + 3u) & ~3u;

	if (o->n + sizeof(head) + padded + sizeof(head) > sizeof(o->bytes))
		return;
	memcpy(o->bytes + o->n, head, sizeof(head));
	memcpy(o->bytes + o->n + sizeof(head), value, size);
	memset(o->bytes + o->n + sizeof(head) + size, 0, padded - size);
	o->n += (uint32_t)sizeof(head) + padded;
}

static void put_text(struct options *o, uint16_t code, const char *text)
{
	put_option(o, code, text, (uint16_t)strnlen(text, 255));
}

static int write_block(FILE *f, uint32_t type, const void *fixed, uint32_t fixed_size, const void *data,
	uint32_t data_size, const struct options *o)
{
	static const uint8_t zero[4];
	uint32_t padding = (4 - data_size % 4) % 4;
	uint32_t total = 12 + fixed_size + data_size + padding + o->n + (o->n ? 4 : 0);

	fwrite(&type, sizeof(type), 1, f);
	fwrite(&total, sizeof(total), 1, f);
	fwrite(fixed, fixed_size, 1, f);
	fwrite(data, data_size, 1, f);
	fwrite(zero, padding, 1, f);
	fwrite(o->bytes, o->n, 1, f);
	if (o->n)
		fwrite(zero, 4, 1, f); /* opt_endofopt */
	fwrite(&total, sizeof(total), 1, f);
	return ferror(f) ? -EIO : 0;
}

int pcapng_begin(FILE *f, const char *application)
{
	struct {
		uint32_t magic;
		uint16_t major, minor;
		int64_t length;
	} fixed = {0x1a2b3c4d, 1, 0, -1};
	struct options o = {.n = 0};

	put_text(&o, OPT_SHB_USERAPPL, application);
	return write_block(f, BLOCK_SECTION, &fixed, sizeof(fixed), "", 0, &o);
}

int pcapng_interface(FILE *f, const char *name, const char *description)
{
	struct {
		uint16_t link_type, reserved;
		uint32_t snap_length;
	} fixed = {LINKTYPE_ETHERNET, 0, 0};
	struct options o = {.n = 0};
	uint8_t nanoseconds = 9;

	put_text(&o, OPT_IF_NAME, name);
	put_text(&o, OPT_IF_DESCRIPTION, description);
	put_option(&o, OPT_IF_TSRESOL, &nanoseconds, sizeof(nanoseconds));
	return write_block(f, BLOCK_INTERFACE, &fixed, sizeof(fixed), "", 0, &o);
}

int pcapng_packet(FILE *f, uint32_t interface, uint64_t time_ns, const void *data, uint32_t captured, uint32_t length,
	enum pcapng_direction direction, const char *comment)
{
	uint32_t fixed[5] = {interface, (uint32_t)(time_ns >> 32), (uint32_t)time_ns, captured, length};
	uint32_t flags = (uint32_t)direction;
	struct options o = {.n = 0};

	put_option(&o, OPT_EPB_FLAGS, &flags, sizeof(flags));
	if (comment)
		put_text(&o, OPT_COMMENT, comment);
	return write_block(f, BLOCK_PACKET, fixed, sizeof(fixed), data, captured, &o);
}
