/* SPDX-License-Identifier: Apache-2.0 */
/* JSON merge patch (RFC 7386): objects merge, null removes, all else replaces. */
#include "store/change/patch.h"

#include <errno.h>

#include "store/change/weave.h"

/* Recursion is as deep as the patch, which the scanner has bounded. The patch's values are copied:
 * the result will be changed further, and the patch may be applied again. */
static int merge_value(void *arg, struct str key, struct tree *old, const struct tree *patch, struct tree **ret)
{
	struct arena *a = arg;

	(void)key;
	*ret = NULL;
	if (patch->type == TREE_NULL)
		return 0;
	if (patch->type == TREE_OBJECT)
		return weave(a, tree_is(old, TREE_OBJECT) ? old : NULL, patch, merge_value, a, ret);
	*ret = tree_copy(a, patch);
	return *ret ? 0 : -ENOMEM;
}

static const char *go_name(enum tree_type type)
{
	static const char *const names[] = {
		[TREE_NULL] = "null",	  [TREE_FALSE] = "bool",  [TREE_TRUE] = "bool",	    [TREE_NUMBER] = "number",
		[TREE_STRING] = "string", [TREE_ARRAY] = "array", [TREE_OBJECT] = "object",
	};

	return names[type];
}

int patch_merge(struct arena *a, struct tree *object, const struct tree *patch, struct tree **ret, struct status *st)
{
	if (patch->type != TREE_OBJECT)
		return status_set(st, REASON_BAD_REQUEST,
				  "error decoding patch: json: cannot unmarshal %s into Go value of type map[string]interface {}",
				  go_name(patch->type));
	return merge_value(a, (struct str){0}, object, patch, ret) < 0 ? status_no_memory(st) : 0;
}
