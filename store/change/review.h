/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual kinds of authorization.k8s.io and authentication.k8s.io: questions that are answered and not
 * kept. There is one user, who may do everything. */
#ifndef HOLDFS_REVIEW_H
#define HOLDFS_REVIEW_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/base/status.h"
#include "store/kind/kind.h"

/* Can review_answer answer k? */
bool review_knows(const struct kind *k);

/* Adds the object that was sent (json, strict) with its status filled in. ns: from the path. token: the admin's, for
 * TokenReview; empty: every token is good. REASON_BAD_REQUEST for another kind, REASON_INVALID. */
int review_answer(struct arena *a, const struct kind *k, struct str ns, struct str token, struct str json,
		  struct buf *out, struct status *st);

#endif
