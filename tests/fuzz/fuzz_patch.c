/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the patches: the input is an object, a NUL byte, and a patch; each kind of patch is tried. */
#include <stdlib.h>

#include "store/change/patch.h"
#include "store/codec/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int patch_fn(struct arena *a, const struct schema_def *def, struct tree *object, const struct tree *patch,
		     struct tree **ret, struct status *st);

static int json(struct arena *a, const struct schema_def *def, struct tree *object, const struct tree *patch,
		struct tree **ret, struct status *st)
{
	(void)def;
	return patch_json(a, object, patch, ret, st);
}

static int merge(struct arena *a, const struct schema_def *def, struct tree *object, const struct tree *patch,
		 struct tree **ret, struct status *st)
{
	(void)def;
	return patch_merge(a, object, patch, ret, st);
}

/* What a patch made must be a tree that can be written and read. */
static void check_result(const struct tree *t)
{
	struct buf out = {0};
	struct status st;

	status_clear(&st);
	tree_write(t, &out);
	if (!out.failed && scan_check(buf_str(&out), &st) != 0)
		abort();
	buf_done(&out);
}

static void try_patch(patch_fn *apply, struct str object_text, struct str patch_text)
{
	const struct kind *k = kinds_find(kinds_builtin(), STR("apps"), STR("v1"), STR("deployments"));
	struct tree *object, *patch, *result;
	struct status st;
	struct arena a;

	arena_init(&a, 16 << 20);
	status_clear(&st);
	if (tree_parse(&a, object_text, &object, NULL, &st) == 0 && tree_parse(&a, patch_text, &patch, NULL, &st) == 0 &&
	    apply(&a, k->schema, object, patch, &result, &st) == 0)
		check_result(result);
	arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = str_n((const char *)data, size);
	ptrdiff_t nul = str_chr(input, 0);

	if (nul < 0)
		return 0;
	struct str object = str_n(input.ptr, (size_t)nul), patch = str_skip(input, (size_t)nul + 1);
	try_patch(json, object, patch);
	try_patch(merge, object, patch);
	try_patch(patch_strategic, object, patch);
	return 0;
}
