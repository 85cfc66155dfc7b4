/* SPDX-License-Identifier: Apache-2.0 */
/* TAP for the unit tests: ok() lines and a plan at the end. */
#ifndef HOLDFS_TAP_H
#define HOLDFS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_run, tap_failed;

__attribute__((format(printf, 2, 3), unused))
static bool tap_ok(bool good, const char *format, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_run);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !good;
	return good;
}

/* ok(condition, "what should hold", ...) */
#define ok(good, ...) tap_ok((good), __VA_ARGS__)

__attribute__((unused))
static int tap_done(void)
{
	printf("1..%d\n", tap_run);
	return tap_failed ? 1 : 0;
}

#endif
