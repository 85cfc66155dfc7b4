/* SPDX-License-Identifier: Apache-2.0 */
/* OpenAPI documents as protobuf: private to api/openapi*.c. Free of HTTP. */
#ifndef HOLDFS_API_OPENAPI_PROTO_H
#define HOLDFS_API_OPENAPI_PROTO_H

#include "store/base/buf.h"
#include "store/base/status.h"
#include "store/base/str.h"

/* How a JSON value is written. The items of a list are written one by one. */
enum proto_type {
	PROTO_STRING,
	PROTO_BOOL,
	PROTO_ANY,     /* message Any: the value's text in field 2 */
	PROTO_DEFAULT, /* message DefaultType of v3: text or boolean, nothing of other values */
	PROTO_MESSAGE, /* an object with known keys */
	PROTO_MAP,     /* an object with free keys: one entry (name 1) for each; `message` says where the value goes */
};

enum { PROTO_PATH_MAX = 5 };

/* Where the value of a key goes. A key may have several rows: the first one that fits the value counts. */
struct proto_field {
	const char *key;              /* "*": the value of a map's entry */
	enum proto_type type;
	uint8_t path[PROTO_PATH_MAX]; /* field numbers, outermost first: the last is the value's own, those before it are
	                                 messages that have no level of their own in JSON; 0 ends */
	const char *when;             /* NULL: any value; "$ref": objects with such a key; "bool": true and false;
	                                 else: objects whose member `in` has this value */
	const struct proto_message *message; /* MESSAGE, MAP */
};

/* A message; keys that are not in its table are left out. */
struct proto_message {
	const struct proto_field *fields;
	uint8_t nfields;
	uint8_t extensions; /* number of the repeated NamedAny for keys that start with x-; 0 none */
};

/* openapi_v2.Document and openapi_v3.Document of gnostic. */
extern const struct proto_message proto_v2_document, proto_v3_document;

/* Adds a JSON object as protobuf, without any envelope. -EINVAL with REASON_BAD_REQUEST for malformed JSON, else
 * only REASON_NO_MEMORY. */
int proto_from_json(const struct proto_message *m, struct str json, struct buf *out, struct status *st);

#endif
