/* SPDX-License-Identifier: Apache-2.0 */
/* Request targets, booleans of the query, and the gate for ambiguous framing. */
#include "api/request.h"

#include "api/gate.h"
#include "tests/unit/tap.h"

static int parse(struct request *r, const char *uri)
{
	struct status st;

	*r = (struct request){.uri = str_of(uri)};
	arena_init(&r->arena, 0);
	status_clear(&st);
	return request_parse_uri(r, &st);
}

static void paths(void)
{
	static const char *const bad[] = {
		"", "api", "//", "/api//v1", "/api/../v1", "/api/.", "/a/%2e%2e/b", "/a%2fb", "/a%5cb", "/a\\b", "/a%00b",
		"/a%0ab", "/%", "/%4", "/%zz", "/a%7f", "/a%ff", "/a?x=%", "/a?x=%ff",
		"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17",
	};
	struct request r;

	ok(parse(&r, "/api/v1/namespaces/a%2Db/pods/x?limit=5&a=%20+b&flag&=v") == 0 && r.nsegments == 6 &&
		   str_is(r.segment[3], "a-b") && str_is(r.path, "/api/v1/namespaces/a%2Db/pods/x"), "segments are decoded");
	ok(str_is(request_param(&r, "limit"), "5") && str_is(request_param(&r, "a"), "  b"), "parameters are decoded");
	ok(request_param(&r, "flag").ptr && !request_param(&r, "absent").ptr, "empty and absent differ");
	request_done(&r);
	ok(parse(&r, "/") == 0 && r.nsegments == 0, "the root has no segments");
	request_done(&r);
	ok(parse(&r, "/api/") == 0 && r.nsegments == 1, "one slash at the end is nothing");
	request_done(&r);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok(parse(&r, bad[i]) < 0, "'%s' is refused", bad[i] ? bad[i] : "");
		request_done(&r);
	}
}

static void flags(void)
{
	struct request r;

	parse(&r, "/?a=true&b=True&c=1&d=&e=0&f=false&g=FALSE&h=yes");
	ok(request_flag(&r, "a") && request_flag(&r, "b") && request_flag(&r, "c") && request_flag(&r, "h"), "true");
	ok(request_flag(&r, "d"), "empty is true");
	ok(!request_flag(&r, "e") && !request_flag(&r, "f") && !request_flag(&r, "g") && !request_flag(&r, "x"), "false");
	request_done(&r);
}

static const struct framing {
	const char *what;
	struct pair header[3];
	bool http10, good, body;
} framings[] = {
	{"nothing", {{{0}, {0}}}, false, true, false},
	{"a length", {{STR_INIT("Content-Length"), STR_INIT("5")}}, false, true, true},
	{"length 0", {{STR_INIT("Content-Length"), STR_INIT("0")}}, false, true, false},
	{"chunked", {{STR_INIT("Transfer-Encoding"), STR_INIT("Chunked")}}, false, true, true},
	{"both", {{STR_INIT("Content-Length"), STR_INIT("5")}, {STR_INIT("Transfer-Encoding"), STR_INIT("chunked")}},
	 false, false, true},
	{"two lengths", {{STR_INIT("Content-Length"), STR_INIT("5")}, {STR_INIT("content-length"), STR_INIT("5")}},
	 false, false, true},
	{"signed length", {{STR_INIT("Content-Length"), STR_INIT("+5")}}, false, false, true},
	{"length list", {{STR_INIT("Content-Length"), STR_INIT("5, 5")}}, false, false, true},
	{"empty length", {{STR_INIT("Content-Length"), STR_INIT("")}}, false, false, true},
	{"gzip, chunked", {{STR_INIT("Transfer-Encoding"), STR_INIT("gzip, chunked")}}, false, false, true},
	{"two hosts", {{STR_INIT("Host"), STR_INIT("a")}, {STR_INIT("host"), STR_INIT("b")}}, false, false, false},
	{"blank in a name", {{STR_INIT("Host "), STR_INIT("a")}}, false, false, false},
	{"control byte in a value", {{STR_INIT("X-A"), STR_INIT("a\rb")}}, false, false, false},
	{"body in HTTP/1.0", {{STR_INIT("Content-Length"), STR_INIT("5")}}, true, false, true},
	{"huge", {{STR_INIT("Content-Length"), STR_INIT("99999999999")}}, false, false, true},
	{"large but worth a 413 at the end", {{STR_INIT("Content-Length"), STR_INIT("4000000")}}, false, true, true},
	{"large, asking first", {{STR_INIT("Content-Length"), STR_INIT("4000000")},
	 {STR_INIT("Expect"), STR_INIT("100-continue")}}, false, false, true},
};

static void gates(void)
{
	for (size_t i = 0; i < sizeof(framings) / sizeof(framings[0]); i++) {
		const struct framing *f = &framings[i];
		struct request r = {.uri = STR("/api"), .http10 = f->http10};
		struct status st;
		bool body;
		for (unsigned j = 0; j < 3 && f->header[j].name.ptr; j++)
			r.header[r.nheaders++] = f->header[j];
		status_clear(&st);
		int rc = gate_check(&r, &body, &st);
		ok((rc == 0) == f->good && body == f->body, "gate: %s", f->what);
	}
	struct request r = {.uri = STR("http://host/api")};
	struct status st;
	bool body;
	status_clear(&st);
	ok(gate_check(&r, &body, &st) < 0, "gate: absolute form");
}

int main(void)
{
	paths();
	flags();
	gates();
	return tap_done();
}
