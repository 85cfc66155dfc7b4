/* SPDX-License-Identifier: Apache-2.0 */
/* GET /livez, /readyz, /healthz and their single checks. */
#ifndef HOLDFS_API_HEALTH_H
#define HOLDFS_API_HEALTH_H

#include "api/request.h"

int health_handle(struct request *r, struct reply *p, struct status *st);

#endif
