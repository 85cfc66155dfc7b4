/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-written matchers for the grammars of apimachinery's validation, with its messages. */
#include "store/kind/names.h"

#include <arpa/inet.h>

enum {
	LABEL_MAX = 63,
	SUBDOMAIN_MAX = 253,
	PORT_NAME_MAX = 15,
	CRONJOB_NAME_MAX = 52, /* its jobs add a dash and ten digits */
};

#define LABEL_1123 "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define QUALIFIED "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

#define TEXT_TOO_LONG(n) "must be no more than " #n " characters"
#define TEXT_SUBDOMAIN                                                                                            \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "   \
	"start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '" LABEL_1123 \
	"(\\." LABEL_1123 ")*')"
#define TEXT_LABEL                                                                                                \
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and "  \
	"end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '" LABEL_1123 \
	"')"
#define TEXT_LABEL_1035                                                                                           \
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "      \
	"character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for "          \
	"validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define TEXT_QUALIFIED                                                                                            \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "     \
	"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '" QUALIFIED "')"
#define TEXT_LABEL_VALUE                                                                                          \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "    \
	"start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for " \
	"validation is '(" QUALIFIED ")?')"
#define TEXT_CONFIG_KEY                                                                                           \
	"a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "         \
	"'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

static void fault_add(struct name_faults *f, bool wrong, const char *text)
{
	if (wrong && f->n < NAME_FAULTS_MAX)
		f->text[f->n++] = text;
}

/* Not <ctype.h>: the locale must not matter. */
static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower_alnum(char c)
{
	return is_lower(c) || is_digit(c);
}

static bool is_alnum(char c)
{
	return is_lower_alnum(c) || is_upper(c);
}

static bool is_key_char(char c)
{
	return is_alnum(c) || c == '-' || c == '_' || c == '.';
}

/* [a-z0-9]([-a-z0-9]*[a-z0-9])? */
static bool match_label(struct str s)
{
	if (s.len == 0 || !is_lower_alnum(s.ptr[0]) || !is_lower_alnum(s.ptr[s.len - 1]))
		return false;
	for (size_t i = 1; i < s.len; i++)
		if (!is_lower_alnum(s.ptr[i]) && s.ptr[i] != '-')
			return false;
	return true;
}

/* Labels with dots between them; fold: upper case letters count as lower case. */
static bool match_subdomain(struct str s, bool fold)
{
	bool at_start = true; /* an alphanumeric character is due */
	char last = '.';

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		bool alnum = is_lower_alnum(c) || (fold && is_upper(c));

		if (!alnum && c != '-' && c != '.')
			return false;
		if (at_start && !alnum)
			return false;
		if (c == '.' && last == '-')
			return false;
		at_start = c == '.';
		last = c;
	}
	return s.len > 0 && last != '.' && last != '-';
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9] */
static bool match_qualified(struct str s)
{
	if (s.len == 0 || !is_alnum(s.ptr[0]) || !is_alnum(s.ptr[s.len - 1]))
		return false;
	for (size_t i = 1; i < s.len; i++)
		if (!is_key_char(s.ptr[i]))
			return false;
	return true;
}

static void check_dns1123_label(struct str s, struct name_faults *f)
{
	fault_add(f, s.len > LABEL_MAX, TEXT_TOO_LONG(63));
	if (!match_label(s))
		fault_add(f, true, match_subdomain(s, false) ? "must not contain dots" : TEXT_LABEL);
}

static void check_dns1123_subdomain(struct str s, struct name_faults *f)
{
	fault_add(f, s.len > SUBDOMAIN_MAX, TEXT_TOO_LONG(253));
	fault_add(f, !match_subdomain(s, false), TEXT_SUBDOMAIN);
}

static void check_dns1035_label(struct str s, struct name_faults *f)
{
	fault_add(f, s.len > LABEL_MAX, TEXT_TOO_LONG(63));
	fault_add(f, !match_label(s) || !is_lower(s.ptr[0]), TEXT_LABEL_1035);
}

static void check_path_content(struct str s, struct name_faults *f)
{
	fault_add(f, str_chr(s, '/') >= 0, "may not contain '/'");
	fault_add(f, str_chr(s, '%') >= 0, "may not contain '%'");
}

static void check_path_segment(struct str s, struct name_faults *f)
{
	if (str_is(s, "."))
		fault_add(f, true, "may not be '.'");
	else if (str_is(s, ".."))
		fault_add(f, true, "may not be '..'");
	else
		check_path_content(s, f);
}

static void check_key(struct str s, bool fold, struct name_faults *f)
{
	ptrdiff_t slash = str_chr(s, '/');
	struct str name = slash < 0 ? s : str_skip(s, (size_t)slash + 1);

	if (str_chr(name, '/') >= 0) {
		fault_add(f, true, "a valid label key " TEXT_QUALIFIED
				   " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
		return;
	}
	if (slash == 0) {
		fault_add(f, true, "prefix part must be non-empty");
	} else if (slash > 0) {
		fault_add(f, slash > SUBDOMAIN_MAX, "prefix part " TEXT_TOO_LONG(253));
		fault_add(f, !match_subdomain(str_n(s.ptr, (size_t)slash), fold), "prefix part " TEXT_SUBDOMAIN);
	}
	fault_add(f, name.len == 0, "name part must be non-empty");
	fault_add(f, name.len > LABEL_MAX, "name part " TEXT_TOO_LONG(63));
	fault_add(f, !match_qualified(name), "name part " TEXT_QUALIFIED);
}

static void check_label_key(struct str s, struct name_faults *f)
{
	check_key(s, false, f);
}

static void check_annotation_key(struct str s, struct name_faults *f)
{
	check_key(s, true, f);
}

static void check_label_value(struct str s, struct name_faults *f)
{
	fault_add(f, s.len > LABEL_MAX, TEXT_TOO_LONG(63));
	fault_add(f, s.len > 0 && !match_qualified(s), TEXT_LABEL_VALUE);
}

static void check_config_key(struct str s, struct name_faults *f)
{
	bool good = s.len > 0;

	for (size_t i = 0; good && i < s.len; i++)
		good = is_key_char(s.ptr[i]);
	fault_add(f, s.len > SUBDOMAIN_MAX, TEXT_TOO_LONG(253));
	fault_add(f, !good, TEXT_CONFIG_KEY);
	if (str_is(s, "."))
		fault_add(f, true, "must not be '.'");
	else if (str_is(s, ".."))
		fault_add(f, true, "must not be '..'");
	else
		fault_add(f, str_starts(s, STR("..")), "must not start with '..'");
}

static void check_env_var(struct str s, struct name_faults *f)
{
	bool good = true;

	for (size_t i = 0; good && i < s.len; i++)
		good = s.ptr[i] >= ' ' && s.ptr[i] <= '~' && s.ptr[i] != '=';
	fault_add(f, s.len == 0, "environment variable name must be non-empty");
	fault_add(f, !good,
		  "a valid environment variable name must consist only of printable ASCII characters other than '='");
}

static void check_port_name(struct str s, struct name_faults *f)
{
	bool charset = s.len > 0, letter = false, twice = false;

	for (size_t i = 0; i < s.len; i++) {
		charset &= is_lower_alnum(s.ptr[i]) || s.ptr[i] == '-';
		letter |= is_lower(s.ptr[i]);
		twice |= i > 0 && s.ptr[i] == '-' && s.ptr[i - 1] == '-';
	}
	fault_add(f, s.len > PORT_NAME_MAX, TEXT_TOO_LONG(15));
	fault_add(f, !charset, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
	fault_add(f, !letter, "must contain at least one letter (a-z)");
	fault_add(f, twice, "must not contain consecutive hyphens");
	fault_add(f, s.len > 0 && (s.ptr[0] == '-' || s.ptr[s.len - 1] == '-'),
		  "must not begin or end with a hyphen");
}

static void (*const checks[GRAMMAR_COUNT])(struct str, struct name_faults *) = {
	[GRAMMAR_DNS1123_LABEL] = check_dns1123_label,
	[GRAMMAR_DNS1123_SUBDOMAIN] = check_dns1123_subdomain,
	[GRAMMAR_DNS1035_LABEL] = check_dns1035_label,
	[GRAMMAR_PATH_SEGMENT] = check_path_segment,
	[GRAMMAR_LABEL_KEY] = check_label_key,
	[GRAMMAR_LABEL_VALUE] = check_label_value,
	[GRAMMAR_ANNOTATION_KEY] = check_annotation_key,
	[GRAMMAR_CONFIG_KEY] = check_config_key,
	[GRAMMAR_ENV_VAR] = check_env_var,
	[GRAMMAR_PORT_NAME] = check_port_name,
};

void name_check(enum name_grammar grammar, struct str s, struct name_faults *ret)
{
	ret->n = 0;
	checks[grammar](s, ret);
}

static const char *first_fault(enum name_grammar grammar, struct str s)
{
	struct name_faults f;

	name_check(grammar, s, &f);
	return f.n ? f.text[0] : NULL;
}

const char *name_dns1123_label(struct str s)
{
	return first_fault(GRAMMAR_DNS1123_LABEL, s);
}

const char *name_dns1123_subdomain(struct str s)
{
	return first_fault(GRAMMAR_DNS1123_SUBDOMAIN, s);
}

const char *name_dns1035_label(struct str s)
{
	return first_fault(GRAMMAR_DNS1035_LABEL, s);
}

const char *name_path_segment(struct str s)
{
	return first_fault(GRAMMAR_PATH_SEGMENT, s);
}

const char *name_label_key(struct str s)
{
	return first_fault(GRAMMAR_LABEL_KEY, s);
}

const char *name_label_value(struct str s)
{
	return first_fault(GRAMMAR_LABEL_VALUE, s);
}

const char *name_annotation_key(struct str s)
{
	return first_fault(GRAMMAR_ANNOTATION_KEY, s);
}

const char *name_config_key(struct str s)
{
	return first_fault(GRAMMAR_CONFIG_KEY, s);
}

const char *name_env_var(struct str s)
{
	return first_fault(GRAMMAR_ENV_VAR, s);
}

const char *name_port_name(struct str s)
{
	return first_fault(GRAMMAR_PORT_NAME, s);
}

/* IPAddress objects are named by the text that the address itself would print as. */
static const char *check_ip(struct str s)
{
	char in[INET6_ADDRSTRLEN], out[INET6_ADDRSTRLEN];
	unsigned char address[sizeof(struct in6_addr)];
	int family = str_chr(s, ':') >= 0 ? AF_INET6 : AF_INET;

	if (s.len >= sizeof(in) || str_chr(s, 0) >= 0)
		return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
	memcpy(in, s.len ? s.ptr : "", s.len);
	in[s.len] = 0;
	if (inet_pton(family, in, address) != 1)
		return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
	if (!inet_ntop(family, address, out, sizeof(out)) || strcmp(in, out) != 0)
		return "must be a canonical format IP address";
	return NULL;
}

static const char *check_rule(enum name_rule rule, struct str s)
{
	switch (rule) {
	case NAME_LABEL:
		return name_dns1123_label(s);
	case NAME_PATH_SEGMENT:
	case NAME_APISERVICE:
		return name_path_segment(s);
	case NAME_IP:
		return check_ip(s);
	case NAME_CRONJOB:
		if (!name_dns1123_subdomain(s) && s.len > CRONJOB_NAME_MAX)
			return TEXT_TOO_LONG(52);
		return name_dns1123_subdomain(s);
	case NAME_SUBDOMAIN:
	case NAME_CRD:
		break;
	}
	return name_dns1123_subdomain(s);
}

/* A generateName is checked as a name would be that goes on with a letter instead of its last dash, one shorter
 * than the prefix, as kube-apiserver does. */
static const char *check_prefix(enum name_rule rule, struct str s)
{
	char masked[SUBDOMAIN_MAX + 3]; /* what is longer than a name may be stays so */
	size_t n = s.len - 2;

	if (n > sizeof(masked) - 1)
		n = sizeof(masked) - 1;
	memcpy(masked, s.ptr, n);
	masked[n] = 'a';
	return check_rule(rule, str_n(masked, n + 1));
}

const char *name_of_kind(const struct kind *k, struct str s, bool prefix)
{
	struct name_faults f = {.n = 0};

	if (!prefix)
		return s.len ? check_rule(k->name_rule, s) : "must be non-empty";
	if (k->name_rule == NAME_PATH_SEGMENT || k->name_rule == NAME_APISERVICE) {
		check_path_content(s, &f);
		return f.n ? f.text[0] : NULL;
	}
	if (k->name_rule == NAME_IP)
		return "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
	if (s.len > 1 && s.ptr[s.len - 1] == '-')
		return check_prefix(k->name_rule, s);
	return check_rule(k->name_rule, s);
}
