/* SPDX-License-Identifier: Apache-2.0 */
/* Just enough parsing, once for each reply; bodies are counted, not looked at. */
#include "bench/reply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(struct reply *r)
{
	r->head[r->head_len] = '\0';
	if (sscanf(r->head, "HTTP/1.1 %3u", &r->status) != 1)
		return -EPROTO;
	char *length = strcasestr(r->head, "\r\nContent-Length:");
	if (length)
		r->left = strtoull(length + strlen("\r\nContent-Length:"), NULL, 10);
	else if (strcasestr(r->head, "\r\nTransfer-Encoding: chunked"))
		r->chunked = true;
	else
		return -EPROTO;
	r->headed = true;
	return 0;
}

long reply_head(struct reply *r, const char *bytes, size_t n)
{
	size_t room = sizeof(r->head) - 1 - r->head_len, old = r->head_len;
	size_t take = n < room ? n : room;
	size_t from = old < 3 ? 0 : old - 3;

	memcpy(r->head + old, bytes, take);
	char *end = memmem(r->head + from, old + take - from, "\r\n\r\n", 4);
	if (!end) {
		r->head_len += take;
		return take == n ? (long)take : -EPROTO;
	}
	r->head_len = (size_t)(end + 4 - r->head);
	int rc = parse(r);
	return rc ? rc : (long)(r->head_len - old);
}

unsigned reply_events(struct reply *r, const char *bytes, size_t n)
{
	const char *end = bytes + n;
	unsigned count = 0;

	if (!n)
		return 0;
	for (const char *p = bytes; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		count += (p > bytes ? p[-1] : r->last) == '}';
	r->last = end[-1];
	return count;
}
