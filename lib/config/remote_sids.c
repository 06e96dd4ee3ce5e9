/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIDs of other nodes: loads them from JSON files, derives their structure, checks them, and writes this node's own
 * SIDs for other nodes (docs/protocol.md 4.6). Management thread.
 */
#include "config/remote_sids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "config/behavior.h"
#include "config/check_priv.h"
#include "config/schema.h"
#include "config/schema_priv.h"
#include "config/usid.h"

#define NODE_BITS 16

/* The uSID block of the domain that contains the SID; NULL: none does. */
static const struct ip_prefix *usid_block(const struct config *c, const struct ip_prefix *p)
{
	const struct cfg_usid *u = &c->node.usid;

	if (u->at.line && ip_prefix_covers(&u->block, p))
		return &u->block;
	return usid_block_of(u->more_blocks.items, u->more_blocks.n, &p->addr);
}

static uint8_t bits_or(uint64_t given, unsigned int otherwise)
{
	return (uint8_t)(given == CFG_NONE ? otherwise : given);
}

/* NEXT-CSID behaviours of RFC 9800 section 4.1 and D30: further SIDs follow the SID. */
static bool is_next_csid(uint16_t code)
{
	return (code >= 43 && code <= 60) || (code >= 85 && code <= 97) || code == behavior_info(BEHAVIOR_UA_PFC)->code;
}

/* Derives the parts of the structure that are not given. */
static void fill_structure(const struct config *c, struct cfg_remote *r, uint64_t block, uint64_t node,
	uint64_t function, uint64_t argument)
{
	const struct ip_prefix *in = usid_block(c, &r->sid);
	unsigned int bits = in && usid_block_is_valid(in->len) ? in->len : USID_BLOCK_COMMON, left;
	bool local = usid_is_local(usid_at(&r->sid.addr.v6, bits, 0)) &&
		     (in || (r->behavior < BEHAVIOR_COUNT && behavior_info(r->behavior)->compressed));

	r->block_bits = bits_or(block, MIN_OF(r->sid.len, bits));
	left = r->sid.len > r->block_bits ? r->sid.len - r->block_bits : 0;
	r->node_bits = bits_or(node, local ? 0 : MIN_OF(left, NODE_BITS));
	left = left > r->node_bits ? left - r->node_bits : 0;
	r->function_bits = bits_or(function, left);
	r->argument_bits = bits_or(argument, is_next_csid(r->code) ? 128u - r->sid.len : 0);
}

/* Resolve an entry: fill in the defaults. The lengths of the structure may be inconsistent; cfg_check reports that. */
static struct cfg_remote remote_of(const struct config *c, const struct cfg_remote_sid *r)
{
	struct cfg_remote out = {.sid = r->sid, .owner = r->owner, .behavior = r->behavior, .code = (uint16_t)r->code};
	struct cfg_sid like = {.behavior = r->behavior, .flavors = {r->flavors.items, r->flavors.n}};

	if (r->behavior < BEHAVIOR_COUNT) {
		out.flavors = behavior_flavors(&like);
		out.code = behavior_code((enum cfg_behavior)r->behavior, out.flavors);
	}
	fill_structure(c, &out, r->block_bits, r->node_bits, r->function_bits, r->argument_bits);
	return out;
}

/* Resolve an own SID: the entry that this node would advertise. */
static struct cfg_remote remote_of_own(const struct config *c, const struct cfg_sid *sid)
{
	struct cfg_remote out = {.sid = sid->sid,
		.owner = c->node.name,
		.behavior = sid->behavior,
		.flavors = behavior_flavors(sid)};

	out.code = behavior_code((enum cfg_behavior)sid->behavior, out.flavors);
	fill_structure(c, &out, CFG_NONE, CFG_NONE, CFG_NONE, CFG_NONE);
	return out;
}

/* --- all of them, in order --- */

struct row {
	struct cfg_remote r;
	const struct cfg_remote_sid *from; /* NULL: an own SID */
	const char *file;		   /* NULL: the configuration */
	uint32_t place;
};

static int by_sid_and_owner(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int d = ip_prefix_compare(&x->r.sid, &y->r.sid);

	if (d == 0)
		d = strcmp(x->r.owner, y->r.owner);
	return d ? d : x->place < y->place ? -1 : x->place > y->place;
}

static void add_rows(const struct config *c, struct row *rows, uint32_t *n, const struct cfg_remote_sid *items,
	uint32_t count, const char *file)
{
	for (uint32_t i = 0; i < count; i++, ++*n)
		rows[*n] = (struct row){.r = remote_of(c, &items[i]), .from = &items[i], .file = file, .place = *n};
}

uint32_t cfg_remote_count(const struct config *c)
{
	uint32_t n = c->sids.n + c->remote_sids.n;

	for (uint32_t i = 0; i < c->imported.n; i++)
		n += c->imported.items[i].sids.n;
	return n;
}

/* Sorted by SID and owner, own ones first among equals; the caller frees. NULL: out of memory. */
static struct row *all_rows(const struct config *c, uint32_t *n)
{
	struct row *rows = calloc(cfg_remote_count(c) + 1, sizeof(*rows));

	*n = 0;
	if (!rows)
		return NULL;
	for (uint32_t i = 0; i < c->sids.n; i++, ++*n)
		rows[*n] = (struct row){.r = remote_of_own(c, &c->sids.items[i]), .place = *n};
	add_rows(c, rows, n, c->remote_sids.items, c->remote_sids.n, NULL);
	for (uint32_t i = 0; i < c->imported.n; i++)
		add_rows(c, rows, n, c->imported.items[i].sids.items, c->imported.items[i].sids.n,
			c->imported.items[i].path);
	qsort(rows, *n, sizeof(*rows), by_sid_and_owner);
	return rows;
}

static bool same_sid(const struct row *a, const struct row *b)
{
	return ip_prefix_equal(&a->r.sid, &b->r.sid);
}

static bool same_sid_and_owner(const struct row *a, const struct row *b)
{
	return same_sid(a, b) && strcmp(a->r.owner, b->r.owner) == 0;
}

int cfg_remote_each(const struct config *c, void (*fn)(void *arg, const struct cfg_remote *r), void *arg)
{
	uint32_t n;
	struct row *rows = all_rows(c, &n);

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || !same_sid_and_owner(&rows[i - 1], &rows[i]))
			fn(arg, &rows[i].r);
	free(rows);
	return 0;
}

/* --- checks --- */

static void check_structure(const struct config *c, struct cfg_diags *d, const struct row *row)
{
	const struct cfg_remote *r = &row->r;
	unsigned int sum = (unsigned int)r->block_bits + r->node_bits + r->function_bits;
	struct cfg_mark at = check_at(c, &row->from->sid, row->from->at);

	if (sum != r->sid.len)
		cfg_diag_add_in(d, row->file, at,
			"sid: it is a /%u, but block, node and function are %u + %u + %u bits", r->sid.len,
			r->block_bits, r->node_bits, r->function_bits);
	else if (sum + r->argument_bits > 128)
		cfg_diag_add_in(d, row->file, check_at(c, &row->from->argument_bits, at),
			"argument-bits: only %u bits are left after the function", 128 - sum);
	else if (!r->block_bits || sum == r->block_bits)
		cfg_diag_add_in(d, row->file, at, "sid: it has no %s",
			r->block_bits ? "node and no function" : "block");
}

static void check_entry(const struct config *c, struct cfg_diags *d, const struct row *row)
{
	const struct cfg_remote_sid *r = row->from;

	if (r->behavior == CFG_REMOTE_OTHER && !r->code)
		cfg_diag_add_in(d, row->file, cfg_where(c, &r->behavior), "behavior: other needs a code; set code");
	if (r->behavior != CFG_REMOTE_OTHER && r->code && r->code != row->r.code)
		cfg_diag_add_in(d, row->file, cfg_where(c, &r->code),
			"code: %s with these flavors has code %u, not %llu",
			behavior_info((enum cfg_behavior)r->behavior)->name, row->r.code, (unsigned long long)r->code);
	for (uint32_t i = 0; i < r->flavors.n; i++) {
		struct cfg_mark at = cfg_where(c, &r->flavors.items[i]);

		if (r->behavior == CFG_REMOTE_OTHER || !behavior_has_flavors((enum cfg_behavior)r->behavior))
			cfg_diag_add_in(d, row->file, at, "flavors: %s has no flavors",
				r->behavior == CFG_REMOTE_OTHER ? "other"
								: behavior_info((enum cfg_behavior)r->behavior)->name);
		else if (r->behavior == BEHAVIOR_END_X_PFC && r->flavors.items[i] == FLAVOR_USD)
			cfg_diag_add_in(d, row->file, at, "flavors: End.X.PFC does not support usd");
	}
	check_structure(c, d, row);
}

/* Compares two entries for the same SID: they must be equal, or be functions of local meaning. */
static void check_pair(const struct config *c, struct cfg_diags *d, const struct row *first, const struct row *row)
{
	struct cfg_mark at;
	bool equal;

	if (!row->from || !same_sid(first, row))
		return;
	at = cfg_where(c, &row->from->sid);
	equal = first->r.code == row->r.code && first->r.block_bits == row->r.block_bits &&
		first->r.node_bits == row->r.node_bits && first->r.function_bits == row->r.function_bits &&
		first->r.argument_bits == row->r.argument_bits;
	if (same_sid_and_owner(first, row) && first->from && !equal)
		cfg_diag_add_in(d, row->file, at, "sid: '%s' already has this SID, with another behaviour or structure",
			first->r.owner);
	if (!same_sid_and_owner(first, row) && (row->r.node_bits || first->r.node_bits))
		cfg_diag_add_in(d, row->file, at, "sid: '%s' already has this SID; it would lead to two nodes",
			first->r.owner);
}

void check_remote_sids(const struct config *c, struct cfg_diags *d)
{
	struct row *rows;
	uint32_t n;

	if (!c->remote_sids.n && !c->imported.n)
		return;
	rows = all_rows(c, &n);
	if (!rows) {
		cfg_diag_add(d, c->at, "out of memory");
		return;
	}
	if (n > CFG_REMOTE_ALL_MAX)
		cfg_diag_add(d,
			cfg_where(c,
				c->remote_files.n ? (const void *)&c->remote_files : (const void *)&c->remote_sids),
			"together with own SIDs these are %u SIDs; the limit is %u", n, CFG_REMOTE_ALL_MAX);
	for (uint32_t i = 0; i < n; i++) {
		if (rows[i].from)
			check_entry(c, d, &rows[i]);
		if (i)
			check_pair(c, d, &rows[i - 1], &rows[i]);
	}
	free(rows);
}

/* --- JSON --- */

static void add_json(void *arg, const struct cfg_remote *r)
{
	json_t *flavors = json_array(), *one;
	char text[IP_PREFIX_TEXT];

	for (unsigned int i = 0; i <= FLAVOR_USD; i++)
		if (r->flavors >> i & 1)
			json_array_append_new(flavors, json_string(cfg_words_flavor[i]));
	/* a behaviour that can have flavours and has none must be written as such, because its default may differ */
	if (!r->flavors && r->behavior < BEHAVIOR_COUNT && behavior_has_flavors((enum cfg_behavior)r->behavior))
		json_array_append_new(flavors, json_string(cfg_words_flavor[FLAVOR_NONE]));
	one = json_pack("{ss ss so si ss si si si si}", "sid", ip_prefix_format(&r->sid, text), "behavior",
		r->behavior < BEHAVIOR_COUNT ? behavior_info((enum cfg_behavior)r->behavior)->name : "other", "flavors",
		flavors, "code", (int)r->code, "owner", r->owner, "block-bits", (int)r->block_bits, "node-bits",
		(int)r->node_bits, "function-bits", (int)r->function_bits, "argument-bits", (int)r->argument_bits);
	json_array_append_new(arg, one);
}

json_t *cfg_remote_json(const struct config *c)
{
	json_t *list = json_array();

	if (cfg_remote_each(c, add_json, list) < 0) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{so}", "remote-sids", list);
}

/* --- files --- */

/*
 * jansson decides whether the text is JSON. The schema loader then reads the JSON as YAML. So every message has its
 * place, and each key is declared once.
 */
int cfg_remote_load_text(struct config *c, const char *path, const char *text, size_t size, struct cfg_diags *d)
{
	struct cfg_remote_file *f = &c->imported.items[c->imported.n];
	struct cfg_diags own = {.file = path};
	json_error_t error;
	json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

	if (!json)
		cfg_diag_add(&own, (struct cfg_mark){(uint32_t)error.line, (uint32_t)error.column}, "not JSON: %s",
			error.text);
	json_decref(json);
	f->path = arena_strdup(c->arena, path);
	if (json && f->path && cfg_load_map(path, text, size, &cfg_remote_file_map, f, c->arena, c->marks, &own) == 0)
		c->imported.n++;
	else if (json && !own.n)
		cfg_diag_add(&own, (struct cfg_mark){0, 0}, "out of memory");
	return cfg_diags_move(d, &own);
}

static int load_file(struct config *c, const char *path, struct cfg_mark at, struct cfg_diags *d)
{
	struct cfg_diags own = {0};
	struct stat st;
	size_t size = 0;
	char *text;
	int rc;

	rc = stat(path, &st);
	if (rc < 0 || !S_ISREG(st.st_mode)) {
		cfg_diag_add(d, at, "remote-sids-files: cannot open %s: %s", path,
			rc < 0 ? strerror(errno) : "not a regular file");
		return -EINVAL;
	}
	text = cfg_read_file(path, &size, &own);
	if (!text)
		return cfg_diags_move(d, &own);
	rc = cfg_remote_load_text(c, path, text, size, d);
	free(text);
	return rc;
}

int cfg_remote_load(struct config *c, const char *beside, struct cfg_diags *d)
{
	int rc = 0;

	c->imported.items = arena_alloc(c->arena, (c->remote_files.n + 1) * sizeof(*c->imported.items));
	if (!c->imported.items) {
		cfg_diag_add(d, c->at, "out of memory");
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < c->remote_files.n; i++) {
		char *path = cfg_path_beside(c->arena, beside, c->remote_files.items[i]);

		if (!path)
			cfg_diag_add(d, c->at, "out of memory");
		if (!path || load_file(c, path, cfg_where(c, &c->remote_files.items[i]), d) < 0)
			rc = -EINVAL;
	}
	return rc;
}
