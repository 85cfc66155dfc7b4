/* SPDX-License-Identifier: Apache-2.0 */
/* A large list as a stream of windows. */
#include "api/liststream.h"

#include <stdlib.h>

#include "api/reply.h"

#define WINDOW ((size_t)256 << 10)

struct liststream {
	struct stream stream;
	struct request *r;
	struct listopts opts;
	struct shape shape;
	uint64_t revision;
	struct pool_buf *window;
	size_t sent;             /* of window */
	char ns[64], name[254];  /* last object that is in a window */
	bool complete;
};

static bool set_last(struct liststream *s, struct str ns, struct str name)
{
	if (ns.len >= sizeof(s->ns) || name.len >= sizeof(s->name))
		return false;
	memcpy(s->ns, ns.ptr ? ns.ptr : "", ns.len);
	s->ns[ns.len] = '\0';
	memcpy(s->name, name.ptr ? name.ptr : "", name.len);
	s->name[name.len] = '\0';
	return true;
}

static bool add_items(struct liststream *s, struct list *l, struct status *st)
{
	struct buf *out = &s->window->buf;
	struct object o;
	int rc = 0;

	while (out->len < WINDOW && (rc = list_next(l, &o, st)) == 1) {
		buf_addc(out, ',');
		shape_item(&s->shape, &o, out);
		if (!set_last(s, o.ns, o.name))
			return false;
	}
	s->complete = out->len < WINDOW && rc == 0;
	return rc >= 0;
}

/* False when the revision was compacted meanwhile, or on any other failure: the client sees a cut stream. */
static bool next_window(struct liststream *s)
{
	_cleanup_(arena_done) struct arena a;
	struct list_query q = {
		.kind = s->r->kind,
		.ns = s->r->ns,
		.labels = s->opts.labels,
		.fields = s->opts.fields,
		.at = s->revision,
		.after_ns = str_of(s->ns),
		.after_name = str_of(s->name),
	};
	struct status st;
	struct read *read;
	struct list *l;

	arena_init(&a, 0);
	status_clear(&st);
	buf_clear(&s->window->buf);
	s->sent = 0;
	if (read_begin(s->r->api->store, &read, &st) < 0)
		return false;
	bool good = list_begin(read, &a, &q, &l, &st) == 0;
	if (good) {
		good = add_items(s, l, &st);
		list_end(l);
	}
	read_end(read);
	if (s->complete)
		shape_list_tail(&s->window->buf);
	return good && !s->window->buf.failed;
}

static ptrdiff_t stream_read(struct stream *stream, char *out, size_t max)
{
	struct liststream *s = (struct liststream *)stream;

	if (s->sent == s->window->buf.len) {
		if (s->complete)
			return STREAM_END;
		if (!next_window(s))
			return STREAM_FAIL;
	}
	size_t n = s->window->buf.len - s->sent;
	n = n < max ? n : max;
	memcpy(out, s->window->buf.ptr + s->sent, n);
	s->sent += n;
	return (ptrdiff_t)n;
}

static void stream_free(struct stream *stream)
{
	struct liststream *s = (struct liststream *)stream;

	pool_unref(s->window);
	free(s);
}

int liststream_start(struct request *r, const struct listopts *opts, const struct shape *shape,
		     const struct cached *first, struct str last_ns, struct str last_name, struct reply *p,
		     struct status *st)
{
	struct liststream *s = calloc(1, sizeof(*s));

	if (!s || !set_last(s, last_ns, last_name)) {
		free(s);
		pool_unref(first->body);
		return status_no_memory(st);
	}
	s->stream.read = stream_read;
	s->stream.free = stream_free;
	s->r = r;
	s->opts = *opts;
	s->shape = *shape;
	s->revision = first->revision;
	s->window = first->body;
	s->sent = first->from;
	p->code = 200;
	p->stream = &s->stream;
	return 0;
}
