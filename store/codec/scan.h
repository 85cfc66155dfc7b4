/* SPDX-License-Identifier: Apache-2.0 */
/* A strict JSON scanner: tokens as spans of the source, no allocation.
 *
 * Strict means RFC 8259 and more: valid UTF-8 (no surrogates, no overlong forms), no raw control
 * characters in strings, no lone \u surrogates, the number grammar, a depth limit, nothing after
 * the value. Duplicate keys are the caller's business (tree.c reports them). */
#ifndef HOLDFS_SCAN_H
#define HOLDFS_SCAN_H

#include "store/base/status.h"
#include "store/base/str.h"

enum { SCAN_DEPTH_MAX = 512 };

enum scan_token {
	SCAN_END,    /* the whole value has been read */
	SCAN_ERROR,  /* see scan.error, scan.at */
	SCAN_OBJECT, /* { */
	SCAN_OBJECT_END,
	SCAN_ARRAY, /* [ */
	SCAN_ARRAY_END,
	SCAN_KEY,    /* span: the key with its quotes */
	SCAN_STRING, /* span: with its quotes */
	SCAN_NUMBER,
	SCAN_TRUE,
	SCAN_FALSE,
	SCAN_NULL,
};

struct scan {
	struct str json;
	size_t at;          /* next byte to read; at an error: where it is */
	unsigned depth;     /* open containers */
	unsigned state;     /* private */
	const char *error;  /* static text after SCAN_ERROR */
	struct str span;    /* of the last token, within json */
	bool escaped;       /* last KEY or STRING holds at least one backslash */
	uint64_t is_object[SCAN_DEPTH_MAX / 64]; /* private: one bit a level */
};

/* Borrows json until the last scan_next. */
void scan_init(struct scan *s, struct str json);
enum scan_token scan_next(struct scan *s);
/* After the OBJECT or ARRAY token: goes past its end; its whole span is in s->span afterwards.
 * Returns OBJECT_END/ARRAY_END or SCAN_ERROR. */
enum scan_token scan_skip(struct scan *s);

/* Reports the error of s, which returned SCAN_ERROR: its text and byte offset. Returns -EINVAL with
 * REASON_BAD_REQUEST. */
int scan_fail(const struct scan *s, struct status *st);

/* Checks a whole document. 0, or -EINVAL with REASON_BAD_REQUEST and the byte offset in the text. */
int scan_check(struct str json, struct status *st);

/* Decodes a string token (with quotes) into out, which has room for span.len bytes; returns the
 * number of bytes. The token must come from the scanner. \u0000 decodes to a NUL byte. */
size_t scan_unescape(struct str span, char *out);

/* One well-formed UTF-8 text? NUL bytes count as well-formed. */
bool utf8_valid(struct str s);

#endif
