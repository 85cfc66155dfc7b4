/* SPDX-License-Identifier: Apache-2.0 */
/* Making replies: JSON, YAML, Status, text; warnings; compression. */
#ifndef HOLDFS_API_REPLY_H
#define HOLDFS_API_REPLY_H

#include "api/pool.h"
#include "api/server.h"

/* The reply is `code` with a JSON body taken from b (gives it up, also on failure), from byte `from`
 * on. */
int reply_json(struct reply *p, unsigned code, struct pool_buf *b, size_t from, struct status *st);
/* The same for bytes that somebody else keeps until release(owner). */
void reply_borrow(struct reply *p, unsigned code, struct str body, void *owner, void (*release)(void *owner));
/* Plain text that lives for ever. */
void reply_text(struct reply *p, unsigned code, const char *text);
/* 404 page not found: what Kubernetes says outside its API. */
void reply_no_page(struct reply *p);

/* Adds a header; value is copied into the request's arena. Dropped when there are too many. */
void reply_header(struct request *r, struct reply *p, const char *name, struct str value);
/* Adds a `Warning: 299 - "TEXT"` header. */
void reply_warning(struct request *r, struct reply *p, struct str text);
void reply_warnings(struct request *r, struct reply *p, const struct write_warning *w);

/* The reply to a request that failed with st. */
void reply_status(struct request *r, struct reply *p, const struct status *st);

/* Last touch before sending: YAML, pretty printing, Content-Type, gzip. Replaces the body if need be. */
void reply_finish(struct request *r, struct reply *p);

/* Drops the body. */
void reply_done(struct reply *p);

#endif
