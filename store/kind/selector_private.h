/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed selector, shared by the files of selector.h. Private to store/kind. */
#ifndef HOLDFS_SELECTOR_PRIVATE_H
#define HOLDFS_SELECTOR_PRIVATE_H

#include "store/kind/selector.h"

enum term_operator { TERM_IN, TERM_NOT_IN, TERM_EXISTS, TERM_ABSENT, TERM_GREATER, TERM_LESS };

/* Where a field term finds its value, beside the slots of a fields block and SELECTABLE_EMPTY. */
enum { SLOT_NAME = 0x100, SLOT_NAMESPACE = 0x101 };

/* `=` and `!=` are TERM_IN and TERM_NOT_IN with one value. */
struct term {
	enum term_operator operator;
	struct str key;     /* of a label */
	uint16_t slot;      /* of a field */
	struct str *values; /* sorted, unique */
	uint32_t nvalues;
	int64_t number;     /* GREATER, LESS */
};

struct selector {
	struct term *terms; /* of labels: sorted by key; all must hold */
	uint32_t nterms;
};

/* An empty selector with room for n terms; NULL when out of memory. */
struct selector *selector_new(struct arena *a, uint32_t n);
/* Terms that text can have at most: one more than its commas, SELECTOR_TERMS_MAX in all. */
uint32_t selector_terms(struct str text);

/* Whether term holds for a value; NULL: there is none. */
bool selector_term_holds(const struct term *term, const struct str *value);

/* Go's ParseInt(s, 10, 64). */
bool selector_number(struct str s, int64_t *ret);

/* -EINVAL when text is longer than a selector may be or no UTF-8, which no reply could quote. */
int selector_check_text(struct str text, struct status *st);

#endif
