/* SPDX-License-Identifier: Apache-2.0 */
/* Lists too large for one buffer: sent in windows, each read by key at the list's revision, so that no
 * snapshot is held while a client reads. */
#ifndef HOLDFS_API_LISTSTREAM_H
#define HOLDFS_API_LISTSTREAM_H

#include "api/cache.h"
#include "api/listopts.h"

/* A list is built in one buffer up to here. */
#define LIST_BUFFER_MAX ((size_t)8 << 20)

/* The reply starts with what `first` holds (takes its body, also on failure) and goes on behind
 * last_ns/last_name (in the request's arena). */
int liststream_start(struct request *r, const struct listopts *opts, const struct shape *shape,
		     const struct cached *first, struct str last_ns, struct str last_name, struct reply *p,
		     struct status *st);

#endif
