/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: where each resource is, what may be done there, with which parameters. kubectl looks for PATCH operations of a
 * kind that take fieldValidation; generators of clients read the rest. */
#include "api/json_out.h"
#include "api/openapi_document.h"

enum param {
	PARAM_LIST = 1 << 0,   /* of lists and watches, and of what a collection delete chooses */
	PARAM_WRITE = 1 << 1,
	PARAM_APPLY = 1 << 2,
	PARAM_DELETE = 1 << 3,
};

/* Query parameters, by the operations that take them. */
static const struct param_row {
	const char *name, *type, *description;
	unsigned used_by;
} param_rows[] = {
	{"allowWatchBookmarks", "boolean", "Send bookmarks during a watch.", PARAM_LIST},
	{"continue", "string", "The next page: what the page before said under metadata.continue.", PARAM_LIST},
	{"dryRun", "string", "All: do everything but store the result.", PARAM_WRITE | PARAM_DELETE},
	{"fieldManager", "string", "Who owns the fields that this request sets.", PARAM_WRITE},
	{"fieldSelector", "string", "Only objects whose fields have these values.", PARAM_LIST},
	{"fieldValidation", "string", "What unknown and duplicate fields do: Ignore, Warn or Strict.", PARAM_WRITE},
	{"force", "boolean", "Take fields from other managers (server-side apply only).", PARAM_APPLY},
	{"gracePeriodSeconds", "integer", "Time to end in order; 0 deletes at once.", PARAM_DELETE},
	{"labelSelector", "string", "Only objects with these labels.", PARAM_LIST},
	{"limit", "integer", "Greatest number of objects in one answer.", PARAM_LIST},
	{"orphanDependents", "boolean", "Deprecated: see propagationPolicy.", PARAM_DELETE},
	{"propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground.", PARAM_DELETE},
	{"resourceVersion", "string", "How fresh the answer must be; where a watch starts.", PARAM_LIST},
	{"resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan.", PARAM_LIST},
	{"sendInitialEvents", "boolean", "Begin a watch with all objects that exist.", PARAM_LIST},
	{"timeoutSeconds", "integer", "End after this time.", PARAM_LIST},
	{"watch", "boolean", "Report changes instead of listing.", PARAM_LIST},
};

/* What an operation takes or gives. */
enum content {
	CONTENT_NONE,
	CONTENT_OBJECT,
	CONTENT_LIST,
	CONTENT_STATUS,
	CONTENT_DELETED, /* the object, or a Status: as the kind has it */
	CONTENT_OPTIONS, /* DeleteOptions; may be left out */
	CONTENT_PATCH,
	CONTENT_TEXT,
};

/* One operation of a path. */
static const struct operation_row {
	uint16_t verb;
	const char *method, *action;
	const char *id;    /* start of the operationId */
	unsigned params;
	enum content takes, gives;
	const char *codes; /* of success, blank-separated */
} collection_rows[] = {
	{VERB_DELETECOLLECTION, "delete", "deletecollection", "delete", PARAM_LIST | PARAM_DELETE, CONTENT_OPTIONS,
	 CONTENT_STATUS, "200"},
	{VERB_LIST, "get", "list", "list", PARAM_LIST, CONTENT_NONE, CONTENT_LIST, "200"},
	{VERB_CREATE, "post", "post", "create", PARAM_WRITE, CONTENT_OBJECT, CONTENT_OBJECT, "200 201 202"},
	{0},
}, item_rows[] = {
	{VERB_DELETE, "delete", "delete", "delete", PARAM_DELETE, CONTENT_OPTIONS, CONTENT_DELETED, "200 202"},
	{VERB_GET, "get", "get", "read", 0, CONTENT_NONE, CONTENT_OBJECT, "200"},
	{VERB_PATCH, "patch", "patch", "patch", PARAM_WRITE | PARAM_APPLY, CONTENT_PATCH, CONTENT_OBJECT, "200 201"},
	{VERB_CREATE, "post", "post", "create", PARAM_WRITE, CONTENT_OBJECT, CONTENT_OBJECT, "200 201 202"},
	{VERB_UPDATE, "put", "put", "replace", PARAM_WRITE, CONTENT_OBJECT, CONTENT_OBJECT, "200 201"},
	{0},
}, connect_rows[] = { /* exec, proxy and the like: no objects */
	{VERB_DELETE, "delete", "connect", "connectDelete", 0, CONTENT_NONE, CONTENT_TEXT, "200"},
	{VERB_GET, "get", "connect", "connectGet", 0, CONTENT_NONE, CONTENT_TEXT, "200"},
	{VERB_PATCH, "patch", "connect", "connectPatch", 0, CONTENT_NONE, CONTENT_TEXT, "200"},
	{VERB_CREATE, "post", "connect", "connectPost", 0, CONTENT_NONE, CONTENT_TEXT, "200"},
	{VERB_UPDATE, "put", "connect", "connectPut", 0, CONTENT_NONE, CONTENT_TEXT, "200"},
	{0},
};

/* One path: a collection, an object or a subresource of one. */
struct place {
	const struct kind *kind;
	const struct kind_subresource *subresource; /* NULL: the resource itself */
	struct openapi_model object;                /* what is there */
	uint16_t verbs;
	bool in_namespace, item;
	const struct operation_row *rows;
};

/* ---- names ---- */

static void add_capital(struct buf *out, struct str word)
{
	if (word.len == 0)
		return;
	buf_addc(out, (char)(word.ptr[0] >= 'a' && word.ptr[0] <= 'z' ? word.ptr[0] & ~0x20 : word.ptr[0]));
	buf_add_str(out, str_skip(word, 1));
}

/* RbacAuthorization for rbac.authorization.k8s.io, Core for the core group. */
static void add_group_words(struct buf *out, struct str group)
{
	if (group.len == 0)
		group = STR("core");
	if (str_ends(group, STR(".k8s.io")))
		group.len -= strlen(".k8s.io");
	while (group.len)
		add_capital(out, str_cut(&group, '.'));
}

/* Generators of clients make one class of each tag. */
static void add_tag(struct openapi_doc *d, const struct kind *k)
{
	json_key(d->out, STR("tags"));
	buf_addf(d->out, "[\"%.*s_%.*s\"]", STR_ARG(k->group.len ? k->group : STR("core")), STR_ARG(k->version));
}

/* As Kubernetes builds it: replaceAppsV1NamespacedDeploymentStatus, listCoreV1PodForAllNamespaces. */
static void add_operation_id(struct openapi_doc *d, const struct place *at, const struct operation_row *row)
{
	const struct kind *k = at->kind;

	json_key(d->out, STR("operationId"));
	buf_addf(d->out, "\"%s", row->id);
	add_group_words(d->out, k->group);
	add_capital(d->out, k->version);
	if (row->verb == VERB_DELETECOLLECTION)
		buf_adds(d->out, "Collection");
	if (at->in_namespace)
		buf_adds(d->out, "Namespaced");
	buf_add_str(d->out, k->kind);
	if (at->subresource)
		add_capital(d->out, at->subresource->name);
	if (!at->item && !at->in_namespace && kind_is(k, KIND_NAMESPACED))
		buf_adds(d->out, "ForAllNamespaces");
	buf_addc(d->out, '"');
}

/* ---- content ---- */

static const struct schema_def *content_def(const struct place *at, enum content c)
{
	const struct kind *k = at->kind;

	switch (c) {
	case CONTENT_OBJECT:
		return at->object.def;
	case CONTENT_LIST:
		return openapi_def(k->group, k->version, k->list_kind);
	case CONTENT_DELETED:
		return kind_is(k, KIND_RETURNS_OBJECT) ? at->object.def : schema_find(STR("meta.v1.Status"));
	case CONTENT_STATUS:
		return schema_find(STR("meta.v1.Status"));
	case CONTENT_OPTIONS:
		return schema_find(STR("meta.v1.DeleteOptions"));
	case CONTENT_PATCH:
		return schema_find(STR("meta.v1.Patch"));
	default:
		return NULL;
	}
}

static void add_content_schema(struct openapi_doc *d, const struct place *at, enum content c)
{
	const struct schema_def *def = content_def(at, c);

	json_key(d->out, STR("schema"));
	openapi_use(d, def);
	if (c == CONTENT_TEXT)
		json_raw(d->out, "{\"type\":\"string\"}");
	else
		openapi_add_ref(d, def);
}

/* Media types of bodies and replies; NULL ends. */
static const char *const *content_media(enum content c, bool reply)
{
	static const char *const any[] = {"*/*", NULL};
	static const char *const objects[] = {"application/json", "application/yaml", NULL};
	static const char *const lists[] = {"application/json", "application/json;stream=watch", "application/yaml",
					    NULL};
	static const char *const patches[] = {"application/json-patch+json",
					      "application/merge-patch+json",
					      "application/strategic-merge-patch+json", NULL};

	if (c == CONTENT_PATCH)
		return patches;
	if (c == CONTENT_LIST)
		return lists;
	return reply && c != CONTENT_TEXT ? objects : any;
}

/* The media types as a v2 list. */
static void add_media_list(struct openapi_doc *d, const char *key, const char *const *media)
{
	json_enter(d->out, key, '[');
	for (; *media; media++)
		json_string(d->out, str_of(*media));
	json_close(d->out, ']');
}

/* The media types as v3 has them, each with the schema. */
static void add_media_map(struct openapi_doc *d, const struct place *at, enum content c, bool reply)
{
	json_enter(d->out, "content", '{');
	for (const char *const *media = content_media(c, reply); *media; media++) {
		json_enter(d->out, *media, '{');
		add_content_schema(d, at, c);
		json_close(d->out, '}');
	}
	json_close(d->out, '}');
}

/* ---- parameters ---- */

/* What stands where: `in` is query, path or body. The caller closes the object. */
static void add_param_head(struct openapi_doc *d, const char *in, const char *name, const char *description)
{
	json_open(d->out, '{');
	json_member(d->out, "in", str_of(in));
	json_member(d->out, "name", str_of(name));
	if (description)
		json_member(d->out, "description", str_of(description));
}

static void add_param_type(struct openapi_doc *d, const char *type)
{
	if (d->dialect == OPENAPI_V3)
		json_enter(d->out, "schema", '{');
	json_member(d->out, "type", str_of(type));
	if (d->dialect == OPENAPI_V3)
		json_close(d->out, '}');
}

static void add_query_params(struct openapi_doc *d, unsigned used_by)
{
	for (size_t i = 0; i < sizeof(param_rows) / sizeof(param_rows[0]); i++) {
		const struct param_row *row = &param_rows[i];
		if (!(row->used_by & used_by))
			continue;
		add_param_head(d, "query", row->name, row->description);
		add_param_type(d, row->type);
		json_close(d->out, '}');
	}
}

static void add_path_param(struct openapi_doc *d, const char *name, const char *description)
{
	add_param_head(d, "path", name, description);
	json_raw(d->out, "\"required\":true");
	add_param_type(d, "string");
	json_close(d->out, '}');
}

/* Those that all operations of a path share. */
static void add_path_params(struct openapi_doc *d, const struct place *at)
{
	json_enter(d->out, "parameters", '[');
	if (at->item)
		add_path_param(d, "name", "Name of the object.");
	if (at->in_namespace)
		add_path_param(d, "namespace", "Namespace of the object.");
	add_param_head(d, "query", "pretty", "Indent the answer.");
	add_param_type(d, "string");
	json_close(d->out, '}');
	json_close(d->out, ']');
}

/* ---- operations ---- */

static void add_body_param(struct openapi_doc *d, const struct place *at, const struct operation_row *row)
{
	add_param_head(d, "body", "body", NULL);
	if (row->takes != CONTENT_OPTIONS)
		json_raw(d->out, "\"required\":true");
	add_content_schema(d, at, row->takes);
	json_close(d->out, '}');
}

/* Parameters and body, each dialect in its own way. */
static void add_input(struct openapi_doc *d, const struct place *at, const struct operation_row *row)
{
	bool body = row->takes != CONTENT_NONE, v2 = d->dialect == OPENAPI_V2;

	if (body || row->params) {
		json_enter(d->out, "parameters", '[');
		if (body && v2)
			add_body_param(d, at, row);
		add_query_params(d, row->params);
		json_close(d->out, ']');
	}
	if (v2)
		add_media_list(d, "consumes", content_media(row->takes, false));
	if (v2 || !body)
		return;
	json_enter(d->out, "requestBody", '{');
	add_media_map(d, at, row->takes, false);
	if (row->takes != CONTENT_OPTIONS)
		json_raw(d->out, "\"required\":true");
	json_close(d->out, '}');
}

static void add_response(struct openapi_doc *d, const struct place *at, struct str code, enum content gives)
{
	static const char *const texts[] = {"OK", "Created", "Accepted"};

	json_key(d->out, code);
	json_open(d->out, '{');
	json_member(d->out, "description", str_of(texts[code.ptr[2] - '0']));
	if (d->dialect == OPENAPI_V2)
		add_content_schema(d, at, gives);
	else
		add_media_map(d, at, gives, true);
	json_close(d->out, '}');
}

static void add_responses(struct openapi_doc *d, const struct place *at, const struct operation_row *row)
{
	struct str codes = str_of(row->codes);

	if (d->dialect == OPENAPI_V2)
		add_media_list(d, "produces", content_media(row->gives, true));
	json_enter(d->out, "responses", '{');
	while (codes.len)
		add_response(d, at, str_cut(&codes, ' '), row->gives);
	json_raw(d->out, "\"401\":{\"description\":\"Unauthorized\"}");
	json_close(d->out, '}');
}

static void add_operation(struct openapi_doc *d, const struct place *at, const struct operation_row *row)
{
	const struct openapi_model *m = &at->object;

	json_enter(d->out, row->method, '{');
	add_tag(d, at->kind);
	add_operation_id(d, at, row);
	add_input(d, at, row);
	add_responses(d, at, row);
	json_member(d->out, "x-kubernetes-action", str_of(row->action));
	json_key(d->out, STR("x-kubernetes-group-version-kind"));
	openapi_add_gvk(d, m->group, m->version, m->kind);
	json_close(d->out, '}');
}

static void add_path_key(struct openapi_doc *d, const struct place *at)
{
	json_comma(d->out);
	buf_adds(d->out, "\"/");
	openapi_add_root(d->out, at->kind);
	if (at->in_namespace)
		buf_adds(d->out, "/namespaces/{namespace}");
	buf_addc(d->out, '/');
	buf_add_str(d->out, at->kind->plural);
	if (at->item)
		buf_adds(d->out, "/{name}");
	if (at->subresource) {
		buf_addc(d->out, '/');
		buf_add_str(d->out, at->subresource->name);
	}
	buf_adds(d->out, "\":{");
}

/* Nothing when no operation of the place is among its verbs. */
static void add_place(struct openapi_doc *d, const struct place *at)
{
	bool any = false;

	for (const struct operation_row *row = at->rows; row->method; row++) {
		if (!(row->verb & at->verbs))
			continue;
		if (!any)
			add_path_key(d, at);
		any = true;
		add_operation(d, at, row);
	}
	if (!any)
		return;
	add_path_params(d, at);
	json_close(d->out, '}');
}

/* ---- resources ---- */

/* An object may be created by POST to its collection only; POST to a subresource is its own verb. */
static void add_resource(struct openapi_doc *d, const struct kind *k)
{
	struct place at = {
		.kind = k,
		.object = {k->schema, k->group, k->version, k->kind},
		.verbs = k->verbs,
		.in_namespace = kind_is(k, KIND_NAMESPACED),
		.rows = collection_rows,
	};

	add_place(d, &at);
	if (at.in_namespace) {
		struct place all = at;
		all.in_namespace = false;
		all.verbs &= VERB_LIST;
		add_place(d, &all);
	}
	at.item = true;
	at.verbs &= (uint16_t)~VERB_CREATE;
	at.rows = item_rows;
	add_place(d, &at);
	if (k->verbs & VERB_WATCH)
		openapi_use(d, schema_find(STR("meta.v1.WatchEvent")));
}

/* Subresources without a definition (exec, proxy, ...) are connections; what log gives is text, not a Pod. */
static void add_subresource(struct openapi_doc *d, const struct kind *k, const struct kind_subresource *s)
{
	struct place at = {
		.kind = k,
		.subresource = s,
		.object = {openapi_def(s->group, s->version, s->kind), s->group, s->version, s->kind},
		.verbs = s->verbs,
		.in_namespace = kind_is(k, KIND_NAMESPACED),
		.item = true,
		.rows = item_rows,
	};
	static const struct operation_row log_rows[] = {
		{VERB_GET, "get", "get", "read", 0, CONTENT_NONE, CONTENT_TEXT, "200"},
		{0},
	};

	if (!at.object.def)
		at.rows = connect_rows;
	else if (str_is(s->name, "log"))
		at.rows = log_rows;
	add_place(d, &at);
}

void openapi_add_paths(struct openapi_doc *d)
{
	for (size_t i = 0; i < d->nkinds; i++) {
		const struct kind *k = d->kinds[i];
		if (!openapi_covers(d, k))
			continue;
		add_resource(d, k);
		for (unsigned s = 0; s < k->nsubresources; s++)
			add_subresource(d, k, &k->subresources[s]);
	}
}
