/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reload: reads, checks and plans a configuration, and applies it whole or not at all. Rollback applies the saved text
 * of the configuration before. Management thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "lcores.h"
#include "logging.h"
#include "options.h"
#include "base/log.h"
#include "base/progress.h"
#include "manage/apply.h"
#include "node/node_ctl.h"

/* A reload of many routes takes longer than the watchdog may wait on a slow machine (base/progress.h). */
static void feed(void *arg)
{
	watchdog_feed(arg, clock_now());
}

/* Flow control that was taken away while it was in force. */
static void log_held(const json_t *plan)
{
	size_t i;
	json_t *text;

	json_array_foreach(json_object_get(plan, "held"), i, text)
		log_warning(config, "lossless packets may be lost: %s", json_string_value(text));
}

/*
 * Apply a configuration. c is NULL if it could not be loaded, with the errors in diags; both are freed or taken over.
 * started: when loading began.
 */
static int apply(struct app *app, struct config *c, struct cfg_diags *diags, const char *file, enum apply_how how,
	uint64_t started, json_t **out, char *err, size_t size)
{
	struct cfg_log log_before = app->node->config->log;
	char *before = strdup(app->node->config->text);
	uint64_t ms;
	int rc;

	if (!before) {
		cfg_diags_free(diags);
		cfg_free(c);
		return -ENOMEM;
	}
	progress_hook(feed, app);
	progress();
	rc = apply_config(app->node, c, diags, file, how, out, err, size);
	progress_hook(NULL, NULL);
	ms = (clock_now() - started) / NSEC_PER_MSEC;
	if (*out)
		json_object_set_new(*out, "took_ms", json_integer((json_int_t)ms));
	if (rc == 0 && how != APPLY_DRY) {
		log_held(*out);
		logging_change(&log_before, &app->node->config->log);
		log_notice(config, "%s: %llu added, %llu changed, %llu removed, in %llu ms", file,
			apply_count(*out, "added"), apply_count(*out, "changed"), apply_count(*out, "removed"),
			(unsigned long long)ms);
		free(app->previous);
		app->previous = before;
		before = NULL;
	}
	free(before);
	return rc;
}

/* file NULL: that of the running configuration. */
static int apply_file(struct app *app, const char *file, enum apply_how how, json_t **out, char *err, size_t size)
{
	uint64_t started = clock_now();
	struct cfg_diags diags = {0};
	char *name = strdup(file ? file : app->file);
	struct config *c;
	int rc;

	progress_hook(feed, app);
	progress();
	c = name ? cfg_load_file(name, &diags) : NULL;
	rc = apply(app, c, &diags, name, how, started, out, err, size);
	if (rc == 0 && how != APPLY_DRY) {
		free(app->previous_file);
		app->previous_file = app->file;
		app->file = name;
		app->confirm_before_ns = 0;
	} else {
		free(name);
	}
	return rc;
}

static int reload(void *arg, const char *file, enum apply_how how, json_t **out, char *err, size_t size)
{
	struct app *app = arg;

	if (how != APPLY_DRY && app->confirm_before_ns) {
		snprintf(err, size, "nothing was changed: a commit confirmed is pending; run commit or rollback first");
		return -EBUSY;
	}
	return apply_file(app, file, how, out, err, size);
}

static int rollback(void *arg, enum apply_how how, json_t **out, char *err, size_t size)
{
	struct app *app = arg;
	uint64_t started = clock_now();
	struct cfg_diags diags = {0};
	struct config *c;
	char *text;
	int rc;

	if (!app->previous) {
		snprintf(err, size, "no earlier configuration: nothing has been reloaded yet");
		return -ENOENT;
	}
	text = strdup(app->previous);
	c = text ? cfg_load_text("(before the last reload)", text, strlen(text), &diags) : NULL;
	if (c)
		c = cfg_load_beside(c, app->previous_file ? app->previous_file : "", &diags);
	rc = apply(app, c, &diags, "(before the last reload)", how, started, out, err, size);
	free(text);
	if (rc == 0) {
		/* swap both, so that a second rollback undoes the first */
		text = app->file;
		app->file = app->previous_file;
		app->previous_file = text;
		app->confirm_before_ns = 0;
	}
	return rc;
}

static int commit_confirmed(void *arg, const char *file, uint64_t seconds, enum apply_how how, json_t **out, char *err,
	size_t size)
{
	struct app *app = arg;
	bool again = app->confirm_before_ns != 0;
	char *previous = app->previous, *previous_file = app->previous_file;
	int rc;

	/* the running configuration is unconfirmed: a rollback still goes to the one before it */
	if (again)
		app->previous = app->previous_file = NULL;
	rc = apply_file(app, file, how, out, err, size);
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
		snprintf(err, size, "no commit confirmed is pending");
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
	log_warning(config, "not confirmed in time; rolling back");
	/* the configuration may have cut off whoever could confirm it, so this does not wait for pauses to end */
	if (rollback(app, APPLY_FORCED, &plan, err, sizeof(err)) < 0)
		log_error(config, "cannot roll back: %s", err);
	json_decref(plan);
}

void reload_on_signal(struct app *app)
{
	json_t *plan = NULL;
	char err[8192] = "";

	if (reload(app, NULL, APPLY_SAFELY, &plan, err, sizeof(err)) < 0)
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
