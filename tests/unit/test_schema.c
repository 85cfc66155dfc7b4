/* SPDX-License-Identifier: Apache-2.0 */
/* The generated definitions. */
#include "store/kind/kind.h"
#include "store/kind/schema.h"
#include "tests/unit/tap.h"

static const struct schema_node *node(const char *def, const char *field)
{
	static const struct schema_node none = {.type = 0xff};
	const struct schema_field *f = schema_field(schema_find(str_of(def)), str_of(field));

	return f ? &f->node : &none;
}

static bool node_sound(const struct schema_node *n)
{
	bool has_def = n->type == SCHEMA_OBJECT || n->type >= SCHEMA_JSON_OR_BOOL;
	bool has_item = n->type == SCHEMA_ARRAY || n->type == SCHEMA_MAP;

	if (has_def != (n->def != NULL) || has_item != (n->item != NULL))
		return false;
	if (n->type == SCHEMA_INTEGER && n->bits != 32 && n->bits != 64)
		return false;
	if ((n->list == LIST_MAP) != (n->nlist_keys > 0))
		return false;
	return !n->item || node_sound(n->item);
}

static void every_definition_is_sound(void)
{
	size_t n;
	const struct schema_def *defs = schema_all(&n);
	bool found = true, sorted = true, dense = true, sound = true;

	for (size_t i = 0; i < n; i++) {
		found &= schema_find(defs[i].name) == &defs[i];
		dense &= defs[i].id == i;
		for (unsigned f = 0; f < defs[i].nfields; f++) {
			sorted &= f == 0 || str_cmp(defs[i].fields[f - 1].name, defs[i].fields[f].name) < 0;
			sound &= node_sound(&defs[i].fields[f].node);
			found &= schema_field(&defs[i], defs[i].fields[f].name) == &defs[i].fields[f];
		}
	}
	ok(n == 568, "there are 568 definitions (%zu)", n);
	ok(found, "every definition and field is found by name");
	ok(sorted, "fields are sorted");
	ok(dense, "ids are indexes");
	ok(sound, "every node has what its type needs");
}

static void nodes_say_what_the_table_says(void)
{
	const struct schema_node *n = node("core.v1.PodSpec", "containers");

	ok(n->type == SCHEMA_ARRAY && n->list == LIST_MAP && n->patch == PATCH_MERGE && str_is(n->merge_key, "name"),
	   "containers: list map, merged by name");
	ok(n->nlist_keys == 1 && str_is(n->list_keys[0], "name") && str_is(n->item->def->name, "core.v1.Container"),
	   "containers: key and item");
	n = node("core.v1.PodSpec", "volumes");
	ok(n->patch == (PATCH_MERGE | PATCH_RETAIN_KEYS), "volumes: merge and retainKeys");
	n = node("core.v1.Container", "ports");
	ok(n->nlist_keys == 2 && str_is(n->list_keys[0], "containerPort") && str_is(n->merge_key, "containerPort"),
	   "ports: two list keys, one merge key");
	ok(node("core.v1.PodSpec", "nodeSelector")->map_atomic, "nodeSelector: atomic map");
	n = node("core.v1.ResourceRequirements", "limits");
	ok(n->type == SCHEMA_MAP && n->item->type == SCHEMA_QUANTITY && !n->map_atomic, "limits: map of quantities");
	ok(node("apps.v1.DeploymentSpec", "replicas")->bits == 32, "replicas: int32");
	ok(node("core.v1.PodSpec", "activeDeadlineSeconds")->bits == 64, "activeDeadlineSeconds: int64");
	n = node("core.v1.ContainerPort", "protocol");
	ok(n->nvalues == 3 && str_is(n->values[1], "TCP"), "protocol: documented values");
	n = node("core.v1.PersistentVolumeClaimSpec", "accessModes");
	ok(n->nvalues == 0 && n->item->nvalues == 4, "accessModes: values belong to the items");
	n = node("apiextensions.v1.JSONSchemaProps", "items");
	ok(n->type == SCHEMA_JSON_OR_ARRAY && str_is(n->def->name, "apiextensions.v1.JSONSchemaProps"),
	   "JSONSchemaProps items: itself or an array");
	n = node("apiextensions.v1.JSONSchemaProps", "dependencies");
	ok(n->type == SCHEMA_MAP && n->item->type == SCHEMA_JSON_OR_STRINGS && n->item->def, "dependencies: map of either");
	ok(node("core.v1.ServiceSpec", "selector")->map_atomic, "service selector: atomic map");
	ok(node("apps.v1.DeploymentSpec", "selector")->map_atomic, "label selector: atomic by its definition");
	ok(!node("core.v1.PersistentVolumeSpec", "claimRef")->map_atomic, "claimRef: granular despite its definition");
	ok(node("meta.v1.ObjectMeta", "creationTimestamp")->type == SCHEMA_TIME, "creationTimestamp: time");
	ok(node("coordination.v1.LeaseSpec", "renewTime")->type == SCHEMA_MICROTIME, "renewTime: micro time");
	ok(node("core.v1.Secret", "data")->item->type == SCHEMA_BYTES, "secret data: map of bytes");
}

static void required_and_emit(void)
{
	const struct schema_def *spec = schema_find(STR("core.v1.PodSpec"));
	const struct schema_field *f = schema_field(spec, STR("containers"));

	ok(f && f->required && str_is(f->emit, "null"), "containers: required, served as null");
	f = schema_field(spec, STR("nodeName"));
	ok(f && !f->required && f->emit.len == 0, "nodeName: optional, left out");
}

static void unknown_is_null(void)
{
	ok(!schema_find(STR("core.v1.Nothing")) && !schema_find(STR("")), "unknown definitions");
	ok(!schema_field(schema_find(STR("core.v1.PodSpec")), STR("container")), "unknown fields");
	ok(!schema_field(schema_find(STR("apiextensions.v1.CustomResourceSubresourceStatus")), STR("a")),
	   "a definition without fields");
	ok(!schema_field(NULL, STR("a")), "no definition");
}

int main(void)
{
	every_definition_is_sound();
	nodes_say_what_the_table_says();
	required_and_emit();
	unknown_is_null();
	return tap_done();
}
