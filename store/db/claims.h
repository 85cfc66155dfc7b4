/* SPDX-License-Identifier: Apache-2.0 */
/* Names that only one object may hold at a time (record section `claims`), kept in `meta`. */
#ifndef HOLDFS_CLAIMS_H
#define HOLDFS_CLAIMS_H

#include "store/db/read.h"

/* Is claim held by nobody, or by this object? As of the snapshot: the writer checks again. */
bool claim_free(struct read *r, struct str claim, const struct kind *k, struct str ns, struct str name);

#endif
