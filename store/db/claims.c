/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up claims. */
#include "store/db/claims.h"

#include "store/db/db.h"

bool claim_free(struct read *r, struct str claim, const struct kind *k, struct str ns, struct str name)
{
	struct key key, owner;

	if (!key_claim(&key, claim))
		return false;
	MDB_val mk = val_of(key_str(&key)), v;
	if (mdb_get(r->txn, r->store->meta, &mk, &v))
		return true;
	return key_object(&owner, db_rid(r->store, k), ns, name) && str_eq(val_str(&v), key_str(&owner));
}
