/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a place. */
#include "store/kind/place.h"

#include <stdio.h>

/* Adds what fits, always leaving room for the NUL. */
static size_t add(char *out, size_t len, struct str s)
{
	size_t room = PLACE_TEXT_MAX - 1 - len;
	size_t n = s.len < room ? s.len : room;

	if (n)
		memcpy(out + len, s.ptr, n);
	return len + n;
}

static size_t add_step(const struct place *at, char *out, size_t len)
{
	char digits[16];

	switch (at->step) {
	case PLACE_FIELD:
		if (len)
			len = add(out, len, STR("."));
		return add(out, len, at->name);
	case PLACE_KEY:
		len = add(out, len, STR("["));
		len = add(out, len, at->name);
		return add(out, len, STR("]"));
	case PLACE_INDEX:
		snprintf(digits, sizeof(digits), "[%u]", at->index);
		return add(out, len, str_of(digits));
	}
	return len;
}

/* As deep as the object is nested, which the scanner bounds. */
static size_t add_all(const struct place *at, char *out)
{
	return at ? add_step(at, out, add_all(at->up, out)) : 0;
}

size_t place_text(const struct place *at, char out[PLACE_TEXT_MAX])
{
	size_t len = add_all(at, out);

	if (len == PLACE_TEXT_MAX - 1)
		len = place_whole(out, len);
	out[len] = '\0';
	return len;
}
