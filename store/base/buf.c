/* SPDX-License-Identifier: Apache-2.0 */
/* The growing buffer and JSON string escaping. */
#include "store/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_done(struct buf *b)
{
	free(b->ptr);
	*b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
}

bool buf_reserve(struct buf *b, size_t n)
{
	if (b->failed)
		return false;
	if (b->cap - b->len >= n)
		return true;
	size_t need, cap = b->cap ? b->cap * 2 : 256;
	if (__builtin_add_overflow(b->len, n, &need)) {
		b->failed = true;
		return false;
	}
	if (cap < need)
		cap = need;
	char *p = realloc(b->ptr, cap);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->ptr = p;
	b->cap = cap;
	return true;
}

void buf_add_grow(struct buf *b, const void *bytes, size_t n)
{
	if (n == 0 || !buf_reserve(b, n))
		return;
	memcpy(b->ptr + b->len, bytes, n);
	b->len += n;
}

void buf_addf(struct buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0 || !buf_reserve(b, (size_t)n + 1)) {
		b->failed = true;
		return;
	}
	va_start(ap, format);
	vsnprintf(b->ptr + b->len, (size_t)n + 1, format, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void buf_add_u64(struct buf *b, uint64_t v)
{
	if (buf_reserve(b, 20))
		b->len += u64_digits(v, b->ptr + b->len);
}

/* The escape of c in a JSON string, or NULL when c stands for itself. */
static const char *json_escape(unsigned char c, char tmp[7])
{
	switch (c) {
	case '"': return "\\\"";
	case '\\': return "\\\\";
	case '\n': return "\\n";
	case '\r': return "\\r";
	case '\t': return "\\t";
	case '\b': return "\\b";
	case '\f': return "\\f";
	default:
		if (c >= 0x20)
			return NULL;
		snprintf(tmp, 7, "\\u%04x", c);
		return tmp;
	}
}

void buf_add_json(struct buf *b, struct str s)
{
	size_t start = 0;

	buf_addc(b, '"');
	for (size_t i = 0; i < s.len; i++) {
		char tmp[7];
		const char *escape = json_escape((unsigned char)s.ptr[i], tmp);
		if (!escape)
			continue;
		buf_add(b, s.ptr + start, i - start);
		buf_adds(b, escape);
		start = i + 1;
	}
	if (start < s.len)
		buf_add(b, s.ptr + start, s.len - start);
	buf_addc(b, '"');
}

char *buf_steal(struct buf *b, size_t *ret_len)
{
	char *p = NULL;

	if (!b->failed && buf_reserve(b, 1)) {
		p = b->ptr;
		*ret_len = b->len;
		b->ptr = NULL;
	}
	buf_done(b);
	return p;
}
