/* SPDX-License-Identifier: Apache-2.0 */
/* What a write's query, headers and body ask for. */
#include "api/server.h"
#include "api/write.h"

enum { MANAGER_MAX = 128 };

bool writeopts_dry_run(const struct request *r, struct status *st)
{
	bool dry = false;

	for (unsigned i = 0; i < r->nparams; i++) {
		if (!str_is(r->param[i].name, "dryRun") || r->param[i].value.len == 0)
			continue;
		if (str_is(r->param[i].value, "All"))
			dry = true;
		else
			status_cause(st, CAUSE_NOT_SUPPORTED, "dryRun", ": \"%.*s\": supported values: \"All\"",
				     STR_ARG(r->param[i].value));
	}
	return dry;
}

static enum field_validation validation(const struct request *r, struct status *st)
{
	struct str s = request_param(r, "fieldValidation");

	if (s.len == 0 || str_is(s, "Warn"))
		return VALIDATION_WARN;
	if (str_is(s, "Strict"))
		return VALIDATION_STRICT;
	if (!str_is(s, "Ignore"))
		status_cause(st, CAUSE_NOT_SUPPORTED, "fieldValidation",
			     ": \"%.*s\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"", STR_ARG(s));
	return VALIDATION_IGNORE;
}

static bool printable(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] < 0x20 || s.ptr[i] == 0x7f)
			return false;
	return true;
}

/* fieldManager, else the program's name from the User-Agent. */
static struct str manager(const struct request *r, struct status *st)
{
	struct str s = request_param(r, "fieldManager");

	if (s.len > MANAGER_MAX)
		status_cause(st, CAUSE_TOO_LONG, "fieldManager", ": may not be more than %d bytes", MANAGER_MAX);
	if (!printable(s))
		status_cause(st, CAUSE_INVALID, "fieldManager", ": should only contain printable characters");
	if (s.len)
		return s;
	struct str agent = request_header(r, "user-agent");
	struct str program = str_cut(&agent, '/');
	if (program.len > MANAGER_MAX)
		program.len = MANAGER_MAX;
	return printable(program) ? program : STR("unknown");
}

static const struct {
	const char *media;
	enum patch_type type;
} patches[] = {
	{"application/json-patch+json", PATCH_TYPE_JSON},
	{"application/merge-patch+json", PATCH_TYPE_MERGE},
	{"application/strategic-merge-patch+json", PATCH_TYPE_STRATEGIC},
	{"application/apply-patch+yaml", PATCH_TYPE_APPLY},
};

static int patch_type(struct request *r, enum patch_type *ret, struct status *st)
{
	struct str media = request_media(r);
	bool custom = kind_is(r->kind, KIND_CUSTOM);

	for (size_t i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
		if (!str_is(media, patches[i].media) || (custom && patches[i].type == PATCH_TYPE_STRATEGIC))
			continue;
		*ret = patches[i].type;
		return 0;
	}
	return status_set(st, REASON_UNSUPPORTED_MEDIA_TYPE,
			  "the body of the request was in an unknown format - accepted media types include: "
			  "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml%s",
			  custom ? "" : ", application/strategic-merge-patch+json");
}

static int check_patch(struct request *r, struct write_request *req, struct status *st)
{
	bool forced = request_param(r, "force").ptr != NULL;
	int rc = patch_type(r, &req->patch, st);

	if (rc < 0)
		return rc;
	if (req->patch == PATCH_TYPE_APPLY && !request_param(r, "fieldManager").len)
		status_cause(st, CAUSE_REQUIRED, "fieldManager", ": is required for apply patch");
	if (req->patch != PATCH_TYPE_APPLY && forced)
		status_cause(st, CAUSE_FORBIDDEN, "force", ": may not be specified for non-apply patch");
	req->force = request_flag(r, "force");
	return 0;
}

int writeopts_change(struct request *r, struct write_request *req, struct status *st)
{
	static const char *const kinds[] = {
		[WRITE_CREATE] = "CreateOptions",
		[WRITE_UPDATE] = "UpdateOptions",
		[WRITE_PATCH] = "PatchOptions",
	};
	int rc = req->verb == WRITE_PATCH ? check_patch(r, req, st) : 0;

	if (rc < 0)
		return rc;
	req->dry_run = writeopts_dry_run(r, st);
	req->validation = validation(r, st);
	req->manager = manager(r, st);
	return status_invalid(st, STR("meta.k8s.io"), str_of(kinds[req->verb]), STR(""));
}

/* Patches have media types of their own; an apply's body is YAML, which most clients send as JSON. */
static struct str body_media(struct request *r)
{
	struct str media = request_media(r);

	if (r->action != ACTION_PATCH)
		return media;
	if (!str_is(media, "application/apply-patch+yaml"))
		return STR("application/json");
	bool json = r->body.len && r->body.ptr[0] == '{';
	return json ? STR("application/json") : STR("application/yaml");
}

int writeopts_body(struct request *r, struct buf *json, struct str *ret, struct status *st)
{
	struct str media = body_media(r);
	int rc = body_to_json(media, buf_str(&r->body), json, ret, st);

	/* `{a: b}` starts like JSON and is YAML. */
	if (rc < 0 && str_is(request_media(r), "application/apply-patch+yaml") && str_is(media, "application/json")) {
		status_clear(st);
		rc = body_to_json(STR("application/yaml"), buf_str(&r->body), json, ret, st);
	}
	return rc;
}

static int grace_from_query(const struct request *r, struct delete_options *o, struct status *st)
{
	struct str s = request_param(r, "gracePeriodSeconds");
	uint64_t n;

	if (s.len == 0)
		return 0;
	if (!str_u64(s, &n) || n > INT32_MAX)
		return status_set(st, REASON_BAD_REQUEST, "gracePeriodSeconds \"%.*s\" is not a number", STR_ARG(s));
	o->grace = (int64_t)n;
	return 0;
}

static int delete_from_query(const struct request *r, struct delete_options *o, struct status *st)
{
	struct str policy = request_param(r, "propagationPolicy");
	bool orphan = request_param(r, "orphanDependents").len > 0;

	*o = (struct delete_options){.grace = -1};
	if (policy.len)
		propagation_parse(policy, &o->propagation, st);
	if (policy.len && orphan)
		status_cause(st, CAUSE_INVALID, "propagationPolicy",
			     ": \"%.*s\": orphanDependents and deletionPropagation cannot be both set", STR_ARG(policy));
	else if (orphan)
		o->propagation = request_flag(r, "orphanDependents") ? PROPAGATION_ORPHAN : PROPAGATION_BACKGROUND;
	o->orphan_dependents_given = orphan;
	o->orphan_dependents = request_flag(r, "orphanDependents");
	o->dry_run = writeopts_dry_run(r, st);
	int rc = grace_from_query(r, o, st);
	return rc < 0 ? rc : status_invalid(st, STR("meta.k8s.io"), STR("DeleteOptions"), STR(""));
}

int writeopts_delete(struct request *r, struct delete_options *ret, struct status *st)
{
	_cleanup_(buf_done) struct buf json = {0};
	struct str text;

	if (!r->body.len)
		return delete_from_query(r, ret, st);
	int rc = body_to_json(request_media(r), buf_str(&r->body), &json, &text, st);
	if (rc < 0)
		return rc;
	/* The options borrow from the text. */
	text = arena_str(&r->arena, text);
	if (!text.ptr)
		return status_no_memory(st);
	rc = delete_options_parse(&r->arena, text, ret, st);
	if (rc == 0 && writeopts_dry_run(r, st))
		ret->dry_run = true;
	return rc < 0 ? rc : status_invalid(st, STR("meta.k8s.io"), STR("DeleteOptions"), STR(""));
}
