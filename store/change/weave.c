/* SPDX-License-Identifier: Apache-2.0 */
/* A merge of two sorted member lists; each patch type says what becomes of a patched member. */
#include "store/change/weave.h"

#include <errno.h>

int weave(struct arena *a, const struct tree *old, const struct tree *patch, weave_fn *fn, void *arg,
	  struct tree **ret)
{
	struct tree *woven = tree_object(a);
	uint32_t i = 0, j = 0, n = old ? old->len : 0;

	if (!woven)
		return -ENOMEM;
	while (i < n || j < patch->len) {
		int order = i == n ? 1 : j == patch->len ? -1 : str_cmp(old->members[i].key, patch->members[j].key);
		struct str key = order < 0 ? old->members[i].key : patch->members[j].key;
		struct tree *value = order <= 0 ? old->members[i++].value : NULL;
		if (order >= 0) {
			int r = fn(arg, key, value, patch->members[j++].value, &value);
			if (r < 0)
				return r;
		}
		if (value && !tree_set(a, woven, key, value))
			return -ENOMEM;
	}
	*ret = woven;
	return 0;
}
