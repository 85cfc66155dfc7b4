/* SPDX-License-Identifier: Apache-2.0 */
/* watch: many watchers of one collection and somebody who writes to it. */
#include "bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/data.h"
#include "bench/process.h"
#include "bench/report.h"
#include "store/base/cleanup.h"

/* FLAT_EVENTS by 32 writers as fast as they are committed; a run ends when every watcher has all of them. */
enum { FEW = 100, FEW_RATE = 200, MANY_RATE = 100, FLAT_EVENTS = 1000, SENT_CAP = 1 << 16 };
#define IDLE_NS INT64_C(300000000)
#define FLAT_NS INT64_C(30000000000)
#define CPU_TARGET_US 1.5
#define IDLE_TARGET_KB 20

struct watches {
	struct server server;
	struct contest *contest;
	struct data_writer writer;
	struct buf request;  /* of a watch from the newest revision on */
	double idle_kb;      /* RssAnon of an idle watch */
};

static void watches_done(struct watches *w)
{
	bench_kill(&w->server);
	data_writer_done(&w->writer);
	buf_done(&w->request);
	free(w->contest);
}

/* A run's watches begin where the store is now, so that their n-th event is the run's n-th write. */
static int prepare(void *arg, struct status *st)
{
	struct watches *w = arg;
	char path[256];
	uint64_t revision = 0;
	int rc = data_revision(w->server.port, &revision, st);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), DATA_LIST "?watch=1&resourceVersion=%" PRIu64, revision);
	buf_clear(&w->request);
	data_get(&w->request, w->server.port, path, NULL);
	return 0;
}

static int64_t caused(void *arg, uint64_t index)
{
	struct watches *w = arg;
	return w->writer.sent[index % SENT_CAP];
}

static struct str open_watch(void *arg, unsigned client, uint64_t n)
{
	struct watches *w = arg;

	(void)client;
	(void)n;
	return buf_str(&w->request);
}

static struct side *add_side(struct watches *w, const char *name, unsigned watchers)
{
	struct side *side = contest_side(w->contest, name);

	side->prepare = prepare;
	side->arg = w;
	side->plan.port = w->server.port;
	side->plan.server = w->server.pid;
	side->plan.group[0] = (struct load_group){.clients = watchers, .expect = 200, .stream = true,
						  .request = open_watch, .arg = w};
	side->plan.group[1] = (struct load_group){.expect = 200, .request = data_update, .arg = &w->writer};
	return side;
}

/* One writer at a rate: the latency is from the sending of the PUT, through its commit, to the event's arrival. */
static void add_paced(struct watches *w, const char *name, unsigned watchers, double rate)
{
	struct side *side = add_side(w, name, watchers);

	side->plan.group[0].caused = caused;
	side->plan.group[1].clients = 1;
	side->plan.group[1].rate = rate;
}

static void add_flat(struct watches *w, const char *name, unsigned watchers)
{
	struct side *side = add_side(w, name, watchers);

	side->plan.run_ns = FLAT_NS;
	side->plan.group[0].limit = (uint64_t)watchers * FLAT_EVENTS;
	side->plan.group[1].clients = LOAD_CLIENTS;
	side->plan.group[1].limit = FLAT_EVENTS;
}

/* Anonymous memory that an open, idle watch costs; on a server that had none yet. */
static int measure_idle(struct watches *w, unsigned watchers, struct status *st)
{
	struct load_plan plan = {.port = w->server.port, .server = w->server.pid, .signal_fd = -1, .run_ns = IDLE_NS};
	_cleanup_free_ struct load_result *result = calloc(1, sizeof(*result));
	int rc = prepare(w, st);

	if (rc)
		return rc;
	if (!result)
		return status_no_memory(st);
	uint64_t before = process_anon(w->server.pid);
	plan.group[0] = (struct load_group){.clients = watchers, .expect = 200, .stream = true, .request = open_watch,
					    .arg = w};
	rc = load_run(&plan, result, st);
	if (rc)
		return rc;
	w->idle_kb = ((double)result->server_anon - (double)before) / 1024 / watchers;
	return 0;
}

static int watches_run(struct watches *w, const struct bench *b, struct status *st)
{
	char few[64], many[64], flat[64];

	snprintf(few, sizeof(few), "%d, %d/s", FEW, FEW_RATE);
	snprintf(many, sizeof(many), "%u, %d/s", b->watchers, MANY_RATE);
	snprintf(flat, sizeof(flat), "%u, flat out", b->watchers);
	add_paced(w, few, FEW, FEW_RATE);
	add_paced(w, many, b->watchers, MANY_RATE);
	add_flat(w, flat, b->watchers);
	for (unsigned i = 0; i < w->contest->sides; i++)
		contest_compare(w->contest, i, i, RATIO_NONE, 0);
	report_load_head();
	int rc = contest_run(w->contest, &b->options, st);
	if (rc)
		return rc;
	report_heading("watch, costs", "CPU of the whole server by delivery, the writes included; memory of a watch.");
	report_value_head();
	struct side *side = &w->contest->side[w->contest->sides - 1];
	report_value(side->name, quartiles_of(side->cpu, b->options.runs), "us", CPU_TARGET_US);
	report_value("RssAnon an idle watch", (struct quartiles){w->idle_kb, w->idle_kb, w->idle_kb}, "KiB",
		     IDLE_TARGET_KB);
	return 0;
}

static int watch(const struct bench *b, struct status *st)
{
	_cleanup_(watches_done) struct watches w = {.contest = contest_new("watch")};
	int rc = w.contest ? bench_start(b, "watch", false, DATA_OBJECTS, &w.server, st) : status_no_memory(st);

	if (rc)
		return rc;
	w.writer = (struct data_writer){.port = w.server.port, .objects = DATA_OBJECTS, .next = 1, .sent_cap = SENT_CAP,
					.sent = calloc(SENT_CAP, sizeof(int64_t))};
	if (!w.writer.sent)
		return status_no_memory(st);
	report_heading("watch", "Watchers of one collection, and PUTs a second; an operation is an event at a watcher.");
	rc = measure_idle(&w, b->watchers, st);
	if (!rc)
		rc = watches_run(&w, b, st);
	return rc ? rc : server_stop(&w.server, st);
}

const struct scenario watch_scenarios[] = {
	{"watch", "events to many watchers", watch},
	{0},
};
