/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaved rounds; ratios are made within a round and only then reduced to a median. */
#include "bench/contest.h"

#include <stdlib.h>
#include <time.h>

#include "bench/process.h"
#include "bench/report.h"
#include "store/base/cleanup.h"

struct contest *contest_new(const char *name)
{
	struct contest *c = calloc(1, sizeof(*c));

	if (c)
		c->name = name;
	return c;
}

struct side *contest_side(struct contest *c, const char *name)
{
	struct side *s = &c->side[c->sides++];

	s->name = name;
	return s;
}

void contest_compare(struct contest *c, unsigned side, unsigned reference, enum ratio ratio, double target)
{
	c->verdict[c->verdicts++] = (struct verdict){side, reference, ratio, target};
}

static int64_t thread_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static int run_local(struct side *s, unsigned run, const struct contest_options *o, struct status *st)
{
	int64_t begin = bench_clock(), cpu = thread_cpu(), now = begin;
	uint64_t ops = 0;

	for (; now - begin < o->run_ns; ops++) {
		int rc = s->local(s->arg, st);
		if (rc)
			return rc;
		int64_t end = bench_clock();
		histogram_add(&s->latency, end - now);
		now = end;
	}
	s->rate[run] = (double)ops * 1e9 / (double)(now - begin);
	s->cpu[run] = (double)(thread_cpu() - cpu) / 1e3 / (double)ops;
	return 0;
}

static int run_load(struct side *s, unsigned run, const struct contest_options *o, struct status *st)
{
	_cleanup_free_ struct load_result *result = calloc(1, sizeof(*result));

	if (!result)
		return status_no_memory(st);
	int rc = s->prepare ? s->prepare(s->arg, st) : 0;
	if (rc)
		return rc;
	s->plan.signal_fd = o->signal_fd;
	if (!s->plan.run_ns) {
		s->plan.run_ns = o->run_ns;
		s->plan.warm_ns = o->run_ns / 8;
	}
	rc = load_run(&s->plan, result, st);
	if (rc)
		return rc;
	const struct load_count *count = &result->group[0];
	if (!count->ops)
		return status_set(st, REASON_INTERNAL, "%s: not one reply", s->name);
	s->rate[run] = (double)count->ops * 1e9 / (double)result->ns;
	s->cpu[run] = (double)result->server_ns / 1e3 / (double)count->ops;
	double client = (double)result->client_ns / (double)result->ns;
	s->client = client > s->client ? client : s->client;
	histogram_merge(&s->latency, &count->latency);
	return 0;
}

static struct quartiles ratio_of(const struct contest *c, const struct verdict *v, unsigned runs)
{
	const struct side *s = &c->side[v->side], *reference = &c->side[v->reference];
	double ratio[CONTEST_RUNS_MAX];

	for (unsigned i = 0; i < runs; i++)
		ratio[i] = v->ratio == RATIO_CPU ? reference->cpu[i] / s->cpu[i] : s->rate[i] / reference->rate[i];
	return quartiles_of(ratio, runs);
}

static double median_of(const double *values, unsigned runs)
{
	double copy[CONTEST_RUNS_MAX];

	memcpy(copy, values, runs * sizeof(*values));
	return quartiles_of(copy, runs).median;
}

static void print_verdict(const struct contest *c, const struct verdict *v, unsigned runs)
{
	const struct side *s = &c->side[v->side];
	struct report_load line = {
		.name = s->name,
		.rate = median_of(s->rate, runs),
		.p50_ns = histogram_quantile(&s->latency, 0.5),
		.p99_ns = histogram_quantile(&s->latency, 0.99),
		.cpu_us = median_of(s->cpu, runs),
		.client = s->client,
	};

	if (v->ratio != RATIO_NONE) {
		line.ratio = ratio_of(c, v, runs);
		line.reference = c->side[v->reference].name;
		line.of_cpu = v->ratio == RATIO_CPU;
		line.target = v->target;
	}
	report_load(&line);
}

int contest_run(struct contest *c, const struct contest_options *options, struct status *st)
{
	for (unsigned run = 0; run < options->runs; run++)
		for (unsigned i = 0; i < c->sides; i++) {
			struct side *s = &c->side[run % 2 ? c->sides - 1 - i : i];
			int rc = s->local ? run_local(s, run, options, st) : run_load(s, run, options, st);
			if (rc)
				return rc;
		}
	for (unsigned i = 0; i < c->verdicts; i++)
		print_verdict(c, &c->verdict[i], options->runs);
	return 0;
}
