/* SPDX-License-Identifier: Apache-2.0 */
/* DeleteOptions: how a delete is to be done, from a request's body. */
#ifndef HOLDFS_DELETE_OPTIONS_H
#define HOLDFS_DELETE_OPTIONS_H

#include "store/base/arena.h"
#include "store/base/status.h"
#include "store/change/write.h"

struct delete_options {
	int64_t grace;               /* seconds; negative: not given */
	enum propagation propagation;
	struct str uid;              /* precondition; empty: none */
	uint64_t revision;           /* precondition; 0: none */
	bool dry_run;
	bool orphan_dependents_given, orphan_dependents; /* the old form of propagation */
};

/* Reads json, a DeleteOptions of any apiVersion or of none at all (reference A9); empty text and `{}` are
 * the defaults. Strings are in a or borrowed from json. REASON_BAD_REQUEST, REASON_INVALID. */
int delete_options_parse(struct arena *a, struct str json, struct delete_options *ret, struct status *st);

/* `Background`, `Foreground`, `Orphan`; notes a cause in st for anything else. */
void propagation_parse(struct str text, enum propagation *ret, struct status *st);

#endif
