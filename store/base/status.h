/* SPDX-License-Identifier: Apache-2.0 */
/* Why something failed, in Kubernetes' words: fixed size, no allocation on the error path. */
#ifndef HOLDFS_STATUS_H
#define HOLDFS_STATUS_H

#include "store/base/buf.h"
#include "store/base/str.h"

/* Kubernetes' Status reasons (reference A11) and a few of ours; REASON_OK is success.
 * status.c has one table row for each: HTTP code, reason string, errno. */
enum reason {
	REASON_OK,
	REASON_BAD_REQUEST,
	REASON_UNAUTHORIZED,
	REASON_FORBIDDEN,
	REASON_NOT_FOUND,
	REASON_METHOD_NOT_ALLOWED,
	REASON_NOT_ACCEPTABLE,
	REASON_ALREADY_EXISTS,
	REASON_CONFLICT,
	REASON_EXPIRED,
	REASON_TOO_LARGE,
	REASON_UNSUPPORTED_MEDIA_TYPE,
	REASON_INVALID,
	REASON_TOO_MANY_REQUESTS,
	REASON_INTERNAL,
	REASON_NOT_IMPLEMENTED,
	REASON_UNAVAILABLE,
	REASON_TIMEOUT,
	REASON_NO_SPACE,
	REASON_READ_ONLY,
	REASON_NO_MEMORY,
	REASON_UNKNOWN, /* an untyped error: HTTP 500 with an empty reason, as "resourceVersion should not be set" */
	REASON_COUNT,
};

/* Causes of an Invalid (validation.json causeTypes) and the few others clients match on. */
enum cause_type {
	CAUSE_REQUIRED,
	CAUSE_INVALID,
	CAUSE_NOT_SUPPORTED,
	CAUSE_FORBIDDEN,
	CAUSE_DUPLICATE,
	CAUSE_NOT_FOUND,
	CAUSE_TOO_LONG,
	CAUSE_TOO_SHORT,
	CAUSE_TOO_MANY,
	CAUSE_TOO_FEW,
	CAUSE_TYPE_INVALID,
	CAUSE_INTERNAL,
	CAUSE_NAMESPACE_TERMINATING,
	CAUSE_RESOURCE_VERSION_TOO_LARGE,
	CAUSE_FIELD_MANAGER_CONFLICT,
	CAUSE_UNEXPECTED_SERVER_RESPONSE,
	CAUSE_COUNT,
};

enum { STATUS_MESSAGE_MAX = 2048, STATUS_CAUSES_MAX = 16 };

struct cause {
	enum cause_type type;
	char field[256];
	char message[512]; /* without the field, with the type's head: `Required value: ...` */
};

/* Texts longer than their room are cut at a UTF-8 boundary. Not shared between threads. */
struct status {
	enum reason reason;
	char message[STATUS_MESSAGE_MAX];
	char name[254];           /* details.name */
	char group[254];          /* details.group, "" for core */
	char kind[64];            /* details.kind: Kind for INVALID, plural resource otherwise */
	char uid[64];             /* details.uid */
	char next[1024];          /* metadata.continue, for an expired list */
	unsigned retry_after;     /* seconds, 0 none */
	unsigned causes;          /* found; only the first STATUS_CAUSES_MAX are kept */
	struct cause cause[STATUS_CAUSES_MAX];
};

/* Success again, everything empty. Only `reason`, counters and first bytes are touched. */
void status_clear(struct status *st);

/* Sets reason and message (details are left alone); returns the reason's errno, negative. */
int status_set(struct status *st, enum reason reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Fills details.name, group, kind. */
void status_details(struct status *st, struct str group, struct str kind, struct str name);

/* `PLURAL[.GROUP] "NAME" not found` and the like, with details. resource is the plural. */
int status_not_found(struct status *st, struct str group, struct str resource, struct str name);
int status_already_exists(struct status *st, struct str group, struct str resource, struct str name);
int status_conflict(struct status *st, struct str group, struct str resource, struct str name, const char *why);
/* `PLURAL[.GROUP] "NAME" is forbidden: WHY` */
int status_forbidden(struct status *st, struct str group, struct str resource, struct str name,
		     const char *format, ...) __attribute__((format(printf, 5, 6)));
int status_no_memory(struct status *st);

/* Notes one failed field; the message is TYPE's head, then the formatted text (which starts with
 * ": " where there is one; see validation.json causeBody). Does not set the reason:
 * status_invalid does when all fields have been looked at. */
void status_cause(struct status *st, enum cause_type type, const char *field, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* With causes: REASON_INVALID with `KIND[.GROUP] "NAME" is invalid: F: BODY` (several: [A, B],
 * equal texts once); returns its errno. Without any: 0, st untouched. */
int status_invalid(struct status *st, struct str group, struct str kind, struct str name);

/* The table. */
unsigned reason_http(enum reason reason);
const char *reason_string(enum reason reason); /* "" where Kubernetes has none */
int reason_errno(enum reason reason);          /* positive */
const char *cause_string(enum cause_type type);

/* Adds the v1 Status object, one line, no newline. For REASON_OK: status Success. */
void status_json(const struct status *st, struct buf *out);

#endif
