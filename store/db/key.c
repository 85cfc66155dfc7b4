/* SPDX-License-Identifier: Apache-2.0 */
/* Building and taking apart the database keys. */
#include "store/db/key.h"

#include <endian.h>

static void start(struct key *k)
{
	k->len = 0;
}

static bool add(struct key *k, const void *bytes, size_t n)
{
	if (n > KEY_MAX - k->len)
		return false;
	if (n)
		memcpy(k->bytes + k->len, bytes, n);
	k->len += n;
	return true;
}

static void add_rid(struct key *k, uint32_t rid)
{
	uint32_t be = htobe32(rid);
	add(k, &be, sizeof(be));
}

bool key_object(struct key *ret, uint32_t rid, struct str ns, struct str name)
{
	if (str_chr(ns, '\0') >= 0 || str_chr(name, '\0') >= 0)
		return false;
	start(ret);
	add_rid(ret, rid);
	return add(ret, ns.ptr, ns.len) && add(ret, "", 1) && add(ret, name.ptr, name.len) && ret->len <= KEY_OBJECT_MAX;
}

void key_prefix(struct key *ret, uint32_t rid, struct str ns)
{
	start(ret);
	add_rid(ret, rid);
	if (ns.ptr && ns.len <= KEY_OBJECT_MAX) {
		add(ret, ns.ptr, ns.len);
		add(ret, "", 1);
	}
}

bool key_split(struct str key, uint32_t *ret_rid, struct str *ret_ns, struct str *ret_name)
{
	uint32_t be;

	if (key.len < sizeof(be) + 1)
		return false;
	struct str rest = str_skip(key, sizeof(be));
	ptrdiff_t at = str_chr(rest, '\0');
	if (at < 0)
		return false;
	memcpy(&be, key.ptr, sizeof(be));
	*ret_rid = be32toh(be);
	*ret_ns = str_n(rest.ptr, (size_t)at);
	*ret_name = str_skip(rest, (size_t)at + 1);
	return true;
}

void key_revision(struct key *ret, uint64_t revision)
{
	uint64_t be = htobe64(revision);

	start(ret);
	add(ret, &be, sizeof(be));
}

uint64_t key_revision_of(struct str key)
{
	uint64_t be = 0;

	if (key.len == sizeof(be))
		memcpy(&be, key.ptr, sizeof(be));
	return be64toh(be);
}

bool key_owner(struct key *ret, struct str uid, struct str object_key)
{
	start(ret);
	return uid.len <= KEY_UID_MAX && add(ret, uid.ptr, uid.len) && add(ret, "", 1) &&
	       add(ret, object_key.ptr, object_key.len);
}

void key_count(struct key *ret, uint32_t rid, struct str ns)
{
	start(ret);
	add(ret, "n", 1);
	add_rid(ret, rid);
	if (ns.ptr) {
		add(ret, "/", 1);
		add(ret, ns.ptr, ns.len < KEY_OBJECT_MAX ? ns.len : KEY_OBJECT_MAX);
	}
}

bool key_claim(struct key *ret, struct str claim)
{
	start(ret);
	return add(ret, "claim/", 6) && add(ret, claim.ptr, claim.len);
}
