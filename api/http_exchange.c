/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and replies between libmicrohttpd and the handlers.
 *
 * Life of a request: http_on_uri makes it when the request line is there; http_on_request is called with the
 * headers (gate, authentication and route decide early when a body is announced), then with each piece of the
 * body, then once more: the handler runs. A handler that has to wait says REQUEST_WAIT; the connection sleeps
 * (suspend) until park_wake, and the handler is called again. http_on_completed ends it in all cases.
 *
 * Replies are single buffers, never iovecs: in libmicrohttpd 0.9.75 those can stall, and abort the process. */
#include "api/http_private.h"

#include <stdlib.h>

#include "api/access.h"
#include "api/gate.h"
#include "api/reply.h"
#include "api/route.h"

enum {
	BODY_SECONDS = 60,            /* from the request line to the whole body */
	SEND_SECONDS = 60,            /* to take a reply; plus one for each SEND_RATE bytes */
	SEND_RATE = 16 << 10,
	STREAM_BLOCK = 4 << 10, /* for HTTP/1.0 peers: chunks are made in the connection's own memory */
	ARENA_REQUEST = 64 << 20,     /* ceiling of a request's memory besides its body */
};

/* A request with what only libmicrohttpd's side knows. */
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
	conn_deadline(r->conn, streams ? 0 : SEND_SECONDS + (int64_t)(bytes / SEND_RATE));
	access_note(r, p->code, bytes);
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

void *http_on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
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
	conn_deadline(c, BODY_SECONDS);
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

enum MHD_Result http_on_request(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
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
	conn_deadline(x->r.conn, 0);
	gauge(&x->r);
	status_clear(&st);
	if ((!x->checked && check_head(x, &st) < 0) || check_body(&x->r, &st) < 0)
		return send_status(x, &st);
	return handle(x);
}

void http_on_completed(void *cls, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code)
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
	conn_deadline(r->conn, HEAD_SECONDS);
	request_done(r);
	free(x);
}
