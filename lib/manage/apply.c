/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applies a checked configuration to a running node, whole or not at all, and describes what changes. Management
 * thread.
 */
#include "manage/apply.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/budget.h"
#include "config/diff.h"
#include "node/node.h"
#include "node/node_ctl.h"

struct plan {
	json_t *changes, *warnings;
	json_t *held;	   /* texts: what is in force and would be taken away */
	uint64_t count[3]; /* by enum cfg_change_kind */
	uint64_t restart;
};

static void add_change(void *arg, const struct cfg_change *c)
{
	static const char *const kinds[] = {"added", "changed", "removed"};
	struct plan *p = arg;

	p->count[c->kind]++;
	p->restart += c->start_only;
	if (json_array_size(p->changes) < CFG_CHANGES_NAMED || c->start_only)
		json_array_append_new(p->changes,
			json_pack("{ss ss ss ss sb}", "what", kinds[c->kind], "object", c->path, "from", c->from, "to",
				c->to, "needs_restart", c->start_only));
}

/* Each as FILE:LINE:COLUMN and text, as --check prints them. */
static void add_warnings(struct plan *p, const struct cfg_diags *diags)
{
	for (unsigned int i = 0; i < diags->n; i++)
		if (diags->items[i].warning)
			json_array_append_new(p->warnings,
				json_sprintf("%s:%u:%u: %s", diags->items[i].file ? diags->items[i].file : diags->file,
					diags->items[i].at.line, diags->items[i].at.column, diags->items[i].text));
}

static json_t *plan_json(const struct plan *p, const char *file, bool applied)
{
	return json_pack("{ss sI sI sI sI sb sO sO* sO*}", "file", file, "added", (json_int_t)p->count[CFG_ADDED],
		"changed", (json_int_t)p->count[CFG_CHANGED], "removed", (json_int_t)p->count[CFG_REMOVED],
		"needs_restart", (json_int_t)p->restart, "applied", applied, "changes", p->changes, "warnings",
		json_array_size(p->warnings) ? p->warnings : NULL, "held", json_array_size(p->held) ? p->held : NULL);
}

/* All diagnostics as one text in err. */
static int refuse(struct cfg_diags *diags, char *err, size_t size)
{
	FILE *f = fmemopen(err, size, "w");

	if (f) {
		fputs("nothing was changed:\n", f);
		cfg_diags_print(diags, f);
		fclose(f);
		err[size - 1] = '\0';
		err[strlen(err) - (err[strlen(err) - 1] == '\n')] = '\0';
	}
	return -EINVAL;
}

static void add_held(void *arg, const char *text)
{
	json_array_append_new(((struct plan *)arg)->held, json_string(text));
}

/* All that is held as one text in err. */
static int refuse_held(const struct plan *p, char *err, size_t size)
{
	FILE *f = fmemopen(err, size, "w");
	size_t i;
	json_t *text;

	if (f) {
		fputs("nothing was changed: this would take away flow control that is in force, and lossless packets "
		      "would be lost:\n",
			f);
		json_array_foreach(p->held, i, text)
			fprintf(f, "  %s\n", json_string_value(text));
		fputs("reload when it has ended, or with --force", f);
		fclose(f);
		err[size - 1] = '\0';
	}
	return -EBUSY;
}

int apply_config(struct node *n, struct config *c, struct cfg_diags *diags, const char *file, enum apply_how how,
	json_t **plan, char *err, size_t size)
{
	struct plan p = {.changes = json_array(), .warnings = json_array(), .held = json_array()};
	struct node_reload reload = {.held = add_held,
		.arg = &p,
		.dry = how == APPLY_DRY,
		.force = how == APPLY_FORCED};
	int rc;

	if (c)
		cfg_keep_pool(c, n->config);
	if (!c || cfg_check(c, diags) < 0) {
		rc = refuse(diags, err, size);
		goto out;
	}
	/* the plan reports ports that differ; unchanged ports must keep their numbers */
	add_warnings(&p, diags);
	rc = cfg_align_ports(n->config, c);
	if (rc != -ENOMEM)
		rc = cfg_diff(n->config, c, add_change, &p);
	if (rc == 0 && p.restart) {
		snprintf(err, size, "nothing was changed: %llu of the changes need a restart%s",
			(unsigned long long)p.restart, reload.dry ? "" : " (reload --dry-run lists them)");
		rc = -EBUSY;
	} else if (rc == 0) {
		rc = node_reload(n, c, &reload, err, size);
		if (rc == 0 && !reload.dry)
			c = NULL;
		if (json_array_size(p.held) && (rc < 0 || reload.dry))
			rc = refuse_held(&p, err, size);
	}
	if (rc == 0 || (reload.dry && rc == -EBUSY))
		*plan = plan_json(&p, file, rc == 0 && !reload.dry);
out:
	cfg_diags_free(diags);
	cfg_free(c);
	json_decref(p.changes);
	json_decref(p.warnings);
	json_decref(p.held);
	return rc;
}

unsigned long long apply_count(const json_t *plan, const char *name)
{
	return (unsigned long long)json_integer_value(json_object_get(plan, name));
}
