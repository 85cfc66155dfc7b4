/* SPDX-License-Identifier: Apache-2.0 */
/* What a plain (unquoted) YAML scalar means: the rules of go-yaml v2, which sigs.k8s.io/yaml uses.
 * Private to yaml_read.c and yaml_write.c, which must agree on them. */
#ifndef HOLDFS_PLAIN_H
#define HOLDFS_PLAIN_H

#include "store/base/str.h"

enum plain_type { PLAIN_STRING, PLAIN_NULL, PLAIN_TRUE, PLAIN_FALSE, PLAIN_NUMBER, PLAIN_NOT_FINITE };

/* Longer texts are strings: no number that a float64 can hold is written so long. */
enum { PLAIN_NUMBER_MAX = 400 };

/* For a NUMBER, *ret_number is its JSON text: text itself where that is a JSON number, otherwise
 * rewritten into room. */
enum plain_type plain_resolve(struct str text, char room[PLAIN_NUMBER_MAX], struct str *ret_number);

/* By the grammar of JSON. */
bool plain_is_json_number(struct str text);

/* Strings that read as strings here but as something else elsewhere; go-yaml quotes them too:
 * timestamps, base 60 numbers, the merge key. */
bool plain_is_ambiguous(struct str text);

#endif
