/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes YAML: each document must become strict JSON, and that JSON, written as YAML, must read as the same. */
#include <stdlib.h>

#include "store/base/cleanup.h"
#include "store/codec/tree.h"
#include "store/codec/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_document(struct str json)
{
	_cleanup_(buf_done) struct buf canonical = {0}, yaml = {0}, back = {0};
	_cleanup_(arena_done) struct arena a;
	static struct status st;
	struct tree *before, *after;

	arena_init(&a, 0);
	require(tree_parse(&a, json, &before, NULL, &st) == 0);
	tree_write(before, &canonical);
	/* Aliases can nest a document deeper, or make it larger, than it may be on the way back. */
	if (yaml_from_json(buf_str(&canonical), &yaml, &st) < 0 || yaml_to_json(buf_str(&yaml), &back, &st) < 0)
		return;
	require(tree_parse(&a, buf_str(&back), &after, NULL, &st) == 0);
	require(tree_equal(before, after));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_done) struct buf out = {0};
	static struct status st;
	struct yaml_stream *y = yaml_open(str_n((const char *)data, size));
	unsigned line;

	if (!y)
		return 0;
	while (yaml_next(y, &out, &line, &st) == 1)
		check_document(buf_str(&out));
	yaml_close(y);
	return 0;
}
