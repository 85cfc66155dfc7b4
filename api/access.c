/* SPDX-License-Identifier: Apache-2.0 */
/* The access log. */
#include "api/access.h"

#include "api/metrics.h"
#include "api/server.h"

/* The path as it came, fit for a log line. */
static void loggable(struct str path, char *out, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < path.len && n + 1 < room; i++) {
		char c = path.ptr[i];
		out[n++] = c > 0x20 && c < 0x7f && c != '"' && c != '\\' ? c : '?';
	}
	out[n] = '\0';
}

void access_note(struct request *r, unsigned code, size_t bytes)
{
	double seconds = (double)(clock_ns() - r->started) / 1e9;
	struct str uri = r->uri;
	char path[256];

	metrics_request(r->api->metrics, r, code, seconds, bytes);
	loggable(str_cut(&uri, '?'), path, sizeof(path));
	log_line(code >= 500 ? LOG_WARN : LOG_DEBUG, "msg=request method=%.*s path=\"%s\" code=%u ms=%.1f",
		 STR_ARG(r->method_name), path, code, seconds * 1e3);
}
