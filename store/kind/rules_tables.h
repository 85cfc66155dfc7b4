/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled rule tables: written by generate_rules.py, walked by defaults.c and validate.c. Private. */
#ifndef HOLDFS_RULES_TABLES_H
#define HOLDFS_RULES_TABLES_H

#include "store/codec/tree.h"
#include "store/kind/kind.h"
#include "store/kind/place.h"

/* One rules_default call. */
struct defaulting {
	struct arena *arena;
	const struct kind *kind;
	struct tree *root;
	const struct tree *old; /* NULL on create */
};

/* One rules_validate call. */
struct checking {
	struct arena *arena;
	const struct kind *kind;
	const struct tree *root;
	const struct tree *old; /* NULL on create */
	struct status *st;
};

/* False when out of memory. */
typedef bool (*default_fn)(const struct defaulting *d, struct tree *object);
typedef void (*check_fn)(const struct checking *c, const struct place *at, const struct tree *object);
/* A grammar of names.h: NULL or the detail text. */
typedef const char *(*format_fn)(struct str s);

enum default_when {
	DEFAULT_ABSENT, /* set value where the field is absent (a pointer in Go) */
	DEFAULT_EMPTY,  /* set value where the field is absent or its zero value */
	DEFAULT_OMIT,   /* remove the field where it is its zero value (Go's omitempty) */
	DEFAULT_CALL,   /* call, before what lies below the object */
	DEFAULT_AFTER,  /* call, after it */
};

/* field may be dotted: the rule is skipped where a step is absent. value is JSON text. */
struct default_rule {
	struct str field;
	struct str value;
	default_fn call;
	uint8_t when;
};

enum check_flag {
	CHECK_REQUIRED = 1 << 0,  /* not empty; detail is in `required` */
	CHECK_ENUM = 1 << 1,      /* one of values (each item, for an array); empty passes */
	CHECK_FORMAT = 1 << 2,    /* text (each item, for an array) matches format; empty passes */
	CHECK_RANGE = 1 << 3,     /* min..max; 0 passes unless CHECK_ZERO */
	CHECK_ZERO = 1 << 4,      /* 0 is a value like any other (a pointer in Go) */
	CHECK_MAX_BYTES = 1 << 5, /* text of at most max bytes */
	CHECK_UNIQUE = 1 << 6,    /* items differ in their member `key` (empty: the items themselves) */
	CHECK_IMMUTABLE = 1 << 7, /* on update: equal to the old object's; root definitions only */
	CHECK_LABELS = 1 << 8,    /* a map of labels */
	CHECK_CREATE = 1 << 9,    /* only without an old object */
	CHECK_WHOLE = 1 << 10,    /* an ENUM failure names the object that holds the field, and its place */
	CHECK_CHOICE = 1 << 11,   /* an ENUM failure is "Invalid value" with the detail, not a list of values */
};

/* Tests run in the order of the flags above and end at the first that fails. field may be dotted; an absent
 * field fails only CHECK_REQUIRED and, against an old one, CHECK_IMMUTABLE. With call there is nothing else. */
struct check_rule {
	struct str field;
	check_fn call;
	format_fn format;
	const struct str *values;
	int64_t min, max;
	const char *required, *detail; /* detail: of RANGE, IMMUTABLE, CHOICE; "" for the usual text */
	const char *key, *path;        /* path: what the cause names instead of field; NULL for field */
	uint16_t nvalues, flags;
};

/* What one definition of the schema brings. The order is that of schema_all: index by schema_def.id. */
struct rules_def {
	const struct default_rule *defaults;
	const struct check_rule *checks;
	uint16_t ndefaults, nchecks;
	bool defaults_below, checks_below; /* in it or in anything it can hold */
};

extern const struct rules_def rules_defs[];
extern const size_t rules_defs_count;

/* NULL for definitions that are not generated ones. */
const struct rules_def *rules_of(const struct schema_def *def);

#endif
