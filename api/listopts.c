/* SPDX-License-Identifier: Apache-2.0 */
/* resourceVersion, resourceVersionMatch, limit, continue, selectors, sendInitialEvents. */
#include "api/listopts.h"

#include <inttypes.h>

#include "api/wait.h"

enum match { MATCH_UNSET, MATCH_EXACT, MATCH_NOT_OLDER, MATCH_OTHER };

/* What both verbs share, as text and as number. */
struct version {
	struct str text; /* .len 0: unset */
	uint64_t number;
	enum match match;
	struct str match_text;
};

static enum match match_of(struct str s)
{
	if (s.len == 0)
		return MATCH_UNSET;
	if (str_is(s, "Exact"))
		return MATCH_EXACT;
	return str_is(s, "NotOlderThan") ? MATCH_NOT_OLDER : MATCH_OTHER;
}

static int version_parse(const struct request *r, struct version *v, struct status *st)
{
	v->text = request_param(r, "resourceVersion");
	v->match_text = request_param(r, "resourceVersionMatch");
	v->match = match_of(v->match_text);
	return revision_parse(v->text, &v->number, st);
}

static int invalid(struct status *st)
{
	return status_invalid(st, STR("meta.k8s.io"), STR("ListOptions"), STR(""));
}

static void forbid(struct status *st, const char *field, const char *why)
{
	status_cause(st, CAUSE_FORBIDDEN, field, ": %s", why);
}

static void bad_match(struct status *st, const struct version *v)
{
	status_cause(st, CAUSE_NOT_SUPPORTED, "resourceVersionMatch",
		     ": \"%.*s\": supported values: \"Exact\", \"NotOlderThan\"", STR_ARG(v->match_text));
}

static void check_list_match(const struct version *v, bool continued, struct status *st)
{
	if (v->match == MATCH_UNSET)
		return;
	if (continued)
		forbid(st, "resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
	if (v->text.len == 0)
		forbid(st, "resourceVersionMatch",
		       "resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (v->match == MATCH_OTHER)
		bad_match(st, v);
	if (v->match == MATCH_EXACT && v->text.len && v->number == 0)
		forbid(st, "resourceVersionMatch",
		       "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
}

static int parse_limit(const struct request *r, uint64_t *ret, struct status *st)
{
	struct str s = request_param(r, "limit");

	*ret = 0;
	if (s.len == 0 || (s.ptr[0] == '-' && s.len > 1))
		return 0;
	if (!str_u64(s, ret))
		return status_set(st, REASON_BAD_REQUEST, "limit \"%.*s\" is not a number", STR_ARG(s));
	return 0;
}

/* A path with a name stands for the selector metadata.name=NAME. */
static int parse_selectors(struct request *r, struct selector **labels, struct selector **fields, struct str *only,
			   struct status *st)
{
	struct str l = request_param(r, "labelSelector"), f = request_param(r, "fieldSelector");
	int rc = selector_parse_labels(&r->arena, l, labels, st);

	if (rc < 0)
		return rc;
	rc = selector_parse_fields(&r->arena, r->kind, f, fields, st);
	if (rc < 0)
		return rc;
	*only = *fields ? selector_name(*fields) : STR("");
	if (!r->name.len)
		return 0;
	if (only->len && !str_eq(*only, r->name))
		return status_set(st, REASON_BAD_REQUEST,
				  "fieldSelector metadata.name doesn't match requested name");
	struct str text = arena_printf(&r->arena, "%.*s%smetadata.name=%.*s", STR_ARG(f), f.len ? "," : "",
				       STR_ARG(r->name));
	if (!text.ptr)
		return status_no_memory(st);
	*only = r->name;
	return selector_parse_fields(&r->arena, r->kind, text, fields, st);
}

static int parse_continue(struct request *r, const struct version *v, struct listopts *o, struct status *st)
{
	struct str text = request_param(r, "continue");

	if (text.len == 0)
		return 0;
	if (v->text.len && v->number != 0)
		return status_set(st, REASON_BAD_REQUEST,
				  "specifying resource version is not allowed when using continue");
	int rc = token_parse(&r->arena, text, &o->token, st);
	if (rc < 0)
		return rc;
	/* The key must lie where this list looks. */
	bool namespaced = kind_is(r->kind, KIND_NAMESPACED);
	if (namespaced != (o->token.ns.len > 0) || (r->ns.ptr && !str_eq(r->ns, o->token.ns)))
		return status_set(st, REASON_BAD_REQUEST, "invalid continue token: not of this list");
	o->continued = true;
	o->at = o->token.newest ? 0 : o->token.revision;
	o->least = o->at;
	return 0;
}

int listopts_parse(struct request *r, struct listopts *ret, struct status *st)
{
	struct listopts o = {0};
	struct version v;
	int rc = version_parse(r, &v, st);

	if (rc == 0)
		rc = parse_limit(r, &o.limit, st);
	if (rc == 0)
		rc = parse_continue(r, &v, &o, st);
	if (rc == 0)
		rc = parse_selectors(r, &o.labels, &o.fields, &o.only, st);
	if (rc < 0)
		return rc;
	if (request_param(r, "sendInitialEvents").len)
		forbid(st, "sendInitialEvents", "sendInitialEvents is forbidden for list");
	check_list_match(&v, o.continued, st);
	rc = invalid(st);
	if (rc < 0)
		return rc;
	if (!o.continued) {
		o.least = v.number;
		/* A limit without a match has always meant "exactly". */
		if (v.match == MATCH_EXACT || (v.match == MATCH_UNSET && o.limit))
			o.at = v.number;
	}
	*ret = o;
	return 0;
}

static void check_watch_match(const struct version *v, bool given, bool initial, struct status *st)
{
	if (!given) {
		if (v->match != MATCH_UNSET)
			forbid(st, "resourceVersionMatch",
			       "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
		return;
	}
	if (v->match == MATCH_OTHER || (v->match == MATCH_EXACT && initial))
		status_cause(st, CAUSE_NOT_SUPPORTED, "resourceVersionMatch",
			     ": \"%.*s\": supported values: \"NotOlderThan\"", STR_ARG(v->match_text));
	else if (v->match != MATCH_NOT_OLDER)
		forbid(st, "resourceVersionMatch",
		       "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
}

static int parse_seconds(const struct request *r, unsigned *ret, struct status *st)
{
	struct str s = request_param(r, "timeoutSeconds");
	uint64_t n = 0;

	if (s.len && s.ptr[0] != '-' && !str_u64(s, &n))
		return status_set(st, REASON_BAD_REQUEST, "timeoutSeconds \"%.*s\" is not a number", STR_ARG(s));
	*ret = n > 86400 ? 86400 : (unsigned)n;
	return 0;
}

int watchopts_parse(struct request *r, struct watchopts *ret, struct status *st)
{
	struct watchopts o = {0};
	struct version v;
	bool given = request_param(r, "sendInitialEvents").len > 0, initial = request_flag(r, "sendInitialEvents");
	int rc = version_parse(r, &v, st);

	if (rc == 0)
		rc = parse_seconds(r, &o.seconds, st);
	if (rc == 0)
		rc = parse_selectors(r, &o.labels, &o.fields, &o.only, st);
	if (rc < 0)
		return rc;
	check_watch_match(&v, given, initial, st);
	rc = invalid(st);
	if (rc < 0)
		return rc;
	o.after = v.number;
	o.bookmarks = request_flag(r, "allowWatchBookmarks");
	/* Unset or "0" without the parameter: the state now, as ever; its end is marked for who can read it. */
	o.initial = given ? initial : v.number == 0;
	o.initial_end = o.bookmarks && (given || o.initial);
	*ret = o;
	return 0;
}
