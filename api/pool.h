/* SPDX-License-Identifier: Apache-2.0 */
/* Reply buffers that are used again: a fresh half megabyte costs more in page faults than in copying. */
#ifndef HOLDFS_API_POOL_H
#define HOLDFS_API_POOL_H

#include "store/base/buf.h"

struct pool;

/* A buffer that knows where it goes back to. */
struct pool_buf {
	struct buf buf;
	struct pool *pool;
	struct pool_buf *next;
	_Atomic unsigned refs; /* made with one; pool_unref gives it back at zero */
};

/* NULL when out of memory. */
struct pool *pool_new(void);
/* All buffers must have come back. Takes NULL. */
void pool_free(struct pool *p);

/* An empty buffer; NULL when out of memory. Any thread. */
struct pool_buf *pool_get(struct pool *p);
struct pool_buf *pool_ref(struct pool_buf *b);
/* Takes NULL. A void pointer, so that it can serve as a release function. */
void pool_unref(void *b);

#endif
