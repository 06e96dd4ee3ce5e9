/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only table of configuration keys. Loading, checking, `show config`, the difference of two configurations,
 * config/reference.yaml and sluice.yaml(5) all use it. A new key is one new line in schema.c and one new member in
 * model.h.
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
	CFG_TIME,     /* uint64_t, ns: "5ms", "1.5s"; or `word`, unless NULL, which means `word_value` */
	CFG_FRACTION, /* double, 0 to 1: "0.001" or "0.1%" */
	CFG_CONFIG,   /* struct config *: a whole node configuration; the caller of the load frees it */
};

enum cfg_unit {
	UNIT_NONE,
	UNIT_COUNT,	 /* K, M, G are powers of 1024 */
	UNIT_BYTES,	 /* K, M, G are powers of 1024 */
	UNIT_BPS,	 /* bit/s; K, M, G are powers of 1000 */
	UNIT_PER_SECOND, /* events per second */
	UNIT_SECONDS,
	UNIT_MS,
	UNIT_US,
};

#define CFG_REQUIRED 0x1u
#define CFG_START_ONLY 0x2u /* needs a restart; a reload that changes it is rejected with that reason */
#define CFG_IDENTITY 0x4u   /* identity of a list item: unique within the list */
#define CFG_COMMENTED 0x10u /* mappings: commented out in the reference, because it needs others */
#define CFG_UNIQUE 0x8u	    /* unique within the list, but not the identity of the item */

struct cfg_map;

struct cfg_key {
	const char *name;
	enum cfg_type type;
	enum cfg_type item; /* CFG_LIST_OF */
	uint32_t offset;    /* of the member in its struct */
	uint32_t flags;
	const struct cfg_map *map; /* CFG_MAP, and CFG_LIST_OF maps; of a scalar: a mapping may stand in its place */
	uint32_t map_offset;	   /* of the struct of that mapping */
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
 * Load YAML text by any schema into *out, a zeroed struct of `map`. Lists and texts are allocated in `arena`; places
 * are stored in `marks`. 0, or -EINVAL with messages in `diags`; *out may then be filled in part. The caller owns the
 * configurations in *out (CFG_CONFIG) in both cases.
 */
struct arena;
struct cfg_diags;
struct cfg_marks;
int cfg_load_map(const char *name, const char *text, size_t size, const struct cfg_map *map, void *out,
	struct arena *arena, struct cfg_marks *marks, struct cfg_diags *diags);

/*
 * Read a whole file; the caller frees the text. NULL: the reason is in `diags`. A pipe is read to its end; a pipe
 * without a writer is empty.
 */
char *cfg_read_file(const char *path, size_t *size, struct cfg_diags *diags);

/*
 * Write every key of a schema with type, limits, default and help, as YAML that can be loaded. `title`: comment lines.
 */
void cfg_emit_reference_of(const struct cfg_map *map, const char *title, FILE *out);

/* Description of a key's value: "text", "whole number 64..9600 (bytes)", "one of: dc, wan". */
void cfg_key_expected(const struct cfg_key *key, enum cfg_type type, char *buf, size_t size);

/* View of any CFG_LIST member of the model, with its items as bytes. */
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

/*
 * Parse one scalar from text into *out. 0, or -EINVAL with a message in err. Names and texts are copied into the arena.
 */
int cfg_parse_scalar(const struct cfg_key *key, enum cfg_type type, const char *text, struct arena *arena, void *out,
	char *err, size_t err_size);

/* Format one scalar as YAML text, quoted where YAML requires it. */
void cfg_format_scalar(const struct cfg_key *key, enum cfg_type type, const void *value, char *buf, size_t size);

#define CFG_TEXT_MAX 255		       /* bytes of the longest CFG_TEXT */
#define CFG_SCALAR_TEXT (2 * CFG_TEXT_MAX + 3) /* any formatted scalar: all characters escaped, quotes, NUL */

#endif
