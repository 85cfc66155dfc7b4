/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI documents: what clients look for is there, and the protobuf says the same as the JSON. */
#include "api/openapi_document.h"
#include "api/openapi_proto.h"
#include "store/codec/scan.h"
#include "store/codec/tree.h"
#include "tests/unit/tap.h"

/* A document and its tree, in the memory of the test. */
struct doc {
	struct arena arena;
	struct buf json;
	struct tree *tree, *definitions;
	const char *prefix; /* of references */
};

static bool doc_open(struct doc *d, enum openapi_dialect dialect, const char *api_version)
{
	struct status st;

	*d = (struct doc){.prefix = dialect == OPENAPI_V2 ? "#/definitions/" : "#/components/schemas/"};
	arena_init(&d->arena, 0);
	status_clear(&st);
	if (openapi_write(dialect, kinds_builtin(), str_of(api_version), &d->json, &st) < 0 ||
	    scan_check(buf_str(&d->json), &st) < 0)
		return false;
	struct tree_dup *dups = NULL;
	if (tree_parse(&d->arena, buf_str(&d->json), &d->tree, &dups, &st) < 0 || dups)
		return false;
	d->definitions = dialect == OPENAPI_V2 ? tree_getz(d->tree, "definitions")
					       : tree_path(d->tree, "components.schemas");
	return d->definitions != NULL;
}

static void doc_close(struct doc *d)
{
	buf_done(&d->json);
	arena_done(&d->arena);
}

/* References below t that lead nowhere; in 3.0 also those that do not stand alone. */
static unsigned bad_refs(const struct doc *d, const struct tree *t)
{
	unsigned bad = 0;

	if (tree_is(t, TREE_ARRAY))
		for (unsigned i = 0; i < t->len; i++)
			bad += bad_refs(d, t->items[i]);
	if (!tree_is(t, TREE_OBJECT))
		return bad;
	for (unsigned i = 0; i < t->len; i++)
		bad += bad_refs(d, t->members[i].value);
	struct str ref = tree_gets(t, "$ref");
	if (ref.len) {
		bool v3 = strlen(d->prefix) > strlen("#/definitions/");
		bad += !str_starts(ref, str_of(d->prefix)) ||
		       !tree_get(d->definitions, str_skip(ref, strlen(d->prefix))) || (v3 && t->len > 1);
	}
	return bad;
}

static const struct tree *query_param(const struct tree *operation, const char *name)
{
	const struct tree *params = tree_getz(operation, "parameters");

	for (unsigned i = 0; params && i < params->len; i++)
		if (str_is(tree_gets(params->items[i], "name"), name) && str_is(tree_gets(params->items[i], "in"), "query"))
			return params->items[i];
	return NULL;
}

/* PATCH operations, and how many of them kubectl could not use. */
static unsigned count_patches(const struct doc *d, unsigned *ret_bad)
{
	const struct tree *paths = tree_getz(d->tree, "paths");
	unsigned n = 0;

	*ret_bad = 0;
	for (unsigned i = 0; i < paths->len; i++) {
		const struct tree *patch = tree_getz(paths->members[i].value, "patch");
		if (!patch || str_is(tree_gets(patch, "x-kubernetes-action"), "connect"))
			continue;
		const struct tree *gvk = tree_getz(patch, "x-kubernetes-group-version-kind");
		n++;
		*ret_bad += !query_param(patch, "fieldValidation") || !tree_getz(gvk, "group") ||
			    !tree_gets(gvk, "version").len || !tree_gets(gvk, "kind").len;
	}
	return n;
}

/* Definitions that say they describe the kind. */
static unsigned count_kind(const struct doc *d, const struct kind *k)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->definitions->len; i++) {
		const struct tree *gvks = tree_getz(d->definitions->members[i].value, "x-kubernetes-group-version-kind");
		for (unsigned g = 0; gvks && g < gvks->len; g++)
			n += str_eq(tree_gets(gvks->items[g], "group"), k->group) &&
			     str_eq(tree_gets(gvks->items[g], "version"), k->version) &&
			     str_eq(tree_gets(gvks->items[g], "kind"), k->kind);
	}
	return n;
}

/* operationIds must be unique: generators make a function of each. */
static unsigned same_ids(struct doc *d)
{
	const struct tree *paths = tree_getz(d->tree, "paths");
	struct tree *seen = tree_object(&d->arena);
	unsigned n = 0;

	for (unsigned i = 0; i < paths->len; i++) {
		const struct tree *item = paths->members[i].value;
		for (unsigned m = 0; m < item->len; m++) {
			struct str id = tree_gets(item->members[m].value, "operationId");
			if (!id.len)
				continue;
			n += tree_get(seen, id) != NULL;
			tree_set(&d->arena, seen, id, tree_null(&d->arena));
		}
	}
	return n;
}

static bool take_varint(struct str *s, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && s->len; shift += 7) {
		uint8_t c = (uint8_t)s->ptr[0];
		*s = str_skip(*s, 1);
		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* The first bytes field `number` of a message at or after *at; moves *at behind it. */
static bool take_field(struct str *at, unsigned number, struct str *ret)
{
	uint64_t tag, v;

	while (take_varint(at, &tag) && take_varint(at, &v)) {
		if ((tag & 7) == 0)
			continue;
		if ((tag & 7) != 2 || v > at->len)
			return false;
		*ret = str_n(at->ptr, v);
		*at = str_skip(*at, v);
		if (tag >> 3 == number)
			return true;
	}
	return false;
}

/* Message at a path of field numbers, first of each; .ptr NULL when absent. */
static struct str proto_path(struct str bytes, const unsigned *path)
{
	for (; *path; path++) {
		struct str at = bytes;
		if (!take_field(&at, *path, &bytes))
			return (struct str){0};
	}
	return bytes;
}

#define PATH(...) (const unsigned[]){__VA_ARGS__, 0}

/* The value of the entry called name among the repeated entries `number` of a map. */
static struct str proto_entry(struct str map, unsigned number, const char *name)
{
	struct str entry;

	while (take_field(&map, number, &entry))
		if (str_is(proto_path(entry, PATH(1)), name))
			return proto_path(entry, PATH(2));
	return (struct str){0};
}

static void check_document(enum openapi_dialect dialect, const char *api_version, const struct proto_message *message)
{
	const struct kind *const *kinds;
	size_t nkinds;
	struct status st;
	struct buf proto = {0};
	struct doc d;
	unsigned bad, missing = 0;
	const char *what = api_version[0] ? api_version : "v2";

	status_clear(&st);
	if (!ok(doc_open(&d, dialect, api_version), "%s: strict JSON, no key twice", what)) {
		doc_close(&d);
		return;
	}
	ok(bad_refs(&d, d.tree) == 0, "%s: every reference resolves", what);
	ok(same_ids(&d) == 0, "%s: operation ids are unique", what);
	kinds = kinds_all(kinds_builtin(), &nkinds);
	bool patchable = false;
	for (size_t i = 0; i < nkinds; i++) {
		if (api_version[0] && !str_is(kinds[i]->api_version, api_version))
			continue;
		missing += count_kind(&d, kinds[i]) != 1;
		patchable |= (kinds[i]->verbs & VERB_PATCH) != 0;
	}
	ok(missing == 0, "%s: one definition for each kind", what);
	unsigned n = count_patches(&d, &bad);
	ok((n > 0) == patchable && bad == 0, "%s: PATCH says its kind and takes fieldValidation", what);
	ok(proto_from_json(message, buf_str(&d.json), &proto, &st) == 0 && proto.len > d.json.len / 2,
	   "%s: can be written as protobuf", what);
	buf_done(&proto);
	doc_close(&d);
}

static void every_document_is_sound(void)
{
	size_t n;
	const struct kind *const *kinds = kinds_all(kinds_builtin(), &n);
	struct arena a;

	arena_init(&a, 0);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || !str_eq(kinds[i]->api_version, kinds[i - 1]->api_version))
			check_document(OPENAPI_V3, arena_str(&a, kinds[i]->api_version).ptr, &proto_v3_document);
	arena_done(&a);
	check_document(OPENAPI_V2, "", &proto_v2_document);
}

static const struct tree *property(const struct doc *d, const char *definition, const char *field)
{
	return tree_getz(tree_getz(tree_getz(d->definitions, definition), "properties"), field);
}

static void lists_say_how_they_merge(enum openapi_dialect dialect)
{
	struct doc d;

	if (!ok(doc_open(&d, dialect, dialect == OPENAPI_V2 ? "" : "apps/v1"), "a document with Deployments"))
		return;
	const struct tree *t = property(&d, "io.k8s.api.core.v1.PodSpec", "containers");
	ok(str_is(tree_gets(t, "x-kubernetes-patch-merge-key"), "name") &&
	   str_is(tree_gets(t, "x-kubernetes-patch-strategy"), "merge") &&
	   str_is(tree_gets(t, "x-kubernetes-list-type"), "map"), "containers: merged by name");
	t = property(&d, "io.k8s.api.core.v1.Container", "ports");
	const struct tree *keys = tree_getz(t, "x-kubernetes-list-map-keys");
	ok(keys && keys->len == 2 && str_is(tree_text(keys->items[0]), "containerPort"), "ports: two keys");
	t = property(&d, "io.k8s.api.core.v1.ContainerPort", "protocol");
	ok(str_is(tree_gets(t, "default"), "TCP") && tree_getz(t, "enum")->len == 3, "protocol: default and values");
	t = property(&d, "io.k8s.api.core.v1.PodSpec", "volumes");
	ok(str_is(tree_gets(t, "x-kubernetes-patch-strategy"), "merge,retainKeys"), "volumes: merge and retainKeys");
	t = property(&d, "io.k8s.api.apps.v1.DeploymentSpec", "strategy");
	ok(str_is(tree_gets(t, "x-kubernetes-patch-strategy"), "retainKeys"), "an object with retainKeys");
	t = property(&d, "io.k8s.api.core.v1.PodSpec", "nodeSelector");
	ok(str_is(tree_gets(t, "x-kubernetes-map-type"), "atomic"), "nodeSelector: atomic map");
	t = tree_getz(tree_getz(d.definitions, "io.k8s.api.core.v1.Container"), "required");
	ok(t && t->len == 1 && str_is(tree_text(t->items[0]), "name"), "Container: name is required");
	doc_close(&d);
}

static void paths_are_where_kubernetes_has_them(void)
{
	struct doc d;

	if (!ok(doc_open(&d, OPENAPI_V3, "apps/v1"), "the document of apps/v1"))
		return;
	const struct tree *paths = tree_getz(d.tree, "paths");
	const struct tree *item = tree_getz(paths, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
	ok(str_is(tree_gets(tree_getz(item, "put"), "operationId"), "replaceAppsV1NamespacedDeployment"), "PUT of an object");
	ok(!tree_getz(item, "post"), "no POST to an object");
	item = tree_getz(paths, "/apis/apps/v1/deployments");
	ok(item && tree_getz(item, "get") && !tree_getz(item, "post") && query_param(tree_getz(item, "get"), "watch"),
	   "all namespaces: list only");
	ok(tree_getz(tree_getz(paths, "/apis/apps/v1/namespaces/{namespace}/deployments"), "post"), "POST to a collection");
	item = tree_getz(paths, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale");
	ok(str_is(tree_gets(tree_getz(tree_getz(item, "patch"), "x-kubernetes-group-version-kind"), "kind"), "Scale"),
	   "scale is a Scale");
	ok(tree_getz(d.definitions, "io.k8s.api.autoscaling.v1.Scale") &&
	   tree_getz(d.definitions, "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"), "kinds of other groups are there");
	ok(!tree_getz(d.definitions, "io.k8s.api.core.v1.Node"), "what is not needed is not");
	doc_close(&d);
}

static void protobuf_says_the_same(void)
{
	static const char json[] =
		"{\"swagger\":\"2.0\",\"unknown\":[{\"a\":[1]}],\"paths\":{\"/a\":{\"patch\":{\"parameters\":["
		"{\"name\":\"p\",\"in\":\"query\",\"type\":\"string\"},{\"in\":\"body\",\"required\":true,\"name\":\"b\"}],"
		"\"x-kubernetes-action\":\"patch\"}}},\"definitions\":{\"A\":{\"type\":\"object\",\"properties\":{\"l\":{"
		"\"description\":\"a \\\"b\\\"\",\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/B\"},"
		"\"x-kubernetes-list-map-keys\":[\"k\"]}}},\"B\":{\"additionalProperties\":true}}}";
	struct buf out = {0};
	struct status st;

	status_clear(&st);
	ok(proto_from_json(&proto_v2_document, str_of(json), &out, &st) == 0, "a small document");
	struct str doc = buf_str(&out);
	ok(str_is(proto_path(doc, PATH(1)), "2.0"), "a string");
	struct str operation = proto_path(proto_entry(proto_path(doc, PATH(8)), 2, "/a"), PATH(8));
	struct str parameter, at = operation;
	ok(take_field(&at, 8, &parameter) && str_is(proto_path(parameter, PATH(1, 2, 3, 4)), "p"), "a query parameter");
	ok(take_field(&at, 8, &parameter) && str_is(proto_path(parameter, PATH(1, 1, 2)), "b"), "a body parameter");
	ok(str_is(proto_path(operation, PATH(13, 1)), "x-kubernetes-action") &&
	   str_is(proto_path(operation, PATH(13, 2, 2)), "\"patch\""), "an extension as text");
	struct str a = proto_entry(proto_path(doc, PATH(9)), 1, "A"), l = proto_entry(proto_path(a, PATH(25)), 1, "l");
	ok(str_is(proto_path(a, PATH(22, 1)), "object"), "a type in its wrapper");
	ok(str_is(proto_path(l, PATH(4)), "a \"b\""), "a decoded string");
	ok(str_is(proto_path(l, PATH(23, 1, 1)), "#/definitions/B"), "a reference as items");
	ok(str_is(proto_path(l, PATH(31, 2, 2)), "[\"k\"]"), "a list as extension");
	struct str b = proto_entry(proto_path(doc, PATH(9)), 1, "B");
	ok(str_eq(proto_path(b, PATH(21)), str_n("\x10\x01", 2)), "a boolean instead of a schema");
	buf_done(&out);
}

static void malformed_json_is_refused(void)
{
	static const char *const texts[] = {"", "[]", "{", "{\"paths\":{\"a\":{\"get\":", "{\"definitions\":{\"A\":{]",
					    "{\"paths\":[{\"a\":1},}", "{} {}", "{\"x-a\":[1,}"};
	struct status st;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct buf out = {0};
		status_clear(&st);
		ok(proto_from_json(&proto_v3_document, str_of(texts[i]), &out, &st) < 0, "refused: `%s`", texts[i] ? texts[i] : "");
		buf_done(&out);
	}
}

static void words(void)
{
	static const char *const rows[][2] = {
		{"imagePullPolicy", "Image pull policy"}, {"podIPs", "Pod IPs"}, {"clusterIP", "Cluster IP"},
		{"fsGroup", "Fs group"}, {"PodSpec", "Pod spec"}, {"a", "A"}, {"", ""}, {"CSINodeDriver", "CSI node driver"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf b = {0};
		openapi_add_words(&b, str_of(rows[i][0]));
		ok(str_is(buf_str(&b), rows[i][1]), "%s in words: %s (%.*s)", rows[i][0], rows[i][1], STR_ARG(buf_str(&b)));
		buf_done(&b);
	}
}

int main(void)
{
	every_document_is_sound();
	lists_say_how_they_merge(OPENAPI_V2);
	lists_say_how_they_merge(OPENAPI_V3);
	paths_are_where_kubernetes_has_them();
	protobuf_says_the_same();
	malformed_json_is_refused();
	words();
	return tap_done();
}
