/* SPDX-License-Identifier: BSD-3-Clause */
/* capture start, stop, drops; show captures. Management thread. */
#include <errno.h>
#include <time.h>

#include "capture/capture.h"
#include "command/command_priv.h"
#include "node/node_ctl.h"

static void add(void *arg, const struct capture_info *i)
{
	json_array_append_new(arg,
		json_pack("{si ss sI sI sI}", "number", i->number, "file", i->file, "packets", (json_int_t)i->packets,
			"bytes", (json_int_t)i->bytes, "lost", (json_int_t)i->lost));
}

int cmd_show_captures(struct command_call *c)
{
	c->result = json_array();
	capture_each(c->node->captures, add, c->result);
	return 0;
}

static void default_name(const struct command_call *c, char *buf, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	snprintf(buf, size, "sluice-%s-%s-%s.pcapng", c->node->name, c->arg[0], stamp);
}

int cmd_capture_start(struct command_call *c)
{
	struct capture_filter f = {.expression = c->arg[1], .count = c->arg[3] ? c->number[3] : 0};
	char name[160];
	int rc;

	if (!c->is_word[0])
		f.rx_ports = f.tx_ports = 1ull << c->number[0];
	else if (c->number[0] == 0)
		f.rx_ports = f.tx_ports = ~0ull;
	else if (c->number[0] == 1)
		f.drops = 1;
	else
		f.oam = 1;
	default_name(c, name, sizeof(name));
	rc = capture_start(c->node->captures, &f, c->arg[2] ? c->arg[2] : name, c->error, sizeof(c->error));
	if (rc < 0)
		return rc;
	c->result = json_pack("{si ss}", "number", rc, "file", c->arg[2] ? c->arg[2] : name);
	return 0;
}

int cmd_capture_drops(struct command_call *c)
{
	int n = capture_write_samples(c->node->captures, c->arg[0], c->error, sizeof(c->error));

	if (n < 0)
		return n;
	c->result = json_pack("{si ss}", "packets", n, "file", c->arg[0]);
	return 0;
}

int cmd_capture_stop(struct command_call *c)
{
	if (!c->is_word[0]) {
		if (capture_stop(c->node->captures, (int)c->number[0]) < 0)
			return command_fail(c, -ENOENT, "there is no capture %llu; see: show captures",
				(unsigned long long)c->number[0]);
		return 0;
	}
	for (int i = 1; i <= 16; i++)
		capture_stop(c->node->captures, i);
	return 0;
}
