/* SPDX-License-Identifier: Apache-2.0 */
/* Resolution of plain YAML scalars: a table of words, then the number forms. */
#include "store/codec/plain.h"

#include <math.h>
#include <stdlib.h>

struct word {
	struct str text;
	enum plain_type type;
};

#define WORD(literal, kind) {STR_INIT(literal), PLAIN_##kind}

static const struct word words[] = {
	WORD("", NULL),      WORD("~", NULL),     WORD("null", NULL),  WORD("Null", NULL),  WORD("NULL", NULL),
	WORD("y", TRUE),     WORD("Y", TRUE),     WORD("yes", TRUE),   WORD("Yes", TRUE),   WORD("YES", TRUE),
	WORD("true", TRUE),  WORD("True", TRUE),  WORD("TRUE", TRUE),  WORD("on", TRUE),    WORD("On", TRUE),
	WORD("ON", TRUE),    WORD("n", FALSE),    WORD("N", FALSE),    WORD("no", FALSE),   WORD("No", FALSE),
	WORD("NO", FALSE),   WORD("false", FALSE), WORD("False", FALSE), WORD("FALSE", FALSE), WORD("off", FALSE),
	WORD("Off", FALSE),  WORD("OFF", FALSE),  WORD(".nan", NOT_FINITE), WORD(".NaN", NOT_FINITE),
	WORD(".NAN", NOT_FINITE), WORD(".inf", NOT_FINITE), WORD(".Inf", NOT_FINITE), WORD(".INF", NOT_FINITE),
	WORD("+.inf", NOT_FINITE), WORD("+.Inf", NOT_FINITE), WORD("+.INF", NOT_FINITE),
	WORD("-.inf", NOT_FINITE), WORD("-.Inf", NOT_FINITE), WORD("-.INF", NOT_FINITE),
};

#undef WORD

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Goes past decimal digits at *i; how many there were. */
static size_t skip_digits(struct str s, size_t *i)
{
	size_t start = *i;

	while (*i < s.len && is_digit(s.ptr[*i]))
		++*i;
	return *i - start;
}

static bool skip_any(struct str s, size_t *i, const char *set)
{
	if (*i == s.len || !s.ptr[*i] || !strchr(set, s.ptr[*i]))
		return false;
	++*i;
	return true;
}

/* The parts of a decimal number. */
struct decimal {
	bool negative, plus;
	struct str whole, fraction, exponent; /* fraction without its dot, exponent with its e */
	bool dot;
};

static struct str cut(struct str s, size_t from, size_t to)
{
	return str_n(s.ptr + from, to - from);
}

/* [-+]? (.digits | digits (. digits*)?) ([eE][-+]?digits)? */
static bool decimal_split(struct str s, struct decimal *d)
{
	size_t i = 0;

	*d = (struct decimal){0};
	d->negative = skip_any(s, &i, "-");
	d->plus = !d->negative && skip_any(s, &i, "+");
	size_t from = i;
	skip_digits(s, &i);
	d->whole = cut(s, from, i);
	d->dot = skip_any(s, &i, ".");
	from = i;
	if (d->dot)
		skip_digits(s, &i);
	d->fraction = cut(s, from, i);
	if (!d->whole.len && !d->fraction.len)
		return false;
	from = i;
	if (skip_any(s, &i, "eE")) {
		skip_any(s, &i, "+-");
		if (!skip_digits(s, &i))
			return false;
	}
	d->exponent = cut(s, from, i);
	return i == s.len;
}

static bool decimal_is_json(const struct decimal *d)
{
	bool leading_zero = d->whole.len > 1 && d->whole.ptr[0] == '0';

	return !d->plus && d->whole.len && !leading_zero && d->dot == (d->fraction.len > 0);
}

bool plain_is_json_number(struct str text)
{
	struct decimal d;

	return text.len && decimal_split(text, &d) && decimal_is_json(&d);
}

/* Go's ParseFloat refuses what float64 cannot hold; such a scalar (`1234e567`, part of a commit id)
 * is a string. */
static bool in_range(struct str s)
{
	char z[PLAIN_NUMBER_MAX + 1];

	memcpy(z, s.ptr, s.len);
	z[s.len] = '\0';
	return isfinite(strtod(z, NULL));
}

static char *put(char *out, struct str s)
{
	if (s.len)
		memcpy(out, s.ptr, s.len);
	return out + s.len;
}

/* The decimal as JSON: no plus sign, no leading zeros, digits on both sides of the dot. */
static struct str decimal_json(const struct decimal *d, char room[PLAIN_NUMBER_MAX])
{
	struct str whole = d->whole;
	char *p = room;

	while (whole.len > 1 && whole.ptr[0] == '0')
		whole = str_skip(whole, 1);
	if (d->negative)
		*p++ = '-';
	p = put(p, whole.len ? whole : STR("0"));
	if (d->fraction.len)
		*p++ = '.';
	p = put(p, d->fraction);
	p = put(p, d->exponent);
	return str_n(room, (size_t)(p - room));
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Base of a literal that starts with 0; its prefix is cut off. 10 otherwise. */
static int literal_base(struct str *s)
{
	if (s->len < 2 || s->ptr[0] != '0')
		return 10;
	int base = 8;
	switch (s->ptr[1] | 0x20) {
	case 'x': base = 16; break;
	case 'b': base = 2; break;
	case 'o': break;
	default: *s = str_skip(*s, 1); return 8;
	}
	*s = str_skip(*s, 2);
	return base;
}

/* Integers of other bases, within int64 or uint64. */
static bool integer_json(struct str s, char room[PLAIN_NUMBER_MAX], struct str *ret)
{
	bool negative = s.ptr[0] == '-';
	uint64_t v = 0;

	if (negative || s.ptr[0] == '+')
		s = str_skip(s, 1);
	int base = literal_base(&s);
	if (base == 10 || s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		int digit = digit_value(s.ptr[i]);
		if (digit >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v))
			return false;
	}
	if (negative && v > (uint64_t)INT64_MAX + 1)
		return false;
	char *p = room;
	if (negative && v)
		*p++ = '-';
	p += u64_digits(v, p);
	*ret = str_n(room, (size_t)(p - room));
	return true;
}

static struct str without_underscores(struct str s, char room[PLAIN_NUMBER_MAX])
{
	size_t n = 0;

	if (str_chr(s, '_') < 0)
		return s;
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] != '_')
			room[n++] = s.ptr[i];
	return str_n(room, n);
}

static enum plain_type resolve_number(struct str text, char room[PLAIN_NUMBER_MAX], struct str *ret)
{
	char stripped[PLAIN_NUMBER_MAX];
	struct decimal d;

	if (text.len >= PLAIN_NUMBER_MAX)
		return PLAIN_STRING;
	struct str s = text.ptr[0] == '.' ? text : without_underscores(text, stripped);
	if (integer_json(s, room, ret))
		return PLAIN_NUMBER;
	if (!decimal_split(s, &d) || !in_range(s))
		return PLAIN_STRING;
	*ret = decimal_is_json(&d) && s.ptr == text.ptr ? text : decimal_json(&d, room);
	return PLAIN_NUMBER;
}

enum plain_type plain_resolve(struct str text, char room[PLAIN_NUMBER_MAX], struct str *ret_number)
{
	if (text.len <= 5)
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (str_eq(words[i].text, text))
				return words[i].type;
	if (text.len == 0 || !(is_digit(text.ptr[0]) || strchr("+-.", text.ptr[0])) || text.ptr[0] == '\0')
		return PLAIN_STRING;
	return resolve_number(text, room, ret_number);
}

/* One or two digits (or exactly four), then c ('\0': nothing to follow). */
static bool skip_field(struct str s, size_t *i, size_t max, char c)
{
	size_t n = skip_digits(s, i);

	if (n == 0 || n > max || (max == 4 && n != 4))
		return false;
	if (!c)
		return true;
	if (*i == s.len || s.ptr[*i] != c)
		return false;
	++*i;
	return true;
}

/* Z or +hh:mm */
static bool skip_zone(struct str s, size_t *i)
{
	if (skip_any(s, i, "Z"))
		return true;
	return skip_any(s, i, "+-") && skip_field(s, i, 2, ':') && skip_field(s, i, 2, '\0');
}

static bool is_timestamp(struct str s)
{
	size_t i = 0;

	if (!skip_field(s, &i, 4, '-') || !skip_field(s, &i, 2, '-') || !skip_field(s, &i, 2, '\0'))
		return false;
	if (i == s.len)
		return true;
	bool zone = skip_any(s, &i, "Tt");
	if (!zone && !skip_any(s, &i, " "))
		return false;
	if (!skip_field(s, &i, 2, ':') || !skip_field(s, &i, 2, ':') || !skip_field(s, &i, 2, '\0'))
		return false;
	if (skip_any(s, &i, ".,") && !skip_digits(s, &i))
		return false;
	return (!zone || skip_zone(s, &i)) && i == s.len;
}

/* [-+]? digit [digit_]* (: [0-5]? digit)+ (. [digit_]*)? */
static bool is_base60(struct str s)
{
	size_t i = 0, groups = 0;

	skip_any(s, &i, "+-");
	if (!skip_any(s, &i, "0123456789"))
		return false;
	while (skip_any(s, &i, "0123456789_"))
		;
	for (; skip_any(s, &i, ":"); groups++) {
		bool tens = skip_any(s, &i, "012345");
		if (!skip_any(s, &i, "0123456789") && !tens)
			return false;
	}
	if (skip_any(s, &i, "."))
		while (skip_any(s, &i, "0123456789_"))
			;
	return groups && i == s.len;
}

bool plain_is_ambiguous(struct str text)
{
	return str_is(text, "<<") || is_timestamp(text) || is_base60(text);
}
