/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the JSON scanner and the tree: what the scanner accepts must parse, and its canonical text must be stable. */
#include <stdlib.h>

#include "store/codec/scan.h"
#include "store/codec/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(struct str json)
{
	char *text = malloc(json.len + 1);
	struct scan s;
	enum scan_token token;

	scan_init(&s, json);
	while (text && (token = scan_next(&s)) != SCAN_END && token != SCAN_ERROR)
		if (token == SCAN_KEY || token == SCAN_STRING)
			scan_unescape(s.span, text);
	free(text);
}

static void must_hold(bool claim)
{
	if (!claim)
		abort();
}

/* Writing and parsing again gives the same text. */
static void check_stable(struct arena *a, const struct tree *t)
{
	struct buf first = {0}, second = {0};
	struct tree *again;
	struct status st;

	status_clear(&st);
	tree_write(t, &first);
	if (!first.failed && tree_parse(a, buf_str(&first), &again, NULL, &st) == 0) {
		tree_write(again, &second);
		must_hold(second.failed || str_eq(buf_str(&first), buf_str(&second)));
		must_hold(tree_equal(t, again));
	} else {
		must_hold(first.failed || st.reason == REASON_NO_MEMORY || st.reason == REASON_INTERNAL);
	}
	buf_done(&first);
	buf_done(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str json = str_n((const char *)data, size);
	struct tree_dup *dups;
	struct tree *t;
	struct status st;
	struct arena a;

	arena_init(&a, 64 << 20);
	status_clear(&st);
	utf8_valid(json);
	walk(json);
	bool valid = scan_check(json, &st) == 0;
	status_clear(&st);
	bool parsed = tree_parse(&a, json, &t, &dups, &st) == 0;
	must_hold(valid == parsed);
	if (parsed)
		check_stable(&a, t);
	arena_done(&a);
	return 0;
}
