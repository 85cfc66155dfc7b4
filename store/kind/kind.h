/* SPDX-License-Identifier: Apache-2.0 */
/* What a resource is: one row for each group, version and resource, and how to find it. */
#ifndef HOLDFS_KIND_H
#define HOLDFS_KIND_H

#include "store/base/str.h"
#include "store/kind/schema.h"

enum kind_verb {
	VERB_CREATE = 1 << 0,
	VERB_DELETE = 1 << 1,
	VERB_DELETECOLLECTION = 1 << 2,
	VERB_GET = 1 << 3,
	VERB_LIST = 1 << 4,
	VERB_PATCH = 1 << 5,
	VERB_UPDATE = 1 << 6,
	VERB_WATCH = 1 << 7,
};

enum kind_flag {
	KIND_NAMESPACED = 1 << 0,
	KIND_STORED = 1 << 1,            /* has storage; the others are virtual (reviews, bindings) */
	KIND_CREATE_ON_UPDATE = 1 << 2,  /* PUT may create */
	KIND_NEEDS_VERSION = 1 << 3,     /* PUT must carry a resourceVersion */
	KIND_RETURNS_OBJECT = 1 << 4,    /* DELETE answers with the object */
	KIND_ORPHANS = 1 << 5,           /* DELETE without a policy orphans its dependents */
	KIND_STATUS = 1 << 6,            /* has the status subresource */
	KIND_STATUS_ON_CREATE = 1 << 7,  /* status given at create is kept (Node) */
	KIND_SCALE = 1 << 8,
	KIND_SECRET = 1 << 9,            /* content is not for others' eyes: 0600 in the mount */
	KIND_NO_OWNER = 1 << 10,         /* takes no part in garbage collection (Event) */
	KIND_CUSTOM = 1 << 11,           /* defined by a CustomResourceDefinition */
};

/* When metadata.generation grows. */
enum kind_generation {
	GENERATION_NONE,     /* the kind has none */
	GENERATION_SPEC,     /* anything outside metadata and status changes */
	GENERATION_CONSTANT, /* stays 1 */
	GENERATION_SPEC_ANNOTATIONS, /* spec or annotations (Deployment) */
	GENERATION_SPEC_LABELS,      /* anything outside metadata, or labels (EndpointSlice) */
	GENERATION_SPEC_FROM_ZERO,   /* spec; starts unset (CSIDriver) */
};

/* Name grammars of validation.json. */
enum name_rule { NAME_SUBDOMAIN, NAME_LABEL, NAME_PATH_SEGMENT, NAME_CRD, NAME_APISERVICE, NAME_IP, NAME_CRONJOB };

struct kind_subresource {
	struct str name;      /* "status", "scale", "eviction" */
	struct str group, version, kind; /* of what it takes and gives */
	uint16_t verbs;
};

struct kind_column {
	struct str name, type, format, description;
	int priority;
	uint16_t cell; /* which rule fills it: private to cells.c */
	struct str path; /* dotted path of the value, as the rule reads it; may be empty */
};

enum { SELECTABLE_EMPTY = 0xff };

/* A field that selectors may name. metadata.name and metadata.namespace are known for all kinds and
 * are not listed. */
struct kind_selectable {
	struct str name; /* "status.phase" */
	struct str path; /* dotted path of the value in the stored form; rule in cells of selectors.json */
	uint8_t rule;    /* private to selector.c: plain, bool, first pod IP, ... */
	struct str other; /* fallback path or empty */
	uint8_t slot;     /* place of the value in the fields block of the storage row; SELECTABLE_EMPTY: no
			     object carries it */
};

/* One row: a resource in one version. Static for built-ins, never freed. */
struct kind {
	struct str group;     /* "" for core */
	struct str version;
	struct str kind, list_kind;
	struct str plural, singular;
	const struct str *short_names;
	const struct str *categories;
	uint8_t nshort_names, ncategories;
	uint16_t verbs;       /* enum kind_verb bits */
	uint32_t flags;       /* enum kind_flag bits */
	uint8_t generation;   /* enum kind_generation */
	uint8_t name_rule;    /* enum name_rule */
	const struct kind_subresource *subresources;
	uint8_t nsubresources;
	const struct kind_column *columns; /* Table columns, in order */
	uint8_t ncolumns;
	const struct kind_selectable *selectable;
	uint8_t nselectable;
	const struct schema_def *schema;   /* NULL for virtual kinds without one */
	struct str version_hash;           /* storageVersionHash; empty for virtual kinds */
	const struct kind *storage;        /* the row in whose form objects are stored (itself for most);
					      several rows with one storage row share their objects */
	struct str api_version;            /* "apps/v1", "v1" */
	struct str dir;                    /* name of the mount directory: "deployments.apps", "pods" */
	struct str type_meta;              /* `"apiVersion":"apps/v1","kind":"Deployment",` */
	uint16_t id;                       /* dense number of the row in kinds_all */
};

/* The known kinds. Immutable; a later set (with custom resources) replaces it as a whole. */
struct kinds;

/* The built-in kinds of Kubernetes v1.36. */
const struct kinds *kinds_builtin(void);

/* Lookups return NULL when there is no such row. resource is the plural. */
const struct kind *kinds_find(const struct kinds *ks, struct str group, struct str version, struct str resource);
/* By `apiVersion` and `kind` of an object. */
const struct kind *kinds_by_gvk(const struct kinds *ks, struct str api_version, struct str kind);
/* By what kubectl accepts as a resource: plural, singular, short name, each with an optional group
 * (and version); the preferred version and the first group in discovery order win. */
const struct kind *kinds_by_resource(const struct kinds *ks, struct str name);
/* The preferred row of a directory of the mount, exact `dir` only. */
const struct kind *kinds_by_dir(const struct kinds *ks, struct str dir);
/* All rows in discovery order (groups by priority, versions by preference). */
const struct kind *const *kinds_all(const struct kinds *ks, size_t *ret_count);

/* NULL when the kind has no such subresource. */
const struct kind_subresource *kind_subresource(const struct kind *k, struct str name);

static inline bool kind_is(const struct kind *k, uint32_t flag)
{
	return (k->flags & flag) != 0;
}

#endif
