/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer with a sticky failure: add without checking, look at `failed` once. */
#ifndef HOLDFS_BUF_H
#define HOLDFS_BUF_H

#include "store/base/str.h"

/* {0} is a valid empty buffer. One thread at a time. */
struct buf {
	char *ptr;
	size_t len, cap;
	bool failed; /* out of memory once; all later adds are no-ops, the content is not to be used */
};

void buf_done(struct buf *b);
/* Empties, keeps the memory, clears `failed`. */
void buf_clear(struct buf *b);
/* Makes room for n more bytes; false on failure. */
bool buf_reserve(struct buf *b, size_t n);
/* buf_add where there is no room yet. */
void buf_add_grow(struct buf *b, const void *bytes, size_t n);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_add_u64(struct buf *b, uint64_t v);
/* Adds s as a JSON string with its quotes; s is UTF-8. Escapes ", \, control characters and, as
 * Go's encoder does, nothing else. */
void buf_add_json(struct buf *b, struct str s);
/* Gives the bytes to the caller (free()); the buffer is empty afterwards. NULL when it failed. */
char *buf_steal(struct buf *b, size_t *ret_len);

/* Replies are made of many small pieces: the common case is a compare and a memcpy. */
static inline void buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (!b->failed && b->cap - b->len >= n && n) {
		memcpy(b->ptr + b->len, bytes, n);
		b->len += n;
	} else {
		buf_add_grow(b, bytes, n);
	}
}

static inline void buf_add_str(struct buf *b, struct str s)
{
	buf_add(b, s.ptr, s.len);
}

static inline void buf_adds(struct buf *b, const char *z)
{
	buf_add(b, z, strlen(z));
}

static inline void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

static inline struct str buf_str(const struct buf *b)
{
	return str_n(b->ptr, b->len);
}

#endif
