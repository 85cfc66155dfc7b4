/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 both ways: three bytes are four digits. */
#include "store/codec/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct str bytes, struct buf *out)
{
	const unsigned char *p = (const unsigned char *)bytes.ptr;

	if (bytes.len > SIZE_MAX / 4 * 3 - 3 || !buf_reserve(out, (bytes.len + 2) / 3 * 4)) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < bytes.len; i += 3) {
		size_t n = bytes.len - i;
		uint32_t v = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);
		char *q = out->ptr + out->len;
		q[0] = digits[v >> 18];
		q[1] = digits[v >> 12 & 63];
		q[2] = n > 1 ? digits[v >> 6 & 63] : '=';
		q[3] = n > 2 ? digits[v & 63] : '=';
		out->len += 4;
	}
}

/* Value of a digit; -1 for anything else. */
static int digit_value(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Takes up to four digits from text at *i, past line breaks; returns how many came before an end, a
 * '=' or a stranger. */
static unsigned take_digits(struct str text, size_t *i, uint32_t *ret)
{
	unsigned n = 0;

	*ret = 0;
	for (; *i < text.len && n < 4; ++*i) {
		char c = text.ptr[*i];
		if (c == '\n' || c == '\r')
			continue;
		int v = digit_value(c);
		if (v < 0)
			break;
		*ret = *ret << 6 | (uint32_t)v;
		n++;
	}
	*ret <<= 6 * (4 - n);
	return n;
}

/* Is what follows exactly n paddings? */
static bool only_padding(struct str text, size_t i, unsigned n)
{
	for (; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '\n' || c == '\r')
			continue;
		if (c != '=' || n == 0)
			return false;
		n--;
	}
	return n == 0;
}

bool base64_decode(struct str text, struct buf *out)
{
	size_t start = out->len;
	uint32_t v;
	unsigned n;

	for (size_t i = 0;;) {
		n = take_digits(text, &i, &v);
		char bytes[3] = {(char)(v >> 16), (char)(v >> 8), (char)v};
		if (n == 4) {
			buf_add(out, bytes, 3);
			continue;
		}
		if (n != 1 && only_padding(text, i, n ? 4 - n : 0)) {
			buf_add(out, bytes, n ? n - 1 : 0);
			return true;
		}
		out->len = start;
		return false;
	}
}
