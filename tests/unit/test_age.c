/* SPDX-License-Identifier: Apache-2.0 */
/* Ages and times: HumanDuration, reading and writing RFC 3339. */
#include <inttypes.h>

#include "store/kind/cells.h"
#include "tests/unit/tap.h"

#define MINUTES 60
#define HOURS 3600
#define DAYS 86400

static void test_ages(void)
{
	static const struct {
		int64_t seconds;
		const char *text;
	} cases[] = {
		{INT64_MIN, "<invalid>"}, {-2, "<invalid>"}, {-1, "0s"}, {0, "0s"}, {1, "1s"}, {119, "119s"},
		{120, "2m"}, {121, "2m1s"}, {599, "9m59s"}, {600, "10m"}, {601, "10m"}, {10799, "179m"},
		{10800, "3h"}, {3 * HOURS + MINUTES, "3h1m"}, {8 * HOURS - 1, "7h59m"},
		{8 * HOURS + 5 * MINUTES, "8h"}, {47 * HOURS + 59 * MINUTES, "47h"}, {48 * HOURS, "2d"},
		{49 * HOURS, "2d1h"}, {191 * HOURS, "7d23h"}, {192 * HOURS, "8d"},
		{729 * (int64_t)DAYS + 23 * HOURS, "729d"}, {730 * (int64_t)DAYS, "2y"},
		{731 * (int64_t)DAYS, "2y1d"}, {2919 * (int64_t)DAYS, "7y364d"}, {2920 * (int64_t)DAYS, "8y"},
		{2921 * (int64_t)DAYS, "8y"}, {INT64_MAX, "292471208677y"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char out[24];
		struct str age = {out, age_text(cases[i].seconds, out)};
		ok(str_is(age, cases[i].text), "age of %" PRId64 " s: %s (%.*s)", cases[i].seconds, cases[i].text, STR_ARG(age));
	}
}

static void test_good_times(void)
{
	static const struct {
		const char *text;
		int64_t time;
	} cases[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1969-12-31T23:59:59Z", -1},
		{"2026-01-02T03:04:05Z", 1767323045},
		{"2026-01-02T03:04:05.000000Z", 1767323045},
		{"2026-01-02T03:04:05.999999999999Z", 1767323045},
		{"2026-01-02T05:04:05+02:00", 1767323045},
		{"2026-01-01T21:34:05-05:30", 1767323045},
		{"2026-01-02T03:04:05+00:00", 1767323045},
		{"2000-02-29T00:00:00Z", 951782400},
		{"2024-02-29T12:00:00Z", 1709208000},
		{"0001-01-01T00:00:00Z", -62135596800},
		{"9999-12-31T23:59:59Z", 253402300799},
		{"9999-12-31T23:59:59-23:59", 253402300799 + 23 * HOURS + 59 * MINUTES},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t t = 42;
		bool good = time_parse(str_of(cases[i].text), &t);
		ok(good && t == cases[i].time, "time %s: %" PRId64, cases[i].text, t);
	}
}

static void test_bad_times(void)
{
	static const char *const cases[] = {
		"", "2026", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-01-02t03:04:05Z",
		"2026-01-02T03:04:05z", "2026-1-2T03:04:05Z", "2026-13-02T03:04:05Z", "2026-00-02T03:04:05Z",
		"2026-01-00T03:04:05Z", "2026-01-32T03:04:05Z", "2026-04-31T03:04:05Z", "2025-02-29T00:00:00Z",
		"1900-02-29T00:00:00Z", "2026-01-02T24:00:00Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:60Z",
		"2026-01-02T03:04:05.Z", "2026-01-02T03:04:05.5", "2026-01-02T03:04:05+0200", "2026-01-02T03:04:05+24:00",
		"2026-01-02T03:04:05+02:60", "2026-01-02T03:04:05ZZ", "0000-01-01T00:00:00Z", "-001-01-01T00:00:00Z",
		"+026-01-02T03:04:05Z", "20260-01-02T03:04:05Z", " 2026-01-02T03:04:05Z",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t t = 42;
		ok(!time_parse(str_of(cases[i]), &t) && t == 42, "no time: \"%s\"", cases[i]);
	}
	ok(!time_parse((struct str){0}, &(int64_t){0}), "no time: a null string");
}

static void test_format(void)
{
	bool same = true;
	char out[20], again[20];
	int64_t back;

	/* A step that is prime to minute, day and year meets all kinds of dates. */
	for (int64_t t = -62135596800; t <= 253402300799; t += 7919993) {
		time_format(t, out);
		same &= time_parse(str_n(out, sizeof(out)), &back) && back == t;
	}
	ok(same, "what is formatted parses to the same time, years 1 to 9999");
	same = true;
	for (int64_t day = -719162; day <= 2932896; day++) {
		time_format(day * DAYS, out);
		time_format(day * DAYS + DAYS - 1, again);
		same &= time_parse(str_n(out, sizeof(out)), &back) && back == day * DAYS && memcmp(out, again, 10) == 0;
	}
	ok(same, "every day has one date");
	time_format(INT64_MIN, out);
	ok(str_is(str_n(out, sizeof(out)), "0001-01-01T00:00:00Z"), "a time too early gives the first");
	time_format(INT64_MAX, out);
	ok(str_is(str_n(out, sizeof(out)), "9999-12-31T23:59:59Z"), "a time too late gives the last");
}

int main(void)
{
	test_ages();
	test_good_times();
	test_bad_times();
	test_format();
	return tap_done();
}
