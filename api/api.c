/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the API's parts in order and stopping them in reverse. */
#include "api/api.h"

#include <stdlib.h>
#include <time.h>

#include "api/cache.h"
#include "api/engine.h"
#include "api/http.h"
#include "api/metrics.h"
#include "api/openapi.h"
#include "api/pool.h"
#include "api/server.h"

int64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void api_free(struct api *api)
{
	engine_stop(api->engine);
	http_free(api->http);
	cache_free(api->cache);
	openapi_free(api->openapi);
	metrics_free(api->metrics);
	pool_free(api->pool);
	auth_done(&api->auth);
	free(api);
}

static int start_parts(struct api *api, const struct api_options *o, struct status *st)
{
	api->pool = pool_new();
	api->cache = cache_new();
	api->metrics = metrics_new();
	api->openapi = openapi_new();
	api->http = http_new(api);
	if (!api->pool || !api->cache || !api->metrics || !api->openapi || !api->http)
		return status_no_memory(st);
	int rc = auth_init(&api->auth, o->token, o->host, o->allowed_hosts, st);
	if (rc == 0)
		rc = engine_start(api, &api->engine, st);
	if (rc < 0)
		return rc;
	rc = http_start(api->http, o, st);
	if (rc < 0)
		http_stop(api->http);
	return rc;
}

int api_start(struct store *s, const struct api_options *options, struct api **ret, struct status *st)
{
	struct api *api = calloc(1, sizeof(*api));

	if (!api)
		return status_no_memory(st);
	api->store = s;
	api->read_only = options->read_only || store_is_read_only(s);
	api->gzip_loopback = options->gzip_loopback;
	int rc = start_parts(api, options, st);
	if (rc < 0) {
		api_free(api);
		return rc;
	}
	*ret = api;
	return 0;
}

unsigned api_port(const struct api *api)
{
	return http_port(api->http);
}

static void nap(void)
{
	struct timespec ts = {.tv_nsec = 2000000};

	nanosleep(&ts, NULL);
}

/* Watches get their last chunk within a moment; a client that does not read it is cut off. */
static void settle(struct api *api)
{
	int64_t patience = clock_ns() + 500000000;

	while (atomic_load(&api->streams) && clock_ns() < patience) {
		engine_drain(api->engine);
		nap();
	}
	/* A sleeping connection must not be stopped. What still sleeps waits for the writer, which answers. */
	while (atomic_load(&api->asleep)) {
		engine_drain(api->engine);
		nap();
	}
}

void api_stop(struct api *api)
{
	if (!api)
		return;
	atomic_store(&api->stopping, true);
	http_quiesce(api->http);
	engine_drain(api->engine);
	settle(api);
	http_stop(api->http);
	api_free(api);
}
