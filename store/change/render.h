/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that are not ready-made: stored JSON in another form. The slow side of a read. */
#ifndef HOLDFS_RENDER_H
#define HOLDFS_RENDER_H

#include "store/base/buf.h"
#include "store/base/status.h"
#include "store/db/record.h"
#include "store/kind/kind.h"

/* Adds strict JSON as YAML. */
int render_yaml(struct str json, struct buf *out, struct status *st);
/* Adds strict JSON indented by two blanks a level, as Go's MarshalIndent does. */
void render_pretty(struct str json, struct buf *out);

/* The span of member `key` (a plain word) of a strict JSON object: its value's bytes. .ptr NULL when absent. */
struct str render_member(struct str json, struct str key);

/* Adds a Table row's text (cells.h: the array, perhaps conditions behind it) for an object given as
 * JSON in the form of kind k. False when out of memory. */
bool render_cells(const struct kind *k, struct str json, int64_t now, struct buf *out);

/* Adds the object as its /scale subresource. False when out of memory. */
bool render_scale(const struct kind *k, const struct object *o, struct buf *out);

#endif
