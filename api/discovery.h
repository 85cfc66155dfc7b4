/* SPDX-License-Identifier: Apache-2.0 */
/* What the API offers: groups, versions, resources (reference A1). */
#ifndef HOLDFS_API_DISCOVERY_H
#define HOLDFS_API_DISCOVERY_H

#include "api/request.h"

int discovery_paths(struct request *r, struct reply *p, struct status *st);     /* / */
int discovery_core(struct request *r, struct reply *p, struct status *st);      /* /api */
int discovery_groups(struct request *r, struct reply *p, struct status *st);    /* /apis */
int discovery_group(struct request *r, struct reply *p, struct status *st);     /* /apis/GROUP */
int discovery_resources(struct request *r, struct reply *p, struct status *st); /* /api/v1, /apis/GROUP/VERSION */

#endif
