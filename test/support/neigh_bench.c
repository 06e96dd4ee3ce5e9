/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/neigh_bench.h"

#include <stdlib.h>

#include "test/support/unit.h"

const struct neigh_limits bench_limits = {
	.retransmit_ns = 1000 * MS,
	.reachable_ns = 30000 * MS,
	.stale_ns = 600000 * MS,
	.probes = 3,
	.max = 4,
};

static void say(struct bench *b, const char *what, uint16_t port, const struct ip_addr *addr, const char *rest)
{
	char text[IP_ADDR_TEXT];
	size_t n = strlen(b->said);

	snprintf(b->said + n, sizeof(b->said) - n, "%llu %s %u %s %s\n", (unsigned long long)(b->now / MS), what, port,
		ip_addr_format(addr, text), rest);
}

static void on_solicit(void *arg, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac)
{
	char text[ETH_ADDR_TEXT];

	say(arg, "ask", port, addr, mac ? eth_addr_format(mac, text) : "all");
}

static void on_update(void *arg, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac, int state)
{
	char text[ETH_ADDR_TEXT];

	if (state == NEIGH_REACHABLE)
		say(arg, "set", port, addr, eth_addr_format(mac, text));
	else
		say(arg, "tell", port, addr, state < 0 ? "forget" : neigh_state_name((enum neigh_state)state));
}

int bench_setup(void **state)
{
	static const struct neigh_ops ops = {.solicit = on_solicit, .update = on_update};
	struct bench *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	b->t = neigh_cache_new(&ops, b);
	if (!b->t)
		return -1;
	neigh_cache_set_limits(b->t, &bench_limits);
	*state = b;
	return 0;
}

int bench_teardown(void **state)
{
	struct bench *b = *state;

	neigh_cache_free(b->t);
	free(b);
	return 0;
}

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	check(ip_addr_parse(text, &a) == 0, "%s", text);
	return a;
}

const struct eth_addr bench_mac5 = {{0x02, 0, 0, 0, 0x05, 0}};
const struct eth_addr bench_mac6 = {{0x02, 0, 0, 0, 0x06, 0}};

void bench_expect(struct bench *b, const char *want)
{
	check_text("said", b->said, want);
	b->said[0] = '\0';
}

void bench_run_to(struct bench *b, uint64_t ms)
{
	for (;;) {
		neigh_cache_poll(b->t, b->now, 1000, &b->next);
		if (b->next > ms * MS)
			break;
		assert_true(b->next > b->now);
		b->now = b->next;
	}
	b->now = ms * MS;
}

static void look(void *arg, const struct neigh_info *info)
{
	struct bench_entry *l = arg;

	if (info->port != l->port || !ip_addr_equal(&info->addr, &l->addr))
		return;
	l->info = *info;
	l->found = true;
}

struct bench_entry bench_entry(struct bench *b, uint16_t port, const char *text)
{
	struct bench_entry l = {.port = port, .addr = addr(text)};

	neigh_cache_each(b->t, look, &l);
	return l;
}

void bench_expect_state(struct bench *b, uint16_t port, const char *text, enum neigh_state state)
{
	struct bench_entry l = bench_entry(b, port, text);

	check(l.found, "%s", text);
	check_text(text, neigh_state_name(l.info.state), neigh_state_name(state));
}

int bench_ask(struct bench *b, uint16_t port, const char *text)
{
	struct ip_addr a = addr(text);

	return neigh_cache_ask(b->t, b->now, port, &a);
}

void bench_keep(struct bench *b, uint16_t port, const char *text, bool wanted)
{
	struct ip_addr a = addr(text);

	assert_int_equal(neigh_cache_keep(b->t, b->now, port, &a, wanted), 0);
}

void bench_used(struct bench *b, uint16_t port, const char *text)
{
	struct ip_addr a = addr(text);

	neigh_cache_used(b->t, b->now, port, &a);
}

void bench_heard(struct bench *b, uint16_t port, const char *text, const struct eth_addr *mac, unsigned int flags)
{
	struct neigh_news news = {
		.port = port,
		.addr = addr(text),
		.has_mac = mac != NULL,
		.solicited = flags & SOLICITED,
		.override = flags & OVERRIDE,
		.create = flags & CREATE,
	};

	if (mac)
		news.mac = *mac;
	neigh_cache_heard(b->t, b->now, &news);
}

void bench_make_reachable(struct bench *b)
{
	assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	bench_heard(b, 1, "fe80::5", &bench_mac5, SOLICITED | OVERRIDE);
	bench_expect_state(b, 1, "fe80::5", NEIGH_REACHABLE);
	b->said[0] = '\0';
}

void bench_make_state(struct bench *b, enum neigh_state state)
{
	if (state == NEIGH_INCOMPLETE) {
		assert_int_equal(bench_ask(b, 1, "fe80::5"), 0);
	} else {
		bench_make_reachable(b);
		if (state != NEIGH_REACHABLE)
			bench_run_to(b, b->now / MS + 45000);
		if (state == NEIGH_DELAY || state == NEIGH_PROBE)
			bench_used(b, 1, "fe80::5");
		if (state == NEIGH_PROBE)
			bench_run_to(b, b->now / MS + 5000);
	}
	bench_expect_state(b, 1, "fe80::5", state);
	b->said[0] = '\0';
}
