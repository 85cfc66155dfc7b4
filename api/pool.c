/* SPDX-License-Identifier: Apache-2.0 */
/* A free list of reply buffers, bounded in number and in bytes. */
#include "api/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { POOL_BUFFERS_MAX = 64 };
#define POOL_BYTES_MAX ((size_t)64 << 20)
#define POOL_BUFFER_MAX ((size_t)16 << 20) /* larger ones are not kept */

struct pool {
	pthread_mutex_t lock; /* guards the rest */
	struct pool_buf *head;
	unsigned count;
	size_t bytes;
};

struct pool *pool_new(void)
{
	struct pool *p = calloc(1, sizeof(*p));

	if (p)
		pthread_mutex_init(&p->lock, NULL);
	return p;
}

static void drop(struct pool_buf *b)
{
	buf_done(&b->buf);
	free(b);
}

void pool_free(struct pool *p)
{
	struct pool_buf *next;

	if (!p)
		return;
	for (struct pool_buf *b = p->head; b; b = next) {
		next = b->next;
		drop(b);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}

struct pool_buf *pool_get(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	struct pool_buf *b = p->head;
	if (b) {
		p->head = b->next;
		p->count--;
		p->bytes -= b->buf.cap;
	}
	pthread_mutex_unlock(&p->lock);
	if (!b && !(b = calloc(1, sizeof(*b))))
		return NULL;
	b->pool = p;
	b->next = NULL;
	atomic_store(&b->refs, 1);
	return b;
}

struct pool_buf *pool_ref(struct pool_buf *b)
{
	atomic_fetch_add(&b->refs, 1);
	return b;
}

static bool keep(struct pool *p, struct pool_buf *b)
{
	size_t cap = b->buf.cap;

	if (cap > POOL_BUFFER_MAX || p->count >= POOL_BUFFERS_MAX || p->bytes + cap > POOL_BYTES_MAX)
		return false;
	b->next = p->head;
	p->head = b;
	p->count++;
	p->bytes += cap;
	return true;
}

void pool_unref(void *arg)
{
	struct pool_buf *b = arg;

	if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
		return;
	struct pool *p = b->pool;
	buf_clear(&b->buf);
	pthread_mutex_lock(&p->lock);
	bool kept = keep(p, b);
	pthread_mutex_unlock(&p->lock);
	if (!kept)
		drop(b);
}
