/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a port does when its device is reset, recovers from an error, fails or loses its memif server, against a device of
 * functions (fake_ethdev.h). The real af_packet and memif are in test/netns.
 */
#include "test/support/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "drivers/ethdev.h"
#include "drivers/memif_server.h"
#include "pkt/pkt.h"
#include "test/support/conf.h"
#include "test/support/fake_ethdev.h"
#include "test/support/testbed.h"

static struct rte_mempool *pool;
static struct config *config;
static char logged[2048];

static void keep_log(enum log_level level, enum log_module module, const char *line)
{
	size_t n = strlen(logged);

	(void)level;
	(void)module;
	snprintf(logged + n, sizeof(logged) - n, "%s\n", line);
}

static struct port *opened(const char *driver, const char *device)
{
	char yaml[512], err[256] = "";
	struct port *p;

	testbed_eal();
	log_set_sink(keep_log);
	logged[0] = '\0';
	if (!pool)
		pool = pkt_pool_create("ethdev", 1023, 0, 2048, -1, false);
	assert_non_null(pool);
	snprintf(yaml, sizeof(yaml),
		TESTBED_NODE TESTBED_ONE_LCORE "ports: [{name: wan0, device: \"%s\", side: wan, mtu: 1500}]\n", device);
	cfg_free(config);
	config = conf_load(CONF_LOAD, yaml);
	fake_ethdev_init(driver);
	p = ethdev_open(config, 0, pool, err, sizeof(err));
	check(p, "%s", err);
	assert_int_equal(p->ops->start(p), 0);
	port_set_link(p, p->ops->link_up(p));
	fake_ethdev.calls[0] = '\0';
	memset(fake_ethdev.calls, 0, sizeof(fake_ethdev.calls));
	return p;
}

static int restart(struct port *p)
{
	char err[256] = "";
	int rc = p->ops->restart(p, config, pool, err, sizeof(err));

	check(rc >= 0 || rc == -EAGAIN || err[0], "error %d without a message", rc);
	return rc;
}

/* Nothing reaches the device: no receive, no transmit, no question about its ring. */
static void check_absent(struct port *p)
{
	struct rte_mbuf *m = NULL;

	/* rte_eth_fp_ops of a fake device has no queues: a call would crash */
	assert_int_equal(port_ops_of(p)->rx(p, 0, &m, 1), 0);
	assert_int_equal(port_ops_of(p)->tx(p, &m, 1), 0);
	assert_int_equal(port_ops_of(p)->rx_waits(p, 0), 0);
	assert_false(p->ops->link_up(p));
}

static void vf_is_reset(void **state)
{
	struct port *p = opened("net_iavf", "0000:3b:02.0");
	const struct port_ops *ops = p->ops;
	struct port_device_stats s;
	uint32_t link = port_link(p);

	(void)state;
	assert_true(port_is_up(p));
	assert_null(p->ops->failed(p, 0));
	fake_ethdev.imissed = 5;
	fake_ethdev_event(RTE_ETH_EVENT_INTR_RESET);
	assert_int_equal(port_link(p), link + 1); /* at once, in the thread of the event */
	assert_false(p->ops->link_up(p));
	assert_string_equal(p->ops->failed(p, 0), "the device was reset");
	check_absent(p);
	assert_int_equal(restart(p), 0);
	assert_string_equal(fake_ethdev.calls, "sRcS");
	assert_ptr_equal(p->ops, ops);
	assert_true(p->ops->link_up(p));
	assert_null(p->ops->failed(p, 0));
	fake_ethdev.imissed = 2;
	p->ops->device_stats(p, &s);
	assert_int_equal(s.imissed, 7); /* the device's counters began again */
	assert_int_equal(s.restarts, 1);
	p->ops->close(p);
}

/* Another reset while the first is dealt with is not forgotten; one that fails is tried again. */
static void reset_again(void **state)
{
	struct port *p = opened("net_iavf", "0000:3b:02.0");

	(void)state;
	fake_ethdev_event(RTE_ETH_EVENT_INTR_RESET);
	assert_non_null(p->ops->failed(p, 0));
	fake_ethdev.reset_result = -EIO;
	assert_int_equal(restart(p), -EIO);
	check_absent(p);
	fake_ethdev.reset_result = 0;
	assert_int_equal(restart(p), 0);
	assert_null(p->ops->failed(p, 0));
	fake_ethdev_event(RTE_ETH_EVENT_INTR_RESET);
	assert_non_null(p->ops->failed(p, 0));
	fake_ethdev.reset_result = -ENOTSUP; /* its driver has no such function: it is configured again */
	memset(fake_ethdev.calls, 0, sizeof(fake_ethdev.calls));
	assert_int_equal(restart(p), 0);
	assert_string_equal(fake_ethdev.calls, "sRcS");
	p->ops->close(p);
}

/* The device recovers by itself: it is left alone meanwhile (rte_ethdev.h), and its link is down. */
static void recovers(void **state)
{
	struct port *p = opened("net_hns3", "0000:3b:00.0");
	struct port_details d;
	struct port_device_stats s;

	(void)state;
	fake_ethdev_event(RTE_ETH_EVENT_ERR_RECOVERING);
	assert_false(port_is_up(p));
	fake_ethdev.plugged = false; /* any call to it is an error now */
	assert_null(p->ops->failed(p, 0));
	assert_false(p->ops->link_up(p));
	p->ops->device_stats(p, &s);
	p->ops->details(p, &d);
	fake_ethdev.plugged = true;
	fake_ethdev_event(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	assert_true(port_is_up(p));
	assert_null(p->ops->failed(p, 0));
	check_text("log", logged, "wan0: the device has recovered from an error by itself; 1 times since start\n");
	assert_string_equal(fake_ethdev.calls, "");
	p->ops->close(p);
}

static void does_not_recover(void **state)
{
	struct port *p = opened("net_hns3", "0000:3b:00.0");

	(void)state;
	fake_ethdev_event(RTE_ETH_EVENT_ERR_RECOVERING);
	fake_ethdev_event(RTE_ETH_EVENT_RECOVERY_FAILED);
	assert_string_equal(p->ops->failed(p, 0), "the device did not recover from an error");
	fake_ethdev.plug_result = -EIO;
	assert_int_equal(restart(p), -EIO);
	check_absent(p);
	fake_ethdev.plug_result = 0;
	fake_ethdev.mac.b[5] = 9; /* another one answers */
	assert_int_equal(restart(p), 0);
	assert_string_equal(fake_ethdev.calls, "sCUPPcmS");
	assert_int_equal(p->mac.b[5], 1); /* neighbours know that */
	assert_true(p->ops->link_up(p));
	p->ops->close(p);
}

/* The PF has given the VF another address and insists on it. */
static void mac_has_changed(void **state)
{
	struct port *p = opened("net_iavf", "0000:3b:02.0");

	(void)state;
	fake_ethdev.mac.b[5] = 9;
	fake_ethdev.keeps_mac = true;
	fake_ethdev_event(RTE_ETH_EVENT_INTR_RESET);
	assert_non_null(p->ops->failed(p, 0));
	assert_int_equal(restart(p), 0);
	assert_int_equal(p->mac.b[5], 9);
	p->ops->close(p);
}

/* --- memif --- */

static int listen_at(const char *name, int backlog)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));

	memcpy(addr.sun_path + 1, name, strlen(name));
	assert_int_equal(bind(fd, (const struct sockaddr *)&addr, size), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

/* A device that reports changes of its link is believed at once, also if it works again by the time that it is asked. */
static void link_interrupt(void **state)
{
	struct port *p = opened("net_iavf", "0000:3b:02.0");
	uint32_t was = port_link(p);

	(void)state;
	assert_true(port_is_up(p));
	fake_ethdev.up = false;
	fake_ethdev_event(RTE_ETH_EVENT_INTR_LSC);
	assert_int_equal(port_link(p), was + 1);
	fake_ethdev.up = true;
	fake_ethdev_event(RTE_ETH_EVENT_INTR_LSC);
	assert_int_equal(port_link(p), was + 2);
	fake_ethdev_event(RTE_ETH_EVENT_INTR_LSC);
	assert_int_equal(port_link(p), was + 4);
	assert_true(port_is_up(p));
	p->ops->close(p);
}

/* A client is started for a server that says hello, and for no other, however often it is tried. */
static void memif_server_returns(void **state)
{
	char device[128], name[64];
	struct port *p;
	int server, end;

	(void)state;
	snprintf(name, sizeof(name), "sluice-test-%d", (int)getpid());
	snprintf(device, sizeof(device), "net_memif0,role=client,socket=%s", name);
	p = opened("net_memif", device);
	assert_string_equal(fake_ethdev.calls, ""); /* not started: nobody listens */
	check_absent(p);
	assert_string_equal(p->ops->failed(p, 0), "not connected to its memif server");
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(restart(p), -EAGAIN);
	server = listen_at(name, 1);
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(restart(p), -EAGAIN); /* it accepts nothing: the driver would wait for ever */
	assert_string_equal(fake_ethdev.calls, "");
	end = accept(server, NULL, NULL);
	assert_int_equal(send(end, "hello", 5, 0), 5);
	fake_ethdev.up = false;
	assert_int_equal(restart(p), 0);
	assert_string_equal(fake_ethdev.calls, "S");
	/* the handshake has its time; then it is tried again */
	assert_null(p->ops->failed(p, NSEC_PER_SEC / 10));
	assert_non_null(p->ops->failed(p, NSEC_PER_SEC));
	assert_int_equal(restart(p), -EAGAIN);
	close(end);
	end = accept(server, NULL, NULL);
	assert_int_equal(send(end, "hello", 5, 0), 5);
	fake_ethdev.up = true;
	assert_int_equal(restart(p), 0);
	assert_string_equal(fake_ethdev.calls, "SsS");
	assert_true(p->ops->link_up(p));
	assert_null(p->ops->failed(p, 2 * NSEC_PER_SEC));
	/* it dies: at once */
	fake_ethdev.up = false;
	assert_non_null(p->ops->failed(p, 2 * NSEC_PER_SEC + 1));
	p->ops->close(p);
	close(end);
	close(server);
}

static int listen_at_file(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* The socket that a killed server has left is removed, and neither that of one that lives nor any other file. */
static void stale_socket(void **state)
{
	char path[64], device[160];
	int server;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/sluice-test-%d.sock", (int)getpid());
	snprintf(device, sizeof(device), "net_memif0,role=server,socket=%s,socket-abstract=no", path);
	server = listen_at_file(path);
	memif_server_remove_stale(device);
	assert_int_equal(access(path, F_OK), 0);
	close(server);
	device[strlen("net_memif0,role=")] = 'c';
	memif_server_remove_stale(device);
	assert_int_equal(access(path, F_OK), 0);
	device[strlen("net_memif0,role=")] = 's';
	memif_server_remove_stale(device);
	assert_int_equal(access(path, F_OK), -1);
	fclose(fopen(path, "w"));
	memif_server_remove_stale(device);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
}

/* A server of memif waits for clients by itself. */
static void memif_server_waits(void **state)
{
	struct port *p = opened("net_memif", "net_memif0,role=server,socket=none");

	(void)state;
	fake_ethdev.up = false;
	assert_null(p->ops->failed(p, NSEC_PER_SEC));
	p->ops->close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vf_is_reset),
		cmocka_unit_test(reset_again),
		cmocka_unit_test(recovers),
		cmocka_unit_test(does_not_recover),
		cmocka_unit_test(mac_has_changed),
		cmocka_unit_test(link_interrupt),
		cmocka_unit_test(memif_server_returns),
		cmocka_unit_test(stale_socket),
		cmocka_unit_test(memif_server_waits),
	};

	return cmocka_run_group_tests_name("ethdev", tests, NULL, NULL);
}
