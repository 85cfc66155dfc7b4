/* SPDX-License-Identifier: Apache-2.0 */
/* GET: one record out of a snapshot, in the form asked for. */
#include "api/get.h"

#include <errno.h>
#include <time.h>

#include "api/reply.h"
#include "api/shape.h"
#include "api/wait.h"
#include "store/change/render.h"

/* Copies and ends the snapshot: nothing of the map is sent. */
static int read_object(struct request *r, const struct shape *s, struct buf *out, struct status *st)
{
	struct object o;
	struct read *read;
	int rc = read_begin(r->api->store, &read, st);

	if (rc < 0)
		return rc;
	rc = read_get(read, r->kind, r->ns.ptr ? r->ns : STR(""), r->name, &o, st);
	if (rc == 0 && !str_is(r->subresource_name, "scale"))
		shape_object(s, &o, true, out);
	else if (rc == 0 && !render_scale(r->kind, &o, out))
		out->failed = true;
	read_end(read);
	if (rc == -ENOENT)
		return status_not_found(st, r->kind->group, r->kind->plural, r->name);
	buf_addc(out, '\n');
	return rc;
}

int get_handle(struct request *r, struct reply *p, struct status *st)
{
	struct shape s = {.kind = r->kind, .form = r->accept.form, .beta = r->accept.beta, .now = time(NULL)};
	uint64_t revision;
	int rc = revision_parse(request_param(r, "resourceVersion"), &revision, st);

	if (rc == 0)
		rc = include_parse(request_param(r, "includeObject"), &s.include, st);
	if (rc == 0)
		rc = wait_revision(r, revision, st);
	if (rc != 0)
		return rc;
	struct pool_buf *b = pool_get(r->api->pool);
	if (!b)
		return status_no_memory(st);
	rc = read_object(r, &s, &b->buf, st);
	if (rc < 0) {
		pool_unref(b);
		return rc;
	}
	return reply_json(p, 200, b, 0, st);
}
