/* SPDX-License-Identifier: Apache-2.0 */
/* GET /version. */
#ifndef HOLDFS_API_VERSION_H
#define HOLDFS_API_VERSION_H

#include "api/request.h"

int version_handle(struct request *r, struct reply *p, struct status *st);

#endif
