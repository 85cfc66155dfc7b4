/* SPDX-License-Identifier: Apache-2.0 */
/* WATCH. */
#ifndef HOLDFS_API_WATCH_H
#define HOLDFS_API_WATCH_H

#include "api/request.h"

int watch_handle(struct request *r, struct reply *p, struct status *st);

#endif
