/* SPDX-License-Identifier: Apache-2.0 */
/* The index from an owner's uid to the objects that name it in ownerReferences. */
#ifndef HOLDFS_OWNERS_H
#define HOLDFS_OWNERS_H

#include "store/db/key.h"
#include "store/db/read.h"

struct owner_cursor {
	bool started;
	struct key at; /* last key given */
};

/* The next dependent of owner_uid: 1, borrowed until read_end; 0 at the end. Start with {0}. The cursor may be kept over snapshots. */
int owners_next(struct read *r, struct str owner_uid, struct owner_cursor *c, const struct kind **ret_kind,
		struct str *ret_ns, struct str *ret_name);

#endif
