/* SPDX-License-Identifier: Apache-2.0 */
/* Request memory: allocated piece by piece, dropped at once, never above a ceiling. */
#ifndef HOLDFS_ARENA_H
#define HOLDFS_ARENA_H

#include "store/base/str.h"

struct arena_block;

/* One request's memory. One thread at a time. */
struct arena {
	struct arena_block *head; /* newest block; we allocate from it */
	size_t used;              /* bytes of all blocks */
	size_t ceiling;           /* arena_alloc fails beyond this many bytes */
};

/* Takes no memory until the first arena_alloc. ceiling in bytes; 0 means ARENA_CEILING. */
void arena_init(struct arena *a, size_t ceiling);
/* Frees everything; the arena may be used again afterwards. */
void arena_done(struct arena *a);

/* 16-byte aligned, not cleared; NULL when the ceiling or the machine's memory is reached. */
void *arena_alloc(struct arena *a, size_t size);
/* The same, zeroed, count * size checked for overflow. */
void *arena_calloc(struct arena *a, size_t count, size_t size);
/* Copies; .ptr is NULL on failure (also for an empty s: test .ptr). The copy is NUL-terminated for
 * the convenience of C libraries. */
struct str arena_str(struct arena *a, struct str s);
/* printf into the arena; .ptr is NULL on failure. */
struct str arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A request of 3 MiB becomes a tree of some 10 times its size in the worst case (`[1,1,1,...]`). */
#define ARENA_CEILING ((size_t)256 << 20)

#endif
