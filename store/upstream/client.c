/* SPDX-License-Identifier: Apache-2.0 */
/* The import sink of a running server: a PUT for each object over the owner's socket. The server knows the
 * header Holdfs-Import there and treats the object as an import: created or replaced, without preconditions. */
#include "store/upstream/client.h"

#include <curl/curl.h>
#include <stdio.h>

#include "store/base/arena.h"
#include "store/base/cleanup.h"
#include "store/codec/tree.h"

enum { REPLY_MAX = 8 << 20, TIMEOUT_SECONDS = 60 };

struct server_sink {
	struct import_sink base;
	CURL *curl;
	struct curl_slist *headers;
	struct buf reply;
	char socket[4096];
};

static size_t on_data(char *bytes, size_t size, size_t n, void *arg)
{
	struct buf *reply = arg;

	if (reply->len + size * n > REPLY_MAX)
		return 0;
	buf_add(reply, bytes, size * n);
	return reply->failed ? 0 : size * n;
}

/* Percent-encodes what cannot stand in a path segment. */
static void add_segment(struct buf *url, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.ptr[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			     strchr("-._~:", c) != NULL;
		if (plain && c)
			buf_addc(url, (char)c);
		else
			buf_addf(url, "%%%02X", c);
	}
}

static void add_url(struct buf *url, const struct import_item *item)
{
	const struct kind *k = item->kind;

	buf_adds(url, k->group.len ? "http://localhost/apis/" : "http://localhost/api/");
	buf_add_str(url, k->api_version);
	if (item->ns.len) {
		buf_adds(url, "/namespaces/");
		add_segment(url, item->ns);
	}
	buf_addc(url, '/');
	buf_add_str(url, k->plural);
	buf_addc(url, '/');
	add_segment(url, item->name);
	buf_adds(url, "?fieldManager=holdfs-import&fieldValidation=Ignore");
	buf_addc(url, '\0');
}

/* A Status in the reply as a status of ours: only what importing looks at. */
static void read_status(struct server_sink *sink, long code, struct status *st)
{
	_cleanup_(arena_done) struct arena a;
	struct status ignored;
	struct tree *t = NULL;

	arena_init(&a, 0);
	tree_parse(&a, buf_str(&sink->reply), &t, NULL, &ignored);
	struct str message = tree_gets(t, "message"), kind = tree_gets(tree_getz(t, "details"), "kind");
	if (!message.len)
		status_set(st, REASON_INTERNAL, "the server answered %ld", code);
	else
		status_set(st, code == 404 ? REASON_NOT_FOUND : REASON_INTERNAL, "%.*s", STR_ARG(message));
	status_details(st, STR(""), kind, tree_gets(tree_getz(t, "details"), "name"));
}

static void put(struct server_sink *sink, const struct import_item *item, struct status *st)
{
	_cleanup_(buf_done) struct buf url = {0};
	long code = 0;

	add_url(&url, item);
	buf_clear(&sink->reply);
	if (url.failed) {
		status_no_memory(st);
		return;
	}
	curl_easy_setopt(sink->curl, CURLOPT_URL, url.ptr);
	curl_easy_setopt(sink->curl, CURLOPT_POSTFIELDS, item->json.ptr);
	curl_easy_setopt(sink->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)item->json.len);
	CURLcode rc = curl_easy_perform(sink->curl);
	if (rc != CURLE_OK) {
		status_set(st, REASON_UNAVAILABLE, "the server of the store does not answer: %s", curl_easy_strerror(rc));
		return;
	}
	curl_easy_getinfo(sink->curl, CURLINFO_RESPONSE_CODE, &code);
	if (code >= 300)
		read_status(sink, code, st);
}

static void server_put(struct import_sink *self, const struct import_item *item)
{
	struct server_sink *sink = (struct server_sink *)self;
	struct status st;

	status_clear(&st);
	put(sink, item, &st);
	self->done(item, &st, self->arg);
}

static void server_finish(struct import_sink *self)
{
	(void)self; /* every put has been answered */
}

static bool set_up(struct server_sink *sink)
{
	static const char *const headers[] = {"Content-Type: application/json", "Holdfs-Import: true", "Expect:"};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		struct curl_slist *grown = curl_slist_append(sink->headers, headers[i]);
		if (!grown)
			return false;
		sink->headers = grown;
	}
	sink->curl = curl_easy_init();
	if (!sink->curl)
		return false;
	curl_easy_setopt(sink->curl, CURLOPT_UNIX_SOCKET_PATH, sink->socket);
	curl_easy_setopt(sink->curl, CURLOPT_HTTPHEADER, sink->headers);
	curl_easy_setopt(sink->curl, CURLOPT_CUSTOMREQUEST, "PUT");
	curl_easy_setopt(sink->curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(sink->curl, CURLOPT_WRITEDATA, &sink->reply);
	curl_easy_setopt(sink->curl, CURLOPT_TIMEOUT, (long)TIMEOUT_SECONDS);
	curl_easy_setopt(sink->curl, CURLOPT_NOSIGNAL, 1L);
	return true;
}

struct import_sink *import_sink_server(const char *dir)
{
	struct server_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return NULL;
	snprintf(sink->socket, sizeof(sink->socket), "%s/" CLIENT_SOCKET, dir);
	sink->base.put = server_put;
	sink->base.finish = server_finish;
	if (!set_up(sink)) {
		import_sink_server_free(&sink->base);
		return NULL;
	}
	return &sink->base;
}

void import_sink_server_free(struct import_sink *base)
{
	struct server_sink *sink = (struct server_sink *)base;

	if (!sink)
		return;
	curl_easy_cleanup(sink->curl);
	curl_slist_free_all(sink->headers);
	buf_done(&sink->reply);
	free(sink);
}
