/* SPDX-License-Identifier: Apache-2.0 */
/* The grammars of names and keys, with kube-apiserver's messages. */
#include "store/kind/names.h"
#include "tests/unit/tap.h"

#define REGEX_LABEL "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define SUBDOMAIN                                                                                               \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must " \
	"start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '"         \
	REGEX_LABEL "(\\." REGEX_LABEL ")*')"
#define LABEL                                                                                                \
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start " \
	"and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '" \
	REGEX_LABEL "')"
#define NAME_PART                                                                                           \
	"name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "  \
	"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "    \
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

#define A63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"
#define A253 A63 "." A63 "." A63 "." A63 /* 255 */

static bool same(const char *got, const char *want)
{
	bool good = got && want ? strcmp(got, want) == 0 : got == want;

	if (!good)
		printf("# got %s\n# want %s\n", got ? got : "nothing", want ? want : "nothing");
	return good;
}

struct row {
	const char *(*check)(struct str s);
	const char *text, *want;
};

static void texts(void)
{
	static const struct row rows[] = {
		{name_dns1123_label, "a", NULL},
		{name_dns1123_label, "0-a", NULL},
		{name_dns1123_label, A63, NULL},
		{name_dns1123_label, A63 "a", "must be no more than 63 characters"},
		{name_dns1123_label, "a.b", "must not contain dots"},
		{name_dns1123_label, "", LABEL},
		{name_dns1123_label, "-a", LABEL},
		{name_dns1123_label, "a-", LABEL},
		{name_dns1123_label, "A", LABEL},
		{name_dns1123_subdomain, "a.b-c.0", NULL},
		{name_dns1123_subdomain, "a..b", SUBDOMAIN},
		{name_dns1123_subdomain, ".a", SUBDOMAIN},
		{name_dns1123_subdomain, "a.", SUBDOMAIN},
		{name_dns1123_subdomain, "a-.b", SUBDOMAIN},
		{name_dns1123_subdomain, "a.-b", SUBDOMAIN},
		{name_dns1123_subdomain, "a_b", SUBDOMAIN},
		{name_dns1123_subdomain, "", SUBDOMAIN},
		{name_dns1123_subdomain, A253, "must be no more than 253 characters"},
		{name_dns1035_label, "a0", NULL},
		{name_path_segment, "system:node", NULL},
		{name_path_segment, "", NULL},
		{name_path_segment, ".", "may not be '.'"},
		{name_path_segment, "..", "may not be '..'"},
		{name_path_segment, "...", NULL},
		{name_path_segment, "a/b", "may not contain '/'"},
		{name_path_segment, "a%b", "may not contain '%'"},
		{name_label_key, "app", NULL},
		{name_label_key, "example.com/My_Key.0", NULL},
		{name_label_key, "/a", "prefix part must be non-empty"},
		{name_label_key, "a/", "name part must be non-empty"},
		{name_label_key, "", "name part must be non-empty"},
		{name_label_key, "-a", NAME_PART},
		{name_label_key, "A.b/a", "prefix part " SUBDOMAIN},
		{name_label_key, A63 "a", "name part must be no more than 63 characters"},
		{name_annotation_key, "Example.COM/a", NULL},
		{name_annotation_key, "Example_COM/a", "prefix part " SUBDOMAIN},
		{name_label_value, "", NULL},
		{name_label_value, "A_b.c-0", NULL},
		{name_label_value, A63 "a", "must be no more than 63 characters"},
		{name_config_key, ".dockerconfigjson", NULL},
		{name_config_key, ".", "must not be '.'"},
		{name_config_key, "..", "must not be '..'"},
		{name_config_key, "..a", "must not start with '..'"},
		{name_env_var, "A B-c.1", NULL},
		{name_env_var, "", "environment variable name must be non-empty"},
		{name_env_var, "a=b",
		 "a valid environment variable name must consist only of printable ASCII characters other than '='"},
		{name_port_name, "http-2", NULL},
		{name_port_name, "aaaaaaaaaaaaaaaa", "must be no more than 15 characters"},
		{name_port_name, "80", "must contain at least one letter (a-z)"},
		{name_port_name, "a--b", "must not contain consecutive hyphens"},
		{name_port_name, "-a", "must not begin or end with a hyphen"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ok(same(rows[i].check(str_of(rows[i].text)), rows[i].want), "row %zu: %.30s", i, rows[i].text);
	ok(name_dns1035_label(STR("0a")) && name_label_value(STR("-a")) && name_config_key(STR("a b")) &&
		   name_config_key(STR("")) && name_label_key(STR("a/b/c")) && name_env_var(STR("a\tb")),
	   "more bad texts");
	ok(name_dns1123_subdomain(STR("a\0b")) && name_label_value(STR("a\nb")), "control bytes are no names");
}

static void all_faults(void)
{
	struct name_faults f;

	name_check(GRAMMAR_LABEL_KEY, STR("/"), &f);
	ok(f.n == 3 && same(f.text[0], "prefix part must be non-empty") && same(f.text[2], NAME_PART),
	   "every fault is told, in order");
	name_check(GRAMMAR_PORT_NAME, STR("-0--------------"), &f);
	ok(f.n == 4, "a port name with four faults (%u)", f.n);
	name_check(GRAMMAR_LABEL_KEY, STR("a"), &f);
	ok(f.n == 0, "none for a good text");
}

static const char *of(const char *group, const char *plural, const char *name, bool prefix)
{
	return name_of_kind(kinds_find(kinds_builtin(), str_of(group), STR("v1"), str_of(plural)), str_of(name), prefix);
}

static void kinds(void)
{
	char huge[600];

	memset(huge, 'a', sizeof(huge));
	huge[sizeof(huge) - 2] = '-';
	huge[sizeof(huge) - 1] = 0;
	ok(!of("", "pods", "a.b", false), "pods may have dots");
	ok(same(of("", "services", "a.b", false), "must not contain dots"), "services may not");
	ok(!of("", "services", "0a", false), "services may start with a digit");
	ok(!of("rbac.authorization.k8s.io", "clusterroles", "system:node", false), "roles may have colons");
	ok(same(of("rbac.authorization.k8s.io", "clusterroles", "..", false), "may not be '..'"), "but are path segments");
	ok(same(of("batch", "cronjobs", A63, false), "must be no more than 52 characters"), "cron jobs are shorter");
	ok(!of("networking.k8s.io", "ipaddresses", "10.0.0.1", false), "an IPv4 address");
	ok(!of("networking.k8s.io", "ipaddresses", "2001:db8::1", false), "an IPv6 address");
	ok(same(of("networking.k8s.io", "ipaddresses", "2001:DB8::1", false), "must be a canonical format IP address"),
	   "an address that is not canonical");
	ok(of("networking.k8s.io", "ipaddresses", "10.0.0.256", false) != NULL, "no address");
	ok(!of("", "pods", "web-", true), "a prefix may end with a dash");
	ok(!of("", "pods", "web--", true), "even with two");
	ok(of("", "pods", "-", true) != NULL, "but not be one");
	ok(of("", "pods", "web-", false) != NULL, "a name may not end with a dash");
	ok(!of("rbac.authorization.k8s.io", "roles", "..", true), "a prefix may become a good path segment");
	ok(same(of("", "pods", huge, true), "must be no more than 253 characters"), "a long prefix");
	ok(of("", "pods", "", false) != NULL, "an empty name");
}

int main(void)
{
	texts();
	all_faults();
	kinds();
	return tap_done();
}
