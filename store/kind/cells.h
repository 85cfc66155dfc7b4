/* SPDX-License-Identifier: Apache-2.0 */
/* Table cells, rendered once at write time, with holes where an age is filled in when sent. */
#ifndef HOLDFS_CELLS_H
#define HOLDFS_CELLS_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/codec/tree.h"
#include "store/kind/kind.h"

/* cells block, little-endian, unaligned:
 *   u16 number of holes
 *   holes, each: u32 offset into the text, i64 time (seconds since 1970)
 *   text: the JSON array of all cells, e.g. ["web",1,"(hole)"]; holes sit inside strings, so what is
 *         spliced in is plain HumanDuration text.
 * A row with conditions (finished pods) carries them behind the array: text = `[...],"conditions":[...]`.
 */

/* Renders the block for kind k (columns of k, object in k's own form). now: seconds, only used where a rule needs
 * more than an age. Adds to out. False when out of memory (arena a is for scratch). */
bool cells_render(struct arena *a, const struct kind *k, const struct tree *object, struct buf *out);

/* Adds the text with every hole filled: HumanDuration(now - time). */
void cells_write(struct str block, int64_t now, struct buf *out);

/* HumanDuration of columns.json, at most 24 bytes to out; returns the length. */
size_t age_text(int64_t seconds, char *out);
/* RFC 3339 with optional fraction and offset to seconds since 1970; false when it is none. */
bool time_parse(struct str s, int64_t *ret);
/* `2006-01-02T15:04:05Z`, 20 bytes, no NUL. */
void time_format(int64_t t, char out[20]);

#endif
