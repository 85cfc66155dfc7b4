/* SPDX-License-Identifier: Apache-2.0 */
/* Which definitions a document needs, and under which names the world knows them. */
#include "api/openapi_document.h"

/* Our first segment and what stands in its place in published names; all else is below io.k8s.api. */
static const struct {
	struct str ours, published;
} name_rows[] = {
	{STR_INIT("meta."), STR_INIT("io.k8s.apimachinery.pkg.apis.meta.")},
	{STR_INIT("apiextensions."), STR_INIT("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.")},
	{STR_INIT("apiregistration."), STR_INIT("io.k8s.kube-aggregator.pkg.apis.apiregistration.")},
	{STR_INIT(""), STR_INIT("io.k8s.api.")},
};

void openapi_add_name(struct buf *out, const struct schema_def *def)
{
	size_t i = 0;

	while (!str_starts(def->name, name_rows[i].ours))
		i++;
	buf_add_str(out, name_rows[i].published);
	buf_add_str(out, str_skip(def->name, name_rows[i].ours.len));
}

/* Definitions are called after the first segment of their group: rbac.v1.Role is rbac.authorization.k8s.io/v1. */
const struct schema_def *openapi_def(struct str group, struct str version, struct str kind)
{
	struct str first = group.len ? str_cut(&group, '.') : STR("core");
	const struct str part[] = {first, STR("."), version, STR("."), kind};
	char name[256];
	size_t len = 0;

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		if (part[i].len > sizeof(name) - len)
			return NULL;
		memcpy(name + len, part[i].ptr, part[i].len);
		len += part[i].len;
	}
	return schema_find(str_n(name, len));
}

static bool model_known(const struct openapi_doc *d, const struct openapi_model *m)
{
	for (size_t i = 0; i < d->nmodels; i++)
		if (d->models[i].def == m->def && str_eq(d->models[i].version, m->version) &&
		    str_eq(d->models[i].group, m->group) && str_eq(d->models[i].kind, m->kind))
			return true;
	return false;
}

static void model_add(struct openapi_doc *d, const struct schema_def *def, struct str group, struct str version,
		      struct str kind)
{
	struct openapi_model m = {def, group, version, kind};

	if (openapi_is_published(def) && !model_known(d, &m))
		d->models[d->nmodels++] = m;
}

/* Kinds of all group versions: what a DELETE takes and a watch sends belongs to each of them. */
static const struct str shared_kinds[] = {STR_INIT("DeleteOptions"), STR_INIT("WatchEvent")};

enum { NSHARED = sizeof(shared_kinds) / sizeof(shared_kinds[0]) };

static const struct schema_def *meta_def(struct str kind)
{
	return openapi_def(STR("meta"), STR("v1"), kind);
}

static void kind_models(struct openapi_doc *d, const struct kind *k)
{
	model_add(d, k->schema, k->group, k->version, k->kind);
	model_add(d, openapi_def(k->group, k->version, k->list_kind), k->group, k->version, k->list_kind);
	for (unsigned i = 0; i < k->nsubresources; i++) {
		const struct kind_subresource *s = &k->subresources[i];
		model_add(d, openapi_def(s->group, s->version, s->kind), s->group, s->version, s->kind);
	}
	for (size_t i = 0; i < NSHARED; i++)
		model_add(d, meta_def(shared_kinds[i]), k->group, k->version, shared_kinds[i]);
}

bool openapi_find_models(struct openapi_doc *d, struct arena *a)
{
	size_t room = 1;

	for (size_t i = 0; i < d->nkinds; i++)
		room += 2 + NSHARED + d->kinds[i]->nsubresources;
	d->models = arena_calloc(a, room, sizeof(*d->models));
	if (!d->models)
		return false;
	model_add(d, meta_def(STR("Status")), STR(""), STR("v1"), STR("Status"));
	for (size_t i = 0; i < d->nkinds; i++)
		kind_models(d, d->kinds[i]);
	return true;
}

/* The depth is that of the built-in types, which nest to some fifteen levels. */
void openapi_use(struct openapi_doc *d, const struct schema_def *def)
{
	if (!openapi_is_published(def) || d->used[def->id])
		return;
	d->used[def->id] = true;
	for (unsigned i = 0; i < def->nfields; i++) {
		const struct schema_node *n = &def->fields[i].node;
		while (n->item)
			n = n->item;
		d->used_types |= 1u << n->type;
		openapi_use(d, n->def);
	}
}
