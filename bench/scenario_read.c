/* SPDX-License-Identifier: Apache-2.0 */
/* list_all, list_table, list_labels, get: replies of holdfs against nginx sending the same bytes from files, and
 * against json-c making them for each request. */
#include "bench/bench.h"

#include <stdlib.h>

#include "bench/data.h"
#include "bench/reference.h"
#include "bench/report.h"
#include "store/base/cleanup.h"

/* All objects have the label, and what a selector filters is never kept: each of these is made from the records,
 * and pays for the filter on top. */
#define REBUILT "?labelSelector=app"
#define GOLD DATA_LIST "?labelSelector=tier%3Dgold"

/* holdfs with its objects, nginx with its files, and the requests and bodies in use. */
struct reads {
	const struct bench *b;
	struct contest *contest;
	struct server holdfs, nginx;
	struct bench_path nginx_dir;
	struct buf request[CONTEST_SIDES_MAX];
	struct str bytes[CONTEST_SIDES_MAX]; /* views of request, for data_fixed */
	struct buf body, scratch;
	struct data_writer writer;
};

static void reads_done(struct reads *r)
{
	bench_kill(&r->holdfs);
	bench_kill(&r->nginx);
	for (unsigned i = 0; i < CONTEST_SIDES_MAX; i++)
		buf_done(&r->request[i]);
	buf_done(&r->body);
	buf_done(&r->scratch);
	data_writer_done(&r->writer);
	free(r->contest);
}

static int reads_open(struct reads *r, const struct bench *b, const char *name, struct status *st)
{
	*r = (struct reads){.b = b, .contest = contest_new(name)};
	if (!r->contest)
		return status_no_memory(st);
	r->nginx_dir = bench_path(b, "nginx");
	int rc = bench_start(b, name, false, DATA_OBJECTS, &r->holdfs, st);
	return rc ? rc : server_start_nginx(r->nginx_dir.text, &r->nginx, st);
}

/* Adds a side of 32 clients that ask the server for the path. */
static void add_side(struct reads *r, const char *name, const struct server *s, const char *path,
		     const char *accept)
{
	unsigned i = r->contest->sides;
	struct side *side = contest_side(r->contest, name);

	data_get(&r->request[i], s->port, path, accept);
	r->bytes[i] = buf_str(&r->request[i]);
	side->plan.port = s->port;
	side->plan.server = s->pid;
	side->plan.group[0] = (struct load_group){.clients = LOAD_CLIENTS, .expect = 200, .request = data_fixed,
						  .arg = &r->bytes[i]};
}

/* Fetches what holdfs answers, checks that `field` has `count` elements (0: no check), and gives it to nginx. */
static int publish(struct reads *r, const char *name, const char *path, const char *accept, const char *field,
		   size_t count, struct status *st)
{
	_cleanup_(buf_done) struct buf request = {0};
	size_t got = 0;

	data_get(&request, r->holdfs.port, path, accept);
	buf_clear(&r->body);
	int rc = load_fetch(r->holdfs.port, buf_str(&request), 200, &r->body, st);
	if (!rc && count)
		rc = reference_count(buf_str(&r->body), field, &got, st);
	if (!rc && got != count)
		rc = status_set(st, REASON_INTERNAL, "%s has %zu %s instead of %zu", path, got, field, count);
	return rc ? rc : server_publish(r->nginx_dir.text, name, buf_str(&r->body), st);
}

static int run(struct reads *r, struct status *st)
{
	report_load_head();
	int rc = contest_run(r->contest, &r->b->options, st);

	if (!rc)
		rc = server_stop(&r->nginx, st);
	return rc ? rc : server_stop(&r->holdfs, st);
}

/* Adds one more client that puts objects of the collection all the time. */
static void add_writer(struct reads *r, struct side *side)
{
	r->writer = (struct data_writer){.port = r->holdfs.port, .objects = DATA_OBJECTS, .first = 1};
	side->plan.group[1] =
		(struct load_group){.clients = 1, .expect = 200, .request = data_update, .arg = &r->writer};
}

static int list_all(const struct bench *b, struct status *st)
{
	_cleanup_(reads_done) struct reads r;
	int rc = reads_open(&r, b, "list_all", st);

	if (!rc)
		rc = publish(&r, "list", DATA_LIST, NULL, "items", DATA_OBJECTS, st);
	if (rc)
		return rc;
	report_heading("list_all", "%u ConfigMaps, body of %zu bytes.", DATA_OBJECTS, r.body.len);
	add_side(&r, "nginx", &r.nginx, "/list", NULL);
	add_side(&r, "unchanged", &r.holdfs, DATA_LIST, NULL);
	add_side(&r, "rebuilt", &r.holdfs, DATA_LIST REBUILT, NULL);
	add_side(&r, "changing", &r.holdfs, DATA_LIST, NULL);
	add_writer(&r, &r.contest->side[3]);
	contest_compare(r.contest, 0, 0, RATIO_NONE, 0);
	contest_compare(r.contest, 1, 0, RATIO_RATE, 1.1);
	contest_compare(r.contest, 2, 0, RATIO_RATE, 0.75);
	contest_compare(r.contest, 3, 0, RATIO_RATE, 0);
	return run(&r, st);
}

static int table_by_json_c(void *arg, struct status *st)
{
	struct reads *r = arg;
	return reference_table(buf_str(&r->body), &r->scratch, st);
}

static void table_sides(struct reads *r)
{
	add_side(r, "list unchanged", &r->holdfs, DATA_LIST, NULL);
	add_side(r, "list rebuilt", &r->holdfs, DATA_LIST REBUILT, NULL);
	add_side(r, "Table unchanged", &r->holdfs, DATA_LIST, DATA_TABLE);
	add_side(r, "Table rebuilt", &r->holdfs, DATA_LIST REBUILT, DATA_TABLE);
	struct side *local = contest_side(r->contest, "json-c");
	local->local = table_by_json_c;
	local->arg = r;
	contest_compare(r->contest, 0, 0, RATIO_NONE, 0);
	contest_compare(r->contest, 1, 0, RATIO_NONE, 0);
	contest_compare(r->contest, 2, 0, RATIO_RATE, 0.9);
	contest_compare(r->contest, 3, 1, RATIO_RATE, 0.9);
	contest_compare(r->contest, 4, 4, RATIO_NONE, 0);
	contest_compare(r->contest, 3, 4, RATIO_CPU, 40);
}

/* The list is fetched last: it is what json-c works on. */
static int list_table(const struct bench *b, struct status *st)
{
	_cleanup_(reads_done) struct reads r;
	int rc = reads_open(&r, b, "list_table", st);

	if (!rc)
		rc = publish(&r, "table", DATA_LIST, DATA_TABLE, "rows", DATA_OBJECTS, st);
	size_t table = r.body.len;
	if (!rc)
		rc = publish(&r, "list", DATA_LIST, NULL, "items", DATA_OBJECTS, st);
	if (rc)
		return rc;
	report_heading("list_table", "%u ConfigMaps, list of %zu bytes, Table of %zu bytes.", DATA_OBJECTS, r.body.len,
		       table);
	table_sides(&r);
	return run(&r, st);
}

static int select_by_json_c(void *arg, struct status *st)
{
	struct reads *r = arg;
	return reference_select(buf_str(&r->body), "tier", "gold", &r->scratch, st);
}

static int list_labels(const struct bench *b, struct status *st)
{
	_cleanup_(reads_done) struct reads r;
	const size_t hits = DATA_OBJECTS / DATA_GOLD;
	int rc = reads_open(&r, b, "list_labels", st);

	if (!rc)
		rc = publish(&r, "gold", GOLD, NULL, "items", hits, st);
	size_t gold = r.body.len;
	if (!rc)
		rc = publish(&r, "list", DATA_LIST, NULL, "items", DATA_OBJECTS, st);
	if (rc)
		return rc;
	report_heading("list_labels", "tier=gold: %zu of %u ConfigMaps, body of %zu bytes.", hits, DATA_OBJECTS, gold);
	add_side(&r, "nginx", &r.nginx, "/gold", NULL);
	add_side(&r, "selected", &r.holdfs, GOLD, NULL);
	struct side *local = contest_side(r.contest, "json-c");
	local->local = select_by_json_c;
	local->arg = &r;
	contest_compare(r.contest, 0, 0, RATIO_NONE, 0);
	contest_compare(r.contest, 1, 0, RATIO_RATE, 0);
	contest_compare(r.contest, 2, 2, RATIO_NONE, 0);
	contest_compare(r.contest, 1, 2, RATIO_CPU, 100);
	return run(&r, st);
}

static int get(const struct bench *b, struct status *st)
{
	static const char path[] = DATA_LIST "/settings-000500";
	_cleanup_(reads_done) struct reads r;
	int rc = reads_open(&r, b, "get", st);

	if (!rc)
		rc = publish(&r, "one", path, NULL, NULL, 0, st);
	if (rc)
		return rc;
	report_heading("get", "One ConfigMap of %zu bytes.", r.body.len);
	add_side(&r, "nginx", &r.nginx, "/one", NULL);
	add_side(&r, "get", &r.holdfs, path, NULL);
	contest_compare(r.contest, 0, 0, RATIO_NONE, 0);
	contest_compare(r.contest, 1, 0, RATIO_RATE, 0.75);
	return run(&r, st);
}

const struct scenario read_scenarios[] = {
	{"list_all", "the whole collection", list_all},
	{"list_table", "the whole collection as a Table", list_table},
	{"list_labels", "5 % of the collection, by label selector", list_labels},
	{"get", "one object", get},
	{0},
};
