/* SPDX-License-Identifier: Apache-2.0 */
/* create, update: durable writes by 32 clients, grouped into commits, against a server with one commit a write. */
#include "bench/bench.h"

#include <stdlib.h>

#include "bench/data.h"
#include "bench/report.h"
#include "store/base/cleanup.h"

enum { EACH, GROUPED, WAYS };

struct writes {
	struct server server[WAYS];
	struct data_writer writer[WAYS];
	struct contest *contest;
};

static void writes_done(struct writes *w)
{
	for (unsigned i = 0; i < WAYS; i++) {
		bench_kill(&w->server[i]);
		data_writer_done(&w->writer[i]);
	}
	free(w->contest);
}

typedef struct str request_fn(void *writer, unsigned client, uint64_t n);

static int writes_run(struct writes *w, const struct bench *b, const char *name, request_fn *request, unsigned expect,
		      struct status *st)
{
	static const char *const ways[WAYS] = {"commit-each", "grouped"};

	w->contest = contest_new(name);
	if (!w->contest)
		return status_no_memory(st);
	for (unsigned i = 0; i < WAYS; i++) {
		struct side *side = contest_side(w->contest, ways[i]);
		int rc = bench_start(b, ways[i], i == EACH, DATA_OBJECTS, &w->server[i], st);
		if (rc)
			return rc;
		w->writer[i] = (struct data_writer){.port = w->server[i].port, .objects = DATA_OBJECTS, .next = DATA_OBJECTS};
		side->plan.port = w->server[i].port;
		side->plan.server = w->server[i].pid;
		side->plan.group[0] = (struct load_group){.clients = LOAD_CLIENTS, .expect = expect, .request = request,
							  .arg = &w->writer[i]};
	}
	contest_compare(w->contest, EACH, EACH, RATIO_NONE, 0);
	contest_compare(w->contest, GROUPED, EACH, RATIO_RATE, 3);
	report_load_head();
	int rc = contest_run(w->contest, &b->options, st);
	for (unsigned i = 0; i < WAYS && !rc; i++)
		rc = server_stop(&w->server[i], st);
	return rc;
}

static int create(const struct bench *b, struct status *st)
{
	_cleanup_(writes_done) struct writes w = {0};

	report_heading("create", "POST of new ConfigMaps by %d clients; each is on the disk before it is answered.",
		       LOAD_CLIENTS);
	return writes_run(&w, b, "create", data_create, 201, st);
}

static int update(const struct bench *b, struct status *st)
{
	_cleanup_(writes_done) struct writes w = {0};

	report_heading("update", "PUT of %d ConfigMaps in turn by %d clients; each is on the disk before it is answered.",
		       DATA_OBJECTS, LOAD_CLIENTS);
	return writes_run(&w, b, "update", data_update, 200, st);
}

const struct scenario write_scenarios[] = {
	{"create", "durable creates, grouped and one commit each", create},
	{"update", "durable updates, grouped and one commit each", update},
	{0},
};
