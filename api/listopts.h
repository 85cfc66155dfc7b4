/* SPDX-License-Identifier: Apache-2.0 */
/* The query parameters of list and watch, checked as kube-apiserver checks them (reference A5, A6). */
#ifndef HOLDFS_API_LISTOPTS_H
#define HOLDFS_API_LISTOPTS_H

#include "api/request.h"
#include "api/token.h"

struct listopts {
	uint64_t limit;             /* 0: none */
	bool continued;             /* token is set */
	struct token token;
	uint64_t at;                /* read exactly this revision; 0: the newest */
	uint64_t least;             /* the snapshot must not be older; 0: any */
	struct selector *labels, *fields; /* NULL: all */
	struct str only;            /* the one name that can match; .len 0: any */
};

struct watchopts {
	uint64_t after;             /* first event is behind this revision; with `initial`: the state is at least this */
	bool initial;               /* start with what is there now, as ADDED */
	bool initial_end;           /* and mark its end by a bookmark */
	bool bookmarks;
	unsigned seconds;           /* the watch lives; 0: not given */
	struct selector *labels, *fields;
	struct str only;
};

/* Both: REASON_BAD_REQUEST, REASON_INVALID. */
int listopts_parse(struct request *r, struct listopts *ret, struct status *st);
int watchopts_parse(struct request *r, struct watchopts *ret, struct status *st);

#endif
