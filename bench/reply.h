/* SPDX-License-Identifier: Apache-2.0 */
/* The little of HTTP replies that a load program has to understand: status, length, events of a watch. */
#ifndef HOLDFS_BENCH_REPLY_H
#define HOLDFS_BENCH_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reply that is being received. {0} waits for the first byte. */
struct reply {
	bool headed;       /* the head is complete, what follows is body */
	bool chunked;      /* of unknown length */
	char last;         /* byte of the body so far, for reply_events */
	unsigned status;
	uint64_t left;     /* bytes of the body still to come, unless chunked */
	size_t head_len;
	char head[2048];
};

/* Takes what belongs to the head; returns how many bytes that were, or -EPROTO for what is no HTTP/1.1 reply with
 * a length or chunks, or has more than 2 KiB of headers. */
long reply_head(struct reply *r, const char *bytes, size_t n);

/* Counts the events that end in these bytes of a watch's body. An event is one line of JSON, so it ends in `}` and
 * a newline, which neither its text nor the framing of chunks contains. */
unsigned reply_events(struct reply *r, const char *bytes, size_t n);

#endif
