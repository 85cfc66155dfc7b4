/* SPDX-License-Identifier: Apache-2.0 */
/* GET of one object. */
#ifndef HOLDFS_API_GET_H
#define HOLDFS_API_GET_H

#include "api/request.h"

int get_handle(struct request *r, struct reply *p, struct status *st);

#endif
