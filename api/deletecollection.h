/* SPDX-License-Identifier: Apache-2.0 */
/* DELETE of a collection. */
#ifndef HOLDFS_API_DELETECOLLECTION_H
#define HOLDFS_API_DELETECOLLECTION_H

#include "api/request.h"

int deletecollection_handle(struct request *r, struct reply *p, struct status *st);

#endif
