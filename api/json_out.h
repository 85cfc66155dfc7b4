/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON without counting commas: the last byte says whether one is due. */
#ifndef HOLDFS_API_JSON_OUT_H
#define HOLDFS_API_JSON_OUT_H

#include "store/base/buf.h"

/* Before each value and key. A string always ends in a quote, so `{`, `[` and `:` can only be the syntax. */
static inline void json_comma(struct buf *b)
{
	char last = b->len ? b->ptr[b->len - 1] : '{';

	if (last != '{' && last != '[' && last != ':')
		buf_addc(b, ',');
}

static inline void json_open(struct buf *b, char bracket)
{
	json_comma(b);
	buf_addc(b, bracket);
}

static inline void json_close(struct buf *b, char bracket)
{
	buf_addc(b, bracket);
}

static inline void json_key(struct buf *b, struct str key)
{
	json_comma(b);
	buf_add_json(b, key);
	buf_addc(b, ':');
}

static inline void json_string(struct buf *b, struct str value)
{
	json_comma(b);
	buf_add_json(b, value);
}

/* A key with a string. */
static inline void json_member(struct buf *b, const char *key, struct str value)
{
	json_key(b, str_of(key));
	buf_add_json(b, value);
}

/* Ready-made JSON: a value, or members without their braces. */
static inline void json_raw(struct buf *b, const char *text)
{
	json_comma(b);
	buf_adds(b, text);
}

/* A key that opens a container. */
static inline void json_enter(struct buf *b, const char *key, char bracket)
{
	json_key(b, str_of(key));
	buf_addc(b, bracket);
}

#endif
