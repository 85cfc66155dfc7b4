/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes both selector parsers, the readers of blocks, and the small grammars beside them. */
#include "store/kind/names.h"
#include "store/kind/quantity.h"
#include "store/kind/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void match_all(const struct selector *labels, const struct selector *fields, struct str block)
{
	selector_match_labels(labels, block);
	selector_match_fields(fields, block, STR("default"), STR("web"));
	selector_name(fields);
}

/* The input is a selector up to the first NUL byte; what follows is a stored block. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const kinds[] = {"pods", "events", "nodes", "configmaps"};
	struct str input = str_n((const char *)data, size);
	ptrdiff_t nul = str_chr(input, 0);
	struct str text = nul < 0 ? input : str_n(input.ptr, (size_t)nul);
	struct str block = nul < 0 ? (struct str){0} : str_skip(input, (size_t)nul + 1);
	struct selector *labels = NULL, *fields = NULL;
	struct name_faults faults;
	struct quantity quantity;
	struct status st;
	struct arena a;
	char out[48];

	arena_init(&a, 1 << 20);
	status_clear(&st);
	selector_parse_labels(&a, text, &labels, &st);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *k = kinds_find(kinds_builtin(), STR(""), STR("v1"), str_of(kinds[i]));

		fields = NULL;
		selector_parse_fields(&a, k, text, &fields, &st);
		match_all(labels, fields, block);
		name_of_kind(k, text, true);
	}
	for (int g = 0; g < GRAMMAR_COUNT; g++)
		name_check((enum name_grammar)g, text, &faults);
	if (quantity_parse(text, &quantity))
		quantity_text(&quantity, out);
	quantity_keeps_text(text);
	kinds_by_resource(kinds_builtin(), text);
	arena_done(&a);
	return 0;
}
