/* SPDX-License-Identifier: Apache-2.0 */
/* Arena blocks: doubling, bounded, dropped at once. */
#include "store/base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGN = 16, BLOCK_MIN = 8 << 10, BLOCK_MAX = 1 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t size; /* of data */
	size_t used;
	size_t pad;
	char data[];
};

void arena_init(struct arena *a, size_t ceiling)
{
	*a = (struct arena){.ceiling = ceiling ? ceiling : ARENA_CEILING};
}

void arena_done(struct arena *a)
{
	struct arena_block *next;

	for (struct arena_block *b = a->head; b; b = next) {
		next = b->next;
		free(b);
	}
	a->head = NULL;
	a->used = 0;
}

/* Blocks double, so that a large request does not pay per block; a piece larger than the next
 * block gets a block of its own size. */
static struct arena_block *block_new(struct arena *a, size_t size)
{
	size_t want = a->head ? a->head->size * 2 : BLOCK_MIN;

	if (want > BLOCK_MAX)
		want = BLOCK_MAX;
	if (want < size)
		want = size;
	if (a->used + want > a->ceiling)
		want = size;
	if (want > a->ceiling || a->used > a->ceiling - want)
		return NULL;
	struct arena_block *b = malloc(sizeof(*b) + want);
	if (!b)
		return NULL;
	*b = (struct arena_block){.next = a->head, .size = want};
	a->head = b;
	a->used += want;
	return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX - ALIGN)
		return NULL;
	size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (size == 0)
		size = ALIGN;
	struct arena_block *b = a->head;
	if (!b || b->size - b->used < size)
		b = block_new(a, size);
	if (!b)
		return NULL;
	void *p = b->data + b->used;
	b->used += size;
	return p;
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	void *p = arena_alloc(a, bytes);
	return p ? memset(p, 0, bytes) : NULL;
}

struct str arena_str(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.len + 1);

	if (!p)
		return (struct str){0};
	if (s.len)
		memcpy(p, s.ptr, s.len);
	p[s.len] = '\0';
	return str_n(p, s.len);
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0)
		return (struct str){0};
	char *p = arena_alloc(a, (size_t)n + 1);
	if (!p)
		return (struct str){0};
	va_start(ap, format);
	vsnprintf(p, (size_t)n + 1, format, ap);
	va_end(ap);
	return str_n(p, (size_t)n);
}
