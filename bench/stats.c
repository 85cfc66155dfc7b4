/* SPDX-License-Identifier: Apache-2.0 */
/* Histograms with logarithmic slots, and quartiles of a few sorted values. */
#include "bench/stats.h"

#include <stdlib.h>

/* Below HISTOGRAM_STEPS each value has its slot; above, the octave and the six bits after the leading one. */
static size_t slot_of(uint64_t v)
{
	if (v < HISTOGRAM_STEPS)
		return v;
	unsigned octave = 63 - (unsigned)__builtin_clzll(v) - 6;
	size_t slot = (size_t)(octave + 1) * HISTOGRAM_STEPS + ((v >> octave) - HISTOGRAM_STEPS);
	return slot < HISTOGRAM_SLOTS ? slot : HISTOGRAM_SLOTS - 1;
}

/* The middle of what falls into a slot. */
static double slot_value(size_t slot)
{
	if (slot < HISTOGRAM_STEPS)
		return (double)slot;
	size_t octave = slot / HISTOGRAM_STEPS - 1;
	double width = (double)(UINT64_C(1) << octave);
	return ((double)(HISTOGRAM_STEPS + slot % HISTOGRAM_STEPS) + 0.5) * width;
}

void histogram_add(struct histogram *h, int64_t ns)
{
	h->count[slot_of(ns > 0 ? (uint64_t)ns : 0)]++;
	h->total++;
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
	h->total += other->total;
	for (size_t i = 0; i < HISTOGRAM_SLOTS; i++)
		h->count[i] += other->count[i];
}

double histogram_quantile(const struct histogram *h, double q)
{
	uint64_t wanted = (uint64_t)(q * (double)h->total), seen = 0;

	for (size_t i = 0; i < HISTOGRAM_SLOTS; i++) {
		seen += h->count[i];
		if (seen && seen >= wanted)
			return slot_value(i);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double at(const double *sorted, size_t n, double q)
{
	double place = q * (double)(n - 1);
	size_t i = (size_t)place;
	return i + 1 < n ? sorted[i] + (place - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

struct quartiles quartiles_of(double *values, size_t n)
{
	if (!n)
		return (struct quartiles){0};
	qsort(values, n, sizeof(*values), compare);
	return (struct quartiles){at(values, n, 0.25), at(values, n, 0.5), at(values, n, 0.75)};
}
