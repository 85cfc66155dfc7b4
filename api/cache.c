/* SPDX-License-Identifier: Apache-2.0 */
/* A few dozen list bodies, least recently used first out. */
#include "api/cache.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/server.h"

enum { ENTRIES = 64 };
#define CACHE_BYTES_MAX ((size_t)64 << 20)
#define BODY_CACHE_MAX ((size_t)8 << 20)
/* A body is never so old that its revision could have been compacted away in the meantime. */
#define CACHE_AGE_NS 10000000000LL

struct entry {
	struct shape shape;
	char ns[64]; /* "" with all set: all namespaces */
	bool all;
	struct cached body; /* .body NULL: free */
	int64_t made, used; /* monotonic ns */
};

struct cache {
	pthread_mutex_t lock; /* guards all */
	struct entry entry[ENTRIES];
	size_t bytes;
};

struct cache *cache_new(void)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (c)
		pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void drop(struct cache *c, struct entry *e)
{
	if (!e->body.body)
		return;
	c->bytes -= e->body.body->buf.cap;
	pool_unref(steal(&e->body.body));
}

void cache_free(struct cache *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < ENTRIES; i++)
		drop(c, &c->entry[i]);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* Same place, same form; `now` is not part of it. */
static bool same(const struct entry *e, const struct shape *s, struct str ns)
{
	return e->body.body && e->shape.kind == s->kind && e->shape.form == s->form && e->shape.beta == s->beta &&
	       e->shape.include == s->include && e->all == !ns.ptr && str_is(ns, e->ns);
}

static struct entry *find(struct cache *c, const struct shape *s, struct str ns)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		if (same(&c->entry[i], s, ns))
			return &c->entry[i];
	return NULL;
}

static bool fresh(const struct entry *e, const struct shape *s, uint64_t since, int64_t now)
{
	return e->body.revision >= since && now - e->made < CACHE_AGE_NS &&
	       (s->form != FORM_TABLE || e->shape.now == s->now);
}

bool cache_get(struct cache *c, const struct shape *s, struct str ns, uint64_t since, struct cached *ret)
{
	int64_t now = clock_ns();

	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, s, ns);
	bool found = e && fresh(e, s, since, now);
	if (found) {
		e->used = now;
		*ret = e->body;
		pool_ref(ret->body);
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

/* A free entry, or the one that was used longest ago. */
static struct entry *make_room(struct cache *c)
{
	struct entry *best = &c->entry[0];

	for (unsigned i = 0; i < ENTRIES; i++) {
		struct entry *e = &c->entry[i];
		if (!e->body.body)
			return e;
		if (e->used < best->used)
			best = e;
	}
	drop(c, best);
	return best;
}

/* Drops old bodies until `bytes` more fit. */
static void make_bytes(struct cache *c, size_t bytes)
{
	while (c->bytes && c->bytes + bytes > CACHE_BYTES_MAX) {
		struct entry *best = NULL;
		for (unsigned i = 0; i < ENTRIES; i++) {
			struct entry *e = &c->entry[i];
			if (e->body.body && (!best || e->used < best->used))
				best = e;
		}
		drop(c, best);
	}
}

void cache_put(struct cache *c, const struct shape *s, struct str ns, const struct cached *body)
{
	size_t bytes = body->body->buf.cap;

	if (bytes > BODY_CACHE_MAX || ns.len >= sizeof(c->entry[0].ns))
		return;
	pthread_mutex_lock(&c->lock);
	struct entry *e = find(c, s, ns);
	if (e)
		drop(c, e);
	make_bytes(c, bytes);
	e = make_room(c);
	*e = (struct entry){.shape = *s, .all = !ns.ptr, .body = *body, .made = clock_ns()};
	e->used = e->made;
	if (ns.len)
		memcpy(e->ns, ns.ptr, ns.len);
	pool_ref(body->body);
	c->bytes += bytes;
	pthread_mutex_unlock(&c->lock);
}
