/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the built-in kinds and how they are found. */
#include "store/kind/kind.h"
#include "tests/unit/tap.h"

static const struct kinds *ks;

static const struct kind *find(const char *group, const char *version, const char *resource)
{
	return kinds_find(ks, str_of(group), str_of(version), str_of(resource));
}

static void every_row_is_found(void)
{
	size_t n;
	const struct kind *const *rows = kinds_all(ks, &n);
	bool resource = true, gvk = true, storage = true, dense = true, text = true;

	for (size_t i = 0; i < n; i++) {
		const struct kind *k = rows[i];

		resource &= kinds_find(ks, k->group, k->version, k->plural) == k;
		gvk &= kinds_by_gvk(ks, k->api_version, k->kind) == k;
		storage &= k->storage->storage == k->storage && str_eq(k->storage->kind, k->kind);
		dense &= k->id == i;
		text &= k->plural.len && k->singular.len && k->dir.len && k->ncolumns > 0 && k->verbs;
		text &= !kind_is(k, KIND_STORED) || (k->version_hash.len && k->list_kind.len && k->schema);
	}
	ok(n == 68, "there are 68 rows (%zu)", n);
	ok(resource, "every row is found by group, version and resource");
	ok(gvk, "every row is found by apiVersion and kind");
	ok(storage, "every storage row stores itself");
	ok(dense, "ids are dense");
	ok(text, "every row is complete");
}

static void columns_of_a_row(void)
{
	const struct kind *k = find("apps", "v1", "deployments");

	ok(k && str_is(k->kind, "Deployment") && str_is(k->list_kind, "DeploymentList"), "deployments: kind and list kind");
	ok(k && str_is(k->api_version, "apps/v1") && str_is(k->dir, "deployments.apps"), "deployments: apiVersion and dir");
	ok(k && str_is(k->type_meta, "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","), "deployments: type_meta");
	ok(k && k->generation == GENERATION_SPEC_ANNOTATIONS, "deployments: generation grows with annotations");
	ok(k && kind_is(k, KIND_NAMESPACED) && kind_is(k, KIND_STATUS) && kind_is(k, KIND_SCALE), "deployments: flags");
	ok(k && k->nshort_names == 1 && str_is(k->short_names[0], "deploy"), "deployments: short name");
	ok(k && k->verbs == 0xff, "deployments: all verbs");
	k = find("", "v1", "namespaces");
	ok(k && !kind_is(k, KIND_NAMESPACED) && !(k->verbs & VERB_DELETECOLLECTION), "namespaces: no deletecollection");
	ok(k && k->name_rule == NAME_LABEL && kind_is(k, KIND_RETURNS_OBJECT), "namespaces: name rule, returns the object");
	k = find("", "v1", "secrets");
	ok(k && kind_is(k, KIND_SECRET) && k->generation == GENERATION_NONE, "secrets: secret, no generation");
	k = find("", "v1", "bindings");
	ok(k && !kind_is(k, KIND_STORED) && k->version_hash.len == 0, "bindings: virtual");
	k = find("batch", "v1", "jobs");
	ok(k && kind_is(k, KIND_ORPHANS), "jobs: orphan by default");
	k = find("coordination.k8s.io", "v1", "leases");
	ok(k && kind_is(k, KIND_NEEDS_VERSION) && kind_is(k, KIND_CREATE_ON_UPDATE), "leases: update rules");
	k = find("storage.k8s.io", "v1", "csidrivers");
	ok(k && k->generation == GENERATION_SPEC_FROM_ZERO, "csidrivers: generation starts unset");
	k = find("resource.k8s.io", "v1", "resourceslices");
	ok(k && kind_is(k, KIND_RETURNS_OBJECT), "resourceslices: delete returns the object");
}

static void shared_storage(void)
{
	const struct kind *v1 = find("autoscaling", "v1", "horizontalpodautoscalers");
	const struct kind *v2 = find("autoscaling", "v2", "horizontalpodautoscalers");
	const struct kind *core = find("", "v1", "events"), *events = find("events.k8s.io", "v1", "events");

	ok(v1 && v2 && v1->storage == v2 && v2->storage == v2, "both autoscalers are stored as v2");
	ok(kinds_by_dir(ks, STR("horizontalpodautoscalers.autoscaling")) == v2, "their directory gives v2");
	ok(v1 && v2 && str_eq(v1->dir, v2->dir), "they have one directory");
	ok(core && events && events->storage == core, "events are stored as v1");
	ok(kinds_by_dir(ks, STR("events.events.k8s.io")) == events, "events.k8s.io has a directory");
	ok(kinds_by_dir(ks, STR("events")) == core, "so have core events");
	ok(!kinds_by_dir(ks, STR("po")) && !kinds_by_dir(ks, STR("")) && !kinds_by_dir(ks, STR("Pods")),
	   "directories are exact");
}

static void names_of_kubectl(void)
{
	static const struct {
		const char *name, *api_version, *kind;
	} rows[] = {
		{"po", "v1", "Pod"},
		{"pod", "v1", "Pod"},
		{"PODS", "v1", "Pod"},
		{"pods.v1.", "v1", "Pod"},
		{"deploy", "apps/v1", "Deployment"},
		{"deploy.apps", "apps/v1", "Deployment"},
		{"deployments.apps", "apps/v1", "Deployment"},
		{"deployments.v1.apps", "apps/v1", "Deployment"},
		{"Deployment.v1.apps", "apps/v1", "Deployment"},
		{"deployments.app", "apps/v1", "Deployment"},
		{"svc", "v1", "Service"},
		{"cm", "v1", "ConfigMap"},
		{"ns", "v1", "Namespace"},
		{"no", "v1", "Node"},
		{"ev", "v1", "Event"},
		{"events", "v1", "Event"},
		{"events.events.k8s.io", "events.k8s.io/v1", "Event"},
		{"events.v1.events.k8s.io", "events.k8s.io/v1", "Event"},
		{"events.v1.", "v1", "Event"},
		{"hpa", "autoscaling/v2", "HorizontalPodAutoscaler"},
		{"hpa.v1.autoscaling", "autoscaling/v1", "HorizontalPodAutoscaler"},
		{"ing", "networking.k8s.io/v1", "Ingress"},
		{"ingresses.networking.k8s.io", "networking.k8s.io/v1", "Ingress"},
		{"crds", "apiextensions.k8s.io/v1", "CustomResourceDefinition"},
		{"endpoints", "v1", "Endpoints"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct kind *k = kinds_by_resource(ks, str_of(rows[i].name));

		ok(k && str_is(k->api_version, rows[i].api_version) && str_is(k->kind, rows[i].kind), "%s is %s %s",
		   rows[i].name, rows[i].api_version, rows[i].kind);
	}
}

static void unknown_is_null(void)
{
	char huge[4096];

	memset(huge, 'a', sizeof(huge));
	ok(!find("", "v1", "pod") && !find("apps", "v1", "pods") && !find("", "v2", "pods"), "unknown resources");
	ok(!kinds_by_gvk(ks, STR("v1"), STR("PodList")) && !kinds_by_gvk(ks, STR(""), STR("Pod")), "unknown kinds");
	ok(!kinds_by_resource(ks, STR("")) && !kinds_by_resource(ks, STR(".")) && !kinds_by_resource(ks, STR("..")),
	   "empty names");
	ok(!kinds_by_resource(ks, STR("pods.apps")) && !kinds_by_resource(ks, STR("deployments.v2.apps")),
	   "wrong group or version");
	ok(!kinds_by_resource(ks, str_n(huge, sizeof(huge))), "a very long name");
	ok(!kinds_find(ks, (struct str){0}, (struct str){0}, (struct str){0}), "null texts");
}

static void subresources(void)
{
	const struct kind *pods = find("", "v1", "pods");
	const struct kind_subresource *s = kind_subresource(pods, STR("eviction"));

	ok(s && str_is(s->group, "policy") && str_is(s->kind, "Eviction") && s->verbs == VERB_CREATE, "pods/eviction");
	s = kind_subresource(pods, STR("status"));
	ok(s && str_is(s->kind, "Pod") && str_is(s->version, "v1") && s->verbs == (VERB_GET | VERB_PATCH | VERB_UPDATE),
	   "pods/status");
	ok(!kind_subresource(pods, STR("scale")) && !kind_subresource(pods, STR("")), "unknown subresources");
}

int main(void)
{
	ks = kinds_builtin();
	every_row_is_found();
	columns_of_a_row();
	shared_storage();
	names_of_kubectl();
	unknown_is_null();
	subresources();
	return tap_done();
}
