/* SPDX-License-Identifier: Apache-2.0 */
/* What the server does to an object of a built-in kind before it is stored: decode, default, validate. */
#ifndef HOLDFS_RULES_H
#define HOLDFS_RULES_H

#include "store/base/arena.h"
#include "store/base/status.h"
#include "store/codec/tree.h"
#include "store/kind/kind.h"

/* A field that the schema does not know or that stood twice: `unknown field "spec.foo"`,
 * `duplicate field "spec.replicas"`. */
struct field_problem {
	struct field_problem *next;
	struct str text;
};

/* Decodes object by k's schema, in place: drops nulls and unknown fields (each is appended to *problems),
 * checks types (wrong type: -EINVAL, REASON_BAD_REQUEST, Go's decoder text as
 * `Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`),
 * canonicalises quantities, times. metadata included. */
int rules_decode(struct arena *a, const struct kind *k, struct tree *object, struct field_problem **problems,
		 struct status *st);

/* Applies defaults.json `rules` in place. old: the stored object on update, NULL on create. Does not touch system
 * metadata (uid and so on), does not allocate cluster IPs. False when out of memory. */
bool rules_default(struct arena *a, const struct kind *k, struct tree *object, const struct tree *old);

/* Checks required fields, grammars, enums, ranges and immutable fields (validation.json `rules`, and schema
 * `required`). old: stored object on update (also of a status update), NULL on create. Adds causes to st; the caller calls
 * status_invalid. */
void rules_validate(struct arena *a, const struct kind *k, const struct tree *object, const struct tree *old,
		    struct status *st);

#endif
