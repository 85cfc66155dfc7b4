/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities: canonical text, limits, order. */
#include "store/kind/quantity.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

static bool canonical(const char *text, const char *want)
{
	struct quantity q;
	char out[48];
	size_t n;

	if (!quantity_parse(str_of(text), &q))
		return want == NULL;
	n = quantity_text(&q, out);
	if (!want || !str_is(str_n(out, n), want)) {
		printf("# got %.*s\n", (int)n, out);
		return false;
	}
	return true;
}

static void texts(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"0", "0"},
		{"0Ki", "0"},
		{"-0", "0"},
		{"1000m", "1"},
		{"1500m", "1500m"},
		{"1.5", "1500m"},
		{"0.5", "500m"},
		{".5", "500m"},
		{"5.", "5"},
		{"+5", "5"},
		{"-5", "-5"},
		{"007", "7"},
		{"1024Ki", "1Mi"},
		{"1536Mi", "1536Mi"},
		{"1.5Gi", "1536Mi"},
		{"1000Ki", "1000Ki"},
		{"1024", "1024"},
		{"1Ki", "1Ki"},
		{"0.5Ki", "512"},
		{"0.001Ki", "1024m"},
		{"1.1Ki", "1126400m"},
		{"100000", "100k"},
		{"1000000", "1M"},
		{"1000k", "1M"},
		{"1e3", "1e3"},
		{"12E6", "12e6"},
		{"1e4", "10e3"},
		{"5e-1", "500e-3"},
		{"1E", "1E"},
		{"1000E", "1000E"},
		{"1n", "1n"},
		{"1u", "1u"},
		{"0.1n", "1n"},
		{"-0.1n", "-1n"},
		{"1.0000000001", "1000000001n"},
		{"1e-100", "1e-9"},
		{"1e-99999999999999999999", "1e-9"},
		{"0e99999999999999999999", "0"},
		{"0.000000000000000000000000000000000000001e39", "1"},
		{"8Ei", "9223372036854775807"},
		{"9999999999999999999999999999999999999999999Ei", "9223372036854775807"},
		{"-8Ei", "-9223372036854775807"},
		{"7Ei", "7Ei"},
		{"1.5Ei", "1536Pi"},
		{"0.00000000000000000001Ki", "1n"},
		{"170141183460469231731687303715n", "170141183460469231731687303715n"},
		{"170141183460469231731687303716", NULL},
		{"170141183460469231731687303715884105728n", NULL},
		{"170141183460469231731687303715884105727n", "170141183460469231731687303715884105727n"},
		{"1e30", NULL},
		{"1e99999999999999999999", NULL},
		{"", NULL},
		{" 1", NULL},
		{"1 ", NULL},
		{"1.1.1", NULL},
		{"1ki", NULL},
		{"1K", NULL},
		{"1i", NULL},
		{"1e", NULL},
		{"1e+", NULL},
		{"1e1.5", NULL},
		{"--1", NULL},
		{"1mm", NULL},
		{"abc", NULL},
		{"1\xff", NULL},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(canonical(rows[i].text, rows[i].want), "\"%s\" is %s", rows[i].text,
		   rows[i].want ? rows[i].want : "no quantity");
}

static void canonical_text_is_a_fixed_point(void)
{
	static const char *const suffixes[] = {"", "n", "u", "m", "k", "M", "Ki", "Mi", "Gi", "e3", "e-3"};
	uint64_t seed = 88172645463325252u;
	unsigned bad = 0;

	for (int i = 0; i < 20000; i++) {
		char text[64], out[48], again[48];
		struct quantity q, r;
		size_t n;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		snprintf(text, sizeof(text), "%s%u.%u%s", seed & 1 ? "-" : "", (unsigned)(seed >> 8) % 100000,
			 (unsigned)(seed >> 40) % 10000, suffixes[(seed >> 4) % 11]);
		if (!quantity_parse(str_of(text), &q)) {
			bad++;
			continue;
		}
		n = quantity_text(&q, out);
		if (!quantity_parse(str_n(out, n), &r) || quantity_cmp(&q, &r) != 0 ||
		    quantity_text(&r, again) != n || memcmp(out, again, n) != 0)
			bad++;
	}
	ok(bad == 0, "canonical text parses to the same value and text (%u bad)", bad);
}

static void long_texts(void)
{
	size_t n = 3 << 20;
	char *digits = malloc(n);
	struct quantity q;

	if (!digits)
		abort();
	memset(digits, '9', n);
	ok(!quantity_parse(str_n(digits, n), &q), "three million digits do not fit");
	digits[0] = '.';
	ok(quantity_parse(str_n(digits, n), &q) && q.nano == 1000000000, "as a fraction they round up to 1");
	memset(digits, '0', n);
	digits[n - 1] = '1';
	ok(quantity_parse(str_n(digits, n), &q) && q.nano == 1000000000, "three million zeros before a 1");
	free(digits);
}

static void order_and_rounding(void)
{
	struct quantity a, b;

	quantity_parse(STR("1Ki"), &a);
	quantity_parse(STR("1024"), &b);
	ok(quantity_cmp(&a, &b) == 0, "1Ki is 1024");
	quantity_parse(STR("1k"), &b);
	ok(quantity_cmp(&a, &b) > 0 && quantity_cmp(&b, &a) < 0, "1Ki is more than 1k");
	quantity_parse(STR("1n"), &a);
	quantity_round_milli(&a);
	ok(a.nano == 1000000, "1n rounds up to 1m");
	quantity_parse(STR("-1.0001"), &a);
	quantity_round_milli(&a);
	ok(a.nano == -1001000000, "negative quantities round away from zero");
	quantity_parse(STR("1500m"), &a);
	quantity_round_milli(&a);
	ok(a.nano == 1500000000, "whole milli units stay");
	quantity_parse(STR("170141183460469231731687303715884105727n"), &a);
	quantity_round_milli(&a);
	ok(a.nano % 1000000 == 0, "rounding does not overflow");
}

static void kept_texts(void)
{
	ok(quantity_keeps_text(STR("0")) && quantity_keeps_text(STR("1.500")) && quantity_keeps_text(STR("12E6")) &&
		   quantity_keeps_text(STR("+5")) && quantity_keeps_text(STR("1025Mi")) && quantity_keeps_text(STR("100m")),
	   "texts that are served as they are");
	ok(!quantity_keeps_text(STR("1.5")) && !quantity_keeps_text(STR("1000m")) && !quantity_keeps_text(STR("1024Ki")) &&
		   !quantity_keeps_text(STR("0.500")) && !quantity_keeps_text(STR("")) && !quantity_keeps_text(STR("x")) &&
		   !quantity_keeps_text(STR("1234567890123456789")),
	   "texts that are not");
}

int main(void)
{
	texts();
	canonical_text_is_a_fixed_point();
	long_texts();
	order_and_rounding();
	kept_texts();
	return tap_done();
}
