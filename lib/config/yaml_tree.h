/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of a YAML document. libyaml has one, too, but its nodes are three times as large and each owns up to three
 * allocations: a quarter of the time in which a file of 100,000 routes is read. Management thread.
 */
#ifndef CONFIG_YAML_TREE_H
#define CONFIG_YAML_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "config/diag.h"
#include "config/model.h"

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAPPING };

/* What a node consists of, in the order of the file. In a mapping a key is followed by its value. */
struct yaml_item {
	const struct yaml_node *node; /* an alias leads to the node with the anchor, which may contain the alias */
	struct yaml_item *next;
};

struct yaml_node {
	uint32_t kind; /* enum yaml_kind */
	uint32_t n;    /* items; keys and values count each */
	struct cfg_mark at;
	union {
		struct yaml_item *items; /* of a list or a mapping */
		const char *text; /* of a scalar; `size` bytes and a NUL, and there may be NULs among the bytes */
	};
	size_t size;
};

struct yaml_tree {
	const struct yaml_node *root;
	size_t n; /* nodes */
	struct arena *arena;
};

/*
 * Read `size` bytes of text. 0, or -EINVAL or -ENOMEM, and `diags` says where and why there is no tree. Of several documents
 * the first has a tree, and the second is reported as an error. Needs yaml_tree_free() in any case.
 */
int yaml_tree_read(struct yaml_tree *tree, const char *text, size_t size, struct cfg_diags *diags);
void yaml_tree_free(struct yaml_tree *tree);

#endif
