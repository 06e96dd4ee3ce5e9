/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and time to the session machines of one node that is headend, transit device and far gateway at once. Each
 * step of the input: a byte that says how (below), a byte of time, the length of a message in two bytes, the message.
 * Instead of a message of the input, one that the node has sent itself can come back, changed at one place. The pool holds
 * at every instant; after a long silence nothing of others is left.
 */
#include "rsvp/rsvp_node.h"
#include "test/fuzz/fuzz.h"

#define KEPT 8
#define EACH 2	      /* messages of a kind that one step sends are kept */
#define ECHO 0x01     /* a message of the node, sent back; the length chooses it, two bytes say what is changed */
#define NEIGHBOR 0x02 /* the neighbour goes (time odd) or comes */
#define CLOSE 0x04    /* or open */
#define COUNT 0x08    /* data moves */
#define ROUTED 0x10   /* the message came by routing */
#define ZONE 0x20     /* from a network of strangers */
#define ROUTES 0x40   /* routes have changed */

static struct {
	struct rsvp_node *node;
	struct rsvp_instance *session;
	uint64_t now;
	struct ip_addr neighbor;
	uint8_t kept[KEPT][700];
	uint16_t kept_bytes[KEPT];
	unsigned int sent;
	unsigned int sent_now[RSVP_KIND_COUNT]; /* by this step, of each kind */
	uint8_t how;				/* of the step */
} f;
static struct rsvp_message message;

/*
 * Writing and reading cost more than all else, and timers send the same thing many times: the first of a kind in each step is
 * written and read again, and one more is kept.
 */
static void send_it(void *arg, const struct rsvp_way *way, struct rsvp_message *m)
{
	unsigned int i = f.sent % KEPT, before = f.sent_now[m->kind]++;

	(void)arg;
	f.neighbor = way->along ? f.neighbor : way->to;
	if (before >= EACH)
		return;
	f.sent++;
	f.kept_bytes[i] = (uint16_t)rsvp_write(&rsvp_ext, m, f.kept[i], sizeof(f.kept[i]));
	must(m->kind == RSVP_ACK || m->kind == RSVP_INIT || f.kept_bytes[i], "a message that cannot be written");
	if (!before && f.kept_bytes[i])
		must(!rsvp_read(&rsvp_ext, f.kept[i], f.kept_bytes[i], &message), "a message that nobody reads");
}

/* The last byte of the session's address decides about the role. */
static int route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct rsvp_way *way)
{
	(void)arg;
	(void)arrival;
	way->port = 3;
	switch (m->session.dst.b[15] % 4) {
	case 0:
		return -RSVP_REFUSE_ROUTE;
	case 1:
		return RSVP_TRANSIT;
	case 3:
		way->joined = true;
		return RSVP_FAR;
	default:
		return RSVP_FAR;
	}
}

static struct rsvp_carry *under(void *arg, const struct rsvp_message *m)
{
	(void)arg;
	(void)m;
	return f.session ? rsvp_carry_of(f.session) : NULL;
}

static bool moved(void *arg, const struct rsvp_path *p, struct rsvp_way *way)
{
	(void)arg;
	way->zone = 0;
	return (rsvp_path_slot(p) ^ f.how) & 1;
}

static void changed(void *arg, const struct rsvp_path *p, bool on)
{
	struct rsvp_path_view v;

	(void)arg;
	rsvp_path_show(p, &v);
	must(on == (v.user == RSVP_U_COMMITTED), "the state is another one");
}

static bool reduces(void *arg, uint16_t zone, const struct ip_addr *neighbor)
{
	(void)arg;
	(void)zone;
	return neighbor->b[15] & 1;
}

static const struct rsvp_node_ops ops = {.send = send_it,
	.route = route,
	.under = under,
	.changed = changed,
	.reduces = reduces};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static void open_session(void)
{
	struct rsvp_open o = {.session = {.dst = {.family = 6, .b = {0xfd, [15] = 9}}, .protocol = 17, .port = 4791},
		.traffic_class = 3,
		.candidates = 2};

	for (unsigned int i = 0; i < 2; i++)
		o.candidate[i] = (struct rsvp_candidate){.id = (uint16_t)(i + 1),
			.sender = {.src = {.family = 6, .b = {0xfd, 1}}, .labelled = true, .port = i + 1},
			.way = {.port = (uint8_t)i}};
	f.session = rsvp_open(f.node, f.now, &o);
}

static void check_pool(void)
{
	const struct rsvp_node_stats *s = rsvp_node_stats_of(f.node);

	must(s->committed <= 4 * 100 && s->promised <= 8 * 100 && s->committed <= s->promised, "the pool");
}

static void check_paths(void)
{
	const struct rsvp_node_stats *s = rsvp_node_stats_of(f.node);
	unsigned int paths = 0;

	check_pool();
	for (const struct rsvp_path *p = NULL; (p = rsvp_path_next(f.node, p));) {
		struct rsvp_path_view v;

		rsvp_path_show(p, &v);
		must(*rsvp_grantor_state_name(v.grantor) != '?' && *rsvp_user_state_name(v.user) != '?', "a state");
		must(v.grantor != RSVP_G_COMMITTED || v.grant_epoch, "credit without an epoch");
		paths++;
	}
	must(paths == s->paths && paths <= 16, "%u paths", paths);
}

static void run_until(uint64_t until)
{
	uint64_t next;

	do {
		rsvp_poll(f.node, f.now, 16, &next);
		check_pool();
		f.now = next < f.now ? f.now : next < until ? next : until;
	} while (f.now < until);
	check_paths();
}

static void hand_over(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = fuzz_exact(data, bytes);
	struct ip_addr from = {.family = 6, .b = {0xfd, [15] = 2}};

	if (!rsvp_read(&rsvp_ext, copy, bytes, &message)) {
		message.routed = f.how & ROUTED;
		message.zone = f.how & ZONE ? 1 : 0;
		rsvp_receive(f.node, f.now, &message, &from, 1);
	}
	free(copy);
	check_paths();
}

static void echo(struct fuzz_input *in, uint16_t which)
{
	uint8_t changed_message[700];
	uint16_t bytes = f.kept_bytes[which % KEPT], at = (uint16_t)(fuzz_byte(in) << 1);

	if (bytes < 8)
		return;
	memcpy(changed_message, f.kept[which % KEPT], bytes);
	if (at >= 8 && at < bytes)
		changed_message[at] ^= fuzz_byte(in);
	/* what went down comes from above, and the other way round */
	if (which & 0x100)
		changed_message[1] = (uint8_t)(28 + which / 0x200 % 4);
	rsvp_checksum(changed_message, bytes);
	hand_over(changed_message, bytes);
}

static void move_data(uint8_t by)
{
	struct rsvp_path *p = rsvp_path_next(f.node, NULL);

	if (p)
		rsvp_user_count(f.node, f.now, p, by, by & 1, by & 2);
	p = rsvp_path_next(f.node, NULL);
	if (p)
		rsvp_grantor_count(f.node, f.now, p, by, by & 3, by / 2);
}

static void step(struct fuzz_input *in)
{
	uint8_t how = fuzz_byte(in), time = fuzz_byte(in);
	uint16_t length = (uint16_t)(fuzz_byte(in) << 8);
	const uint8_t *data;
	size_t taken;

	length = (uint16_t)(length | fuzz_byte(in));
	f.how = how;
	memset(f.sent_now, 0, sizeof(f.sent_now));
	run_until(f.now + (1ull << time % 37)); /* up to 68 s */
	if (how & ROUTES)
		rsvp_routes(f.node, f.now, 0, 16, moved);
	if (how & NEIGHBOR)
		rsvp_neighbor(f.node, f.now, 0, &f.neighbor, !(time & 1));
	if (how & CLOSE && f.session) {
		rsvp_close(f.node, f.now, f.session);
		f.session = NULL;
	} else if (how & CLOSE) {
		open_session();
	}
	if (how & COUNT)
		move_data(time);
	if (how & ECHO) {
		echo(in, length);
		return;
	}
	data = fuzz_bytes(in, length, &taken);
	hand_over(data, taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct rsvp_config c = rsvp_config_default;

	memset(&f, 0, sizeof(f));
	c.addr = (struct ip_addr){.family = 6, .b = {0xfd, [15] = 7}};
	c.paths_max = 16;
	c.pool = 400;
	c.buffer = 90;
	c.margin = 10;
	c.oversubscription = 2;
	f.neighbor = c.addr;
	f.now = 1000;
	f.node = rsvp_node_new(&c, &ops, NULL, 4711);
	must(f.node, "no memory");
	open_session();
	for (unsigned int i = 0; in.left && i < 24; i++)
		step(&in);
	memset(f.sent_now, 0, sizeof(f.sent_now));
	if (f.session)
		rsvp_close(f.node, f.now, f.session);
	run_until(f.now + 2000000000000);
	must(!rsvp_node_stats_of(f.node)->instances && !rsvp_node_stats_of(f.node)->promised, "something is left");
	rsvp_node_free(f.node);
	return 0;
}
