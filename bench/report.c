/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown that is readable as it is. */
#include "bench/report.h"

#include <stdarg.h>
#include <stdio.h>

void report_heading(const char *scenario, const char *format, ...)
{
	va_list ap;

	printf("\n### %s\n\n", scenario);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n\n");
	fflush(stdout);
}

void report_load_head(void)
{
	printf("| %-16s | %9s | %7s | %7s | %9s | %6s | %-32s | %-6s | %-3s |\n", "", "ops/s", "p50 ms", "p99 ms",
	       "CPU us/op", "client", "ratio (quartiles)", "target", "met");
	printf("|---|--:|--:|--:|--:|--:|---|---|---|\n");
}

void report_value_head(void)
{
	printf("| %-36s | %-30s | %-8s | %-3s |\n|---|---|---|---|\n", "", "median (quartiles)", "target", "met");
}

void report_load(const struct report_load *line)
{
	char ratio[96] = "", target[16] = "", p50[16] = "-", p99[16] = "-";
	const struct quartiles *r = &line->ratio;
	int digits = r->median < 10 ? 2 : 0;

	if (line->reference)
		snprintf(ratio, sizeof(ratio), "%.*f (%.*f-%.*f) of %s%s", digits, r->median, digits, r->low, digits,
			 r->high, line->reference, line->of_cpu ? ", CPU" : "");
	if (line->target > 0)
		snprintf(target, sizeof(target), ">= %g", line->target);
	if (line->p99_ns > 0) {
		snprintf(p50, sizeof(p50), "%.2f", line->p50_ns / 1e6);
		snprintf(p99, sizeof(p99), "%.2f", line->p99_ns / 1e6);
	}
	printf("| %-16s | %9.0f | %7s | %7s | %9.1f | %6.2f | %-32s | %-6s | %-3s |\n", line->name, line->rate, p50, p99,
	       line->cpu_us, line->client, ratio, target,
	       line->target <= 0 ? "" : r->median >= line->target ? "yes" : "NO");
	fflush(stdout);
}

void report_value(const char *name, struct quartiles value, const char *unit, double at_most)
{
	char text[96], target[32] = "";
	int digits = value.median < 100 ? 2 : 0;

	snprintf(text, sizeof(text), "%.*f %s (%.*f-%.*f)", digits, value.median, unit, digits, value.low, digits,
		 value.high);
	if (at_most > 0)
		snprintf(target, sizeof(target), "<= %g %s", at_most, unit);
	printf("| %-36s | %-30s | %-8s | %-3s |\n", name, text, target,
	       at_most <= 0 ? "" : value.median <= at_most ? "yes" : "NO");
	fflush(stdout);
}
