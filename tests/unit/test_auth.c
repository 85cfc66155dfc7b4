/* SPDX-License-Identifier: Apache-2.0 */
/* Who gets in: tokens, Host names, Origins, forms. */
#include "api/auth.h"

#include "api/request.h"
#include "tests/unit/tap.h"

static const struct row {
	const char *what;
	enum method method;
	const char *segment; /* first of the path */
	const char *host, *token, *origin, *type; /* NULL: not sent */
	bool trusted;
	unsigned http;       /* 0: passes */
} rows[] = {
	{"token", METHOD_GET, "api", "127.0.0.1:1", "Bearer secret", NULL, NULL, false, 0},
	{"token, lower case scheme", METHOD_GET, "api", "localhost", "bearer secret", NULL, NULL, false, 0},
	{"no token", METHOD_GET, "api", "localhost", NULL, NULL, NULL, false, 401},
	{"wrong token", METHOD_GET, "api", "localhost", "Bearer secreT", NULL, NULL, false, 401},
	{"longer token", METHOD_GET, "api", "localhost", "Bearer secrets", NULL, NULL, false, 401},
	{"shorter token", METHOD_GET, "api", "localhost", "Bearer secre", NULL, NULL, false, 401},
	{"empty token", METHOD_GET, "api", "localhost", "Bearer ", NULL, NULL, false, 401},
	{"other scheme", METHOD_GET, "api", "localhost", "Basic secret", NULL, NULL, false, 401},
	{"health", METHOD_GET, "readyz", "localhost", NULL, NULL, NULL, false, 0},
	{"version", METHOD_GET, "version", "localhost", NULL, NULL, NULL, false, 0},
	{"metrics", METHOD_GET, "metrics", "localhost", NULL, NULL, NULL, false, 401},
	{"posting health", METHOD_POST, "readyz", "localhost", NULL, NULL, NULL, false, 401},
	{"no host", METHOD_GET, "api", NULL, "Bearer secret", NULL, NULL, false, 403},
	{"foreign host", METHOD_GET, "readyz", "evil.example", NULL, NULL, NULL, false, 403},
	{"foreign address", METHOD_GET, "api", "192.0.2.1:80", "Bearer secret", NULL, NULL, false, 403},
	{"loopback, version 6", METHOD_GET, "api", "[::1]:6443", "Bearer secret", NULL, NULL, false, 0},
	{"host that listens", METHOD_GET, "api", "me.example:6443", "Bearer secret", NULL, NULL, false, 0},
	{"host that is allowed", METHOD_GET, "api", "Other.Example", "Bearer secret", NULL, NULL, false, 0},
	{"prefix of a host", METHOD_GET, "api", "me.example.evil.example", "Bearer secret", NULL, NULL, false, 403},
	{"web page", METHOD_GET, "api", "localhost", "Bearer secret", "http://localhost", NULL, false, 403},
	{"JSON", METHOD_POST, "api", "localhost", "Bearer secret", NULL, "application/json", false, 0},
	{"form", METHOD_POST, "api", "localhost", "Bearer secret", NULL, "application/x-www-form-urlencoded", false, 415},
	{"text", METHOD_POST, "api", "localhost", "Bearer secret", NULL, "Text/Plain ; charset=x", false, 415},
	{"unix socket", METHOD_POST, "api", "whatever", NULL, NULL, NULL, true, 0},
	{"unix socket, form", METHOD_POST, "api", "whatever", NULL, NULL, "text/plain", true, 415},
};

static void add(struct request *r, const char *name, const char *value)
{
	if (value)
		r->header[r->nheaders++] = (struct pair){str_of(name), str_of(value)};
}

int main(void)
{
	struct auth a;
	struct status st;

	status_clear(&st);
	if (auth_init(&a, STR("secret"), "me.example", "x.example,other.example", &st) < 0)
		return 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct request r = {.method = row->method, .trusted = row->trusted, .nsegments = 1};
		r.segment[0] = str_of(row->segment);
		add(&r, "Host", row->host);
		add(&r, "Authorization", row->token);
		add(&r, "Origin", row->origin);
		add(&r, "Content-Type", row->type);
		status_clear(&st);
		int rc = auth_check(&a, &r, &st);
		ok(row->http ? rc < 0 && reason_http(st.reason) == row->http : rc == 0, "%s", row->what);
	}
	auth_done(&a);
	return tap_done();
}
