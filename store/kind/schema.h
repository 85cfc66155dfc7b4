/* SPDX-License-Identifier: Apache-2.0 */
/* What fields an object may have: compiled schemas. Those of built-in kinds are generated at build
 * time (tables/schema.json); those of custom resources will be compiled to the same structures. */
#ifndef HOLDFS_SCHEMA_H
#define HOLDFS_SCHEMA_H

#include "store/base/str.h"

enum schema_type {
	SCHEMA_ANY,         /* any JSON value */
	SCHEMA_STRING,
	SCHEMA_INTEGER,     /* see bits */
	SCHEMA_NUMBER,
	SCHEMA_BOOLEAN,
	SCHEMA_OBJECT,      /* def says its fields */
	SCHEMA_ARRAY,       /* item */
	SCHEMA_MAP,         /* string keys; item is the value type */
	SCHEMA_INT_OR_STRING,
	SCHEMA_QUANTITY,    /* resource.Quantity: JSON string or number */
	SCHEMA_TIME,        /* RFC 3339, whole seconds */
	SCHEMA_MICROTIME,   /* RFC 3339, 6 fraction digits */
	SCHEMA_BYTES,       /* base64 */
	SCHEMA_RAW_OBJECT,  /* any JSON object */
	SCHEMA_JSON_OR_BOOL,   /* def, or a boolean (JSONSchemaPropsOrBool) */
	SCHEMA_JSON_OR_ARRAY,  /* def, or an array of def */
	SCHEMA_JSON_OR_STRINGS /* def, or an array of strings */
};

enum schema_list { LIST_ATOMIC, LIST_SET, LIST_MAP };

enum schema_patch { PATCH_REPLACE = 0, PATCH_MERGE = 1, PATCH_RETAIN_KEYS = 2 }; /* bits; maps and objects always merge */

/* The type of one value. */
struct schema_node {
	uint8_t type;              /* enum schema_type */
	uint8_t bits;              /* INTEGER: 32 or 64 */
	uint8_t list;              /* ARRAY: enum schema_list */
	uint8_t patch;             /* enum schema_patch bits */
	bool map_atomic;           /* MAP or OBJECT: x-kubernetes-map-type atomic */
	const struct schema_def *def;   /* OBJECT and the JSON_OR types */
	const struct schema_node *item; /* ARRAY, MAP */
	const struct str *list_keys;    /* LIST_MAP: nlist_keys names */
	uint8_t nlist_keys;
	struct str merge_key;           /* strategic merge of arrays of objects; empty: none */
	const struct str *values;       /* documented enum; nvalues */
	uint8_t nvalues;
};

struct schema_field {
	struct str name;
	struct schema_node node;
	bool required;
	struct str emit;           /* JSON text that the server prints for the unset field; empty: omitted */
};

struct schema_def {
	struct str name;           /* as in schema.json: core.v1.PodSpec */
	const struct schema_field *fields; /* sorted by name */
	uint16_t nfields;
	bool map_atomic;
	uint16_t id;               /* dense number of generated definitions, for rule tables; 0xffff otherwise */
};

/* NULL when the definition has no such field. */
const struct schema_field *schema_field(const struct schema_def *def, struct str name);
/* By schema.json name, generated definitions only; NULL when unknown. */
const struct schema_def *schema_find(struct str name);
/* All generated definitions, sorted by name, id == index. */
const struct schema_def *schema_all(size_t *ret_count);

#endif
