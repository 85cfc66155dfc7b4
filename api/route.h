/* SPDX-License-Identifier: Apache-2.0 */
/* From path and method to the handler. */
#ifndef HOLDFS_API_ROUTE_H
#define HOLDFS_API_ROUTE_H

#include "api/request.h"

/* Sets r->handle and what the path means (kind, ns, name, action, accept). Failures: REASON_METHOD_NOT_ALLOWED,
 * REASON_NOT_ACCEPTABLE, REASON_READ_ONLY; unknown paths get a handler that says 404. */
int route(struct request *r, struct status *st);

#endif
