/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting and numbers for borrowed strings. */
#include "store/base/str.h"

struct str str_cut(struct str *rest, char sep)
{
	ptrdiff_t at = str_chr(*rest, sep);
	struct str head = *rest;

	if (at < 0) {
		*rest = str_skip(*rest, rest->len);
		return head;
	}
	head.len = (size_t)at;
	*rest = str_skip(*rest, (size_t)at + 1);
	return head;
}

bool str_u64(struct str s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		unsigned d = (unsigned char)s.ptr[i] - (unsigned)'0';
		if (d > 9 || v > (UINT64_MAX - d) / 10)
			return false;
		v = v * 10 + d;
	}
	*ret = v;
	return true;
}

size_t u64_digits(uint64_t v, char *out)
{
	char tmp[20];
	size_t n = 0;

	do {
		tmp[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	for (size_t i = 0; i < n; i++)
		out[i] = tmp[n - 1 - i];
	return n;
}
