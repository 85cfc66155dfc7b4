/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses requests whose framing two parsers could read differently. */
#ifndef HOLDFS_API_GATE_H
#define HOLDFS_API_GATE_H

#include "api/request.h"

/* Looks at the head of a request, before anything else: 0, or -EINVAL with REASON_BAD_REQUEST (or
 * REASON_TOO_LARGE for a declared body beyond BODY_MAX). *ret_body: the request announces a body. */
int gate_check(const struct request *r, bool *ret_body, struct status *st);

#endif
