/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of whole, unfiltered lists, sent again as long as their collection has not changed. */
#ifndef HOLDFS_API_CACHE_H
#define HOLDFS_API_CACHE_H

#include "api/pool.h"
#include "api/shape.h"

struct cache;

/* A body and what it says. */
struct cached {
	struct pool_buf *body;
	size_t from;        /* first byte of the reply in it */
	uint64_t revision;  /* the list's resourceVersion */
	uint64_t count;     /* objects in it */
};

struct cache *cache_new(void);
void cache_free(struct cache *c); /* takes NULL */

/* A body for this shape and namespace that is not older than revision `since` (the collection's last
 * change) and a few seconds; Tables: of this very second. True: ret->body is the caller's reference. */
bool cache_get(struct cache *c, const struct shape *s, struct str ns, uint64_t since, struct cached *ret);
/* Keeps a reference of its own. */
void cache_put(struct cache *c, const struct shape *s, struct str ns, const struct cached *body);

#endif
