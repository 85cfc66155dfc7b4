/* SPDX-License-Identifier: Apache-2.0 */
/* Counters. A row for each combination of verb, resource, scope and code that occurs; all labels come from
 * tables of ours, never from a request's text (CVE-2020-8552), so their number is bounded. */
#include "api/metrics.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "api/engine.h"
#include "api/http.h"
#include "api/reply.h"

enum { ROWS = 4096, BUCKETS = 12, WATCH_ROWS = 512 };

/* Upper bounds of the duration histogram, seconds. */
static const double bounds[BUCKETS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5};

/* One combination. kind NULL: not about a resource. */
struct row {
	const struct kind *kind;
	const struct kind_subresource *subresource;
	const char *verb, *scope;
	unsigned code;       /* 0: free */
	bool dry_run;
	uint64_t count, bytes;
	uint64_t bucket[BUCKETS];
	double seconds;
};

struct watch_row {
	const struct kind *kind;
	uint64_t events, bytes;
};

struct metrics {
	pthread_mutex_t lock; /* guards all */
	struct row row[ROWS];
	unsigned nrows;
	struct watch_row watch[WATCH_ROWS];
	time_t started;
};

struct metrics *metrics_new(void)
{
	struct metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	pthread_mutex_init(&m->lock, NULL);
	m->started = time(NULL);
	return m;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static const char *verb_of(const struct request *r)
{
	static const char *const actions[ACTION_COUNT] = {
		[ACTION_GET] = "GET",       [ACTION_LIST] = "LIST",   [ACTION_WATCH] = "WATCH",
		[ACTION_CREATE] = "POST",   [ACTION_UPDATE] = "PUT",  [ACTION_PATCH] = "PATCH",
		[ACTION_DELETE] = "DELETE", [ACTION_DELETECOLLECTION] = "DELETECOLLECTION",
	};
	static const char *const methods[] = {
		[METHOD_GET] = "GET",     [METHOD_HEAD] = "GET",      [METHOD_POST] = "POST",  [METHOD_PUT] = "PUT",
		[METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE", [METHOD_OTHER] = "OTHER",
	};

	return actions[r->action] ? actions[r->action] : methods[r->method];
}

static const char *scope_of(const struct request *r)
{
	if (!r->kind)
		return "";
	if (r->name.len)
		return "resource";
	return r->ns.ptr ? "namespace" : "cluster";
}

static bool same(const struct row *a, const struct row *b)
{
	return a->kind == b->kind && a->subresource == b->subresource && a->verb == b->verb && a->scope == b->scope &&
	       a->code == b->code && a->dry_run == b->dry_run;
}

static size_t hash(const struct row *k)
{
	size_t h = (size_t)k->kind ^ (size_t)k->subresource << 3 ^ (size_t)k->verb << 1 ^ (size_t)k->scope ^ k->code;

	return (h ^ h >> 17 ^ h >> 7) % ROWS;
}

/* Open addressing; NULL when the table is as full as it may get. */
static struct row *find(struct metrics *m, const struct row *key)
{
	for (size_t i = hash(key), n = 0; n < ROWS; n++, i = (i + 1) % ROWS) {
		struct row *row = &m->row[i];
		if (row->code && same(row, key))
			return row;
		if (row->code)
			continue;
		if (m->nrows >= ROWS * 3 / 4)
			return NULL;
		m->nrows++;
		*row = *key;
		return row;
	}
	return NULL;
}

void metrics_request(struct metrics *m, const struct request *r, unsigned code, double seconds, size_t bytes)
{
	struct row key = {
		.kind = r->kind,
		.subresource = r->subresource,
		.verb = verb_of(r),
		.scope = scope_of(r),
		.code = code,
		.dry_run = str_is(request_param(r, "dryRun"), "All"),
	};

	pthread_mutex_lock(&m->lock);
	struct row *row = find(m, &key);
	if (row) {
		row->count++;
		row->bytes += bytes;
		row->seconds += seconds;
		for (unsigned i = 0; i < BUCKETS; i++)
			row->bucket[i] += seconds <= bounds[i];
	}
	pthread_mutex_unlock(&m->lock);
}

void metrics_watch(struct metrics *m, const struct kind *k, uint64_t events, uint64_t bytes)
{
	size_t i = k->id % WATCH_ROWS;

	pthread_mutex_lock(&m->lock);
	for (unsigned n = 0; n < WATCH_ROWS && m->watch[i].kind && m->watch[i].kind != k; n++)
		i = (i + 1) % WATCH_ROWS;
	if (!m->watch[i].kind || m->watch[i].kind == k) {
		m->watch[i].kind = k;
		m->watch[i].events += events;
		m->watch[i].bytes += bytes;
	}
	pthread_mutex_unlock(&m->lock);
}

/* ---- the page ---- */

static void head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_addf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_labels(struct buf *b, const struct row *row)
{
	const struct kind *k = row->kind;

	buf_addf(b, "component=\"apiserver\",dry_run=\"%s\",group=\"%.*s\",resource=\"%.*s\",scope=\"%s\",subresource=\"%.*s\","
		 "verb=\"%s\",version=\"%.*s\"", row->dry_run ? "All" : "", STR_ARG(k ? k->group : STR("")),
		 STR_ARG(k ? k->plural : STR("")), row->scope, STR_ARG(row->subresource ? row->subresource->name : STR("")),
		 row->verb, STR_ARG(k ? k->version : STR("")));
}

static void add_requests(struct metrics *m, struct buf *b)
{
	head(b, "apiserver_request_total", "counter", "Requests answered, by verb, resource and code.");
	for (unsigned i = 0; i < ROWS; i++) {
		const struct row *row = &m->row[i];
		if (!row->code)
			continue;
		buf_addf(b, "apiserver_request_total{code=\"%u\",", row->code);
		add_labels(b, row);
		buf_addf(b, "} %llu\n", (unsigned long long)row->count);
	}
}

/* A histogram without the code label: rows that differ in code only are summed into the first of them. */
static void sum(const struct metrics *m, unsigned first, struct row *ret)
{
	*ret = m->row[first];
	for (unsigned i = 0; i < ROWS; i++) {
		struct row other = m->row[i];
		other.code = ret->code;
		if (i == first || !m->row[i].code || !same(&other, ret))
			continue;
		ret->count += other.count;
		ret->seconds += other.seconds;
		ret->bytes += other.bytes;
		for (unsigned j = 0; j < BUCKETS; j++)
			ret->bucket[j] += other.bucket[j];
	}
}

static bool is_first(const struct metrics *m, unsigned i)
{
	for (unsigned j = 0; j < i; j++) {
		struct row other = m->row[j];
		other.code = m->row[i].code;
		if (m->row[j].code && same(&other, &m->row[i]))
			return false;
	}
	return true;
}

static void add_histogram(const struct row *row, const char *name, struct buf *b)
{
	for (unsigned i = 0; i <= BUCKETS; i++) {
		buf_addf(b, "%s_bucket{", name);
		add_labels(b, row);
		if (i < BUCKETS)
			buf_addf(b, ",le=\"%g\"} %llu\n", bounds[i], (unsigned long long)row->bucket[i]);
		else
			buf_addf(b, ",le=\"+Inf\"} %llu\n", (unsigned long long)row->count);
	}
	buf_addf(b, "%s_sum{", name);
	add_labels(b, row);
	buf_addf(b, "} %g\n%s_count{", row->seconds, name);
	add_labels(b, row);
	buf_addf(b, "} %llu\n", (unsigned long long)row->count);
}

/* Watches are long by intention and do not belong into durations. */
static void add_durations(struct metrics *m, const char *name, struct buf *b)
{
	struct row total;

	head(b, name, "histogram", "Seconds until the answer was ready.");
	for (unsigned i = 0; i < ROWS; i++) {
		if (!m->row[i].code || strcmp(m->row[i].verb, "WATCH") == 0 || !is_first(m, i))
			continue;
		sum(m, i, &total);
		add_histogram(&total, name, b);
	}
}

static void add_watches(struct metrics *m, struct buf *b)
{
	head(b, "apiserver_watch_events_total", "counter", "Watch events sent.");
	for (unsigned i = 0; i < WATCH_ROWS; i++) {
		const struct kind *k = m->watch[i].kind;
		if (k)
			buf_addf(b, "apiserver_watch_events_total{group=\"%.*s\",resource=\"%.*s\",version=\"%.*s\"} %llu\n",
				 STR_ARG(k->group), STR_ARG(k->plural), STR_ARG(k->version),
				 (unsigned long long)m->watch[i].events);
	}
}

static void gauge(struct buf *b, const char *name, const char *help, double value)
{
	head(b, name, "gauge", help);
	buf_addf(b, "%s %.17g\n", name, value);
}

static void counter(struct buf *b, const char *name, const char *help, double value)
{
	head(b, name, "counter", help);
	buf_addf(b, "%s %.17g\n", name, value);
}

static void add_server(struct api *api, struct buf *b)
{
	head(b, "apiserver_current_inflight_requests", "gauge", "Requests being served.");
	buf_addf(b, "apiserver_current_inflight_requests{request_kind=\"mutating\"} %u\n",
		 atomic_load(&api->inflight_mutating));
	buf_addf(b, "apiserver_current_inflight_requests{request_kind=\"readOnly\"} %u\n",
		 atomic_load(&api->inflight_reading));
	gauge(b, "apiserver_longrunning_requests", "Watches that are open.", engine_watchers(api->engine));
	gauge(b, "holdfs_connections", "Open connections.", http_connections(api->http));
}

static void add_store(struct api *api, struct buf *b)
{
	struct store_info info;

	store_info(api->store, &info);
	gauge(b, "holdfs_store_revision", "Last committed revision.", (double)info.revision);
	gauge(b, "holdfs_store_compacted_revision", "Events up to here are gone.", (double)info.compacted);
	gauge(b, "apiserver_storage_objects", "Objects kept.", (double)info.objects);
	gauge(b, "apiserver_storage_size_bytes", "Bytes of the database in use.", (double)info.bytes_used);
	gauge(b, "holdfs_store_max_bytes", "Bytes the database may use.", (double)info.bytes_max);
	gauge(b, "holdfs_feed_events", "Events that watches can resume from.", (double)info.feed_events);
	counter(b, "holdfs_store_writes_total", "Writes committed.", (double)info.commits);
	counter(b, "holdfs_store_commits_total", "Transactions committed; writes share them.",
		(double)info.commit_groups);
	counter(b, "holdfs_store_commit_seconds_total", "Seconds spent in commits.", info.commit_seconds);
}

static double resident_bytes(void)
{
	unsigned long total, pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%lu %lu", &total, &pages) != 2)
		pages = 0;
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double seconds_of(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static void add_process(const struct metrics *m, struct buf *b)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) == 0)
		counter(b, "process_cpu_seconds_total", "User and system time.",
			seconds_of(u.ru_utime) + seconds_of(u.ru_stime));
	gauge(b, "process_resident_memory_bytes", "Resident memory.", resident_bytes());
	gauge(b, "process_start_time_seconds", "When the server started.", (double)m->started);
}

int metrics_handle(struct request *r, struct reply *p, struct status *st)
{
	struct metrics *m = r->api->metrics;
	struct pool_buf *b = pool_get(r->api->pool);

	if (!b)
		return status_no_memory(st);
	pthread_mutex_lock(&m->lock);
	add_requests(m, &b->buf);
	add_durations(m, "apiserver_request_duration_seconds", &b->buf);
	add_durations(m, "apiserver_request_sli_duration_seconds", &b->buf);
	add_watches(m, &b->buf);
	pthread_mutex_unlock(&m->lock);
	add_server(r->api, &b->buf);
	add_store(r->api, &b->buf);
	add_process(m, &b->buf);
	p->content_type = "text/plain; version=0.0.4; charset=utf-8";
	p->text = true;
	return reply_json(p, 200, b, 0, st);
}
