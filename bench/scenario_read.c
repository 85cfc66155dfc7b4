/* SPDX-License-Identifier: Apache-2.0 */
/* list_all, list_table, list_labels, get: replies of holdfs against nginx sending the same bytes from files, and
 * against json-c making them for each request. */
#include "bench/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/data.h"
#include "bench/reference.h"
#include "bench/report.h"
#include "store/base/cleanup.h"

#define GOLD DATA_LIST "?labelSelector=tier%3Dgold"

/* What one side asks for. */
struct question {
	unsigned port;
	const char *accept;
	struct buf request;
	struct str bytes; /* a view of it, for data_fixed */
};

/* holdfs with its objects, nginx with its files, and what is asked. */
struct reads {
	const struct bench *b;
	struct contest *contest;
	struct server holdfs, nginx;
	struct bench_path nginx_dir;
	struct question question[CONTEST_SIDES_MAX];
	struct buf body, scratch;
	struct data_writer writer;
	size_t objects; /* in the collection: ours and the server's kube-root-ca.crt */
};

static void reads_done(struct reads *r)
{
	bench_kill(&r->holdfs);
	bench_kill(&r->nginx);
	for (unsigned i = 0; i < CONTEST_SIDES_MAX; i++)
		buf_done(&r->question[i].request);
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

static void ask(struct question *q, const char *path)
{
	buf_clear(&q->request);
	data_get(&q->request, q->port, path, q->accept);
	q->bytes = buf_str(&q->request);
}

/* The newest revision, asked for by its number: an exact read is never kept, so each of these lists is made from the
 * records, by the same code and with the same bytes as the first plain list after a change. */
static int ask_rebuilt(void *question, struct status *st)
{
	struct question *q = question;
	uint64_t revision = 0;
	char path[256];
	int rc = data_revision(q->port, &revision, st);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), DATA_LIST "?resourceVersionMatch=Exact&resourceVersion=%" PRIu64, revision);
	ask(q, path);
	return 0;
}

/* Adds a side of 32 clients that ask the server for the path; NULL: for the list, rebuilt. */
static struct side *add_side(struct reads *r, const char *name, const struct server *s, const char *path,
			     const char *accept)
{
	struct question *q = &r->question[r->contest->sides];
	struct side *side = contest_side(r->contest, name);

	*q = (struct question){.port = s->port, .accept = accept};
	if (path)
		ask(q, path);
	else
		side->prepare = ask_rebuilt;
	side->arg = q;
	side->plan.port = s->port;
	side->plan.server = s->pid;
	side->plan.group[0] =
		(struct load_group){.clients = LOAD_CLIENTS, .expect = 200, .request = data_fixed, .arg = &q->bytes};
	return side;
}

/* Fetches what holdfs answers into r->body and gives it to nginx as a file. */
static int publish(struct reads *r, const char *name, const char *path, const char *accept, struct status *st)
{
	_cleanup_(buf_done) struct buf request = {0};

	data_get(&request, r->holdfs.port, path, accept);
	buf_clear(&r->body);
	int rc = load_fetch(r->holdfs.port, buf_str(&request), 200, &r->body, st);
	return rc ? rc : server_publish(r->nginx_dir.text, name, buf_str(&r->body), st);
}

/* What is fast must also be complete: `field` of r->body has `least` elements, or one more (the server's own
 * kube-root-ca.crt). */
static int check_count(struct reads *r, const char *field, size_t least, struct status *st)
{
	int rc = reference_count(buf_str(&r->body), field, &r->objects, st);

	if (!rc && r->objects != least && r->objects != least + 1)
		rc = status_set(st, REASON_INTERNAL, "%zu %s instead of %zu", r->objects, field, least);
	return rc;
}

static int publish_list(struct reads *r, struct status *st)
{
	int rc = publish(r, "list", DATA_LIST, NULL, st);
	return rc ? rc : check_count(r, "items", DATA_OBJECTS, st);
}

/* That the rebuilt list is r->body, byte for byte. */
static int check_rebuilt(struct reads *r, struct status *st)
{
	struct question q = {.port = r->holdfs.port};
	_cleanup_(buf_done) struct buf body = {0};
	int rc = ask_rebuilt(&q, st);

	if (!rc)
		rc = load_fetch(q.port, q.bytes, 200, &body, st);
	if (!rc && !str_eq(buf_str(&body), buf_str(&r->body)))
		rc = status_set(st, REASON_INTERNAL, "rebuilt and kept list differ");
	buf_done(&q.request);
	return rc;
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
	r->writer = (struct data_writer){.port = r->holdfs.port, .objects = DATA_OBJECTS, .next = 1};
	side->plan.group[1] =
		(struct load_group){.clients = 1, .expect = 200, .request = data_update, .arg = &r->writer};
}

static int list_all(const struct bench *b, struct status *st)
{
	_cleanup_(reads_done) struct reads r = {0};
	int rc = reads_open(&r, b, "list_all", st);

	if (!rc)
		rc = publish_list(&r, st);
	if (!rc)
		rc = check_rebuilt(&r, st);
	if (rc)
		return rc;
	report_heading("list_all", "%zu ConfigMaps, body of %zu bytes.", r.objects, r.body.len);
	add_side(&r, "nginx", &r.nginx, "/list", NULL);
	add_side(&r, "unchanged", &r.holdfs, DATA_LIST, NULL);
	add_side(&r, "rebuilt", &r.holdfs, NULL, NULL);
	add_writer(&r, add_side(&r, "changing", &r.holdfs, DATA_LIST, NULL));
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

enum { NGINX, LIST_UNCHANGED, LIST_REBUILT, TABLE_UNCHANGED, TABLE_REBUILT, JSON_C };

static void table_sides(struct reads *r)
{
	add_side(r, "nginx", &r->nginx, "/table", NULL);
	add_side(r, "list unchanged", &r->holdfs, DATA_LIST, NULL);
	add_side(r, "list rebuilt", &r->holdfs, NULL, NULL);
	add_side(r, "Table unchanged", &r->holdfs, DATA_LIST, DATA_TABLE);
	add_side(r, "Table rebuilt", &r->holdfs, NULL, DATA_TABLE);
	struct side *local = contest_side(r->contest, "json-c");
	local->local = table_by_json_c;
	local->arg = r;
	contest_compare(r->contest, NGINX, 0, RATIO_NONE, 0);
	contest_compare(r->contest, LIST_UNCHANGED, NGINX, RATIO_RATE, 0);
	contest_compare(r->contest, LIST_REBUILT, NGINX, RATIO_RATE, 0);
	contest_compare(r->contest, TABLE_UNCHANGED, LIST_UNCHANGED, RATIO_RATE, 0.9);
	contest_compare(r->contest, TABLE_REBUILT, LIST_REBUILT, RATIO_RATE, 0.9);
	contest_compare(r->contest, TABLE_REBUILT, NGINX, RATIO_RATE, 0);
	contest_compare(r->contest, JSON_C, 0, RATIO_NONE, 0);
	contest_compare(r->contest, TABLE_REBUILT, JSON_C, RATIO_CPU, 40);
}

/* The list is fetched last: it is what json-c works on. */
static int list_table(const struct bench *b, struct status *st)
{
	_cleanup_(reads_done) struct reads r = {0};
	int rc = reads_open(&r, b, "list_table", st);

	if (!rc)
		rc = publish(&r, "table", DATA_LIST, DATA_TABLE, st);
	if (!rc)
		rc = check_count(&r, "rows", DATA_OBJECTS, st);
	size_t table = r.body.len;
	if (!rc)
		rc = publish_list(&r, st);
	if (rc)
		return rc;
	report_heading("list_table", "%zu ConfigMaps, list of %zu bytes, Table of %zu bytes.", r.objects, r.body.len,
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
	_cleanup_(reads_done) struct reads r = {0};
	const size_t hits = DATA_OBJECTS / DATA_GOLD;
	int rc = reads_open(&r, b, "list_labels", st);

	if (!rc)
		rc = publish(&r, "gold", GOLD, NULL, st);
	if (!rc)
		rc = check_count(&r, "items", hits, st);
	size_t gold = r.body.len;
	if (!rc)
		rc = publish_list(&r, st);
	if (rc)
		return rc;
	report_heading("list_labels", "tier=gold: %zu of %zu ConfigMaps, body of %zu bytes.", hits, r.objects, gold);
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
	_cleanup_(reads_done) struct reads r = {0};
	int rc = reads_open(&r, b, "get", st);

	if (!rc)
		rc = publish(&r, "one", path, NULL, st);
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
