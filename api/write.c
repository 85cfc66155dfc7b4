/* SPDX-License-Identifier: Apache-2.0 */
/* A write: prepared here, committed by the store's writer while the connection sleeps, answered when it is on disk. */
#include "api/write.h"

#include <stdlib.h>
#include <time.h>

#include "api/reply.h"
#include "api/shape.h"
#include "store/change/render.h"
#include "store/change/review.h"

/* Kept in the request while it waits. */
struct change {
	struct write_request req;
	struct delete_options delete;
	struct buf json;
	struct write *write;
};

static void change_free(void *state)
{
	struct change *c = state;

	write_free(c->write);
	buf_done(&c->json);
	free(c);
}

static enum write_verb verb_of(enum action action)
{
	switch (action) {
	case ACTION_UPDATE: return WRITE_UPDATE;
	case ACTION_PATCH: return WRITE_PATCH;
	case ACTION_DELETE: return WRITE_DELETE;
	default: return WRITE_CREATE;
	}
}

static int fill_delete(struct request *r, struct change *c, struct status *st)
{
	int rc = writeopts_delete(r, &c->delete, st);

	c->req.dry_run = c->delete.dry_run;
	c->req.grace = c->delete.grace;
	c->req.propagation = c->delete.propagation;
	c->req.expect_uid = c->delete.uid;
	c->req.expect_revision = c->delete.revision;
	return rc;
}

static int fill(struct request *r, struct change *c, struct status *st)
{
	c->req = (struct write_request){
		.kind = r->kind,
		.verb = verb_of(r->action),
		.origin = ORIGIN_API,
		.ns = r->ns.ptr ? r->ns : STR(""),
		.name = r->name,
		.subresource = r->subresource_name,
		.grace = -1,
	};
	if (c->req.verb == WRITE_DELETE)
		return fill_delete(r, c, st);
	if (c->req.verb == WRITE_UPDATE && r->trusted && request_header(r, "holdfs-import").ptr)
		c->req.origin = ORIGIN_IMPORT; /* `holdfs import` on a store that we own: create or replace */
	int rc = writeopts_change(r, &c->req, st);
	return rc < 0 ? rc : writeopts_body(r, &c->json, &c->req.body, st);
}

static int start(struct request *r, struct status *st)
{
	struct change *c = calloc(1, sizeof(*c));

	if (!c)
		return status_no_memory(st);
	r->state = c;
	r->state_free = change_free;
	int rc = fill(r, c, st);
	if (rc < 0)
		return rc;
	c->write = write_new(r->api->store, &c->req, park_wake, &r->park);
	return c->write ? 0 : status_no_memory(st);
}

/* A Table or metadata of an object that came out of the writer: the one reply of the write path that looks into
 * JSON, and few clients ask for it. */
static bool add_shaped(struct request *r, const struct write_result *res, struct buf *out)
{
	const char *meta = r->accept.beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
	struct str metadata = render_member(res->object, STR("metadata"));
	struct shape s = {.kind = r->kind, .form = FORM_TABLE, .beta = r->accept.beta};

	if (r->accept.form == FORM_TABLE) {
		shape_list_head(&s, res->revision, STR(""), -1, out);
		buf_adds(out, "{\"cells\":");
		if (!render_cells(r->kind->storage ? r->kind->storage : r->kind, res->object, time(NULL), out))
			return false;
		buf_adds(out, ",\"object\":");
	}
	buf_addf(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"%s\",\"metadata\":", meta);
	buf_add_str(out, metadata);
	buf_adds(out, r->accept.form == FORM_TABLE ? "}}]}" : "}");
	return !out->failed;
}

/* The result is copied: it belongs to the write, which ends with the request, before the last byte is sent. */
static int reply_object(struct request *r, struct reply *p, const struct write_result *res, unsigned code,
			struct status *st)
{
	struct pool_buf *b = pool_get(r->api->pool);

	if (!b)
		return status_no_memory(st);
	if (r->accept.form == FORM_OBJECT)
		buf_add_str(&b->buf, res->object);
	else if (!add_shaped(r, res, &b->buf))
		b->buf.failed = true;
	buf_addc(&b->buf, '\n');
	return reply_json(p, code, b, 0, st);
}

static int reply_success(struct request *r, struct reply *p, const struct write_result *res, struct status *st)
{
	struct pool_buf *b = pool_get(r->api->pool);
	struct status done;

	if (!b)
		return status_no_memory(st);
	status_clear(&done);
	status_details(&done, r->kind->group, r->kind->plural, res->name);
	if (res->uid.len < sizeof(done.uid)) {
		memcpy(done.uid, res->uid.ptr, res->uid.len);
		done.uid[res->uid.len] = '\0';
	}
	status_json(&done, &b->buf);
	return reply_json(p, 200, b, 0, st);
}

static int answer(struct request *r, struct reply *p, struct status *st)
{
	struct change *c = r->state;
	const struct write_result *res = write_result(c->write);
	bool removes = c->req.verb == WRITE_DELETE;
	unsigned code = res->created || (c->req.verb == WRITE_CREATE && r->subresource_name.len) ? 201 : 200;

	if (removes && res->deleted && !kind_is(r->kind, KIND_RETURNS_OBJECT))
		return reply_success(r, p, res, st);
	/* The old client that says orphanDependents=false is told that the object is not gone yet (A9). */
	if (removes && !res->deleted && c->delete.orphan_dependents_given && !c->delete.orphan_dependents)
		code = 202;
	reply_warnings(r, p, res->warnings);
	return reply_object(r, p, res, code, st);
}

static int go_on(struct request *r, struct reply *p, struct status *st)
{
	struct change *c = r->state;
	int rc = write_step(c->write, st);

	if (rc == 1)
		return REQUEST_WAIT;
	return rc < 0 ? rc : answer(r, p, st);
}

int write_handle(struct request *r, struct reply *p, struct status *st)
{
	int rc = r->state ? 0 : start(r, st);

	return rc < 0 ? rc : go_on(r, p, st);
}

int write_handle_review(struct request *r, struct reply *p, struct status *st)
{
	_cleanup_(buf_done) struct buf json = {0};
	struct str text, token = str_n(r->api->auth.token, r->api->auth.token_len);
	struct pool_buf *b;

	writeopts_dry_run(r, st);
	int rc = status_invalid(st, STR("meta.k8s.io"), STR("CreateOptions"), STR(""));
	if (rc == 0)
		rc = writeopts_body(r, &json, &text, st);
	if (rc < 0)
		return rc;
	if (!(b = pool_get(r->api->pool)))
		return status_no_memory(st);
	rc = review_answer(&r->arena, r->kind, r->ns, token, text, &b->buf, st);
	if (rc < 0) {
		pool_unref(b);
		return rc;
	}
	return reply_json(p, 201, b, 0, st);
}
