/* SPDX-License-Identifier: Apache-2.0 */
/* start, memory: how long until it is ready, and what it holds of its own. */
#include "bench/bench.h"

#include <stdio.h>

#include "bench/data.h"
#include "bench/process.h"
#include "bench/report.h"
#include "store/base/cleanup.h"

enum { OBJECTS = 10000, START_TARGET_MS = 50, ANON_TARGET_MB = 30 };

static int start_once(const struct bench *b, const char *store, double *ret_ms, struct status *st)
{
	struct bench_path dir = bench_path(b, store);
	struct server s;
	int rc = server_start(b->binary, dir.text, false, &s, st);

	if (rc)
		return rc;
	*ret_ms = (double)s.start_ns / 1e6;
	return server_stop(&s, st);
}

/* Starts on STORE-0, or, fresh, on STORE-0, STORE-1 and so on, which it makes. */
static int report_start(const struct bench *b, const char *name, const char *store, bool fresh, struct status *st)
{
	double ms[CONTEST_RUNS_MAX];
	char path[64];

	for (unsigned i = 0; i < b->options.runs; i++) {
		snprintf(path, sizeof(path), "%s-%u", store, fresh ? i : 0);
		int rc = start_once(b, path, &ms[i], st);
		if (rc)
			return rc;
	}
	report_value(name, quartiles_of(ms, b->options.runs), "ms", START_TARGET_MS);
	return 0;
}

static int fill(const struct bench *b, const char *store, struct server *ret, struct status *st)
{
	return bench_start(b, store, false, OBJECTS, ret, st);
}

static int start(const struct bench *b, struct status *st)
{
	_cleanup_(bench_kill) struct server s = {0};
	int rc = fill(b, "full-0", &s, st);

	if (!rc)
		rc = server_stop(&s, st);
	if (rc)
		return rc;
	report_heading("start", "From fork to the line on the ready descriptor.");
	report_value_head();
	rc = report_start(b, "first start, which makes the store", "new", true, st);
	if (!rc)
		rc = report_start(b, "store without objects", "new", false, st);
	return rc ? rc : report_start(b, "store of 10,000 objects", "full", false, st);
}

static int list_once(const struct server *s, struct status *st)
{
	_cleanup_(buf_done) struct buf request = {0}, body = {0};

	data_get(&request, s->port, DATA_LIST, NULL);
	return load_fetch(s->port, buf_str(&request), 200, &body, st);
}

static void report_anon(const char *name, const struct server *s)
{
	double mb = (double)process_anon(s->pid) / (1 << 20);
	report_value(name, (struct quartiles){mb, mb, mb}, "MiB", ANON_TARGET_MB);
}

static int memory(const struct bench *b, struct status *st)
{
	_cleanup_(bench_kill) struct server s = {0};
	struct bench_path dir = bench_path(b, "memory");
	int rc = fill(b, "memory", &s, st);

	if (rc)
		return rc;
	report_heading("memory", "RssAnon with 10,000 ConfigMaps; pages of the database are the kernel's cache, not in it.");
	report_value_head();
	rc = list_once(&s, st);
	report_anon("created by 32 clients, listed", &s);
	if (!rc)
		rc = server_stop(&s, st);
	if (!rc)
		rc = server_start(b->binary, dir.text, false, &s, st);
	if (rc)
		return rc;
	report_anon("started again", &s);
	rc = list_once(&s, st);
	report_anon("started again, listed", &s);
	return rc ? rc : server_stop(&s, st);
}

const struct scenario start_scenarios[] = {
	{"start", "time until ready", start},
	{"memory", "anonymous memory with 10,000 objects", memory},
	{0},
};
