/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point quantities: all arithmetic is in nano units of 128 bits. */
#include "store/kind/quantity.h"

__extension__ typedef unsigned __int128 u128;

#define NANO ((u128)1000000000)
#define NANO_MAX (~(u128)0 >> 1)                /* 2^127 - 1 */
#define BINARY_MAX ((u128)INT64_MAX * NANO)     /* larger binary quantities become this */

enum {
	NANO_PER_MILLI = 1000000,
	INT64_DIGITS = 18,     /* decimal digits that surely fit an int64 */
	BINARY_DIGITS = 15,    /* the same, with room for a binary factor */
	DIGITS_MAX = 40,       /* a u128 has no more */
	EXPONENT_MAX = 100000, /* beyond this all values are 0, the smallest or too large */
	SI_EXPONENT_MAX = 18,
};

/* A text cut into its parts. */
struct parts {
	struct str whole, fraction; /* digits; whole without leading zeros */
	bool negative;
	enum quantity_format format;
	int exponent;               /* of 10, or of 2 for QUANTITY_BINARY_SI */
};

struct suffix {
	const char *text;
	int8_t exponent;
};

static const struct suffix decimal_suffixes[] = {
	{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18},
};

static const struct suffix binary_suffixes[] = {
	{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Cuts the digits at the beginning off *s. */
static struct str cut_digits(struct str *s)
{
	struct str digits = {s->ptr, 0};

	while (digits.len < s->len && is_digit(s->ptr[digits.len]))
		digits.len++;
	*s = str_skip(*s, digits.len);
	return digits;
}

static bool suffix_find(const struct suffix *table, size_t n, struct str s, int *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (str_is(s, table[i].text)) {
			*ret = table[i].exponent;
			return true;
		}
	}
	return false;
}

/* What stands behind the e of 12e-3. */
static bool exponent_parse(struct str s, int *ret)
{
	bool negative = s.len > 0 && s.ptr[0] == '-';
	struct str digits;
	int v = 0;

	if (s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+'))
		s = str_skip(s, 1);
	digits = cut_digits(&s);
	if (digits.len == 0 || s.len > 0)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		v = v * 10 + (digits.ptr[i] - '0');
		if (v > EXPONENT_MAX)
			v = EXPONENT_MAX;
	}
	*ret = negative ? -v : v;
	return true;
}

static bool suffix_parse(struct str s, struct parts *p)
{
	if (suffix_find(decimal_suffixes, COUNT(decimal_suffixes), s, &p->exponent)) {
		p->format = QUANTITY_DECIMAL_SI;
		return true;
	}
	if (suffix_find(binary_suffixes, COUNT(binary_suffixes), s, &p->exponent)) {
		p->format = QUANTITY_BINARY_SI;
		return true;
	}
	p->format = QUANTITY_DECIMAL_EXPONENT;
	return s.len > 1 && (s.ptr[0] == 'e' || s.ptr[0] == 'E') && exponent_parse(str_skip(s, 1), &p->exponent);
}

/* apimachinery takes numbers without any digit for 0; so do we. */
static bool parts_parse(struct str s, struct parts *p)
{
	if (s.len == 0)
		return false;
	p->negative = s.ptr[0] == '-';
	if (s.ptr[0] == '-' || s.ptr[0] == '+')
		s = str_skip(s, 1);
	while (s.len > 0 && s.ptr[0] == '0')
		s = str_skip(s, 1);
	p->whole = cut_digits(&s);
	p->fraction = (struct str){0};
	if (s.len > 0 && s.ptr[0] == '.') {
		s = str_skip(s, 1);
		p->fraction = cut_digits(&s);
	}
	return suffix_parse(s, p);
}

/* The digits of a number as one sequence, zeros on both sides. */
struct digits {
	struct str whole, fraction;
};

static unsigned digit_at(const struct digits *d, ptrdiff_t i)
{
	if (i < 0 || (size_t)i >= d->whole.len + d->fraction.len)
		return 0;
	if ((size_t)i < d->whole.len)
		return (unsigned)(d->whole.ptr[i] - '0');
	return (unsigned)(d->fraction.ptr[(size_t)i - d->whole.len] - '0');
}

static bool mul_add(u128 a, u128 factor, u128 b, u128 *ret)
{
	return !__builtin_mul_overflow(a, factor, ret) && !__builtin_add_overflow(*ret, b, ret) && *ret <= NANO_MAX;
}

/* Digits before point, times unit. False when too large. */
static bool whole_value(const struct digits *d, ptrdiff_t point, u128 unit, u128 *ret)
{
	u128 v = 0;

	for (ptrdiff_t i = 0; i < point; i++) {
		/* zeros behind the last digit only matter behind a digit */
		if (v == 0 && (size_t)i >= d->whole.len + d->fraction.len)
			break;
		if (!mul_add(v, 10, digit_at(d, i), &v))
			return false;
	}
	return mul_add(v, unit, 0, ret);
}

/* Digits from point on, times unit, rounded up: from the last digit to the first, value = (value + digit * unit) / 10.
 * Whole parts of nested divisions are exact, so one note of any remainder is enough. */
static u128 fraction_value(const struct digits *d, ptrdiff_t point, u128 unit)
{
	ptrdiff_t n = (ptrdiff_t)(d->whole.len + d->fraction.len);
	u128 v = 0;
	bool inexact = false;

	for (ptrdiff_t i = n - 1; i >= point; i--) {
		v += digit_at(d, i) * unit;
		inexact |= v % 10 != 0;
		v /= 10;
		if (i <= 0 && v == 0)
			break;
	}
	return v + inexact;
}

bool quantity_parse(struct str s, struct quantity *ret)
{
	struct parts p;
	struct digits d;
	u128 unit = NANO, v, fraction;
	ptrdiff_t point;

	if (!parts_parse(s, &p))
		return false;
	d = (struct digits){p.whole, p.fraction};
	point = (ptrdiff_t)p.whole.len;
	if (p.format == QUANTITY_BINARY_SI)
		unit <<= p.exponent;
	else
		point += p.exponent;
	fraction = fraction_value(&d, point, unit);
	if (!whole_value(&d, point, unit, &v) || !mul_add(v, 1, fraction, &v)) {
		if (p.format != QUANTITY_BINARY_SI)
			return false;
		v = BINARY_MAX;
	}
	if (p.format == QUANTITY_BINARY_SI && v > BINARY_MAX)
		v = BINARY_MAX;
	if (p.format == QUANTITY_BINARY_SI && v > 0 && v < NANO)
		p.format = QUANTITY_DECIMAL_SI;
	ret->nano = p.negative ? -(quantity_nano)v : (quantity_nano)v;
	ret->format = p.format;
	return true;
}

static size_t put_u128(u128 v, char *out)
{
	char digits[DIGITS_MAX];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + (int)(v % 10));
	while ((v /= 10) > 0);
	for (size_t i = 0; i < n; i++)
		out[i] = digits[n - 1 - i];
	return n;
}

static size_t put_text(const char *z, char *out)
{
	size_t n = strlen(z);

	memcpy(out, z, n);
	return n;
}

static const char *suffix_of(const struct suffix *table, size_t n, int exponent)
{
	for (size_t i = 0; i < n; i++)
		if (table[i].exponent == exponent)
			return table[i].text;
	return "";
}

static size_t binary_text(u128 v, char *out)
{
	int exponent = 0;
	size_t n;

	while (v % 1024 == 0 && exponent < 60) {
		v /= 1024;
		exponent += 10;
	}
	n = put_u128(v, out);
	return n + put_text(suffix_of(binary_suffixes, COUNT(binary_suffixes), exponent), out + n);
}

static size_t decimal_text(u128 nano, bool si, char *out)
{
	int exponent = -9;
	size_t n;

	while (nano % 1000 == 0 && (!si || exponent < SI_EXPONENT_MAX)) {
		nano /= 1000;
		exponent += 3;
	}
	n = put_u128(nano, out);
	if (si)
		return n + put_text(suffix_of(decimal_suffixes, COUNT(decimal_suffixes), exponent), out + n);
	if (exponent == 0)
		return n;
	out[n++] = 'e';
	if (exponent < 0)
		out[n++] = '-';
	return n + put_u128((u128)(exponent < 0 ? -exponent : exponent), out + n);
}

size_t quantity_text(const struct quantity *q, char *out)
{
	u128 v = q->nano < 0 ? -(u128)q->nano : (u128)q->nano;
	size_t n = 0;

	if (v == 0) {
		*out = '0';
		return 1;
	}
	if (q->nano < 0)
		out[n++] = '-';
	/* Small and fractional binary quantities would lose by their suffix. */
	if (q->format == QUANTITY_BINARY_SI && v >= 1024 * NANO && v % NANO == 0)
		return n + binary_text(v / NANO, out + n);
	return n + decimal_text(v, q->format != QUANTITY_DECIMAL_EXPONENT, out + n);
}

int quantity_cmp(const struct quantity *a, const struct quantity *b)
{
	return (a->nano > b->nano) - (a->nano < b->nano);
}

void quantity_round_milli(struct quantity *q)
{
	quantity_nano rest = q->nano % NANO_PER_MILLI, up, rounded;

	if (rest == 0)
		return;
	up = rest > 0 ? NANO_PER_MILLI - rest : -NANO_PER_MILLI - rest;
	/* Within a milli unit of the end of the range there is nowhere to round up to. */
	q->nano = __builtin_add_overflow(q->nano, up, &rounded) ? q->nano - rest : rounded;
}

/* The last three digits are zeros. */
static bool ends_in_thousand(const struct digits *d)
{
	ptrdiff_t n = (ptrdiff_t)(d->whole.len + d->fraction.len);

	return n >= 3 && !digit_at(d, n - 1) && !digit_at(d, n - 2) && !digit_at(d, n - 3);
}

bool quantity_keeps_text(struct str s)
{
	struct parts p;
	struct digits d;
	size_t n;
	u128 v;

	if (str_is(s, "0"))
		return true;
	if (!parts_parse(s, &p))
		return false;
	d = (struct digits){p.whole, p.fraction};
	n = p.whole.len + p.fraction.len;
	if (p.format == QUANTITY_BINARY_SI) {
		if (p.fraction.len > 0 || (int)n + p.exponent * 3 / 10 + 1 > BINARY_DIGITS)
			return false;
		return whole_value(&d, (ptrdiff_t)n, 1, &v) && v % 8 != 0;
	}
	p.exponent -= (int)(n <= INT64_DIGITS ? p.fraction.len : 0);
	return p.whole.len > 0 && n <= INT64_DIGITS && p.exponent >= -9 && p.exponent % 3 == 0 && !ends_in_thousand(&d);
}
