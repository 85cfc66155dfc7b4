/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines in logfmt, one write each. */
#include "store/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static enum log_level log_max = LOG_INFO;

void log_set_level(enum log_level level)
{
	log_max = level;
}

void log_line(enum log_level level, const char *format, ...)
{
	static const char *const names[] = {"error", "warn", "info", "debug"};
	char line[2048];
	struct timespec now;
	struct tm tm;
	va_list ap;

	if (level > log_max)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	size_t n = strftime(line, sizeof(line), "time=%Y-%m-%dT%H:%M:%SZ", &tm);
	n += (size_t)snprintf(line + n, sizeof(line) - n, " level=%s ", names[level]);
	va_start(ap, format);
	int m = vsnprintf(line + n, sizeof(line) - n - 1, format, ap);
	va_end(ap);
	if (m < 0)
		return;
	n = (size_t)m >= sizeof(line) - n - 1 ? sizeof(line) - 2 : n + (size_t)m;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nowhere to say it */
}
