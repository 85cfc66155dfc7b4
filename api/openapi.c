/* SPDX-License-Identifier: Apache-2.0 */
/* Serving OpenAPI documents: made on first use, kept, with their hash as ETag and in their address. */
#include "api/openapi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

#include "api/json_out.h"
#include "api/openapi_document.h"
#include "api/openapi_proto.h"
#include "api/reply.h"
#include "api/server.h"
#include "api/tls.h"

/* One document. */
struct document {
	const struct kind *kind;    /* first row of the group version; NULL: everything (v2) */
	struct buf json, proto;     /* empty: not made yet */
	char hash[DIGEST_HEX + 1];  /* of the JSON; empty: not made yet */
};

/* All documents about one set of kinds. */
struct openapi_set {
	atomic_uint refs;
	const struct kinds *kinds;
	struct document v2;
	struct buf index;           /* of v3 */
	size_t nv3;
	struct document v3[];
};

struct openapi {
	pthread_mutex_t lock;       /* guards the rest, and the making of documents; a document that is made stays
	                               as it is */
	struct openapi_set *set;    /* NULL: nothing was asked for yet */
};

enum media { MEDIA_JSON, MEDIA_PROTO };

/* What a kind of document is called on the wire. */
static const struct version_row {
	enum openapi_dialect dialect;
	const struct proto_message *message;
	const char *proto_type;        /* of replies */
	const char *proto_accept[2];   /* in requests; the second is what clients send */
} version_rows[] = {
	[OPENAPI_V2] = {OPENAPI_V2, &proto_v2_document, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
			{"application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
			 "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}},
	[OPENAPI_V3] = {OPENAPI_V3, &proto_v3_document, "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
			{"application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
			 "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"}},
};

/* ---- sets ---- */

static void document_done(struct document *d)
{
	buf_done(&d->json);
	buf_done(&d->proto);
}

/* A void pointer, so that it can serve as a release function. Takes NULL. */
static void set_unref(void *arg)
{
	struct openapi_set *set = arg;

	if (!set || atomic_fetch_sub(&set->refs, 1) != 1)
		return;
	document_done(&set->v2);
	for (size_t i = 0; i < set->nv3; i++)
		document_done(&set->v3[i]);
	buf_done(&set->index);
	free(set);
}

/* A group version is where a row with another apiVersion begins: rows are sorted by it. */
static struct openapi_set *set_new(const struct kinds *kinds)
{
	size_t nrows;
	const struct kind *const *rows = kinds_all(kinds, &nrows);
	struct openapi_set *set = calloc(1, sizeof(*set) + nrows * sizeof(set->v3[0]));

	if (!set)
		return NULL;
	atomic_init(&set->refs, 1);
	set->kinds = kinds;
	for (size_t i = 0; i < nrows; i++)
		if (i == 0 || !str_eq(rows[i]->api_version, rows[i - 1]->api_version))
			set->v3[set->nv3++].kind = rows[i];
	return set;
}

/* The set for the kinds of now, with a reference for the caller. With the lock. */
static struct openapi_set *set_get(struct openapi *o, const struct kinds *kinds)
{
	if (!o->set || o->set->kinds != kinds) {
		struct openapi_set *set = set_new(kinds);
		if (!set)
			return NULL;
		set_unref(o->set);
		o->set = set;
	}
	atomic_fetch_add(&o->set->refs, 1);
	return o->set;
}

struct openapi *openapi_new(void)
{
	struct openapi *o = calloc(1, sizeof(*o));

	if (o)
		pthread_mutex_init(&o->lock, NULL);
	return o;
}

void openapi_free(struct openapi *o)
{
	if (!o)
		return;
	set_unref(o->set);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

/* ---- making; with the lock ---- */

/* Memory that grew by doubling is given back. */
static void trim(struct buf *b)
{
	char *p = b->len ? realloc(b->ptr, b->len) : NULL;

	if (!p)
		return;
	b->ptr = p;
	b->cap = b->len;
}

static int make_json(struct document *d, const struct openapi_set *set, const struct version_row *v, struct status *st)
{
	_cleanup_(buf_done) struct buf b = {0};
	struct str api_version = d->kind ? d->kind->api_version : STR("");
	int rc;

	if (d->hash[0])
		return 0;
	rc = openapi_write(v->dialect, set->kinds, api_version, &b, st);
	if (rc == 0)
		rc = digest_sha512_hex(buf_str(&b), d->hash, st);
	if (rc < 0) {
		d->hash[0] = '\0';
		return rc;
	}
	trim(&b);
	d->json = b;
	b = (struct buf){0};
	return 0;
}

static int make_proto(struct document *d, const struct version_row *v, struct status *st)
{
	_cleanup_(buf_done) struct buf b = {0};
	int rc;

	if (d->proto.len)
		return 0;
	rc = proto_from_json(v->message, buf_str(&d->json), &b, st);
	if (rc < 0)
		return rc;
	trim(&b);
	d->proto = b;
	b = (struct buf){0};
	return 0;
}

static int make_document(struct document *d, const struct openapi_set *set, const struct version_row *v,
			 enum media media, struct status *st)
{
	int rc = make_json(d, set, v, st);

	return rc == 0 && media == MEDIA_PROTO ? make_proto(d, v, st) : rc;
}

static void add_address(struct buf *out, const struct document *d)
{
	buf_adds(out, "/openapi/v3/");
	openapi_add_root(out, d->kind);
	buf_addf(out, "?hash=%s", d->hash);
}

static void add_index_entry(struct buf *out, const struct document *d)
{
	json_comma(out);
	buf_addc(out, '"');
	openapi_add_root(out, d->kind);
	buf_adds(out, "\":{\"serverRelativeURL\":\"");
	add_address(out, d);
	buf_adds(out, "\"}");
}

/* Needs all documents: their hashes are in it. */
static int make_index(struct openapi_set *set, struct status *st)
{
	_cleanup_(buf_done) struct buf b = {0};

	if (set->index.len)
		return 0;
	buf_adds(&b, "{\"paths\":{");
	for (size_t i = 0; i < set->nv3; i++) {
		int rc = make_json(&set->v3[i], set, &version_rows[OPENAPI_V3], st);
		if (rc < 0)
			return rc;
		add_index_entry(&b, &set->v3[i]);
	}
	buf_adds(&b, "}}");
	if (b.failed)
		return status_no_memory(st);
	set->index = b;
	b = (struct buf){0};
	return 0;
}

/* ---- negotiation ---- */

static struct str trim_blanks(struct str s)
{
	while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
		s = str_skip(s, 1);
	while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static bool is_type(struct str s, const char *type)
{
	return s.len == strlen(type) && strncasecmp(s.ptr, type, s.len) == 0;
}

/* 0, 0.0 and so on. */
static bool is_zero(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] != '0' && s.ptr[i] != '.')
			return false;
	return s.len > 0;
}

/* Is the clause refused (q=0)? Other qualities do not matter: clients name the form they like best first. */
static bool is_refused(struct str params)
{
	while (params.len) {
		struct str value = trim_blanks(str_cut(&params, ';'));
		struct str key = trim_blanks(str_cut(&value, '='));
		if (is_type(key, "q"))
			return is_zero(trim_blanks(value));
	}
	return false;
}

static bool clause_media(struct str type, const struct version_row *v, enum media *ret)
{
	*ret = MEDIA_JSON;
	if (is_type(type, "application/json") || is_type(type, "application/*") || is_type(type, "*/*"))
		return true;
	*ret = MEDIA_PROTO;
	return is_type(type, v->proto_accept[0]) || is_type(type, v->proto_accept[1]);
}

/* The first clause that can be satisfied. */
static int choose_media(const struct request *r, const struct version_row *v, enum media *ret, struct status *st)
{
	struct str accept = trim_blanks(request_header(r, "accept"));

	*ret = MEDIA_JSON;
	if (accept.len == 0)
		return 0;
	while (accept.len) {
		struct str clause = str_cut(&accept, ',');
		struct str type = trim_blanks(str_cut(&clause, ';'));
		if (!is_refused(clause) && clause_media(type, v, ret))
			return 0;
	}
	return status_set(st, REASON_NOT_ACCEPTABLE, "only the following media types are accepted: application/json, %s",
			  v->proto_type);
}

/* ---- replies ---- */

/* If-None-Match: a list of tags, or *. */
static bool client_has(const struct request *r, struct str etag)
{
	struct str rest = request_header(r, "if-none-match");

	while (rest.len) {
		struct str one = trim_blanks(str_cut(&rest, ','));
		if (str_starts(one, STR("W/")))
			one = str_skip(one, 2);
		if (str_eq(one, etag) || str_is(one, "*"))
			return true;
	}
	return false;
}

/* Takes the caller's reference to the set; it lives until the reply is sent. */
static void reply_document(struct request *r, struct reply *p, struct openapi_set *set, const struct document *d,
			   const struct version_row *v, enum media media)
{
	bool proto = media == MEDIA_PROTO;
	char etag[DIGEST_HEX + 3];
	size_t n = (size_t)(stpcpy(stpcpy(stpcpy(etag, "\""), d->hash), "\"") - etag);

	reply_header(r, p, "ETag", str_n(etag, n));
	reply_header(r, p, "Vary", STR("Accept"));
	if (client_has(r, str_n(etag, n)))
		reply_borrow(p, 304, STR(""), set, set_unref);
	else
		reply_borrow(p, 200, buf_str(proto ? &d->proto : &d->json), set, set_unref);
	p->content_type = proto ? v->proto_type : "application/json";
	p->text = true;
}

/* For a year; max-age needs no clock, unlike the Expires of kube-apiserver. */
static void reply_immutable(struct request *r, struct reply *p)
{
	reply_header(r, p, "Cache-Control", STR("public, immutable, max-age=31536000"));
}

static int reply_moved(struct request *r, struct reply *p, const struct document *d, struct status *st)
{
	_cleanup_(buf_done) struct buf address = {0};

	add_address(&address, d);
	if (address.failed)
		return status_no_memory(st);
	reply_borrow(p, 301, STR(""), NULL, NULL);
	reply_header(r, p, "Location", buf_str(&address));
	return 0;
}

/* ---- handlers ---- */

/* Finds and makes a document of the set; NULL in *ret when there is none of this name. With the lock. */
typedef int maker(struct openapi_set *set, struct str name, enum media media, struct document **ret,
		  struct status *st);

static int make_v2(struct openapi_set *set, struct str name, enum media media, struct document **ret,
		   struct status *st)
{
	(void)name;
	*ret = &set->v2;
	return make_document(*ret, set, &version_rows[OPENAPI_V2], media, st);
}

/* name: "api/v1", "apis/apps/v1". */
static bool is_named(const struct document *d, struct str name)
{
	struct str head = d->kind->group.len ? STR("apis/") : STR("api/");

	return str_starts(name, head) && str_eq(str_skip(name, head.len), d->kind->api_version);
}

static int make_v3(struct openapi_set *set, struct str name, enum media media, struct document **ret,
		   struct status *st)
{
	for (size_t i = 0; i < set->nv3; i++) {
		if (!is_named(&set->v3[i], name))
			continue;
		*ret = &set->v3[i];
		return make_document(*ret, set, &version_rows[OPENAPI_V3], media, st);
	}
	*ret = NULL;
	return 0;
}

static int make_v3_index(struct openapi_set *set, struct str name, enum media media, struct document **ret,
			 struct status *st)
{
	(void)name;
	(void)media;
	*ret = NULL;
	return make_index(set, st);
}

/* Whoever comes while a document is being made waits for it. *ret_set has a reference for the caller. */
static int documents_get(struct api *api, maker *make, struct str name, enum media media,
			 struct openapi_set **ret_set, struct document **ret, struct status *st)
{
	struct openapi *o = api->openapi;

	pthread_mutex_lock(&o->lock);
	struct openapi_set *set = set_get(o, store_kinds(api->store));
	int rc = set ? make(set, name, media, ret, st) : status_no_memory(st);
	pthread_mutex_unlock(&o->lock);
	if (rc < 0) {
		set_unref(set);
		return rc;
	}
	*ret_set = set;
	return 0;
}

int openapi_v3_index(struct request *r, struct reply *p, struct status *st)
{
	struct openapi_set *set = NULL;
	struct document *none;
	int rc = documents_get(r->api, make_v3_index, STR(""), MEDIA_JSON, &set, &none, st);

	if (rc < 0)
		return rc;
	reply_borrow(p, 200, buf_str(&set->index), set, set_unref);
	p->text = true;
	p->content_type = "application/json";
	return 0;
}

int openapi_v3_document(struct request *r, struct reply *p, struct status *st)
{
	struct str name = str_skip(r->path, strlen("/openapi/v3/")), hash = request_param(r, "hash");
	struct openapi_set *set = NULL;
	struct document *d = NULL;
	enum media media;
	int rc = choose_media(r, &version_rows[OPENAPI_V3], &media, st);

	if (rc == 0)
		rc = documents_get(r->api, make_v3, name, media, &set, &d, st);
	if (rc < 0)
		return rc;
	if (!d) {
		set_unref(set);
		reply_no_page(p);
		return 0;
	}
	if (hash.len && !str_is(hash, d->hash)) {
		rc = reply_moved(r, p, d, st);
		set_unref(set);
		return rc;
	}
	if (hash.len)
		reply_immutable(r, p);
	reply_document(r, p, set, d, &version_rows[OPENAPI_V3], media);
	return 0;
}

int openapi_v2(struct request *r, struct reply *p, struct status *st)
{
	struct openapi_set *set = NULL;
	struct document *d = NULL;
	enum media media;
	int rc = choose_media(r, &version_rows[OPENAPI_V2], &media, st);

	if (rc == 0)
		rc = documents_get(r->api, make_v2, STR(""), media, &set, &d, st);
	if (rc < 0)
		return rc;
	reply_document(r, p, set, d, &version_rows[OPENAPI_V2], media);
	return 0;
}
