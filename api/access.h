/* SPDX-License-Identifier: Apache-2.0 */
/* What is noted of each request once it is answered: metrics and one line of log. */
#ifndef HOLDFS_API_ACCESS_H
#define HOLDFS_API_ACCESS_H

#include "api/request.h"

/* Never says what was in a body or a query. */
void access_note(struct request *r, unsigned code, size_t bytes);

#endif
