/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the named databases, as bytes that sort the way we read them. */
#ifndef HOLDFS_KEY_H
#define HOLDFS_KEY_H

#include "store/base/str.h"

/* LMDB's limit, and with it that of a name: an `owners` key holds an owner's uid and an object key. */
enum { KEY_MAX = 511, KEY_UID_MAX = 64, KEY_OBJECT_MAX = KEY_MAX - KEY_UID_MAX - 1 };

struct key {
	size_t len;
	char bytes[KEY_MAX + 1];
};

static inline struct str key_str(const struct key *k)
{
	return str_n(k->bytes, k->len);
}

/* objects: resource id (u32 BE), namespace, 0, name. False when it is too long or holds a NUL. */
bool key_object(struct key *ret, uint32_t rid, struct str ns, struct str name);
/* What all keys of a resource, or of a namespace of it (ns.ptr not NULL), start with. */
void key_prefix(struct key *ret, uint32_t rid, struct str ns);
/* Takes an object key apart, borrowing from it; false when it is none. */
bool key_split(struct str key, uint32_t *ret_rid, struct str *ret_ns, struct str *ret_name);

/* feed, undo: revision (u64 BE). */
void key_revision(struct key *ret, uint64_t revision);
uint64_t key_revision_of(struct str key);

/* owners: uid, 0, object key. */
bool key_owner(struct key *ret, struct str uid, struct str object_key);

/* meta: 'n', resource id (u32 BE), then nothing (all) or '/' and the namespace: number of objects. */
void key_count(struct key *ret, uint32_t rid, struct str ns);
/* meta: "claim/" and the text; false when too long. */
bool key_claim(struct key *ret, struct str claim);

#endif
