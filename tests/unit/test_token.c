/* SPDX-License-Identifier: Apache-2.0 */
/* Continue tokens: what is written can be read; nothing else can. */
#include "api/token.h"

#include "store/base/cleanup.h"
#include "tests/unit/tap.h"

static bool parses(const char *text, struct token *ret)
{
	static struct arena a; /* of the whole test */
	struct status st;

	if (!a.ceiling)
		arena_init(&a, 0);
	if (!text) {
		arena_done(&a);
		return false;
	}
	status_clear(&st);
	return token_parse(&a, str_of(text), ret, &st) == 0;
}

static void round_trip(const char *what, struct token t)
{
	char text[TOKEN_MAX];
	struct token back = {0};

	ok(token_format(&t, text) && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
						 strlen(text), "%s: URL-safe", what);
	ok(parses(text, &back) && back.newest == t.newest && (t.newest || back.revision == t.revision) &&
		   str_eq(back.ns, t.ns) && str_eq(back.name, t.name) && back.remaining == t.remaining,
	   "%s: comes back as it was", what);
	bool refused = true;
	size_t len = strlen(text);
	for (size_t i = 0; i < len; i++) {
		char cut[TOKEN_MAX];
		memcpy(cut, text, i);
		cut[i] = '\0';
		refused = refused && !parses(cut, &back);
	}
	ok(refused, "%s: no shorter text is a token", what);
}

int main(void)
{
	static const char *const bad[] = {
		"", "x", "====", "e30", "e30=", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
		/* rv 0 */ "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhXHUwMDAwIn0",
		/* start "a/b/c" */ "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhL2IvY1x1MDAwMCJ9",
		/* start "" */ "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJcdTAwMDAifQ",
	};
	char name[254], ns[64], text[TOKEN_MAX];
	struct token t;

	round_trip("namespaced", (struct token){.revision = 42, .ns = STR("shop"), .name = STR("web"), .remaining = 7});
	round_trip("cluster", (struct token){.revision = UINT64_MAX, .ns = STR(""), .name = STR("node-1"), .remaining = -1});
	round_trip("newest", (struct token){.newest = true, .ns = STR("a"), .name = STR("system:b.c"), .remaining = -1});
	memset(name, 'n', sizeof(name));
	memset(ns, 's', sizeof(ns));
	t = (struct token){.revision = UINT64_MAX, .ns = str_n(ns, 63), .name = str_n(name, 253), .remaining = INT64_MAX};
	ok(token_format(&t, text), "longest names fit");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!parses(bad[i], &t), "'%s' is none", bad[i]);
	parses(NULL, NULL);
	return tap_done();
}
