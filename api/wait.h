/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a revision that a client already knows and we do not have yet. */
#ifndef HOLDFS_API_WAIT_H
#define HOLDFS_API_WAIT_H

#include "api/request.h"

/* Text of a resourceVersion parameter to a number; empty counts as 0. REASON_BAD_REQUEST otherwise. */
int revision_parse(struct str text, uint64_t *ret, struct status *st);

/* 0 when the store has reached revision; REQUEST_WAIT: return it from the handler and call again; REASON_TIMEOUT
 * with the cause ResourceVersionTooLarge after 3 s (reference A5). */
int wait_revision(struct request *r, uint64_t revision, struct status *st);

#endif
