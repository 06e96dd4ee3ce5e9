/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one declared table of what a configuration may hold. Loading, checking, `show config`, the difference
 * of two configurations, config/reference.yaml and sluice.yaml(5) are all driven by it: a new key is one new
 * line in schema.c and one new member in model.h.
 */
#ifndef CONFIG_SCHEMA_H
#define CONFIG_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <stdio.h>

enum cfg_type {
	CFG_MAP,      /* struct, nested in place */
	CFG_LIST_OF,  /* CFG_LIST of `item` */
	CFG_BOOL,     /* bool */
	CFG_UINT,     /* uint64_t within min..max, in `unit` */
	CFG_WORD,     /* uint32_t, index into `words` */
	CFG_NAME,     /* char *, an identifier */
	CFG_TEXT,     /* char * */
	CFG_MAC,      /* struct eth_addr */
	CFG_IP,	      /* struct ip_addr, either family */
	CFG_IPV6,     /* struct ip_addr of family 6 */
	CFG_PREFIX,   /* struct ip_prefix, host bits must be 0 */
	CFG_PREFIX6,  /* the same, IPv6 only */
	CFG_IFADDR,   /* struct ip_prefix, host bits are the address */
	CFG_SCALE,    /* uint64_t, or the word `word` meaning `word_value` */
	CFG_TIME,     /* uint64_t, ns: "5ms", "1.5s"; or the word `word`, where there is one, meaning `word_value` */
	CFG_FRACTION, /* double, 0 to 1: "0.001" or "0.1%" */
	CFG_CONFIG,   /* struct config *: a whole node configuration, to be freed by who uses it */
};

enum cfg_unit {
	UNIT_NONE,
	UNIT_COUNT,	 /* K, M, G are powers of 1024 */
	UNIT_BYTES,	 /* K, M, G are powers of 1024 */
	UNIT_BPS,	 /* bit/s; K, M, G are powers of 1000 */
	UNIT_PER_SECOND, /* events a second */
	UNIT_SECONDS,
	UNIT_MS,
	UNIT_US,
};

#define CFG_REQUIRED 0x1u
#define CFG_START_ONLY 0x2u /* a reload that changes it is refused, with that reason */
#define CFG_IDENTITY 0x4u   /* tells list items apart: unique within the list */
#define CFG_COMMENTED 0x10u /* mappings that the reference shows commented out: it needs others to be valid */
#define CFG_UNIQUE 0x8u	    /* unique within the list, without naming the item */

struct cfg_map;

struct cfg_key {
	const char *name;
	enum cfg_type type;
	enum cfg_type item; /* CFG_LIST_OF */
	uint32_t offset;    /* of the member in its struct */
	uint32_t flags;
	const struct cfg_map *map; /* CFG_MAP, and CFG_LIST_OF maps */
	const char *const *words;  /* CFG_WORD: NULL-terminated */
	enum cfg_unit unit;
	uint64_t min, max; /* CFG_UINT and CFG_SCALE; CFG_LIST_OF: number of items */
	const char *word;  /* CFG_SCALE */
	uint64_t word_value;
	const char *refs;     /* CFG_NAME: the top-level list whose item it names */
	const char *fallback; /* default, as YAML text; NULL: absent */
	const char *example;  /* for the reference; NULL: the default, commented out. */
	const char *help;
};

struct cfg_map {
	const char *name; /* for messages: "a port" */
	const struct cfg_key *keys;
	uint32_t n_keys;
	uint32_t size; /* of the struct */
};

/* The whole file of a node: struct config. */
extern const struct cfg_map cfg_root;

/*
 * Load YAML text by any schema into *out, a zeroed struct of `map`; lists and texts go into `arena`, places into
 * `marks`. 0, or -EINVAL with messages in `diags`; *out may then be filled in part. Configurations inside it
 * (CFG_CONFIG) are the caller's in either case.
 */
struct arena;
struct cfg_diags;
struct cfg_marks;
int cfg_load_map(const char *name, const char *text, size_t size, const struct cfg_map *map, void *out,
	struct arena *arena, struct cfg_marks *marks, struct cfg_diags *diags);

/*
 * A file's whole text, for the caller to free; NULL with the reason in `diags`. A pipe is read to its end; one that
 * nobody writes to is empty.
 */
char *cfg_read_file(const char *path, size_t *size, struct cfg_diags *diags);

/* Every key of a schema with type, limits, default and help, as YAML that can be loaded. `title`: comment lines. */
void cfg_emit_reference_of(const struct cfg_map *map, const char *title, FILE *out);

/* How a unit is written in documentation: "bytes", "ms". */
const char *cfg_unit_text(enum cfg_unit unit);

/* "text", "whole number 64..9600 (bytes)", "one of: dc, wan": what a value of this key looks like. */
void cfg_key_expected(const struct cfg_key *key, enum cfg_type type, char *buf, size_t size);

/* Any CFG_LIST member of the model, its items as bytes. */
struct cfg_any_list {
	const char *items;
	uint32_t n;
};

static inline struct cfg_any_list cfg_list_at(const void *member)
{
	struct cfg_any_list list;

	memcpy(&list, member, sizeof(list));
	return list;
}

/* Size of one value of a scalar type, or of one list item. */
size_t cfg_value_size(const struct cfg_key *key, enum cfg_type type);

/* One scalar from text into *out. 0, or -EINVAL with a message in err. Names and texts are arena copies. */
int cfg_parse_scalar(const struct cfg_key *key, enum cfg_type type, const char *text, struct arena *arena, void *out,
	char *err, size_t err_size);

/* The inverse: YAML text of one scalar, quoted where YAML needs it. */
void cfg_format_scalar(const struct cfg_key *key, enum cfg_type type, const void *value, char *buf, size_t size);

#define CFG_TEXT_MAX 255		       /* longest CFG_TEXT */
#define CFG_SCALAR_TEXT (2 * CFG_TEXT_MAX + 3) /* room for any formatted scalar: all escaped, quotes, NUL */

#endif
