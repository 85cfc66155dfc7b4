/* SPDX-License-Identifier: Apache-2.0 */
/* What holds a namespace back, and saying so in its conditions. Private to store/control. */
#ifndef HOLDFS_NAMESPACE_STATUS_H
#define HOLDFS_NAMESPACE_STATUS_H

#include "store/control/control.h"

/* What a round over a terminating namespace found. */
struct remaining {
	bool gone;         /* the namespace is not being deleted, or not there */
	unsigned kinds;    /* that have objects */
	unsigned held;     /* objects with finalizers */
	bool pods;         /* pods are among them: the rest was not looked at */
	char text[1024];   /* "configmaps has 2 resource instances, ..." */
};

void remaining_add(struct remaining *left, const struct kind *k, uint64_t n);

/* Writes the conditions of a namespace whose deletion waits; nothing when they say so already. 0 or -errno. */
int namespace_tell(struct control *c, struct str ns, const struct remaining *left, struct status *st);

#endif
