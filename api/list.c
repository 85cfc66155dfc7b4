/* SPDX-License-Identifier: Apache-2.0 */
/* LIST: copies what a snapshot holds into one buffer. The buffer starts with a gap for the list's
 * head, which needs the continue token and so can be written only when the items are known. */
#include "api/list.h"

#include <errno.h>
#include <time.h>

#include "api/cache.h"
#include "api/engine.h"
#include "api/liststream.h"
#include "api/listopts.h"
#include "api/reply.h"
#include "api/wait.h"

/* One page in the making. */
struct page {
	struct request *r;
	struct listopts opts;
	struct shape shape;
	struct pool_buf *b;
	size_t gap;
	uint64_t revision;   /* of the list */
	uint64_t count;      /* items so far */
	int64_t total;       /* objects from the page's start on; negative: not known */
	struct str last_ns, last_name; /* of the last item, in the request's arena */
	bool more;
	bool large;          /* stopped because it grew too large for one buffer */
};

static int shape_of(struct request *r, struct shape *s, struct status *st)
{
	*s = (struct shape){
		.kind = r->kind,
		.form = r->accept.form,
		.beta = r->accept.beta,
		.now = time(NULL),
	};
	return include_parse(request_param(r, "includeObject"), &s->include, st);
}

static bool matches(const struct listopts *o, const struct object *x)
{
	return (!o->labels || selector_match_labels(o->labels, x->labels)) &&
	       (!o->fields || selector_match_fields(o->fields, x->fields, x->ns, x->name));
}

/* The list can hold one known name at most, at the newest revision: no scan. */
static bool is_point(const struct page *p)
{
	return p->opts.only.len && !p->opts.at && !p->opts.continued &&
	       (p->r->ns.ptr || !kind_is(p->r->kind, KIND_NAMESPACED));
}

static int read_point(struct page *p, struct read *read, struct status *st)
{
	struct object o;
	int rc = read_get(read, p->r->kind, p->r->ns.ptr ? p->r->ns : STR(""), p->opts.only, &o, st);

	if (rc == -ENOENT)
		return 0;
	if (rc == 0 && matches(&p->opts, &o))
		shape_item(&p->shape, &o, &p->b->buf);
	return rc;
}

static bool remember_last(struct page *p, struct str ns, struct str name)
{
	p->last_ns = arena_str(&p->r->arena, ns);
	p->last_name = arena_str(&p->r->arena, name);
	return p->last_ns.ptr && p->last_name.ptr;
}

/* Adds items until the page is full. The last one's key is copied because `o` dies with the snapshot. */
static int add_items(struct page *p, struct list *l, struct status *st)
{
	struct object o;
	struct str last_ns = {0}, last_name = {0};
	int rc;

	while ((rc = list_next(l, &o, st)) == 1) {
		p->more = p->opts.limit && p->count == p->opts.limit;
		p->large = !p->opts.limit && p->b->buf.len > LIST_BUFFER_MAX;
		if (p->more || p->large)
			break;
		if (p->count++)
			buf_addc(&p->b->buf, ',');
		shape_item(&p->shape, &o, &p->b->buf);
		last_ns = o.ns;
		last_name = o.name;
	}
	if (rc < 0)
		return rc;
	return (p->more || p->large) && !remember_last(p, last_ns, last_name) ? status_no_memory(st) : 0;
}

static bool is_filtered(const struct listopts *o)
{
	return o->labels || o->fields;
}

/* 410 with a token that goes on at the newest revision from the same place. */
static int expired(const struct page *p, struct status *st)
{
	struct token t = p->opts.token;
	char text[TOKEN_MAX];

	if (!p->opts.continued)
		return status_set(st, REASON_EXPIRED, "The resourceVersion for the provided list is too old.");
	t.newest = true;
	t.remaining = -1;
	if (token_format(&t, text))
		memcpy(st->next, text, strlen(text) + 1);
	return status_set(st, REASON_EXPIRED,
			  "The provided continue parameter is too old to display a consistent list result. Start a "
			  "new list without it, or use the continue token of this answer to get the rest of the list "
			  "as it is now; objects that came, changed or went since the first page may then be seen "
			  "twice or not at all.");
}

static int read_list(struct page *p, struct read *read, struct status *st)
{
	struct list_query q = {
		.kind = p->r->kind,
		.ns = p->r->ns,
		.labels = p->opts.labels,
		.fields = p->opts.fields,
		.at = p->opts.at,
	};
	struct list *l;

	if (p->opts.continued) {
		q.after_ns = p->opts.token.ns;
		q.after_name = p->opts.token.name;
	}
	int rc = list_begin(read, &p->r->arena, &q, &l, st);
	if (rc == -ESTALE)
		return expired(p, st);
	if (rc < 0)
		return rc;
	p->total = p->opts.continued ? p->opts.token.remaining : -1;
	rc = add_items(p, l, st);
	if (rc == 0 && p->more && !p->opts.continued && !is_filtered(&p->opts))
		p->total = (int64_t)list_total(l);
	list_end(l);
	return rc;
}

static int read_page(struct page *p, struct status *st)
{
	struct read *read;
	int rc = read_begin(p->r->api->store, &read, st);

	if (rc < 0)
		return rc;
	p->revision = p->opts.at ? p->opts.at : read_revision(read);
	rc = is_point(p) ? read_point(p, read, st) : read_list(p, read, st);
	read_end(read);
	return rc;
}

/* Token of the page behind this one; empty when there is none. */
static struct str next_token(const struct page *p, int64_t remaining, char text[TOKEN_MAX])
{
	struct token t = {.revision = p->revision, .ns = p->last_ns, .name = p->last_name, .remaining = remaining};

	return p->more && token_format(&t, text) ? str_of(text) : STR("");
}

/* Writes the head so that it ends where the items start; returns where it begins. */
static int add_head(struct page *p, size_t *ret_from, struct status *st)
{
	_cleanup_(buf_done) struct buf head = {0};
	char text[TOKEN_MAX];
	int64_t remaining = p->more && p->total >= 0 && !is_filtered(&p->opts) ? p->total - (int64_t)p->count : -1;

	shape_list_head(&p->shape, p->revision, next_token(p, remaining, text), remaining, &head);
	if (head.failed || p->b->buf.failed || head.len > p->gap)
		return status_no_memory(st);
	*ret_from = p->gap - head.len;
	memcpy(p->b->buf.ptr + *ret_from, head.ptr, head.len);
	return 0;
}

static int build(struct page *p, struct cached *ret, struct status *st)
{
	p->b = pool_get(p->r->api->pool);
	if (!p->b)
		return status_no_memory(st);
	p->gap = shape_list_head_max(&p->shape, TOKEN_MAX);
	if (buf_reserve(&p->b->buf, p->gap))
		p->b->buf.len = p->gap;
	int rc = read_page(p, st);
	if (rc < 0)
		return rc;
	if (!p->large)
		shape_list_tail(&p->b->buf);
	*ret = (struct cached){.body = p->b, .revision = p->revision, .count = p->count};
	return add_head(p, &ret->from, st);
}

/* Whole and unfiltered: what the cache keeps. */
static bool is_cacheable(const struct listopts *o)
{
	return !is_filtered(o) && !o->continued && !o->at;
}

static bool from_cache(struct page *p, struct cached *ret)
{
	struct api *api = p->r->api;
	uint64_t since = engine_changed(api->engine, p->r->kind->storage, store_revision(api->store));
	uint64_t compacted = engine_compacted(api->engine);

	if (since < p->opts.least)
		since = p->opts.least;
	if (since < compacted)
		since = compacted;
	if (!is_cacheable(&p->opts) || !cache_get(api->cache, &p->shape, p->r->ns, since, ret))
		return false;
	if (!p->opts.limit || ret->count <= p->opts.limit)
		return true;
	pool_unref(ret->body);
	return false;
}

static int send_page(struct page *p, struct reply *reply, struct status *st)
{
	struct cached body;

	if (from_cache(p, &body))
		return reply_json(reply, 200, body.body, body.from, st);
	int rc = build(p, &body, st);
	if (rc < 0) {
		pool_unref(p->b);
		return rc;
	}
	if (p->large)
		return liststream_start(p->r, &p->opts, &p->shape, &body, p->last_ns, p->last_name, reply, st);
	if (is_cacheable(&p->opts) && !p->more)
		cache_put(p->r->api->cache, &p->shape, p->r->ns, &body);
	return reply_json(reply, 200, body.body, body.from, st);
}

int list_handle(struct request *r, struct reply *reply, struct status *st)
{
	struct page p = {.r = r, .total = -1};
	int rc = listopts_parse(r, &p.opts, st);

	if (rc == 0)
		rc = shape_of(r, &p.shape, st);
	if (rc == 0)
		rc = wait_revision(r, p.opts.least, st);
	return rc == 0 ? send_page(&p, reply, st) : rc;
}

int list_handle_virtual(struct request *r, struct reply *reply, struct status *st)
{
	struct pool_buf *b = pool_get(r->api->pool);
	struct shape s = {.kind = r->kind};

	if (!b)
		return status_no_memory(st);
	s.form = r->accept.form;
	s.beta = r->accept.beta;
	shape_list_head(&s, store_revision(r->api->store), STR(""), -1, &b->buf);
	shape_list_tail(&b->buf);
	return reply_json(reply, 200, b, 0, st);
}
