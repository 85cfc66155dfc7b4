/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions: the schemas of objects, with Kubernetes' extensions that tell clients how to merge lists. */
#include "api/json_out.h"
#include "api/openapi_document.h"

#define APIMACHINERY "io.k8s.apimachinery.pkg."
#define APIEXTENSIONS "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

/* How a type that has no fields is written. Those with a name of their own are referred to, as a definition with this
 * text (which v2 and v3 may word differently); the others stand where they are used. */
static const struct {
	const char *name;
	const char *text, *text_v3;
	const char *description;
} type_rows[] = {
	[SCHEMA_ANY] = {APIEXTENSIONS "JSON", "", NULL, "Any JSON value."},
	[SCHEMA_STRING] = {NULL, "\"type\":\"string\"", NULL, NULL},
	[SCHEMA_NUMBER] = {NULL, "\"type\":\"number\",\"format\":\"double\"", NULL, NULL},
	[SCHEMA_BOOLEAN] = {NULL, "\"type\":\"boolean\"", NULL, NULL},
	[SCHEMA_BYTES] = {NULL, "\"type\":\"string\",\"format\":\"byte\"", NULL, NULL},
	[SCHEMA_INT_OR_STRING] = {APIMACHINERY "util.intstr.IntOrString",
				  "\"type\":\"string\",\"format\":\"int-or-string\"",
				  "\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"format\":\"int-or-string\"",
				  "A whole number or a string."},
	[SCHEMA_QUANTITY] = {APIMACHINERY "api.resource.Quantity", "\"type\":\"string\"",
			     "\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]",
			     "A number with an optional suffix, as 500m, 1.5 or 2Gi."},
	[SCHEMA_TIME] = {APIMACHINERY "apis.meta.v1.Time", "\"type\":\"string\",\"format\":\"date-time\"", NULL,
			 "A time of RFC 3339 in whole seconds."},
	[SCHEMA_MICROTIME] = {APIMACHINERY "apis.meta.v1.MicroTime", "\"type\":\"string\",\"format\":\"date-time\"",
			      NULL, "A time of RFC 3339 in microseconds."},
	[SCHEMA_RAW_OBJECT] = {APIMACHINERY "runtime.RawExtension", "\"type\":\"object\"", NULL, "Any JSON object."},
	[SCHEMA_JSON_OR_BOOL] = {APIEXTENSIONS "JSONSchemaPropsOrBool", "", NULL, "A schema or a boolean."},
	[SCHEMA_JSON_OR_ARRAY] = {APIEXTENSIONS "JSONSchemaPropsOrArray", "", NULL, "A schema or an array of schemas."},
	[SCHEMA_JSON_OR_STRINGS] = {APIEXTENSIONS "JSONSchemaPropsOrStringArray", "", NULL,
				    "A schema or an array of strings."},
};

enum { NTYPES = sizeof(type_rows) / sizeof(type_rows[0]) };

static void add_ref_start(struct openapi_doc *d)
{
	json_key(d->out, STR("$ref"));
	buf_adds(d->out, d->dialect == OPENAPI_V2 ? "\"#/definitions/" : "\"#/components/schemas/");
}

/* The members that refer to a definition (def), or to the definition of a type. */
static void add_ref_members(struct openapi_doc *d, const struct schema_def *def, const char *type_name)
{
	add_ref_start(d);
	if (def)
		openapi_add_name(d->out, def);
	else
		buf_adds(d->out, type_name);
	buf_addc(d->out, '"');
}

/* OpenAPI 3.0 ignores what stands beside a $ref, so there it is wrapped where it has company. */
static void add_ref_beside(struct openapi_doc *d, const struct schema_def *def, const char *type_name)
{
	bool wrap = d->dialect == OPENAPI_V3;

	if (wrap) {
		json_enter(d->out, "allOf", '[');
		json_open(d->out, '{');
	}
	add_ref_members(d, def, type_name);
	if (wrap) {
		json_close(d->out, '}');
		json_close(d->out, ']');
	}
}

void openapi_add_ref(struct openapi_doc *d, const struct schema_def *def)
{
	json_open(d->out, '{');
	if (openapi_is_published(def))
		add_ref_members(d, def, NULL);
	else
		json_raw(d->out, "\"type\":\"object\"");
	json_close(d->out, '}');
}

void openapi_add_gvk(struct openapi_doc *d, struct str group, struct str version, struct str kind)
{
	json_open(d->out, '{');
	json_member(d->out, "group", group);
	json_member(d->out, "kind", kind);
	json_member(d->out, "version", version);
	json_close(d->out, '}');
}

static void add_strings(struct buf *out, const char *key, const struct str *values, unsigned n)
{
	if (n == 0)
		return;
	json_enter(out, key, '[');
	for (unsigned i = 0; i < n; i++)
		json_string(out, values[i]);
	json_close(out, ']');
}

/* What tells clients how values of this type are merged. */
static void add_merge_extensions(struct openapi_doc *d, const struct schema_node *n)
{
	static const char *const lists[] = {[LIST_ATOMIC] = "atomic", [LIST_SET] = "set", [LIST_MAP] = "map"};
	static const char *const patches[] = {
		[PATCH_MERGE] = "merge",
		[PATCH_RETAIN_KEYS] = "retainKeys",
		[PATCH_MERGE | PATCH_RETAIN_KEYS] = "merge,retainKeys",
	};

	add_strings(d->out, "x-kubernetes-list-map-keys", n->list_keys, n->nlist_keys);
	if (n->type == SCHEMA_ARRAY)
		json_member(d->out, "x-kubernetes-list-type", str_of(lists[n->list]));
	if (n->merge_key.len)
		json_member(d->out, "x-kubernetes-patch-merge-key", n->merge_key);
	if (n->patch)
		json_member(d->out, "x-kubernetes-patch-strategy", str_of(patches[n->patch]));
	if (n->type == SCHEMA_MAP && n->map_atomic)
		json_member(d->out, "x-kubernetes-map-type", STR("atomic"));
	else if (n->type == SCHEMA_OBJECT && n->map_atomic != n->def->map_atomic)
		json_member(d->out, "x-kubernetes-map-type", n->map_atomic ? STR("atomic") : STR("granular"));
}

static void add_node(struct openapi_doc *d, const struct schema_node *n);

/* A value within a container: an array's items, a map's values. */
static void add_item(struct openapi_doc *d, const char *key, const struct schema_node *item)
{
	const char *type_name = type_rows[item->type].name;

	json_enter(d->out, key, '{');
	if (item->type == SCHEMA_OBJECT || type_name)
		add_ref_members(d, type_name ? NULL : item->def, type_name);
	else
		add_node(d, item);
	json_close(d->out, '}');
}

static void add_type(struct openapi_doc *d, const struct schema_node *n)
{
	if (n->type == SCHEMA_OBJECT) {
		add_ref_beside(d, n->def, NULL);
	} else if (type_rows[n->type].name) {
		add_ref_beside(d, NULL, type_rows[n->type].name);
	} else if (n->type == SCHEMA_INTEGER) {
		json_raw(d->out, n->bits == 64 ? "\"type\":\"integer\",\"format\":\"int64\""
					       : "\"type\":\"integer\",\"format\":\"int32\"");
	} else if (n->type == SCHEMA_ARRAY) {
		json_member(d->out, "type", STR("array"));
		add_item(d, "items", n->item);
	} else if (n->type == SCHEMA_MAP) {
		json_member(d->out, "type", STR("object"));
		add_item(d, "additionalProperties", n->item);
	} else {
		json_raw(d->out, type_rows[n->type].text);
	}
}

/* The members of a schema. */
static void add_node(struct openapi_doc *d, const struct schema_node *n)
{
	add_type(d, n);
	add_strings(d->out, "enum", n->values, n->nvalues);
	add_merge_extensions(d, n);
}

/* Keys of lists must have a value: where they may be left out, clients that merge need the default. */
static const struct {
	const char *def, *field, *value;
} default_rows[] = {
	{"core.v1.ContainerPort", "protocol", "TCP"},
	{"core.v1.ServicePort", "protocol", "TCP"},
};

static void add_default(struct openapi_doc *d, const struct schema_def *def, const struct schema_field *f)
{
	for (size_t i = 0; i < sizeof(default_rows) / sizeof(default_rows[0]); i++)
		if (str_is(f->name, default_rows[i].field) && str_is(def->name, default_rows[i].def))
			json_member(d->out, "default", str_of(default_rows[i].value));
}

static void add_required(struct openapi_doc *d, const struct schema_def *def)
{
	bool any = false;

	for (unsigned i = 0; i < def->nfields; i++) {
		if (!def->fields[i].required)
			continue;
		if (!any)
			json_enter(d->out, "required", '[');
		any = true;
		json_string(d->out, def->fields[i].name);
	}
	if (any)
		json_close(d->out, ']');
}

static void add_properties(struct openapi_doc *d, const struct schema_def *def)
{
	if (def->nfields == 0)
		return;
	json_enter(d->out, "properties", '{');
	for (unsigned i = 0; i < def->nfields; i++) {
		const struct schema_field *f = &def->fields[i];
		json_key(d->out, f->name);
		json_open(d->out, '{');
		json_key(d->out, STR("description"));
		openapi_add_field_text(d->out, f);
		add_node(d, &f->node);
		add_default(d, def, f);
		json_close(d->out, '}');
	}
	json_close(d->out, '}');
}

/* Which kinds the definition describes. */
static void add_kinds(struct openapi_doc *d, const struct schema_def *def)
{
	bool any = false;

	for (size_t i = 0; i < d->nmodels; i++) {
		const struct openapi_model *m = &d->models[i];
		if (m->def != def)
			continue;
		if (!any)
			json_enter(d->out, "x-kubernetes-group-version-kind", '[');
		any = true;
		openapi_add_gvk(d, m->group, m->version, m->kind);
	}
	if (any)
		json_close(d->out, ']');
}

static void add_definition(struct openapi_doc *d, const struct schema_def *def)
{
	json_comma(d->out);
	buf_addc(d->out, '"');
	openapi_add_name(d->out, def);
	buf_adds(d->out, "\":{");
	json_key(d->out, STR("description"));
	openapi_add_def_text(d->out, def);
	json_raw(d->out, "\"type\":\"object\"");
	add_required(d, def);
	add_properties(d, def);
	if (def->map_atomic)
		json_member(d->out, "x-kubernetes-map-type", STR("atomic"));
	add_kinds(d, def);
	json_close(d->out, '}');
}

static void add_type_definition(struct openapi_doc *d, unsigned type)
{
	const char *text = type_rows[type].text;

	if (d->dialect == OPENAPI_V3 && type_rows[type].text_v3)
		text = type_rows[type].text_v3;
	json_enter(d->out, type_rows[type].name, '{');
	json_member(d->out, "description", str_of(type_rows[type].description));
	if (text[0])
		json_raw(d->out, text);
	json_close(d->out, '}');
}

void openapi_add_definitions(struct openapi_doc *d)
{
	size_t n;
	const struct schema_def *defs = schema_all(&n);

	for (size_t i = 0; i < n; i++)
		if (d->used[i])
			add_definition(d, &defs[i]);
	for (unsigned type = 0; type < NTYPES; type++)
		if ((d->used_types & 1u << type) && type_rows[type].name)
			add_type_definition(d, type);
}
