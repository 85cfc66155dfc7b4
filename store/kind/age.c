/* SPDX-License-Identifier: Apache-2.0 */
/* Times as Kubernetes writes them: RFC 3339 in objects, HumanDuration in Table cells. */
#include "store/kind/cells.h"

enum {
	MINUTE = 60,
	HOUR = 60 * MINUTE,
	DAY = 24 * HOUR,
	YEAR = 365 * DAY, /* HumanDuration knows no leap years */
};

/* Days since 0001-01-01 of 1970-01-01, and in the cycle after which the calendar repeats. */
#define EPOCH_DAYS 719162
#define CYCLE_YEARS 400
#define CYCLE_DAYS 146097
#define CENTURY_DAYS 36524
#define LEAP_PERIOD_DAYS 1461

/* What time_format can write: 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z. */
#define TIME_MIN (-(int64_t)EPOCH_DAYS * DAY)
#define TIME_MAX 253402300799

/* Durations below `below` seconds are shown in `unit`, and the rest of it in `rest_unit` if there is one. */
struct age_step {
	int64_t below;
	int unit;
	char name;
	int rest_unit;
	char rest_name;
};

static const struct age_step age_steps[] = {
	{2 * MINUTE, 1, 's', 0, 0},
	{10 * MINUTE, MINUTE, 'm', 1, 's'},
	{3 * HOUR, MINUTE, 'm', 0, 0},
	{8 * HOUR, HOUR, 'h', MINUTE, 'm'},
	{2 * DAY, HOUR, 'h', 0, 0},
	{8 * DAY, DAY, 'd', HOUR, 'h'},
	{2 * YEAR, DAY, 'd', 0, 0},
	{8 * YEAR, YEAR, 'y', DAY, 'd'},
	{INT64_MAX, YEAR, 'y', 0, 0},
};

static size_t amount_text(int64_t amount, char unit, char *out)
{
	size_t n = u64_digits((uint64_t)amount, out);

	out[n] = unit;
	return n + 1;
}

size_t age_text(int64_t seconds, char *out)
{
	const struct age_step *step = age_steps;

	if (seconds < -1) {
		memcpy(out, "<invalid>", 9);
		return 9;
	}
	/* Clocks differ a little: one second in the future is now. */
	if (seconds < 0)
		seconds = 0;
	while (seconds >= step->below && step->below != INT64_MAX)
		step++;
	size_t n = amount_text(seconds / step->unit, step->name, out);
	int64_t rest = step->rest_unit ? seconds % step->unit / step->rest_unit : 0;
	return rest ? n + amount_text(rest, step->rest_name, out + n) : n;
}

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Days of the year before the first of month (0 to 12). */
static int days_before_month(int64_t year, int month)
{
	static const short days[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};

	return days[month] + (month >= 2 && is_leap(year));
}

static int64_t days_before_year(int64_t year)
{
	int64_t past = year - 1;

	return 365 * past + past / 4 - past / 100 + past / 400;
}

/* Exactly n digits at *s, their value within low..high; moves *s behind them. -1 otherwise. */
static int take_number(struct str *s, size_t n, int low, int high)
{
	int v = 0;

	if (s->len < n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (s->ptr[i] < '0' || s->ptr[i] > '9')
			return -1;
		v = v * 10 + (s->ptr[i] - '0');
	}
	*s = str_skip(*s, n);
	return v >= low && v <= high ? v : -1;
}

static bool take_char(struct str *s, char c)
{
	if (s->len == 0 || s->ptr[0] != c)
		return false;
	*s = str_skip(*s, 1);
	return true;
}

/* `2006-01-02` to days since 1970. */
static bool take_date(struct str *s, int64_t *ret_days)
{
	int year, month, day;

	if ((year = take_number(s, 4, 1, 9999)) < 0 || !take_char(s, '-'))
		return false;
	if ((month = take_number(s, 2, 1, 12)) < 0 || !take_char(s, '-'))
		return false;
	if ((day = take_number(s, 2, 1, 31)) < 0)
		return false;
	int before = days_before_month(year, month - 1);
	if (day > days_before_month(year, month) - before)
		return false;
	*ret_days = days_before_year(year) + before + day - 1 - EPOCH_DAYS;
	return true;
}

/* `15:04:05` with an optional fraction, which is dropped. */
static bool take_clock(struct str *s, int *ret_seconds)
{
	int hour, minute, second;

	if ((hour = take_number(s, 2, 0, 23)) < 0 || !take_char(s, ':'))
		return false;
	if ((minute = take_number(s, 2, 0, 59)) < 0 || !take_char(s, ':'))
		return false;
	if ((second = take_number(s, 2, 0, 59)) < 0)
		return false;
	*ret_seconds = hour * HOUR + minute * MINUTE + second;
	if (!take_char(s, '.'))
		return true;
	if (take_number(s, 1, 0, 9) < 0)
		return false;
	while (take_number(s, 1, 0, 9) >= 0)
		;
	return true;
}

/* `Z` or `+07:00`, in seconds east of UTC. */
static bool take_offset(struct str *s, int *ret_seconds)
{
	int hour, minute, sign;

	*ret_seconds = 0;
	if (take_char(s, 'Z'))
		return true;
	if (take_char(s, '+'))
		sign = 1;
	else if (take_char(s, '-'))
		sign = -1;
	else
		return false;
	if ((hour = take_number(s, 2, 0, 23)) < 0 || !take_char(s, ':'))
		return false;
	if ((minute = take_number(s, 2, 0, 59)) < 0)
		return false;
	*ret_seconds = sign * (hour * HOUR + minute * MINUTE);
	return true;
}

bool time_parse(struct str s, int64_t *ret)
{
	int64_t days;
	int clock, offset;

	if (!take_date(&s, &days) || !take_char(&s, 'T'))
		return false;
	if (!take_clock(&s, &clock) || !take_offset(&s, &offset) || s.len != 0)
		return false;
	*ret = days * DAY + clock - offset;
	return true;
}

/* Splits days since 0001-01-01 into a year and the days of it that have passed. */
static int year_of(int days, int *ret_rest)
{
	int year = 1 + days / CYCLE_DAYS * CYCLE_YEARS;

	days %= CYCLE_DAYS;
	/* The last century of a cycle and the last year of a leap period are a day longer than the others. */
	int centuries = days / CENTURY_DAYS < 3 ? days / CENTURY_DAYS : 3;
	days -= centuries * CENTURY_DAYS;
	int periods = days / LEAP_PERIOD_DAYS;
	days -= periods * LEAP_PERIOD_DAYS;
	int years = days / 365 < 3 ? days / 365 : 3;
	*ret_rest = days - years * 365;
	return year + centuries * 100 + periods * 4 + years;
}

static void put_number(char *out, int width, int v)
{
	for (int i = width - 1; i >= 0; i--, v /= 10)
		out[i] = (char)('0' + v % 10);
}

void time_format(int64_t t, char out[20])
{
	int rest, month = 0;

	t = t < TIME_MIN ? TIME_MIN : t > TIME_MAX ? TIME_MAX : t;
	int64_t since = t - TIME_MIN;
	int clock = (int)(since % DAY);
	int year = year_of((int)(since / DAY), &rest);
	while (rest >= days_before_month(year, month + 1))
		month++;
	memcpy(out, "0000-00-00T00:00:00Z", 20);
	put_number(out, 4, year);
	put_number(out + 5, 2, month + 1);
	put_number(out + 8, 2, rest - days_before_month(year, month) + 1);
	put_number(out + 11, 2, clock / HOUR);
	put_number(out + 14, 2, clock / MINUTE % 60);
	put_number(out + 17, 2, clock % 60);
}
