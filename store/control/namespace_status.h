/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminating namespace says about its end. Private to store/control. */
#ifndef HOLDFS_NAMESPACE_STATUS_H
#define HOLDFS_NAMESPACE_STATUS_H

#include "store/control/control.h"

/* Brings the five deletion conditions of ns up to date, when there is content left or they were set before. failure:
 * why content could not be deleted, NULL; may be st, which is only changed when this fails. */
int namespace_tell(struct control *c, struct str ns, const struct status *failure, struct status *st);

#endif
