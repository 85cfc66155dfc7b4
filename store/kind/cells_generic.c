/* SPDX-License-Identifier: Apache-2.0 */
/* Cell rules that do what the column's path says and know no kind. */
#include "store/kind/cells_private.h"

static bool fits_text(const struct tree *t)
{
	return tree_text(t).len != 0;
}

static bool fits_int(const struct tree *t)
{
	int64_t v;

	return tree_i64(t, &v);
}

static bool fits_int_or_text(const struct tree *t)
{
	return fits_int(t) || tree_is(t, TREE_STRING);
}

static bool fits_bool(const struct tree *t)
{
	return tree_is(t, TREE_TRUE) || tree_is(t, TREE_FALSE);
}

static bool fits_time(const struct tree *t)
{
	int64_t time;

	return cell_time(t, &time);
}

static bool fits_quantity(const struct tree *t)
{
	return fits_text(t) || tree_is(t, TREE_NUMBER);
}

void rule_text(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_text, &other);

	cell_text(c, t ? tree_text(t) : other);
}

/* The characters that Unicode calls white space. */
static const struct str spaces[] = {
	STR_INIT(" "), STR_INIT("\t"), STR_INIT("\n"), STR_INIT("\v"), STR_INIT("\f"), STR_INIT("\r"),
	STR_INIT("\xc2\x85"), STR_INIT("\u00a0"), STR_INIT("\u1680"), STR_INIT("\u2000"), STR_INIT("\u2001"),
	STR_INIT("\u2002"), STR_INIT("\u2003"), STR_INIT("\u2004"), STR_INIT("\u2005"), STR_INIT("\u2006"),
	STR_INIT("\u2007"), STR_INIT("\u2008"), STR_INIT("\u2009"), STR_INIT("\u200a"), STR_INIT("\u2028"),
	STR_INIT("\u2029"), STR_INIT("\u202f"), STR_INIT("\u205f"), STR_INIT("\u3000"),
};

/* Length of the space at the start or end of s; 0 when there is none. */
static size_t space_at(struct str s, bool (*at)(struct str, struct str))
{
	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
		if (at(s, spaces[i]))
			return spaces[i].len;
	return 0;
}

void rule_text_trimmed(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_text, &other);
	struct str s = t ? tree_text(t) : other;
	size_t n;

	while ((n = space_at(s, str_starts)))
		s = str_skip(s, n);
	while ((n = space_at(s, str_ends)))
		s.len -= n;
	cell_text(c, s);
}

void rule_int(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_int, &other);

	if (t || !other.ptr)
		cell_int(c, cell_i64(t));
	else
		cell_text(c, other);
}

void rule_int_text(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_int_or_text, &other);

	cell_begin(c);
	if (fits_int(t))
		cell_add_int(c, cell_i64(t));
	else
		cell_add(c, t ? tree_text(t) : other);
	cell_end(c);
}

void rule_bool(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_bool, &other);

	cell_bool(c, t ? tree_is_true(t) : str_is(other, "true"));
}

void rule_bool_text(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_bool, &other);

	if (t)
		cell_textz(c, tree_is_true(t) ? "True" : "False");
	else
		cell_text(c, other);
}

void rule_quantity(struct cells *c)
{
	struct str other;

	cell_begin(c);
	cell_add_quantity(c, cell_find(c, fits_quantity, &other), "0");
	cell_end(c);
}

void rule_duration(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_int, &other);

	cell_begin(c);
	if (t)
		cell_add_duration(c, cell_i64(t));
	else
		cell_add(c, other);
	cell_end(c);
}

void rule_age(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_time, &other);
	int64_t time;

	cell_begin(c);
	if (cell_time(t, &time))
		cell_add_age(c, time);
	else
		cell_add(c, other.ptr ? other : STR("<unknown>"));
	cell_end(c);
}

void rule_created_at(struct cells *c)
{
	struct str other;
	const struct tree *t = cell_find(c, fits_time, &other);
	int64_t time = INT64_MIN; /* written as the zero time */
	char text[20];

	cell_time(t, &time);
	time_format(time, text);
	cell_text(c, str_n(text, sizeof(text)));
}

void rule_count(struct cells *c)
{
	struct str rest = c->path;
	int64_t n = 0;

	while (rest.len)
		n += cell_count(cell_at(c->object, str_cut(&rest, '|')));
	cell_int(c, n);
}

/* The texts at the first alternative; *ret_other is the stand-in. */
static struct cell_list collect(struct cells *c, struct str *ret_other)
{
	struct cell_list list = {0};

	*ret_other = c->path;
	struct str place = str_cut(ret_other, '|');
	list_collect(c, &list, c->object, place);
	return list;
}

void rule_join(struct cells *c)
{
	struct str other;
	struct cell_list list = collect(c, &other);

	list_cell(c, &list, ",", other);
}

void rule_join_more(struct cells *c)
{
	struct str other;
	struct cell_list list = collect(c, &other);

	cell_begin(c);
	list_write(c, &list, ",", 3);
	if (list.len == 0)
		cell_add(c, other);
	cell_end(c);
}

void rule_by_type(struct cells *c)
{
	struct cell_keys keys = cell_keys(c);
	const struct tree *item = cell_by_type(cell_place(c), keys.key[0]);

	cell_text(c, item ? tree_text(tree_get(item, keys.key[1])) : keys.other);
}

void rule_pair(struct cells *c)
{
	struct cell_keys keys = cell_keys(c);
	const struct tree *t = cell_place(c);

	if (!tree_is(t, TREE_OBJECT)) {
		cell_text(c, keys.other);
		return;
	}
	cell_begin(c);
	cell_add(c, tree_text(tree_get(t, keys.key[0])));
	cell_addz(c, "/");
	cell_add(c, tree_text(tree_get(t, keys.key[1])));
	cell_end(c);
}
