/* SPDX-License-Identifier: Apache-2.0 */
/* Matching selectors against stored blocks, and the parser of field selectors. */
#include "store/kind/selector.h"

#include "store/codec/scan.h"
#include "store/kind/selector_block.h"
#include "store/kind/selector_private.h"

struct selector *selector_new(struct arena *a, uint32_t n)
{
	struct selector *s = arena_calloc(a, 1, sizeof(*s));

	if (!s)
		return NULL;
	s->terms = arena_calloc(a, n ? n : 1, sizeof(*s->terms));
	return s->terms ? s : NULL;
}

uint32_t selector_terms(struct str text)
{
	uint32_t n = 1;

	for (size_t i = 0; i < text.len && n < SELECTOR_TERMS_MAX; i++)
		n += text.ptr[i] == ',';
	return n;
}

int selector_check_text(struct str text, struct status *st)
{
	if (text.len > SELECTOR_BYTES_MAX)
		return status_set(st, REASON_BAD_REQUEST, "selector is too long: %zu bytes, at most %d are allowed",
				  text.len, SELECTOR_BYTES_MAX);
	if (!utf8_valid(text))
		return status_set(st, REASON_BAD_REQUEST, "selector is not valid UTF-8");
	return 0;
}

bool selector_number(struct str s, int64_t *ret)
{
	bool negative = s.len > 0 && s.ptr[0] == '-';
	uint64_t v, limit = (uint64_t)INT64_MAX + negative;

	if (s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = str_skip(s, 1);
	if (!str_u64(s, &v) || v > limit)
		return false;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

static bool term_has(const struct term *term, struct str value)
{
	size_t low = 0, high = term->nvalues;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = str_cmp(value, term->values[middle]);

		if (c == 0)
			return true;
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

bool selector_term_holds(const struct term *term, const struct str *value)
{
	int64_t v;

	switch (term->operator) {
	case TERM_IN:
		return value && term_has(term, *value);
	case TERM_NOT_IN:
		return !value || !term_has(term, *value);
	case TERM_EXISTS:
		return value != NULL;
	case TERM_ABSENT:
		return value == NULL;
	case TERM_GREATER:
		return value && selector_number(*value, &v) && v > term->number;
	case TERM_LESS:
		return value && selector_number(*value, &v) && v < term->number;
	}
	return false;
}

/* Both the terms and the labels are sorted by key, so one walk through the labels serves all terms. */
bool selector_match_labels(const struct selector *s, struct str labels_block)
{
	struct block_labels labels;
	bool have;

	if (!s)
		return true;
	block_labels_open(&labels, labels_block);
	have = block_labels_next(&labels);
	for (uint32_t i = 0; i < s->nterms; i++) {
		int c = -1;

		while (have && (c = str_cmp(labels.key, s->terms[i].key)) < 0)
			have = block_labels_next(&labels);
		if (!selector_term_holds(&s->terms[i], have && c == 0 ? &labels.value : NULL))
			return false;
	}
	return true;
}

bool selector_match_fields(const struct selector *s, struct str fields_block, struct str ns, struct str name)
{
	if (!s)
		return true;
	for (uint32_t i = 0; i < s->nterms; i++) {
		const struct term *term = &s->terms[i];
		struct str value = {0};

		if (term->slot == SLOT_NAME)
			value = name;
		else if (term->slot == SLOT_NAMESPACE)
			value = ns;
		else if (term->slot != SELECTABLE_EMPTY)
			value = block_field(fields_block, term->slot);
		if (!selector_term_holds(term, &value))
			return false;
	}
	return true;
}

struct str selector_name(const struct selector *s)
{
	for (uint32_t i = 0; s && i < s->nterms; i++)
		if (s->terms[i].slot == SLOT_NAME && s->terms[i].operator == TERM_IN)
			return s->terms[i].values[0];
	return (struct str){0};
}

/* ---- parsing field selectors ---- */

/* Kinds without fields of their own take both metadata fields, even when cluster-scoped; the others take the
 * namespace only where there is one. */
static int field_slot(const struct kind *k, struct str name, uint16_t *ret, struct status *st)
{
	bool plain = k->nselectable == 0 && !kind_is(k, KIND_CUSTOM);

	if (str_is(name, "metadata.name")) {
		*ret = SLOT_NAME;
		return 0;
	}
	if (str_is(name, "metadata.namespace") && (plain || kind_is(k, KIND_NAMESPACED))) {
		*ret = SLOT_NAMESPACE;
		return 0;
	}
	for (unsigned i = 0; i < k->nselectable; i++) {
		if (str_eq(k->selectable[i].name, name)) {
			*ret = k->selectable[i].slot;
			return 0;
		}
	}
	if (!plain)
		return status_set(st, REASON_BAD_REQUEST, "field label not supported: %.*s", STR_ARG(name));
	return status_set(st, REASON_BAD_REQUEST,
			  "\"%.*s\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
			  STR_ARG(name));
}

/* Removes the backslashes of a value. */
static int value_unescape(struct arena *a, struct str s, struct str *ret, struct status *st)
{
	char *out = arena_alloc(a, s.len + 1);
	size_t n = 0;

	if (!out)
		return status_no_memory(st);
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (c == ',' || c == '=')
			return status_set(st, REASON_BAD_REQUEST,
					  "invalid field selector: unescaped character in value: %d", c);
		if (c == '\\') {
			if (++i == s.len || (s.ptr[i] != '\\' && s.ptr[i] != ',' && s.ptr[i] != '='))
				return status_set(st, REASON_BAD_REQUEST,
						  "invalid field selector: invalid escape sequence: %.*s",
						  STR_ARG(str_n(s.ptr + i - 1, i < s.len ? 2 : 1)));
			c = s.ptr[i];
		}
		out[n++] = c;
	}
	*ret = str_n(out, n);
	return 0;
}

/* Cuts `field OP value` at the first operator; the length of the operator, 0 when there is none. */
static size_t term_cut(struct str text, struct str *ret_key, struct str *ret_value)
{
	for (size_t i = 0; i < text.len; i++) {
		struct str rest = str_skip(text, i);
		size_t n = str_starts(rest, STR("!=")) || str_starts(rest, STR("==")) ? 2 : rest.ptr[0] == '=';

		if (n == 0)
			continue;
		*ret_key = str_n(text.ptr, i);
		*ret_value = str_skip(rest, n);
		return n;
	}
	return 0;
}

/* The next term of *rest, which moves behind the comma that no backslash escapes. */
static struct str term_next(struct str *rest)
{
	struct str term = *rest;

	for (size_t i = 0; i < term.len; i++) {
		if (term.ptr[i] == '\\') {
			i++;
		} else if (term.ptr[i] == ',') {
			*rest = str_skip(term, i + 1);
			return str_n(term.ptr, i);
		}
	}
	*rest = (struct str){0};
	return term;
}

static int field_term(struct arena *a, const struct kind *k, struct str whole, struct str text, struct term *term,
		      struct status *st)
{
	struct str value;
	size_t n = term_cut(text, &term->key, &value);
	int r;

	if (n == 0)
		return status_set(st, REASON_BAD_REQUEST, "invalid selector: '%.*s'; can't understand '%.*s'",
				  STR_ARG(whole), STR_ARG(text));
	term->operator = text.ptr[term->key.len] == '!' ? TERM_NOT_IN : TERM_IN;
	term->values = arena_alloc(a, sizeof(*term->values));
	if (!term->values)
		return status_no_memory(st);
	term->nvalues = 1;
	r = value_unescape(a, value, &term->values[0], st);
	return r < 0 ? r : field_slot(k, term->key, &term->slot, st);
}

int selector_parse_fields(struct arena *a, const struct kind *k, struct str text, struct selector **ret,
			  struct status *st)
{
	struct str rest = text;
	struct selector *s;
	int r = selector_check_text(text, st);

	if (r < 0)
		return r;
	s = selector_new(a, selector_terms(text));
	if (!s)
		return status_no_memory(st);
	while (rest.len > 0) {
		struct str term = term_next(&rest);

		if (term.len == 0)
			continue;
		if (s->nterms == SELECTOR_TERMS_MAX)
			return status_set(st, REASON_BAD_REQUEST, "selector has more than %d terms",
					  SELECTOR_TERMS_MAX);
		r = field_term(a, k, text, term, &s->terms[s->nterms++], st);
		if (r < 0)
			return r;
	}
	*ret = s->nterms ? s : NULL;
	return 0;
}
