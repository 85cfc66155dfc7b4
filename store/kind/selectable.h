/* SPDX-License-Identifier: Apache-2.0 */
/* How the value of a selectable field is read: the `rule` of struct kind_selectable. Private to store/kind. */
#ifndef HOLDFS_SELECTABLE_H
#define HOLDFS_SELECTABLE_H

enum selectable_rule {
	SELECTABLE_TEXT,    /* string; empty when absent or of another type */
	SELECTABLE_BOOL,    /* true, or false (also when absent) */
	SELECTABLE_INTEGER, /* decimal, 0 when absent */
	SELECTABLE_POD_IP,  /* member ip of the first item of the array */
	SELECTABLE_SCALAR,  /* text, boolean or integer as it stands; empty when absent (custom resources) */
	SELECTABLE_NONE,    /* accepted, but no object carries a value */
};

#endif
