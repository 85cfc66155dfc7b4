/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP by libmicrohttpd: daemons, connections, bodies, sleep and wake. The only user of <microhttpd.h>.
 *
 * Life of a request: on_uri makes it when the request line is there; on_request is called with the headers
 * (gate, authentication and route decide early when a body is announced), then with each piece of the body, then
 * once more: the handler runs. A handler that has to wait says REQUEST_WAIT; the connection sleeps (suspend) until
 * park_wake, and the handler is called again. on_completed ends it in all cases.
 *
 * libmicrohttpd 0.9.75 does not notice that a sleeping connection was hung up, and must not be stopped while one
 * sleeps: the engine looks after the first, api_stop after the second. Replies are single buffers, never iovecs
 * (those can stall or abort the process). */
#include "api/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/gate.h"
#include "api/listen.h"
#include "api/metrics.h"
#include "api/reply.h"
#include "api/route.h"

enum {
	CONNECTION_MEMORY = 32 << 10, /* headers must fit; a watch's chunks are made here */
	IDLE_SECONDS = 75,            /* libmicrohttpd's own: nothing at all happens */
	HEAD_SECONDS = 120,           /* ours: a connection without a complete request line, however it drips */
	BODY_SECONDS = 60,            /* ours: from the request line to the whole body */
	SEND_SECONDS = 60,            /* ours: plus one for each SEND_RATE bytes */
	SEND_RATE = 16 << 10,
	STREAM_BLOCK = 32 << 10,
	ARENA_REQUEST = 64 << 20,     /* ceiling of a request's memory besides its body */
};

/* One connection. */
struct conn {
	struct conn *next, **link;
	struct http *http;
	int fd;
	bool trusted, local;
	_Atomic int64_t deadline; /* monotonic ns; 0 none */
};

struct daemon {
	struct MHD_Daemon *mhd;
	bool trusted;
};

struct http {
	struct api *api;
	struct daemon daemon[LISTEN_MAX + 1];
	unsigned ndaemons;
	unsigned port;
	char *unix_path;
	pthread_mutex_t lock; /* guards conns and their links */
	struct conn *conns;
	atomic_uint nconns;
};

/* A request with what only this file knows. */
struct exchange {
	struct request r;
	struct MHD_Connection *mhd;
	struct stream *stream; /* ours to free when the exchange ends */
	bool begun, checked;
};

/* ---- sleep and wake ---- */

enum { PARK_RUNNING, PARK_ASLEEP, PARK_WOKEN };

void park_begin(struct park *p)
{
	if (p->asleep) {
		p->asleep = false;
		atomic_fetch_sub(&p->api->asleep, 1);
	}
	atomic_store(&p->state, PARK_RUNNING);
}

bool park_asleep(const struct park *p)
{
	return atomic_load(&p->state) == PARK_ASLEEP;
}

void park_wake(void *arg)
{
	struct park *p = arg;
	struct MHD_Connection *connection = p->connection;

	if (atomic_exchange(&p->state, PARK_WOKEN) == PARK_ASLEEP)
		MHD_resume_connection(connection);
}

/* True: asleep, return to libmicrohttpd; false: woken meanwhile, look again. */
static bool park_wait(struct park *p)
{
	int running = PARK_RUNNING;

	if (atomic_load(&p->state) == PARK_WOKEN)
		return false;
	p->asleep = true;
	atomic_fetch_add(&p->api->asleep, 1);
	MHD_suspend_connection(p->connection);
	if (!atomic_compare_exchange_strong(&p->state, &running, PARK_ASLEEP))
		MHD_resume_connection(p->connection);
	return true;
}

/* ---- connections ---- */

static void set_deadline(struct conn *c, int64_t seconds)
{
	atomic_store(&c->deadline, seconds ? clock_ns() + seconds * 1000000000LL : 0);
}

static bool is_local(const struct sockaddr *sa)
{
	if (!sa || sa->sa_family == AF_UNIX)
		return true;
	if (sa->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) >> 24 == 127;
	return sa->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

static struct conn *conn_new(struct http *h, struct MHD_Connection *mhd, bool trusted)
{
	const union MHD_ConnectionInfo *fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *peer = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct conn *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->http = h;
	c->fd = fd ? fd->connect_fd : -1;
	c->trusted = trusted;
	c->local = trusted || (peer && is_local(peer->client_addr));
	set_deadline(c, HEAD_SECONDS);
	pthread_mutex_lock(&h->lock);
	c->next = h->conns;
	c->link = &h->conns;
	if (c->next)
		c->next->link = &c->next;
	h->conns = c;
	pthread_mutex_unlock(&h->lock);
	atomic_fetch_add(&h->nconns, 1);
	return c;
}

static void conn_free(struct conn *c)
{
	struct http *h = c->http;

	pthread_mutex_lock(&h->lock);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	pthread_mutex_unlock(&h->lock);
	atomic_fetch_sub(&h->nconns, 1);
	free(c);
}

static void connected(struct http *h, bool trusted, struct MHD_Connection *mhd, void **context,
		      enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		*context = conn_new(h, mhd, trusted);
	else if (*context)
		conn_free(*context);
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

/* The list keeps a connection until libmicrohttpd is about to close its socket, so fd is still the same. */
void http_check_deadlines(struct api *api, int64_t now)
{
	struct http *h = api->http;

	pthread_mutex_lock(&h->lock);
	for (struct conn *c = h->conns; c; c = c->next) {
		int64_t deadline = atomic_load(&c->deadline);
		if (!deadline || deadline > now)
			continue;
		atomic_store(&c->deadline, 0);
		shutdown(c->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&h->lock);
}

int http_fd(const struct request *r)
{
	return r->conn->fd;
}

/* ---- the reply ---- */

/* Asleep and woken at once: libmicrohttpd looks at the others first. */
static ssize_t yield(struct park *p)
{
	MHD_suspend_connection(p->connection);
	MHD_resume_connection(p->connection);
	return 0;
}

static ssize_t on_read(void *cls, uint64_t pos, char *out, size_t max)
{
	struct stream *s = cls;

	(void)pos;
	for (;;) {
		park_begin(s->park);
		ptrdiff_t n = s->read(s, out, max);
		if (n > 0)
			return n;
		if (n == STREAM_END)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (n == STREAM_FAIL)
			return MHD_CONTENT_READER_END_WITH_ERROR;
		if (n == STREAM_AGAIN)
			return yield(s->park);
		if (park_wait(s->park))
			return 0;
	}
}

static struct MHD_Response *response_new(struct exchange *x, struct reply *p)
{
	if (p->stream) {
		x->stream = steal(&p->stream);
		x->stream->park = &x->r.park;
		return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, on_read, x->stream, NULL);
	}
	if (!p->release || p->body.len == 0) {
		struct str body = p->release ? STR("") : p->body;
		reply_done(p);
		return MHD_create_response_from_buffer(body.len, (void *)body.ptr, MHD_RESPMEM_PERSISTENT);
	}
	struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
		p->body.len, (void *)p->body.ptr, p->release, p->owner);
	if (response)
		p->release = NULL;
	return response;
}

static void add_headers(struct MHD_Response *response, const struct request *r, const struct reply *p)
{
	bool cached = false;

	for (unsigned i = 0; i < p->nheaders; i++) {
		MHD_add_response_header(response, p->header[i].name.ptr, p->header[i].value.ptr);
		cached = cached || str_is(p->header[i].name, "Cache-Control");
	}
	if (p->content_type && p->code != 304)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, p->content_type);
	if (!cached)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache, private");
	if (p->text)
		MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (p->close || r->refused)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

/* The path as it came, fit for a log line. */
static void loggable(struct str path, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < path.len && n + 1 < room; i++) {
		char c = path.ptr[i];
		out[n++] = c > 0x20 && c < 0x7f && c != '"' && c != '\\' ? c : '?';
	}
	out[n] = '\0';
}

static void note(struct request *r, const struct reply *p, size_t bytes)
{
	double seconds = (double)(clock_ns() - r->started) / 1e9;
	enum log_level level = p->code >= 500 ? LOG_WARN : LOG_DEBUG;
	char path[256];

	metrics_request(r->api->metrics, r, p->code, seconds, bytes);
	loggable(r->path.ptr ? r->path : r->uri, path, sizeof(path));
	log_line(level, "msg=request method=%.*s path=\"%s\" code=%u ms=%.1f", STR_ARG(r->method_name), path, p->code,
		 seconds * 1e3);
}

static enum MHD_Result send_reply(struct exchange *x, struct reply *p)
{
	struct request *r = &x->r;

	reply_finish(r, p);
	size_t bytes = p->body.len;
	bool streams = p->stream != NULL;
	struct MHD_Response *response = response_new(x, p);
	reply_done(p);
	if (!response)
		return MHD_NO;
	if (streams)
		atomic_fetch_add(&r->api->streams, 1);
	add_headers(response, r, p);
	set_deadline(r->conn, streams ? 0 : SEND_SECONDS + (int64_t)(bytes / SEND_RATE));
	note(r, p, bytes);
	enum MHD_Result rc = MHD_queue_response(x->mhd, p->code, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result send_status(struct exchange *x, const struct status *st)
{
	struct reply p = {0};

	reply_status(&x->r, &p, st);
	return send_reply(x, &p);
}

/* ---- the request ---- */

static const struct {
	const char *name;
	enum method method;
} methods[] = {
	{"GET", METHOD_GET}, {"HEAD", METHOD_HEAD},   {"POST", METHOD_POST},
	{"PUT", METHOD_PUT}, {"PATCH", METHOD_PATCH}, {"DELETE", METHOD_DELETE},
};

static enum method method_of(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(name, methods[i].name) == 0)
			return methods[i].method;
	return METHOD_OTHER;
}

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
	struct http *h = cls;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct conn *c = info ? info->socket_context : NULL;
	struct exchange *x = c ? calloc(1, sizeof(*x)) : NULL;

	if (!x)
		return NULL;
	x->mhd = mhd;
	struct request *r = &x->r;
	r->api = h->api;
	r->conn = c;
	r->trusted = c->trusted;
	r->local = c->local;
	r->started = clock_ns();
	r->park = (struct park){.connection = mhd, .api = h->api};
	arena_init(&r->arena, ARENA_REQUEST);
	r->uri = arena_str(&r->arena, str_of(uri));
	set_deadline(c, BODY_SECONDS);
	return x;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_len,
				 const char *value, size_t value_len)
{
	struct request *r = cls;

	(void)kind;
	/* The table being full is noticed by the gate. */
	if (r->nheaders < HEADERS_MAX)
		r->header[r->nheaders++] = (struct pair){str_n(name, name_len), str_n(value ? value : "", value_len)};
	return r->nheaders < HEADERS_MAX ? MHD_YES : MHD_NO;
}

static int check_head(struct exchange *x, struct status *st)
{
	struct request *r = &x->r;
	int rc = request_parse_uri(r, st);

	x->checked = true;
	if (rc == 0)
		rc = auth_check(&r->api->auth, r, st);
	if (rc == 0)
		rc = route(r, st);
	return rc;
}

/* Answers before the body was read: the connection cannot be used any further. */
static enum MHD_Result refuse(struct exchange *x, const struct status *st)
{
	x->r.refused = true;
	return send_status(x, st);
}

/* First call: the headers are there. */
static enum MHD_Result begin(struct exchange *x, const char *method, const char *version)
{
	struct request *r = &x->r;
	struct status st;
	bool body;

	x->begun = true;
	status_clear(&st);
	r->method_name = arena_str(&r->arena, str_of(method));
	r->method = method_of(method);
	r->http10 = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
	MHD_get_connection_values_n(x->mhd, MHD_HEADER_KIND, on_header, r);
	if (!r->uri.ptr || !r->method_name.ptr)
		return MHD_NO;
	if (gate_check(r, &body, &st) < 0 || (body && check_head(x, &st) < 0))
		return refuse(x, &st);
	return MHD_YES;
}

/* Takes a piece of the body; what is beyond the limit is counted only. False: close the connection. */
static bool collect(struct request *r, const char *bytes, size_t n)
{
	r->body_seen += n;
	if (r->body_seen > DISCARD_MAX)
		return false;
	if (r->body_seen > BODY_MAX)
		return true;
	r->body_budget += n;
	if (atomic_fetch_add(&r->api->body_bytes, n) > BODY_BYTES_MAX) {
		r->body.failed = true;
		return true;
	}
	buf_add(&r->body, bytes, n);
	return true;
}

static int check_body(const struct request *r, struct status *st)
{
	if (r->body_seen > BODY_MAX)
		return status_set(st, REASON_TOO_LARGE, "Request entity too large: limit is %d", BODY_MAX);
	if (r->body.failed) {
		st->retry_after = 1;
		return status_set(st, REASON_TOO_MANY_REQUESTS, "Too many requests, please try again later.");
	}
	return 0;
}

static void gauge(struct request *r)
{
	bool reads = r->method == METHOD_GET || r->method == METHOD_HEAD;

	if (r->counted)
		return;
	r->counted = true;
	atomic_fetch_add(reads ? &r->api->inflight_reading : &r->api->inflight_mutating, 1);
}

/* Runs the handler until it is done or wants to sleep. */
static enum MHD_Result handle(struct exchange *x)
{
	struct request *r = &x->r;
	struct reply p = {0};
	struct status st;

	status_clear(&st);
	for (;;) {
		park_begin(&r->park);
		int rc = r->handle(r, &p, &st);
		if (rc == 0)
			return send_reply(x, &p);
		if (rc < 0) {
			reply_done(&p);
			reply_status(r, &p, &st);
			return send_reply(x, &p);
		}
		if (park_wait(&r->park))
			return MHD_YES;
	}
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
				  const char *version, const char *upload, size_t *upload_size, void **context)
{
	struct exchange *x = *context;
	struct status st;

	(void)cls, (void)mhd, (void)url;
	if (!x)
		return MHD_NO;
	if (!x->begun)
		return begin(x, method, version);
	if (*upload_size) {
		bool good = collect(&x->r, upload, *upload_size);
		*upload_size = 0;
		return good ? MHD_YES : MHD_NO;
	}
	set_deadline(x->r.conn, 0);
	gauge(&x->r);
	status_clear(&st);
	if ((!x->checked && check_head(x, &st) < 0) || check_body(&x->r, &st) < 0)
		return send_status(x, &st);
	return handle(x);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code)
{
	struct exchange *x = *context;

	(void)cls, (void)mhd, (void)code;
	*context = NULL;
	if (!x)
		return;
	struct request *r = &x->r;
	bool reads = r->method == METHOD_GET || r->method == METHOD_HEAD;
	if (x->stream) {
		x->stream->free(x->stream);
		atomic_fetch_sub(&r->api->streams, 1);
	}
	if (r->counted)
		atomic_fetch_sub(reads ? &r->api->inflight_reading : &r->api->inflight_mutating, 1);
	park_begin(&r->park);
	atomic_fetch_sub(&r->api->body_bytes, r->body_budget);
	set_deadline(r->conn, HEAD_SECONDS);
	request_done(r);
	free(x);
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
		flags, 0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_NOTIFY_CONNECTION,
		trusted ? on_unix_connection : on_connection, h, MHD_OPTION_URI_LOG_CALLBACK, on_uri, h,
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
	pthread_mutex_init(&h->lock, NULL);
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
	pthread_mutex_destroy(&h->lock);
	free(h->unix_path);
	free(h);
}

unsigned http_port(const struct http *h)
{
	return h->port;
}

unsigned http_connections(struct http *h)
{
	return atomic_load(&h->nconns);
}
