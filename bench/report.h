/* SPDX-License-Identifier: Apache-2.0 */
/* The output: a heading a scenario and Markdown tables with one result a line, as bench/README.md shows them. */
#ifndef HOLDFS_BENCH_REPORT_H
#define HOLDFS_BENCH_REPORT_H

#include <stdbool.h>

#include "bench/stats.h"

void report_heading(const char *scenario, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Heads of the two kinds of tables. */
void report_load_head(void);
void report_value_head(void);

struct report_load {
	const char *name;
	double rate, p50_ns, p99_ns, cpu_us;
	double client;           /* cores of the bench */
	const char *reference;   /* NULL: no ratio */
	struct quartiles ratio;
	bool of_cpu;             /* the ratio is one of CPU, not of speed */
	double target;           /* at least; 0: none */
};
void report_load(const struct report_load *line);

/* at_most: the target; 0: none. */
void report_value(const char *name, struct quartiles value, const char *unit, double at_most);

#endif
