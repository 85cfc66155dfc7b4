/* SPDX-License-Identifier: Apache-2.0 */
/* Numbered ConfigMaps that look like somebody's configuration. */
#include "bench/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/load.h"
#include "bench/process.h"
#include "store/base/cleanup.h"

/* Most of it is metadata, as it is in clusters: a Table, which carries the metadata, is as large as the list. serial
 * makes every update a change and keeps the size. */
static void add_configmap(struct buf *out, uint64_t number, uint64_t serial)
{
	uint64_t shop = number % 100;

	buf_addf(out,
		 "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"settings-%06" PRIu64
		 "\",\"namespace\":\"" DATA_NAMESPACE "\",\"labels\":{\"app\":\"shop-%03" PRIu64
		 "\",\"tier\":\"%s\"},\"annotations\":{",
		 number, shop, number % DATA_GOLD ? "base" : "gold");
	buf_addf(out,
		 "\"bench.example.com/owner\":\"team-%03" PRIu64 "@shop.example.com\","
		 "\"bench.example.com/description\":\"where the shop listens and what it talks to\","
		 "\"bench.example.com/tracking-id\":\"shop:v1/ConfigMap:bench/settings-%06" PRIu64 "\"}},",
		 shop, number);
	buf_addf(out,
		 "\"data\":{\"serial\":\"%016" PRIu64 "\",\"shop.conf\":\"listen = :8080\\n"
		 "upstream = catalog-%03" PRIu64 ":9090\\nretries = 3\\n\"}}",
		 serial, shop);
}

static void add_head(struct buf *out, unsigned port, const char *method, const char *path)
{
	buf_addf(out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n", method, path, port);
}

void data_get(struct buf *out, unsigned port, const char *path, const char *accept)
{
	add_head(out, port, "GET", path);
	buf_addf(out, "Accept: %s\r\n\r\n", accept ? accept : "application/json");
}

static struct str with_body(struct data_writer *w, const char *method, const char *path)
{
	buf_clear(&w->request);
	add_head(&w->request, w->port, method, path);
	buf_addf(&w->request, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n", w->body.len);
	buf_add_str(&w->request, buf_str(&w->body));
	return buf_str(&w->request);
}

struct str data_create(void *writer, unsigned client, uint64_t n)
{
	struct data_writer *w = writer;

	(void)client;
	(void)n;
	buf_clear(&w->body);
	add_configmap(&w->body, w->next++, 0);
	return with_body(w, "POST", DATA_LIST);
}

struct str data_update(void *writer, unsigned client, uint64_t n)
{
	struct data_writer *w = writer;
	uint64_t number = n % w->objects;
	char path[128];

	(void)client;
	buf_clear(&w->body);
	add_configmap(&w->body, number, w->next++);
	snprintf(path, sizeof(path), DATA_LIST "/settings-%06" PRIu64, number);
	struct str request = with_body(w, "PUT", path);
	if (w->sent)
		w->sent[n % w->sent_cap] = bench_clock();
	return request;
}

void data_writer_done(struct data_writer *w)
{
	buf_done(&w->request);
	buf_done(&w->body);
	free(w->sent);
}

static int create_namespace(unsigned port, struct status *st)
{
	_cleanup_(data_writer_done) struct data_writer w = {.port = port};
	_cleanup_(buf_done) struct buf reply = {0};

	buf_adds(&w.body, "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" DATA_NAMESPACE "\"}}");
	return load_fetch(port, with_body(&w, "POST", "/api/v1/namespaces"), 201, &reply, st);
}

int data_fill(unsigned port, unsigned objects, struct status *st)
{
	_cleanup_(data_writer_done) struct data_writer w = {.port = port};
	_cleanup_free_ struct load_result *result = calloc(1, sizeof(*result));
	struct load_plan plan = {.port = port, .signal_fd = -1, .run_ns = 60 * INT64_C(1000000000)};
	int rc = create_namespace(port, st);

	if (rc)
		return rc;
	if (!result)
		return status_no_memory(st);
	plan.group[0] = (struct load_group){.clients = LOAD_CLIENTS, .expect = 201, .request = data_create, .arg = &w,
					    .limit = objects};
	rc = load_run(&plan, result, st);
	if (!rc && result->group[0].ops != objects)
		return status_set(st, REASON_INTERNAL, "only %" PRIu64 " objects created in a minute", result->group[0].ops);
	return rc;
}

int data_revision(unsigned port, uint64_t *ret, struct status *st)
{
	static const char key[] = "\"resourceVersion\":\"";
	_cleanup_(buf_done) struct buf request = {0}, body = {0};

	data_get(&request, port, DATA_LIST "?limit=1", NULL);
	int rc = load_fetch(port, buf_str(&request), 200, &body, st);
	if (rc)
		return rc;
	char *at = memmem(body.ptr, body.len, key, sizeof(key) - 1);
	struct str rest = at ? str_skip(buf_str(&body), (size_t)(at - body.ptr) + sizeof(key) - 1) : STR("");
	return str_u64(str_cut(&rest, '"'), ret) ? 0 : status_set(st, REASON_INTERNAL, "a list without a revision");
}

struct str data_fixed(void *arg, unsigned client, uint64_t n)
{
	(void)client;
	(void)n;
	return *(struct str *)arg;
}
