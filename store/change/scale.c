/* SPDX-License-Identifier: Apache-2.0 */
/* The scale subresource: an object's replicas seen as an autoscaling/v1 Scale. */
#include "store/base/cleanup.h"
#include "store/change/prepare.h"

/* Adds "a=b,c=d" for a matchLabels map or, for a ReplicationController, the plain map; set-based terms follow. */
static void selector_text(const struct tree *selector, struct buf *out)
{
	const struct tree *labels = tree_getz(selector, "matchLabels");

	if (!labels && !tree_getz(selector, "matchExpressions"))
		labels = selector;
	for (uint32_t i = 0; tree_is(labels, TREE_OBJECT) && i < labels->len; i++)
		buf_addf(out, "%s%.*s=%.*s", out->len ? "," : "", STR_ARG(labels->members[i].key),
			 STR_ARG(tree_text(labels->members[i].value)));
	const struct tree *terms = tree_getz(selector, "matchExpressions");
	for (uint32_t i = 0; tree_is(terms, TREE_ARRAY) && i < terms->len; i++) {
		const struct tree *term = terms->items[i], *values = tree_getz(term, "values");
		struct str op = tree_gets(term, "operator"), key = tree_gets(term, "key");
		bool set = str_is(op, "In") || str_is(op, "NotIn");
		buf_addf(out, "%s%s%.*s", out->len ? "," : "", str_is(op, "DoesNotExist") ? "!" : "", STR_ARG(key));
		if (!set)
			continue;
		buf_adds(out, str_is(op, "In") ? " in (" : " notin (");
		for (uint32_t j = 0; tree_is(values, TREE_ARRAY) && j < values->len; j++)
			buf_addf(out, "%s%.*s", j ? "," : "", STR_ARG(tree_text(values->items[j])));
		buf_addc(out, ')');
	}
}

static bool copy_member(struct arena *a, const struct tree *from, struct tree *to, const char *key)
{
	struct tree *value = tree_getz(from, key);

	return !value || tree_setz(a, to, key, value);
}

static bool set_count(struct arena *a, struct tree *to, const struct tree *from)
{
	int64_t n = 0;

	tree_i64(tree_getz(from, "replicas"), &n);
	struct tree *number = tree_int(a, n);
	return number && tree_setz(a, to, "replicas", number);
}

static bool set_selector(struct arena *a, struct tree *status, const struct tree *object)
{
	_cleanup_(buf_done) struct buf text = {0};

	selector_text(tree_path(object, "spec.selector"), &text);
	if (text.failed)
		return false;
	if (!text.len)
		return true;
	struct str copy = arena_str(a, buf_str(&text));
	return copy.ptr && tree_sets(a, status, "selector", copy);
}

struct tree *scale_of(struct arena *a, const struct kind *k, const struct tree *object)
{
	static const char *const identity[] = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"};
	struct tree *scale = tree_object(a), *metadata = tree_object(a), *spec = tree_object(a),
		    *status = tree_object(a);

	(void)k;
	if (!scale || !metadata || !spec || !status)
		return NULL;
	for (size_t i = 0; i < sizeof(identity) / sizeof(*identity); i++)
		if (!copy_member(a, tree_getz(object, "metadata"), metadata, identity[i]))
			return NULL;
	bool good = set_count(a, spec, tree_getz(object, "spec")) && set_count(a, status, tree_getz(object, "status")) &&
		    set_selector(a, status, object) && tree_sets(a, scale, "apiVersion", STR("autoscaling/v1")) &&
		    tree_sets(a, scale, "kind", STR("Scale")) && tree_setz(a, scale, "metadata", metadata) &&
		    tree_setz(a, scale, "spec", spec) && tree_setz(a, scale, "status", status);
	return good ? scale : NULL;
}

int scale_apply(struct prepare *p, const struct tree *scale, struct tree *object, struct status *st)
{
	struct tree *spec = tree_ensure(p->arena, object, STR("spec"));
	struct tree *wanted = tree_path(scale, "spec.replicas");
	int64_t n = 0;

	if (wanted && (!tree_i64(wanted, &n) || n > INT32_MAX))
		return status_set(st, REASON_BAD_REQUEST, "spec.replicas of a Scale must be an integer");
	if (n < 0) {
		status_cause(st, CAUSE_INVALID, "spec.replicas", ": %jd: must be greater than or equal to 0", (intmax_t)n);
		return status_invalid(st, STR("autoscaling"), STR("Scale"), p->name);
	}
	struct tree *number = tree_int(p->arena, n);
	return spec && number && tree_setz(p->arena, spec, "replicas", number) ? 0 : status_no_memory(st);
}
