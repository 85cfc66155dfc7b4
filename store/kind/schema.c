/* SPDX-License-Identifier: Apache-2.0 */
/* Finding definitions and their fields; the definitions of built-in kinds are generated. */
#include "store/kind/schema.h"

#include "store/kind/generated.h"

const struct schema_field *schema_field(const struct schema_def *def, struct str name)
{
	size_t low = 0, high = def ? def->nfields : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = str_cmp(name, def->fields[middle].name);

		if (c == 0)
			return &def->fields[middle];
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct schema_def *schema_find(struct str name)
{
	size_t low = 0, high = schema_generated_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = str_cmp(name, schema_generated[middle].name);

		if (c == 0)
			return &schema_generated[middle];
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct schema_def *schema_all(size_t *ret_count)
{
	*ret_count = schema_generated_count;
	return schema_generated;
}
