/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of measurements: latency histograms, medians and quartiles. */
#ifndef HOLDFS_BENCH_STATS_H
#define HOLDFS_BENCH_STATS_H

#include <stddef.h>
#include <stdint.h>

/* 64 steps an octave, values up to 2^43 ns (2 hours): a percentile is right to 1.6 %. */
enum { HISTOGRAM_STEPS = 64, HISTOGRAM_SLOTS = 38 * HISTOGRAM_STEPS };

/* {0} is empty. */
struct histogram {
	uint64_t total;
	uint64_t count[HISTOGRAM_SLOTS];
};

/* Negative values count as 0, larger ones as the largest. */
void histogram_add(struct histogram *h, int64_t ns);
void histogram_merge(struct histogram *h, const struct histogram *other);
/* The value in ns that a part q (0 to 1) of all values does not exceed; 0 when empty. */
double histogram_quantile(const struct histogram *h, double q);

struct quartiles {
	double low, median, high;
};

/* Sorts the values; all 0 when there are none. Between two values it interpolates. */
struct quartiles quartiles_of(double *values, size_t n);

#endif
