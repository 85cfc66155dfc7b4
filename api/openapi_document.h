/* SPDX-License-Identifier: Apache-2.0 */
/* Writing OpenAPI documents: private to api/openapi*.c. Free of HTTP. */
#ifndef HOLDFS_API_OPENAPI_DOCUMENT_H
#define HOLDFS_API_OPENAPI_DOCUMENT_H

#include "store/base/arena.h"
#include "store/base/buf.h"
#include "store/base/status.h"
#include "store/kind/kind.h"

/* What the two versions of OpenAPI call the same things. */
enum openapi_dialect {
	OPENAPI_V2, /* Swagger 2.0: parameters hold their body, schemas stand under `definitions` */
	OPENAPI_V3, /* 3.0: bodies apart, schemas under `components`, nothing may stand beside a $ref */
};

/* A group, version and kind, and the definition of its objects (NULL: none is known). */
struct openapi_model {
	const struct schema_def *def;
	struct str group, version, kind;
};

/* A document in the making. */
struct openapi_doc {
	struct buf *out;
	enum openapi_dialect dialect;
	const struct kind *const *kinds; /* all rows */
	size_t nkinds;
	struct str api_version;          /* whose resources are described; .len 0: everybody's */
	struct openapi_model *models;    /* every kind that has a definition; one def may have several */
	size_t nmodels;
	bool *used;                      /* by def->id: to be written */
	uint32_t used_types;             /* bits of enum schema_type: scalars to be written */
};

/* Adds a whole document as one line of JSON. api_version: of the group version to describe; .len 0: all of ks.
 * Fails only with REASON_NO_MEMORY. */
int openapi_write(enum openapi_dialect dialect, const struct kinds *ks, struct str api_version, struct buf *out,
		  struct status *st);

/* "api/v1", "apis/apps/v1": how paths and the index name a group version. */
void openapi_add_root(struct buf *out, const struct kind *k);

/* Is the row part of the document? */
static inline bool openapi_covers(const struct openapi_doc *d, const struct kind *k)
{
	return d->api_version.len == 0 || str_eq(d->api_version, k->api_version);
}

/* Has def a place among the definitions? Schemas of custom resources have none: their objects are free-form here. */
static inline bool openapi_is_published(const struct schema_def *def)
{
	return def && def->id != 0xffff;
}

/* openapi_models.c: which definitions there are, what they are called. */

/* Fills d->models. False when a is full. */
bool openapi_find_models(struct openapi_doc *d, struct arena *a);
/* Definition of a kind; NULL when there is none. */
const struct schema_def *openapi_def(struct str group, struct str version, struct str kind);
/* Marks def and all that it reaches as used. Takes NULL. */
void openapi_use(struct openapi_doc *d, const struct schema_def *def);
/* Adds the published name of a definition: core.v1.Pod is io.k8s.api.core.v1.Pod. */
void openapi_add_name(struct buf *out, const struct schema_def *def);

/* openapi_schema.c */

/* Adds `{"$ref":...}` to def, or a free-form object for NULL. */
void openapi_add_ref(struct openapi_doc *d, const struct schema_def *def);
/* Adds the members of the object of definitions: all that is used. */
void openapi_add_definitions(struct openapi_doc *d);
/* Adds `{"group":...,"kind":...,"version":...}`. */
void openapi_add_gvk(struct openapi_doc *d, struct str group, struct str version, struct str kind);

/* openapi_paths.c */

/* Adds the members of `paths`; marks what they refer to as used. */
void openapi_add_paths(struct openapi_doc *d);

/* openapi_texts.c: descriptions. */

/* One sentence about a definition, as a JSON string. */
void openapi_add_def_text(struct buf *out, const struct schema_def *def);
/* The same for a field. */
void openapi_add_field_text(struct buf *out, const struct schema_field *f);
/* Adds a camel-case name in words: "imagePullPolicy" as "Image pull policy". */
void openapi_add_words(struct buf *out, struct str name);

#endif
