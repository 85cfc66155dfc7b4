/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the scanner and the tree: what is parsed must be written as canonical text that parses to an equal
 * tree, and the two must agree on what is JSON. */
#include <stdlib.h>

#include "store/base/cleanup.h"
#include "store/codec/scan.h"
#include "store/codec/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_tree(struct arena *a, struct tree *t)
{
	_cleanup_(buf_done) struct buf first = {0}, second = {0};
	static struct status st;
	struct tree *again;
	struct tree_dup *dups;

	tree_write(t, &first);
	require(!first.failed);
	require(tree_parse(a, buf_str(&first), &again, &dups, &st) == 0);
	require(!dups && tree_equal(t, again));
	tree_write(again, &second);
	require(str_eq(buf_str(&first), buf_str(&second)));
	require(tree_equal(tree_copy(a, t), t));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena a;
	static struct status st;
	struct str json = str_n((const char *)data, size);
	struct tree_dup *dups;
	struct tree *t;

	arena_init(&a, 0);
	int checked = scan_check(json, &st);
	int parsed = tree_parse(&a, json, &t, &dups, &st);
	require((checked == 0) == (parsed == 0) || st.reason == REASON_NO_MEMORY);
	if (parsed == 0)
		check_tree(&a, t);
	return 0;
}
