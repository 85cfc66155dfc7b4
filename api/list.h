/* SPDX-License-Identifier: Apache-2.0 */
/* LIST. */
#ifndef HOLDFS_API_LIST_H
#define HOLDFS_API_LIST_H

#include "api/request.h"

int list_handle(struct request *r, struct reply *p, struct status *st);
/* An empty list, for resources that keep nothing. */
int list_handle_virtual(struct request *r, struct reply *p, struct status *st);

#endif
