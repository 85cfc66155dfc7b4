/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of label selectors: the grammar and the error texts of apimachinery's labels.Parse. */
#include "store/kind/selector.h"

#include <stdarg.h>
#include <stdio.h>

#include "store/kind/names.h"
#include "store/kind/selector_private.h"

enum token {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_IN, /* the word "in", where an operator may stand */
	TOKEN_NOT_IN,
	TOKEN_NOT,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_EQUAL,
	TOKEN_NOT_EQUAL,
	TOKEN_GREATER,
	TOKEN_LESS,
};

struct parser {
	struct arena *arena;
	struct status *status;
	struct str rest;   /* behind the token */
	enum token token;  /* the one looked at */
	struct str text;   /* as written */
};

/* Longest first. */
static const struct {
	const char *text;
	enum token token;
} symbols[] = {
	{"==", TOKEN_EQUAL}, {"!=", TOKEN_NOT_EQUAL}, {"=", TOKEN_EQUAL}, {"!", TOKEN_NOT},     {"(", TOKEN_OPEN},
	{")", TOKEN_CLOSE},  {",", TOKEN_COMMA},      {">", TOKEN_GREATER}, {"<", TOKEN_LESS},
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_symbol(char c)
{
	return c && strchr("=!(),><", c);
}

static void token_set(struct parser *p, enum token token, size_t n)
{
	p->token = token;
	p->text = str_n(p->rest.ptr, n);
	p->rest = str_skip(p->rest, n);
}

static void next_symbol(struct parser *p)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		struct str symbol = str_of(symbols[i].text);

		if (str_starts(p->rest, symbol)) {
			token_set(p, symbols[i].token, symbol.len);
			return;
		}
	}
}

static void next_word(struct parser *p)
{
	size_t n = 0;

	while (n < p->rest.len && !is_blank(p->rest.ptr[n]) && !is_symbol(p->rest.ptr[n]))
		n++;
	token_set(p, TOKEN_WORD, n);
	if (str_is(p->text, "in"))
		p->token = TOKEN_IN;
	else if (str_is(p->text, "notin"))
		p->token = TOKEN_NOT_IN;
}

static void next(struct parser *p)
{
	while (p->rest.len > 0 && is_blank(p->rest.ptr[0]))
		p->rest = str_skip(p->rest, 1);
	if (p->rest.len == 0)
		token_set(p, TOKEN_END, 0);
	else if (is_symbol(p->rest.ptr[0]))
		next_symbol(p);
	else
		next_word(p);
}

/* Everywhere but between a key and its values, `in` and `notin` are words like any other. */
static bool at_word(const struct parser *p)
{
	return p->token == TOKEN_WORD || p->token == TOKEN_IN || p->token == TOKEN_NOT_IN;
}

static int syntax(const struct parser *p, const char *expected)
{
	return status_set(p->status, REASON_BAD_REQUEST, "found '%.*s', expected: %s", STR_ARG(p->text), expected);
}

/* What goes wrong within a term has this before it. */
static int term_syntax(const struct parser *p, const char *expected)
{
	return status_set(p->status, REASON_BAD_REQUEST, "unable to parse requirement: found '%.*s', expected: %s",
			  STR_ARG(p->text), expected);
}

/* ---- checking what was parsed ---- */

/* Text collected for one message; what does not fit is left out. */
struct message {
	char text[STATUS_MESSAGE_MAX];
	size_t len;
	unsigned faults;
};

__attribute__((format(printf, 2, 3)))
static void message_add(struct message *m, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(m->text + m->len, sizeof(m->text) - m->len, format, ap);
	va_end(ap);
	if (n > 0)
		m->len += (size_t)n;
	if (m->len >= sizeof(m->text))
		m->len = sizeof(m->text) - 1;
}

/* As Go's %q, but for rare control characters; s is UTF-8. */
static void message_quote(struct message *m, struct str s)
{
	message_add(m, "\"");
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = (uint8_t)s.ptr[i];

		if (c == '"' || c == '\\')
			message_add(m, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			message_add(m, "\\x%02x", c);
		else
			message_add(m, "%c", c);
	}
	message_add(m, "\"");
}

static void message_faults(struct message *m, const struct name_faults *f)
{
	for (unsigned i = 0; i < f->n; i++)
		message_add(m, "%s%s", i ? "; " : "", f->text[i]);
}

static int key_check(struct parser *p, struct str key)
{
	struct message m = {.len = 0};
	struct name_faults f;

	name_check(GRAMMAR_LABEL_KEY, key, &f);
	if (f.n == 0)
		return 0;
	message_quote(&m, key);
	message_add(&m, ": ");
	message_faults(&m, &f);
	return status_set(p->status, REASON_BAD_REQUEST, "unable to parse requirement: <nil>: Invalid value: %s",
			  m.text);
}

static void number_check(struct term *term, struct message *m)
{
	if (term->operator != TERM_GREATER && term->operator != TERM_LESS)
		return;
	if (selector_number(term->values[0], &term->number))
		return;
	m->faults++;
	message_add(m, "values[0]: Invalid value: ");
	message_quote(m, term->values[0]);
	message_add(m, ": for 'Gt', 'Lt' operators, the value must be an integer");
}

static void value_check(const struct term *term, uint32_t i, struct message *m)
{
	struct name_faults f;

	name_check(GRAMMAR_LABEL_VALUE, term->values[i], &f);
	if (f.n == 0)
		return;
	message_add(m, "%svalues[%u][%.*s]: Invalid value: ", m->faults++ ? ", " : "", i, STR_ARG(term->key));
	message_quote(m, term->values[i]);
	message_add(m, ": ");
	message_faults(m, &f);
}

static int values_check(struct parser *p, struct term *term)
{
	struct message m = {.len = 0};
	bool many;

	number_check(term, &m);
	for (uint32_t i = 0; i < term->nvalues; i++)
		value_check(term, i, &m);
	if (m.faults == 0)
		return 0;
	many = m.faults > 1;
	return status_set(p->status, REASON_BAD_REQUEST, "unable to parse requirement: %s%s%s", many ? "[" : "", m.text,
			  many ? "]" : "");
}

/* ---- parsing ---- */

/* Keeps the values sorted and unique. */
static void value_add(struct term *term, struct str value)
{
	uint32_t at = term->nvalues;

	while (at > 0 && str_cmp(term->values[at - 1], value) > 0)
		at--;
	if (at > 0 && str_eq(term->values[at - 1], value))
		return;
	memmove(term->values + at + 1, term->values + at, (term->nvalues - at) * sizeof(*term->values));
	term->values[at] = value;
	term->nvalues++;
}

/* The values between parentheses, at the first one. Every comma that has no word on one side stands for an empty
 * value. */
static int parse_list(struct parser *p, struct term *term)
{
	for (;;) {
		if (at_word(p)) {
			value_add(term, p->text);
			next(p);
			if (p->token == TOKEN_CLOSE)
				return 0;
			if (p->token != TOKEN_COMMA)
				return term_syntax(p, "',' or ')'");
		} else if (p->token == TOKEN_COMMA) {
			if (term->nvalues == 0)
				value_add(term, STR(""));
			next(p);
			if (p->token == TOKEN_CLOSE || p->token == TOKEN_COMMA)
				value_add(term, STR(""));
			if (p->token == TOKEN_CLOSE)
				return 0;
			if (p->token == TOKEN_COMMA)
				next(p);
		} else {
			return term_syntax(p, "',', or identifier");
		}
	}
}

static int parse_set(struct parser *p, struct term *term)
{
	int r = 0;

	if (p->token != TOKEN_OPEN)
		return status_set(p->status, REASON_BAD_REQUEST,
				  "unable to parse requirement: found '%.*s' expected: '('", STR_ARG(p->text));
	next(p);
	if (p->token == TOKEN_CLOSE)
		value_add(term, STR(""));
	else if (at_word(p) || p->token == TOKEN_COMMA)
		r = parse_list(p, term);
	else
		r = term_syntax(p, "',', ')' or identifier");
	if (r == 0)
		next(p);
	return r;
}

static int parse_exact(struct parser *p, struct term *term)
{
	if (p->token == TOKEN_END || p->token == TOKEN_COMMA) {
		value_add(term, STR(""));
		return 0;
	}
	if (!at_word(p))
		return term_syntax(p, "identifier");
	value_add(term, p->text);
	next(p);
	return 0;
}

/* At an operator: how many values can follow. */
static size_t values_max(const struct parser *p)
{
	size_t n = 2;

	if (p->token != TOKEN_IN && p->token != TOKEN_NOT_IN)
		return 1;
	for (size_t i = 0; i < p->rest.len && p->rest.ptr[i] != ')'; i++)
		n += p->rest.ptr[i] == ',';
	return n;
}

/* Behind the key: the operator and what it takes. */
static int parse_binary(struct parser *p, struct term *term)
{
	static const struct {
		enum token token;
		enum term_operator operator;
		int (*parse)(struct parser *, struct term *);
	} rows[] = {
		{TOKEN_IN, TERM_IN, parse_set},         {TOKEN_NOT_IN, TERM_NOT_IN, parse_set},
		{TOKEN_EQUAL, TERM_IN, parse_exact},    {TOKEN_NOT_EQUAL, TERM_NOT_IN, parse_exact},
		{TOKEN_GREATER, TERM_GREATER, parse_exact}, {TOKEN_LESS, TERM_LESS, parse_exact},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int r;

		if (rows[i].token != p->token)
			continue;
		term->values = arena_calloc(p->arena, values_max(p), sizeof(*term->values));
		if (!term->values)
			return status_no_memory(p->status);
		term->operator = rows[i].operator;
		next(p);
		r = rows[i].parse(p, term);
		return r < 0 ? r : values_check(p, term);
	}
	return term_syntax(p, "in, notin, =, ==, !=, gt, lt");
}

static int parse_term(struct parser *p, struct term *term)
{
	bool negated = p->token == TOKEN_NOT;
	int r;

	if (negated)
		next(p);
	if (!at_word(p))
		return term_syntax(p, "identifier");
	term->key = p->text;
	r = key_check(p, term->key);
	if (r < 0)
		return r;
	next(p);
	term->operator = negated ? TERM_ABSENT : TERM_EXISTS;
	if (negated || p->token == TOKEN_END || p->token == TOKEN_COMMA)
		return 0;
	return parse_binary(p, term);
}

/* Inserts by key: matching walks through terms and labels side by side. */
static void term_add(struct selector *s, const struct term *term)
{
	uint32_t at = s->nterms++;

	while (at > 0 && str_cmp(s->terms[at - 1].key, term->key) > 0) {
		s->terms[at] = s->terms[at - 1];
		at--;
	}
	s->terms[at] = *term;
}

static int parse_terms(struct parser *p, struct selector *s)
{
	if (p->token == TOKEN_END)
		return 0;
	if (!at_word(p) && p->token != TOKEN_NOT)
		return syntax(p, "!, identifier, or 'end of string'");
	for (;;) {
		struct term term = {0};
		int r;

		if (s->nterms == SELECTOR_TERMS_MAX)
			return status_set(p->status, REASON_BAD_REQUEST, "selector has more than %d terms",
					  SELECTOR_TERMS_MAX);
		r = parse_term(p, &term);
		if (r < 0)
			return r;
		term_add(s, &term);
		if (p->token == TOKEN_END)
			return 0;
		if (p->token != TOKEN_COMMA)
			return syntax(p, "',' or 'end of string'");
		next(p);
		if (!at_word(p) && p->token != TOKEN_NOT)
			return syntax(p, "identifier after ','");
	}
}

int selector_parse_labels(struct arena *a, struct str text, struct selector **ret, struct status *st)
{
	struct parser p = {.arena = a, .status = st};
	struct selector *s;
	int r = selector_check_text(text, st);

	if (r < 0)
		return r;
	s = selector_new(a, selector_terms(text));
	p.rest = arena_str(a, text); /* keys and values point into it */
	if (!s || !p.rest.ptr)
		return status_no_memory(st);
	next(&p);
	r = parse_terms(&p, s);
	if (r < 0)
		return r;
	*ret = s->nterms ? s : NULL;
	return 0;
}
