/* SPDX-License-Identifier: Apache-2.0 */
/* Borrowed byte strings: a pointer and a length, never NUL-terminated by promise. */
#ifndef HOLDFS_STR_H
#define HOLDFS_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes owned by somebody else. ptr may be NULL only when len is 0. */
struct str {
	const char *ptr;
	size_t len;
};

/* A struct str of a string literal; usable in static initialisers as STR_INIT. */
#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
#define STR_INIT(literal) {"" literal, sizeof(literal) - 1}
/* For printf: "%.*s", STR_ARG(s). */
#define STR_ARG(s) (int)(s).len, (s).ptr ? (s).ptr : ""

static inline struct str str_of(const char *z)
{
	return (struct str){z, z ? strlen(z) : 0};
}

static inline struct str str_n(const char *ptr, size_t len)
{
	return (struct str){ptr, len};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_is(struct str a, const char *z)
{
	return str_eq(a, str_of(z));
}

/* Bytewise order, as Kubernetes and LMDB sort names: memcmp, then the shorter first. */
static inline int str_cmp(struct str a, struct str b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
	return c ? c : (a.len > b.len) - (a.len < b.len);
}

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

static inline bool str_ends(struct str s, struct str suffix)
{
	return s.len >= suffix.len &&
	       (suffix.len == 0 || memcmp(s.ptr + s.len - suffix.len, suffix.ptr, suffix.len) == 0);
}

static inline struct str str_skip(struct str s, size_t n)
{
	return n >= s.len ? (struct str){s.ptr + s.len, 0} : (struct str){s.ptr + n, s.len - n};
}

/* Index of the first c, or -1. */
static inline ptrdiff_t str_chr(struct str s, char c)
{
	const char *p = s.len ? memchr(s.ptr, c, s.len) : NULL;
	return p ? p - s.ptr : -1;
}

/* Cuts *rest at the first sep: returns what stands before it, *rest becomes what stands after it
 * (empty when there was none). */
struct str str_cut(struct str *rest, char sep);

/* Decimal digits only, no sign, no blank, at most UINT64_MAX. False, *ret untouched, otherwise. */
bool str_u64(struct str s, uint64_t *ret);

/* Writes v in decimal to out (at least 20 bytes, no NUL); returns the number of digits. */
size_t u64_digits(uint64_t v, char *out);

#endif
