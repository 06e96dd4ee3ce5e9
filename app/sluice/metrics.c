/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves /metrics over HTTP with libmicrohttpd, polled by the management thread. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <microhttpd.h>

#include "app.h"
#include "config/config.h"
#include "metrics/openmetrics.h"
#include "node/node.h"

#define CONNECTIONS_MAX 32
#define OF_ONE_ADDRESS 16 /* so that a station that opens all it can leaves room for the others */
#define TIMEOUT_S 10
#define PAUSE_NS (200 * NSEC_PER_MSEC) /* without descriptors nothing is looked at for so long */

struct metrics {
	struct MHD_Daemon *daemon;
	int fd;
	uint64_t look_at; /* ns: from when on the page is served */
};

static enum MHD_Result respond(struct MHD_Connection *c, unsigned int status, const char *type, char *text, size_t size)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result rc;

	if (!r) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned int status, const char *why)
{
	char *text = strdup(why);

	return text ? respond(c, status, "text/plain; charset=utf-8", text, strlen(text)) : MHD_NO;
}

static enum MHD_Result handle(void *arg, struct MHD_Connection *c, const char *url, const char *method,
	const char *version, const char *data, size_t *data_size, void **state)
{
	static int seen;
	struct app *app = arg;
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	struct openmetrics_how how = {.open = accept && strstr(accept, "application/openmetrics-text"),
		.session = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "session")};
	char *text = NULL;
	size_t size;
	FILE *f;

	(void)version;
	(void)data;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are supported\n");
	/* libmicrohttpd calls once for the headers and again for the body; answer on the second call */
	if (!*state) {
		*state = &seen;
		return MHD_YES;
	}
	*data_size = 0;
	if (strcmp(url, "/metrics") != 0)
		return refuse(c, MHD_HTTP_NOT_FOUND, "not found; the only page is /metrics\n");
	f = open_memstream(&text, &size);
	if (!f)
		return MHD_NO;
	openmetrics_print(app->node, &how, f);
	fclose(f);
	return respond(c, MHD_HTTP_OK,
		how.open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			 : "text/plain; version=0.0.4; charset=utf-8",
		text, size);
}

int metrics_start(struct app *app, char *err, size_t size)
{
	const char *listen = app->node->config->metrics.listen;
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	const union MHD_DaemonInfo *info;
	struct ip_addr addr;
	uint16_t port;

	if (!listen)
		return 0;
	cfg_parse_listen(listen, &addr, &port);
	memcpy(&v4.sin_addr, addr.b, sizeof(v4.sin_addr));
	memcpy(&v6.sin6_addr, addr.b, sizeof(v6.sin6_addr));
	v4.sin_port = v6.sin6_port = htons(port);
	app->metrics = calloc(1, sizeof(*app->metrics));
	if (!app->metrics) {
		snprintf(err, size, "out of memory");
		return -ENOMEM;
	}
	app->metrics->daemon = MHD_start_daemon(MHD_USE_EPOLL | (addr.family == 6 ? MHD_USE_IPv6 : 0), port, NULL, NULL,
		handle, app, MHD_OPTION_SOCK_ADDR, addr.family == 6 ? (void *)&v6 : (void *)&v4,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_PER_IP_CONNECTION_LIMIT, OF_ONE_ADDRESS,
		MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S, MHD_OPTION_END);
	if (!app->metrics->daemon) {
		snprintf(err, size, "metrics.listen: cannot listen on %s: %s", listen, strerror(errno));
		free(app->metrics);
		app->metrics = NULL;
		return -EADDRINUSE;
	}
	info = MHD_get_daemon_info(app->metrics->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	app->metrics->fd = info ? info->epoll_fd : -1;
	return 0;
}

void metrics_stop(struct app *app)
{
	if (!app->metrics)
		return;
	MHD_stop_daemon(app->metrics->daemon);
	free(app->metrics);
	app->metrics = NULL;
}

int metrics_fd(const struct app *app, uint64_t now)
{
	return app->metrics && now >= app->metrics->look_at ? app->metrics->fd : -1;
}

/* libmicrohttpd goes on asking for a connection that it has no descriptor for, and poll would return at once. */
static bool has_descriptors(int fd)
{
	int spare = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (spare >= 0)
		close(spare);
	return spare >= 0;
}

void metrics_serve(struct app *app, bool ready, uint64_t now)
{
	if (!app->metrics || now < app->metrics->look_at)
		return;
	MHD_run(app->metrics->daemon);
	if (ready && !has_descriptors(app->metrics->fd))
		app->metrics->look_at = now + PAUSE_NS;
}
