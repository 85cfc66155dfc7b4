/* SPDX-License-Identifier: Apache-2.0 */
/* Health checks, in the format that Kubernetes probes and kubectl read. */
#include "api/health.h"

#include "api/engine.h"
#include "api/reply.h"

static bool check_ping(struct api *api)
{
	(void)api;
	return true;
}

static bool check_log(struct api *api)
{
	(void)api;
	return true;
}

/* Can a snapshot be taken? */
static bool check_store(struct api *api)
{
	struct status st;
	struct read *read;

	status_clear(&st);
	if (read_begin(api->store, &read, &st) < 0)
		return false;
	read_end(read);
	return true;
}

static bool check_shutdown(struct api *api)
{
	return !atomic_load(&api->stopping);
}

static const struct check {
	const char *name;
	bool (*good)(struct api *api);
	bool ready_only;
} checks[] = {
	{"ping", check_ping, false},
	{"log", check_log, false},
	{"etcd", check_store, false}, /* the name that probes of kube-apiserver exclude or ask for */
	{"store", check_store, false},
	{"shutdown", check_shutdown, true},
};

enum { NCHECKS = sizeof(checks) / sizeof(checks[0]) };

static bool excluded(const struct request *r, const char *name)
{
	for (unsigned i = 0; i < r->nparams; i++)
		if (str_is(r->param[i].name, "exclude") && str_is(r->param[i].value, name))
			return true;
	return false;
}

static bool applies(const struct request *r, const struct check *c)
{
	return !c->ready_only || str_is(r->segment[0], "readyz");
}

/* Writes one line a check; returns whether all are good. */
static bool run(struct request *r, struct buf *out)
{
	bool all = true;

	for (unsigned i = 0; i < NCHECKS; i++) {
		const struct check *c = &checks[i];
		if (!applies(r, c))
			continue;
		bool skip = excluded(r, c->name), good = skip || c->good(r->api);
		all = all && good;
		buf_addf(out, "[%c]%s %s\n", good ? '+' : '-', c->name,
			 skip ? "excluded: ok" : good ? "ok" : "failed: reason withheld");
	}
	return all;
}

static int single(struct request *r, struct reply *p)
{
	for (unsigned i = 0; i < NCHECKS; i++) {
		if (!str_is(r->segment[1], checks[i].name) || !applies(r, &checks[i]))
			continue;
		bool good = checks[i].good(r->api);
		reply_text(p, good ? 200 : 500, good ? "ok" : "internal server error: reason withheld\n");
		return 0;
	}
	reply_no_page(p);
	return 0;
}

int health_handle(struct request *r, struct reply *p, struct status *st)
{
	struct pool_buf *b;

	if (r->nsegments == 2)
		return single(r, p);
	if (!(b = pool_get(r->api->pool)))
		return status_no_memory(st);
	bool good = run(r, &b->buf);
	if (good && !request_flag(r, "verbose")) {
		pool_unref(b);
		reply_text(p, 200, "ok");
		return 0;
	}
	buf_addf(&b->buf, "%.*s check %s\n", STR_ARG(r->segment[0]), good ? "passed" : "failed");
	p->content_type = "text/plain; charset=utf-8";
	p->text = true;
	return reply_json(p, good ? 200 : 500, b, 0, st);
}
