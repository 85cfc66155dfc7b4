/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of Jobs and CronJobs. */
#include "store/kind/checks.h"

#include <stdio.h>
#include <strings.h>

#include "store/kind/names.h"

#define CONTROLLER_UID "batch.kubernetes.io/controller-uid"

/* Pods of a job must be allowed to end. */
static void check_restart(const struct checking *c, const struct tree *spec, const char *field)
{
	static const struct str policies[] = {STR_INIT("OnFailure"), STR_INIT("Never")};
	const struct tree *policy = tree_path(spec, "template.spec.restartPolicy");
	struct str text = tree_text(policy);

	if (!text.len || str_is(text, "Always"))
		check_missing(c, NULL, field, "valid values: \"OnFailure\", \"Never\"");
	else if (!check_one_of(text, policies, 2))
		check_unsupported(c, NULL, field, policy, policies, 2);
}

/* ---- Job ---- */

static bool indexed(const struct tree *spec)
{
	return str_is(tree_gets(spec, "completionMode"), "Indexed");
}

static void check_job_selector(const struct checking *c, const struct tree *object)
{
	const struct tree *spec = tree_getz(object, "spec"), *selector = tree_getz(spec, "selector");
	const struct tree *labels = tree_path(spec, "template.metadata.labels");
	struct str uid = tree_gets(tree_getz(object, "metadata"), "uid");
	bool manual = tree_is_true(tree_getz(spec, "manualSelector"));

	if (!selector) {
		if (manual)
			check_missing(c, NULL, "spec.selector", "");
		return;
	}
	if (!c->old && !manual && uid.len) {
		const struct tree *exact = tree_getz(selector, "matchLabels");
		bool ours = check_members(exact) == 1 && !check_items(tree_getz(selector, "matchExpressions")) &&
			    str_eq(tree_gets(exact, CONTROLLER_UID), uid);
		if (!ours)
			check_invalid(c, NULL, "spec.selector", selector, "`selector` not auto-generated");
	}
	if (!check_selects(selector, labels))
		check_invalid(c, NULL, "spec.template.metadata.labels", labels,
			      "`selector` does not match template `labels`");
}

static void check_indexed(const struct checking *c, const struct tree *object)
{
	enum { PARALLELISM_MAX = 100000 };
	const struct tree *spec = tree_getz(object, "spec"), *completions = tree_getz(spec, "completions");
	const struct tree *parallelism = tree_getz(spec, "parallelism");
	struct str name = tree_gets(tree_getz(object, "metadata"), "name");
	int64_t n = check_int(completions, 0);

	if (!completions)
		check_missing(c, NULL, "spec.completions", "when completion mode is Indexed");
	if (check_int(parallelism, 0) > PARALLELISM_MAX)
		check_invalid(c, NULL, "spec.parallelism", parallelism,
			      "must be less than or equal to 100000 when completion mode is Indexed");
	if (c->old || !name.len || n < 1)
		return;
	struct str host = arena_printf(c->arena, "%.*s-%lld", STR_ARG(name), (long long)n - 1);
	const char *wrong = host.ptr ? name_dns1123_label(host) : NULL;
	if (wrong)
		check_invalid_text(c, NULL, "metadata.name", name, wrong);
}

/* While a job is suspended and has never started, where and with what its pods run may still be decided. */
static const struct str undecided[] = {
	STR_INIT("affinity"),     STR_INIT("containers"),      STR_INIT("initContainers"),
	STR_INIT("nodeSelector"), STR_INIT("schedulingGates"), STR_INIT("tolerations"),
};
static const struct str container_undecided[] = {STR_INIT("resources")};
static const struct str metadata_undecided[] = {STR_INIT("annotations"), STR_INIT("labels")};

/* Members of a that b lacks or has otherwise, but for those listed. */
static bool differs(const struct tree *a, const struct tree *b, const struct str *except, size_t n)
{
	for (uint32_t i = 0; i < check_members(a); i++)
		if (!check_one_of(a->members[i].key, except, n) &&
		    !check_same(a->members[i].value, tree_get(b, a->members[i].key)))
			return true;
	return false;
}

static bool differ(const struct tree *a, const struct tree *b, const struct str *except, size_t n)
{
	return differs(a, b, except, n) || differs(b, a, except, n);
}

static bool containers_differ(const struct tree *a, const struct tree *b)
{
	if (check_items(a) != check_items(b))
		return true;
	for (uint32_t i = 0; i < check_items(a); i++)
		if (differ(a->items[i], b->items[i], container_undecided, 1))
			return true;
	return false;
}

static bool template_differs(const struct tree *now, const struct tree *old, bool open)
{
	const struct tree *spec = tree_getz(now, "spec"), *before = tree_getz(old, "spec");

	if (!open)
		return !check_same(now, old);
	return differ(spec, before, undecided, sizeof(undecided) / sizeof(undecided[0])) ||
	       containers_differ(tree_getz(spec, "containers"), tree_getz(before, "containers")) ||
	       containers_differ(tree_getz(spec, "initContainers"), tree_getz(before, "initContainers")) ||
	       differ(tree_getz(now, "metadata"), tree_getz(old, "metadata"), metadata_undecided, 2);
}

static void check_job_update(const struct checking *c, const struct tree *spec)
{
	static const char *const fixed[] = {
		"spec.selector",  "spec.completionMode", "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
		"spec.managedBy", "spec.successPolicy",
	};
	const struct tree *old = tree_getz(c->old, "spec"), *template = tree_getz(spec, "template");
	const struct tree *n = tree_getz(spec, "completions");
	bool open = tree_is_true(tree_getz(old, "suspend")) && !tree_path(c->old, "status.startTime");

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		check_immutable(c, fixed[i]);
	if (template_differs(template, tree_getz(old, "template"), open))
		check_invalid(c, NULL, "spec.template", template, "field is immutable");
	bool elastic = indexed(spec) && tree_equal(n, tree_getz(spec, "parallelism"));
	if (!tree_equal(n, tree_getz(old, "completions")) && (n || tree_getz(old, "completions")) && !elastic)
		check_invalid(c, NULL, "spec.completions", n, "field is immutable");
}

CHECK_FN(job)
{
	const struct tree *spec = tree_getz(object, "spec");

	(void)at;
	check_restart(c, spec, "spec.template.spec.restartPolicy");
	check_job_selector(c, object);
	if (indexed(spec))
		check_indexed(c, object);
	if (c->old)
		check_job_update(c, spec);
}

/* ---- CronJob: schedules ---- */

struct cron_field {
	unsigned min, max;
	const char *names; /* three letters each, from min on; NULL: none */
};

static const struct cron_field cron_fields[] = {
	{0, 59, NULL}, {0, 23, NULL}, {1, 31, NULL}, {1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
	{0, 6, "sunmontuewedthufrisat"},
};

enum { CRON_FIELDS = 5 };

static bool cron_number(struct str s, const struct cron_field *f, unsigned *ret)
{
	uint64_t n;

	if (str_u64(s, &n)) {
		*ret = (unsigned)n;
		return n >= f->min && n <= f->max;
	}
	for (size_t i = 0; f->names && s.len == 3 && f->names[i]; i += 3)
		if (strncasecmp(f->names + i, s.ptr, 3) == 0) {
			*ret = f->min + (unsigned)i / 3;
			return true;
		}
	return false;
}

/* `*`, `?`, N, N-M, each with an optional /STEP. */
static bool cron_range(struct str s, const struct cron_field *f)
{
	struct str step = s, from = str_cut(&step, '/');
	bool stepped = from.len < s.len;
	unsigned low, high;
	uint64_t n;

	if (stepped && (!str_u64(step, &n) || n == 0))
		return false;
	if (str_is(from, "*") || str_is(from, "?"))
		return true;
	struct str to = from, first = str_cut(&to, '-');
	if (!cron_number(first, f, &low))
		return false;
	if (first.len == from.len)
		return true;
	return cron_number(to, f, &high) && low <= high;
}

static bool cron_field_good(struct str s, const struct cron_field *f)
{
	size_t length = s.len;

	if (!length || s.ptr[length - 1] == ',')
		return false;
	while (s.len)
		if (!cron_range(str_cut(&s, ','), f))
			return false;
	return true;
}

/* Splits at blanks; returns the number of fields, of which the first CRON_FIELDS are kept. */
static unsigned cron_split(struct str s, struct str out[CRON_FIELDS])
{
	unsigned n = 0;

	while (s.len) {
		size_t len = 0;
		while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
			s = str_skip(s, 1);
		while (len < s.len && s.ptr[len] != ' ' && s.ptr[len] != '\t')
			len++;
		if (len && n++ < CRON_FIELDS)
			out[n - 1] = str_n(s.ptr, len);
		s = str_skip(s, len);
	}
	return n;
}

/* A Go duration such as 1h30m: only its shape. */
static bool cron_duration(struct str s)
{
	static const char *const units[] = {"ns", "us", "ms", "s", "m", "h"};
	bool good = false;

	while (s.len) {
		size_t digits = 0, letters = 0;
		while (digits < s.len && (s.ptr[digits] == '.' || (s.ptr[digits] >= '0' && s.ptr[digits] <= '9')))
			digits++;
		while (digits + letters < s.len && s.ptr[digits + letters] >= 'a')
			letters++;
		good = false;
		for (size_t i = 0; digits && i < sizeof(units) / sizeof(units[0]); i++)
			good |= str_is(str_n(s.ptr + digits, letters), units[i]);
		if (!good)
			return false;
		s = str_skip(s, digits + letters);
	}
	return good;
}

static bool cron_macro(struct str s)
{
	static const struct str macros[] = {
		STR_INIT("@yearly"), STR_INIT("@annually"), STR_INIT("@monthly"), STR_INIT("@weekly"),
		STR_INIT("@daily"),  STR_INIT("@midnight"), STR_INIT("@hourly"),
	};

	if (str_starts(s, STR("@every ")))
		return cron_duration(str_skip(s, 7));
	return check_one_of(s, macros, sizeof(macros) / sizeof(macros[0]));
}

static void check_schedule(const struct checking *c, const struct tree *schedule)
{
	struct str s = tree_text(schedule), fields[CRON_FIELDS];
	char detail[256];

	if (!s.len) {
		check_missing(c, NULL, "spec.schedule", "");
		return;
	}
	if (str_starts(s, STR("TZ=")) || str_starts(s, STR("CRON_TZ="))) {
		if (!c->old || !tree_equal(schedule, tree_path(c->old, "spec.schedule")))
			check_invalid(c, NULL, "spec.schedule", schedule,
				      "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
		return;
	}
	if (s.ptr[0] == '@') {
		snprintf(detail, sizeof(detail), "unrecognized descriptor: %.*s", STR_ARG(s));
		if (!cron_macro(s))
			check_invalid(c, NULL, "spec.schedule", schedule, detail);
		return;
	}
	unsigned n = cron_split(s, fields);
	if (n != CRON_FIELDS) {
		snprintf(detail, sizeof(detail), "expected exactly 5 fields, found %u: [%.*s]", n, STR_ARG(s));
		check_invalid(c, NULL, "spec.schedule", schedule, detail);
		return;
	}
	for (unsigned i = 0; i < CRON_FIELDS; i++)
		if (!cron_field_good(fields[i], &cron_fields[i])) {
			snprintf(detail, sizeof(detail), "failed to parse field: %.*s", STR_ARG(fields[i]));
			check_invalid(c, NULL, "spec.schedule", schedule, detail);
			return;
		}
}

/* The shape of a zone name; which zones exist is the machine's affair. */
static bool zone_good(struct str s)
{
	if (!s.len || s.ptr[0] == '/' || s.ptr[s.len - 1] == '/' || 
	    (s.len == 5 && strncasecmp(s.ptr, "local", 5) == 0))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		char b = s.ptr[i];
		bool word = (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9');
		if (!word && !memchr("/_+-", b, 4))
			return false;
	}
	return true;
}

CHECK_FN(cron_job)
{
	const struct tree *spec = tree_getz(object, "spec"), *zone = tree_getz(spec, "timeZone");

	(void)at;
	check_schedule(c, tree_getz(spec, "schedule"));
	if (zone && !zone_good(tree_text(zone)))
		check_invalid(c, NULL, "spec.timeZone", zone,
			      tree_text(zone).len ? "unknown time zone" : "timeZone must be nil or non-empty string");
	check_restart(c, tree_path(spec, "jobTemplate.spec"), "spec.jobTemplate.spec.template.spec.restartPolicy");
}
