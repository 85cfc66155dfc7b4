/* SPDX-License-Identifier: Apache-2.0 */
/* The feed's upkeep. */
#ifndef HOLDFS_FEED_H
#define HOLDFS_FEED_H

#include "store/base/status.h"

struct store;

/* Drops events beyond the limits of age and size (store_options); the state that each later event replaced is
 * kept in `undo`. Does nothing within the limits. Any thread; waits for the writer's turn. */
int db_compact(struct store *s, struct status *st);
/* Drops every event up to and including revision (at most the newest). For tests and tools. */
int db_compact_to(struct store *s, uint64_t revision, struct status *st);

#endif
