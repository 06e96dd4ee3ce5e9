/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reload: read, check, plan, apply whole or not at all. The way back is the text of what ran before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/log.h"
#include "config/diff.h"
#include "config/keys.h"
#include "node/node_ctl.h"

#define CHANGES_SHOWN 200

struct plan {
	json_t *changes;
	uint64_t count[3]; /* by enum cfg_change_kind */
	uint64_t restart;
};

static void add_change(void *arg, const struct cfg_change *c)
{
	static const char *const kinds[] = {"added", "changed", "removed"};
	struct plan *p = arg;

	p->count[c->kind]++;
	p->restart += c->start_only;
	if (json_array_size(p->changes) < CHANGES_SHOWN || c->start_only)
		json_array_append_new(p->changes,
			json_pack("{ss ss ss ss sb}", "what", kinds[c->kind], "object", c->path, "from", c->from, "to", c->to,
				"needs_restart", c->start_only));
}

static json_t *plan_json(const struct plan *p, const char *file, bool applied, uint64_t ns)
{
	return json_pack("{ss sI sI sI sI sb sI sO}", "file", file, "added", (json_int_t)p->count[CFG_ADDED], "changed",
		(json_int_t)p->count[CFG_CHANGED], "removed", (json_int_t)p->count[CFG_REMOVED], "needs_restart",
		(json_int_t)p->restart, "applied", applied, "took_ms", (json_int_t)(ns / NSEC_PER_MSEC), "changes", p->changes);
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
	cfg_diags_free(diags);
	return -EINVAL;
}

static char *running_text(const struct node *n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	cfg_emit(n->config, f, 0);
	fclose(f);
	return text;
}

/* A configuration loaded since `started`: check, plan and, unless dry, apply. Consumes it. */
static int apply(struct app *app, struct config *c, struct cfg_diags *diags, const char *file, bool dry,
	uint64_t started, json_t **out, char *err, size_t size)
{
	struct plan plan = {.changes = json_array()};
	char *before = NULL;
	int rc;

	if (cfg_check(c, diags) < 0) {
		rc = refuse(diags, err, size);
		goto out;
	}
	/* ports that differ are reported by the plan; those that are the same must be numbered the same */
	rc = cfg_align_ports(app->node->config, c);
	if (rc != -ENOMEM)
		rc = cfg_diff(app->node->config, c, add_change, &plan);
	if (rc == 0 && plan.restart && !dry) {
		snprintf(err, size, "nothing was changed: %llu of the changes need a restart (reload --dry-run lists them)",
			(unsigned long long)plan.restart);
		rc = -EBUSY;
	}
	if (rc == 0 && !dry) {
		before = running_text(app->node);
		rc = before ? node_apply(app->node, c, err, size) : -ENOMEM;
		if (rc == 0) {
			logging_configure(&c->log);
			log_notice(config, "%s: %llu added, %llu changed, %llu removed, in %llu ms", file,
				(unsigned long long)plan.count[CFG_ADDED], (unsigned long long)plan.count[CFG_CHANGED],
				(unsigned long long)plan.count[CFG_REMOVED],
				(unsigned long long)((clock_now() - started) / NSEC_PER_MSEC));
			free(app->previous);
			app->previous = before;
			before = NULL;
			c = NULL;
		}
	}
	if (rc == 0)
		*out = plan_json(&plan, file, !dry, clock_now() - started);
out:
	free(before);
	cfg_free(c);
	json_decref(plan.changes);
	return rc;
}

/* `file` NULL: the running configuration's. */
static int apply_file(struct app *app, const char *file, bool dry, json_t **out, char *err, size_t size)
{
	uint64_t started = clock_now();
	struct cfg_diags diags = {0};
	char *name = strdup(file ? file : app->file);
	struct config *c = name ? cfg_load_file(name, &diags) : NULL;
	int rc;

	if (!c) {
		rc = refuse(&diags, err, size);
		free(name);
		return rc;
	}
	rc = apply(app, c, &diags, name, dry, started, out, err, size);
	if (rc == 0 && !dry) {
		free(app->previous_file);
		app->previous_file = app->file;
		app->file = name;
		app->confirm_before_ns = 0;
	} else {
		free(name);
	}
	return rc;
}

static int reload(void *arg, const char *file, bool dry, json_t **out, char *err, size_t size)
{
	struct app *app = arg;

	if (!dry && app->confirm_before_ns) {
		snprintf(err, size, "nothing was changed: what commit confirmed has applied waits; commit or rollback first");
		return -EBUSY;
	}
	return apply_file(app, file, dry, out, err, size);
}

static int rollback(void *arg, json_t **out, char *err, size_t size)
{
	struct app *app = arg;
	uint64_t started = clock_now();
	struct cfg_diags diags = {0};
	struct config *c;
	char *text;
	int rc;

	if (!app->previous) {
		snprintf(err, size, "nothing was reloaded yet");
		return -ENOENT;
	}
	text = strdup(app->previous);
	c = text ? cfg_load_text("(before the last reload)", text, strlen(text), &diags) : NULL;
	if (c && cfg_load_secrets(c, app->previous_file ? app->previous_file : "", &diags) < 0) {
		cfg_free(c);
		c = NULL;
	}
	rc = c ? apply(app, c, &diags, "(before the last reload)", false, started, out, err, size) : refuse(&diags, err, size);
	free(text);
	if (rc == 0) {
		/* both change places, so that another rollback goes forward again */
		text = app->file;
		app->file = app->previous_file;
		app->previous_file = text;
		app->confirm_before_ns = 0;
	}
	return rc;
}

static int commit_confirmed(void *arg, const char *file, uint64_t seconds, json_t **out, char *err, size_t size)
{
	struct app *app = arg;
	bool again = app->confirm_before_ns != 0;
	char *previous = app->previous, *previous_file = app->previous_file;
	int rc;

	/* what runs now was never confirmed: the way back stays the one that leads behind it */
	if (again)
		app->previous = app->previous_file = NULL;
	rc = apply_file(app, file, false, out, err, size);
	if (again) {
		free(app->previous);
		free(app->previous_file);
		app->previous = previous;
		app->previous_file = previous_file;
	}
	if (rc == 0)
		app->confirm_before_ns = clock_now() + seconds * NSEC_PER_SEC;
	return rc;
}

static int commit(void *arg, char *err, size_t size)
{
	struct app *app = arg;

	if (!app->confirm_before_ns) {
		snprintf(err, size, "nothing waits to be confirmed");
		return -ENOENT;
	}
	app->confirm_before_ns = 0;
	return 0;
}

void reload_tick(struct app *app, uint64_t now)
{
	json_t *plan = NULL;
	char err[1024] = "";

	if (!app->confirm_before_ns || now < app->confirm_before_ns)
		return;
	app->confirm_before_ns = 0;
	log_warning(config, "not confirmed in time: going back");
	if (rollback(app, &plan, err, sizeof(err)) < 0)
		log_error(config, "cannot go back: %s", err);
	json_decref(plan);
}

void reload_on_signal(struct app *app)
{
	json_t *plan = NULL;
	char err[8192] = "";

	if (reload(app, NULL, false, &plan, err, sizeof(err)) < 0)
		log_error(config, "%s", err);
	json_decref(plan);
}

static void quit(void *arg)
{
	((struct app *)arg)->stop = true;
}

void reload_init(struct app *app)
{
	app->file = strdup(app->options->config_file);
	app->host = (struct command_host){.node = app->node,
		.arg = app,
		.session = app,
		.quit = quit,
		.reload = reload,
		.commit_confirmed = commit_confirmed,
		.commit = commit,
		.rollback = rollback,
		.version = SLUICE_VERSION};
}

void reload_fini(struct app *app)
{
	free(app->file);
	free(app->previous);
	free(app->previous_file);
}
