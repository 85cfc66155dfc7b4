/* SPDX-License-Identifier: Apache-2.0 */
/* Where a value stands in its object: a chain of steps on the stack, turned into text only for a message. */
#ifndef HOLDFS_PLACE_H
#define HOLDFS_PLACE_H

#include "store/base/str.h"

struct schema_def;

enum place_step {
	PLACE_FIELD, /* .name; name may hold several fields, dotted */
	PLACE_KEY,   /* [name] */
	PLACE_INDEX, /* [index] */
};

/* One step below `up`; NULL stands for the object itself. Borrows both. */
struct place {
	const struct place *up;
	enum place_step step;
	uint32_t index;
	struct str name;
	const struct schema_def *def; /* whose field this is; NULL where nobody asks */
};

/* Longer paths are cut. */
enum { PLACE_TEXT_MAX = 256 };

/* `spec.containers[0].env`, `data[a b]`; NUL-terminated. Returns the length. */
size_t place_text(const struct place *at, char out[PLACE_TEXT_MAX]);

/* The length of a text cut at len without the incomplete UTF-8 character at its end. */
static inline size_t place_whole(const char *text, size_t len)
{
	size_t i = len;

	while (i > 0 && len - i < 3 && ((unsigned char)text[i - 1] & 0xc0) == 0x80)
		i--;
	if (i == 0 || (unsigned char)text[i - 1] < 0xc0)
		return len;
	unsigned char lead = (unsigned char)text[i - 1];
	size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	return len - i + 1 < want ? i - 1 : len;
}

static inline struct place place_field(const struct place *up, const char *name)
{
	return (struct place){.up = up, .step = PLACE_FIELD, .name = str_of(name)};
}

static inline struct place place_key(const struct place *up, struct str key)
{
	return (struct place){.up = up, .step = PLACE_KEY, .name = key};
}

static inline struct place place_item(const struct place *up, uint32_t index)
{
	return (struct place){.up = up, .step = PLACE_INDEX, .index = index};
}

#endif
