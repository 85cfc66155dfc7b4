/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' protobuf messages as tables: made by generate_proto.py from tables/protobuf.json. */
#ifndef HOLDFS_PROTO_TABLE_H
#define HOLDFS_PROTO_TABLE_H

#include "store/base/str.h"

enum proto_type { PROTO_STRING, PROTO_BYTES, PROTO_INT32, PROTO_INT64, PROTO_BOOL, PROTO_DOUBLE, PROTO_MESSAGE };

enum proto_shape {
	PROTO_ONE,
	PROTO_LIST,
	PROTO_MAP,    /* string keys; type is that of the values */
	PROTO_INLINE, /* a message whose fields stand in the outer JSON object */
};

/* The JSON form of a message, where that is not an object of its fields. */
enum proto_form {
	PROTO_OBJECT,
	PROTO_TIME,          /* seconds, nanos: RFC 3339, whole seconds */
	PROTO_MICRO_TIME,    /* the same with six digits */
	PROTO_QUANTITY,      /* its one string */
	PROTO_INT_OR_STRING, /* type, intVal, strVal */
	PROTO_RAW,           /* JSON text, or an envelope of its own */
	PROTO_ITEMS,         /* its one list */
	PROTO_OR_ARRAY,      /* 1: a message, 2: a list that goes before it */
	PROTO_OR_BOOL,       /* 1: a boolean, 2: a message that goes before it */
	PROTO_FORMS,
};

struct proto_message;

struct proto_field {
	uint16_t number;
	uint8_t type;  /* enum proto_type */
	uint8_t shape; /* enum proto_shape */
	bool keep;     /* JSON shows its zero value when the wire holds one */
	struct str name;
	const struct proto_message *message; /* of MESSAGE */
};

struct proto_message {
	struct str name; /* core.v1.Pod */
	uint8_t form;    /* enum proto_form */
	uint8_t nfields;
	const struct proto_field *fields; /* by number */
};

struct proto_kind {
	struct str kind, api_version; /* api_version `*`: any */
	const struct proto_message *message;
};

extern const struct proto_kind proto_kinds[]; /* sorted by kind, then api_version */
extern const size_t proto_nkinds;
extern const struct proto_message proto_messages[]; /* sorted by name */
extern const size_t proto_nmessages;

#endif
