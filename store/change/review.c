/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to "may I?", "what may I?", "who am I?", "whose token is this?". */
#include "store/change/review.h"

#include "store/codec/tree.h"

/* Statuses as text: they do not depend on the question. */
#define USER "{\"groups\":[\"system:masters\",\"system:authenticated\"],\"username\":\"kubernetes-admin\"}"

static const char allowed[] = "{\"allowed\":true,\"reason\":\"the owner of this store may do everything\"}";
static const char rules[] =
	"{\"incomplete\":false,\"nonResourceRules\":[{\"nonResourceURLs\":[\"*\"],\"verbs\":[\"*\"]}],"
	"\"resourceRules\":[{\"apiGroups\":[\"*\"],\"resources\":[\"*\"],\"verbs\":[\"*\"]}]}";
static const char whoami[] = "{\"userInfo\":" USER "}";
static const char authenticated[] = "{\"authenticated\":true,\"user\":" USER "}";
static const char unauthenticated[] = "{\"user\":{}}";

/* What kube-apiserver asks of a question. Each notes causes. */

static void check_access(const struct tree *spec, struct status *st)
{
	bool resource = tree_getz(spec, "resourceAttributes"), path = tree_getz(spec, "nonResourceAttributes");

	if (resource && path)
		status_cause(st, CAUSE_INVALID, "spec.nonResourceAttributes",
			     ": cannot be specified in combination with resourceAttributes");
	if (!resource && !path)
		status_cause(st, CAUSE_INVALID, "spec.resourceAttributes",
			     ": exactly one of nonResourceAttributes or resourceAttributes must be specified");
}

static void check_subject(const struct tree *spec, struct status *st)
{
	const struct tree *groups = tree_getz(spec, "groups");

	check_access(spec, st);
	if (!tree_gets(spec, "user").len && (!groups || groups->type != TREE_ARRAY || !groups->len))
		status_cause(st, CAUSE_INVALID, "spec.user", ": at least one of user or group must be specified");
}

static const struct review {
	const char *kind;
	const char *status; /* NULL: looks at spec.token */
	void (*check)(const struct tree *spec, struct status *st);
	bool namespaced;
} reviews[] = {
	{"SelfSubjectAccessReview", allowed, check_access, false},
	{"SubjectAccessReview", allowed, check_subject, false},
	{"LocalSubjectAccessReview", allowed, check_subject, true},
	{"SelfSubjectRulesReview", rules, NULL, false},
	{"SelfSubjectReview", whoami, NULL, false},
	{"TokenReview", NULL, NULL, false},
};

static const struct review *review_of(const struct kind *k)
{
	for (size_t i = 0; i < sizeof(reviews) / sizeof(reviews[0]); i++)
		if (str_is(k->kind, reviews[i].kind))
			return &reviews[i];
	return NULL;
}

bool review_knows(const struct kind *k)
{
	return review_of(k) && (str_is(k->group, "authorization.k8s.io") || str_is(k->group, "authentication.k8s.io"));
}

static bool same_token(struct str given, struct str want)
{
	volatile unsigned char diff = given.len != want.len;

	for (size_t i = 0; i < given.len && want.len; i++)
		diff = diff | (unsigned char)(given.ptr[i] ^ want.ptr[i % want.len]);
	return diff == 0;
}

static const char *status_of(const struct review *v, const struct tree *spec, struct str token)
{
	if (v->status)
		return v->status;
	return !token.len || same_token(tree_gets(spec, "token"), token) ? authenticated : unauthenticated;
}

/* Absent or as it must be. */
static bool is_or_unset(const struct tree *t, const char *key, struct str want)
{
	struct str given = tree_gets(t, key);

	return !given.len || str_eq(given, want);
}

static int check_kind(const struct kind *k, const struct tree *t, struct status *st)
{
	if (!tree_is(t, TREE_OBJECT) || !is_or_unset(t, "kind", k->kind) ||
	    !is_or_unset(t, "apiVersion", k->api_version))
		return status_set(st, REASON_BAD_REQUEST,
				  "the body must be of apiVersion \"%.*s\" and kind \"%.*s\"", STR_ARG(k->api_version),
				  STR_ARG(k->kind));
	return 0;
}

static int check_namespace(const struct review *v, struct str ns, const struct tree *t, struct status *st)
{
	struct str given = tree_gets(tree_getz(t, "metadata"), "namespace");

	if (!v->namespaced || !given.len || str_eq(given, ns))
		return 0;
	return status_set(st, REASON_BAD_REQUEST,
			  "the namespace of the provided object does not match the namespace sent on the request");
}

int review_answer(struct arena *a, const struct kind *k, struct str ns, struct str token, struct str json,
		  struct buf *out, struct status *st)
{
	const struct review *v = review_of(k);
	struct tree *t, *status;
	int rc = tree_parse(a, json, &t, NULL, st);

	if (rc == 0)
		rc = check_kind(k, t, st);
	if (rc == 0)
		rc = check_namespace(v, ns, t, st);
	if (rc < 0)
		return rc;
	const struct tree *spec = tree_getz(t, "spec");
	if (v->check)
		v->check(spec, st);
	rc = status_invalid(st, k->group, k->kind, STR(""));
	if (rc < 0)
		return rc;
	if (tree_parse(a, str_of(status_of(v, spec, token)), &status, NULL, st) < 0 ||
	    !tree_ensure(a, t, STR("metadata")) || !tree_setz(a, t, "status", status) ||
	    !tree_sets(a, t, "kind", k->kind) || !tree_sets(a, t, "apiVersion", k->api_version))
		return status_no_memory(st);
	tree_write(t, out);
	return out->failed ? status_no_memory(st) : 0;
}
