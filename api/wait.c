/* SPDX-License-Identifier: Apache-2.0 */
/* Waits without holding a thread: the connection sleeps, the engine wakes it. */
#include "api/wait.h"

#include "api/engine.h"
#include "api/server.h"

#define WAIT_NS 3000000000LL

int revision_parse(struct str text, uint64_t *ret, struct status *st)
{
	if (text.len == 0) {
		*ret = 0;
		return 0;
	}
	if (!str_u64(text, ret))
		return status_set(st, REASON_BAD_REQUEST, "invalid resource version \"%.*s\"", STR_ARG(text));
	return 0;
}

static int too_large(uint64_t revision, uint64_t now, struct status *st)
{
	st->retry_after = 1;
	status_cause(st, CAUSE_RESOURCE_VERSION_TOO_LARGE, "", "Too large resource version");
	return status_set(st, REASON_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
			  (unsigned long long)revision, (unsigned long long)now);
}

int wait_revision(struct request *r, uint64_t revision, struct status *st)
{
	uint64_t have = store_revision(r->api->store);
	int64_t now = clock_ns();

	if (have >= revision)
		return 0;
	if (!r->wait_until)
		r->wait_until = now + WAIT_NS;
	if (atomic_load(&r->api->stopping))
		return status_set(st, REASON_UNAVAILABLE, "the server is shutting down");
	if (now >= r->wait_until)
		return too_large(revision, have, st);
	int rc = engine_wait(r->api->engine, &r->park, revision, r->wait_until, st);
	return rc < 0 ? rc : REQUEST_WAIT;
}
