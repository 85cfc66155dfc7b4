/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP by libmicrohttpd: daemons and connections. One daemon for each listening socket, each with a pool of threads on
 * epoll.
 *
 * libmicrohttpd 0.9.75 does not notice that a sleeping connection was hung up, and must not be stopped while one sleeps:
 * the engine looks after the first, api_stop after the second. */
#include "api/http_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	CONNECTION_MEMORY = 32 << 10, /* headers must fit; a watch's chunks are made here */
	IDLE_SECONDS = 75,            /* libmicrohttpd's own: nothing at all happens */
};

/* ---- connections ---- */

static struct conn *conn_new(struct http *h, struct MHD_Connection *mhd, bool trusted)
{
	const union MHD_ConnectionInfo *fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *peer = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct conn *c = conn_open(&h->conns, fd ? fd->connect_fd : -1, peer ? peer->client_addr : NULL, trusted);

	if (c)
		conn_deadline(c, HEAD_SECONDS);
	return c;
}

static void connected(struct http *h, bool trusted, struct MHD_Connection *mhd, void **context,
		      enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*context = conn_new(h, mhd, trusted);
	else if (*context)
		conn_close(&h->conns, *context);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	connected(cls, false, mhd, context, code);
}

static void on_unix_connection(void *cls, struct MHD_Connection *mhd, void **context,
			       enum MHD_ConnectionNotificationCode code)
{
	connected(cls, true, mhd, context, code);
}

void http_check_deadlines(struct api *api, int64_t now)
{
	conns_check(&api->http->conns, now);
}

int http_fd(const struct request *r)
{
	return r->conn->fd;
}

/* ---- daemons ---- */

/* Paths are taken apart undecoded. */
static size_t keep_escapes(void *cls, struct MHD_Connection *mhd, char *s)
{
	(void)cls, (void)mhd;
	return strlen(s);
}

__attribute__((format(printf, 2, 0)))
static void on_log(void *cls, const char *format, va_list ap)
{
	char line[512];

	(void)cls;
	int n = vsnprintf(line, sizeof(line), format, ap);
	while (n > 0 && (size_t)n < sizeof(line) && line[n - 1] == '\n')
		line[--n] = '\0';
	for (char *c = line; *c; c++)
		if (*c == '"' || (unsigned char)*c < 0x20)
			*c = '\'';
	log_debug("msg=\"%s\" from=libmicrohttpd", line);
}

/* Leaves some descriptors for the store, the mount and the log. */
static unsigned connection_limit(const struct api_options *o)
{
	struct rlimit limit;
	rlim_t files = 1024;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		files = limit.rlim_cur;
	files = files > 65536 ? 65536 : files;
	unsigned most = files > 256 ? (unsigned)files - 128 : (unsigned)files / 2;
	return o->connections && o->connections < most ? o->connections : most;
}

static unsigned thread_count(const struct api_options *o)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = o->threads ? o->threads : cores > 0 ? (unsigned)cores : 1;

	return n > 64 ? 64 : n;
}

struct setup {
	struct MHD_OptionItem item[16];
	unsigned n;
};

static void add(struct setup *s, enum MHD_OPTION option, intptr_t value, void *ptr)
{
	s->item[s->n++] = (struct MHD_OptionItem){option, value, ptr};
}

/* Copies of PEM texts for libmicrohttpd, which wants C strings that live as long as the daemon. */
static char *pem(struct str s)
{
	return strndup(s.ptr ? s.ptr : "", s.len);
}

struct credentials {
	char *cert, *key;
};

static void credentials_done(struct credentials *c)
{
	if (c->key)
		explicit_bzero(c->key, strlen(c->key));
	free(c->key);
	free(c->cert);
}

static void setup_tls(struct setup *s, const struct credentials *c)
{
	add(s, MHD_OPTION_HTTPS_MEM_CERT, 0, c->cert);
	add(s, MHD_OPTION_HTTPS_MEM_KEY, 0, c->key);
	add(s, MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2");
}

/* Takes fd, also on failure. */
static int start_daemon(struct http *h, int fd, bool trusted, const struct credentials *tls,
			const struct api_options *o, struct status *st)
{
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	unsigned threads = thread_count(o), limit = connection_limit(o);
	struct setup s = {.n = 0};

	add(&s, MHD_OPTION_LISTEN_SOCKET, fd, NULL);
	add(&s, MHD_OPTION_CONNECTION_LIMIT, limit < threads ? threads : limit, NULL);
	add(&s, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, NULL);
	add(&s, MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL);
	if (threads > 1)
		add(&s, MHD_OPTION_THREAD_POOL_SIZE, threads, NULL);
	if (tls) {
		flags |= MHD_USE_TLS;
		setup_tls(&s, tls);
	}
	add(&s, MHD_OPTION_END, 0, NULL);
	struct MHD_Daemon *mhd = MHD_start_daemon(
		flags, 0, NULL, NULL, http_on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_NOTIFY_COMPLETED, http_on_completed, h, MHD_OPTION_NOTIFY_CONNECTION,
		trusted ? on_unix_connection : on_connection, h, MHD_OPTION_URI_LOG_CALLBACK, http_on_uri, h,
		MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, h, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY, MHD_OPTION_ARRAY, s.item, MHD_OPTION_END);
	if (!mhd) {
		close(fd);
		return status_set(st, REASON_UNAVAILABLE, "cannot start the HTTP server%s",
				  tls ? " (are certificate and key usable?)" : "");
	}
	h->daemon[h->ndaemons++] = (struct daemon){mhd, trusted};
	return 0;
}

static int start_tcp(struct http *h, const struct api_options *o, struct status *st)
{
	_cleanup_(credentials_done) struct credentials tls = {pem(o->cert_pem), pem(o->key_pem)};
	int fds[LISTEN_MAX], rc = 0;

	if (!tls.cert || !tls.key)
		return status_no_memory(st);
	h->port = o->port;
	int n = listen_tcp(o->host, &h->port, fds, st);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = start_daemon(h, fds[i], false, o->insecure_http ? NULL : &tls, o, st);
		else
			close(fds[i]);
	}
	return rc;
}

static int start_unix(struct http *h, const struct api_options *o, struct status *st)
{
	if (!o->unix_socket || !o->unix_socket[0])
		return 0;
	int fd = listen_unix(o->unix_socket, st);
	if (fd < 0)
		return fd;
	h->unix_path = strdup(o->unix_socket);
	return start_daemon(h, fd, true, NULL, o, st);
}

struct http *http_new(struct api *api)
{
	struct http *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->api = api;
	conns_init(&h->conns);
	return h;
}

int http_start(struct http *h, const struct api_options *options, struct status *st)
{
	int rc = start_tcp(h, options, st);

	return rc < 0 ? rc : start_unix(h, options, st);
}

void http_quiesce(struct http *h)
{
	for (unsigned i = 0; i < h->ndaemons; i++) {
		int fd = MHD_quiesce_daemon(h->daemon[i].mhd);
		if (fd >= 0)
			close(fd);
	}
	if (h->unix_path)
		unlink(h->unix_path);
}

void http_stop(struct http *h)
{
	for (unsigned i = 0; i < h->ndaemons; i++)
		MHD_stop_daemon(h->daemon[i].mhd);
	h->ndaemons = 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	conns_done(&h->conns);
	free(h->unix_path);
	free(h);
}

unsigned http_port(const struct http *h)
{
	return h->port;
}

unsigned http_connections(struct http *h)
{
	return atomic_load(&h->conns.count);
}
