/* SPDX-License-Identifier: Apache-2.0 */
/* The continue token: where the next page of a list starts, and at which revision. */
#ifndef HOLDFS_API_TOKEN_H
#define HOLDFS_API_TOKEN_H

#include "store/base/arena.h"
#include "store/base/status.h"

enum { TOKEN_MAX = 1000 }; /* bytes of text; fits struct status next[] */

struct token {
	bool newest;             /* revision -1: go on at whatever is newest now */
	uint64_t revision;
	struct str ns, name;     /* last object of the page before; ns empty for cluster scope */
	int64_t remaining;       /* objects behind it; negative: not known */
};

/* Writes the token as URL-safe text, NUL-terminated; false when it does not fit. */
bool token_format(const struct token *t, char out[TOKEN_MAX]);
/* Reads one, strictly: -EINVAL with REASON_BAD_REQUEST otherwise. ns and name are in a. */
int token_parse(struct arena *a, struct str text, struct token *ret, struct status *st);

#endif
