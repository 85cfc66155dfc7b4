/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are matched segment by segment; what is not a page is a resource path. The scope of a resource is
 * checked before anything is looked up (CVE-2019-11247). */
#include "api/route.h"

#include "api/deletecollection.h"
#include "api/discovery.h"
#include "api/get.h"
#include "api/health.h"
#include "api/list.h"
#include "api/metrics.h"
#include "api/openapi.h"
#include "api/reply.h"
#include "api/version.h"
#include "api/watch.h"
#include "api/write.h"
#include "store/change/review.h"

static int page_not_found(struct request *r, struct reply *p, struct status *st)
{
	(void)r, (void)st;
	reply_no_page(p);
	return 0;
}

static int not_implemented(struct request *r, struct reply *p, struct status *st)
{
	(void)p;
	return status_set(st, REASON_NOT_IMPLEMENTED, "%.*s of %.*s is not implemented: nothing runs here",
			  STR_ARG(r->subresource_name), STR_ARG(r->kind->plural));
}

/* `*` is one segment, `**` at the end any number. Read-only pages: GET and HEAD. */
static const struct page {
	const char *pattern;
	handler *handle;
	unsigned offers;
} pages[] = {
	{"", discovery_paths, 0},
	{"api", discovery_core, OFFER_DISCOVERY},
	{"api/v1", discovery_resources, 0},
	{"apis", discovery_groups, OFFER_DISCOVERY},
	{"apis/*", discovery_group, 0},
	{"apis/*/*", discovery_resources, 0},
	{"version", version_handle, 0},
	{"healthz", health_handle, 0},
	{"healthz/*", health_handle, 0},
	{"livez", health_handle, 0},
	{"livez/*", health_handle, 0},
	{"readyz", health_handle, 0},
	{"readyz/*", health_handle, 0},
	{"metrics", metrics_handle, 0},
	{"openapi/v2", openapi_v2, 0},
	{"openapi/v3", openapi_v3_index, 0},
	{"openapi/v3/**", openapi_v3_document, 0},
};

static bool page_matches(const char *pattern, const struct request *r)
{
	struct str rest = str_of(pattern);

	for (unsigned i = 0; i < r->nsegments; i++) {
		struct str want = str_cut(&rest, '/');
		if (str_is(want, "**"))
			return true;
		if (want.len == 0 || (!str_is(want, "*") && !str_eq(want, r->segment[i])))
			return false;
	}
	return rest.len == 0;
}

static const struct page *find_page(const struct request *r)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (page_matches(pages[i].pattern, r))
			return &pages[i];
	return NULL;
}

static bool is_read(const struct request *r)
{
	return r->method == METHOD_GET || r->method == METHOD_HEAD;
}

static int method_not_allowed(struct status *st)
{
	return status_set(st, REASON_METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource");
}

/* Text pages have nothing to negotiate; OpenAPI has media types of its own. */
static bool negotiates(const struct page *page)
{
	return page->handle != health_handle && page->handle != metrics_handle && page->handle != openapi_v2 &&
	       page->handle != openapi_v3_index && page->handle != openapi_v3_document;
}

static int route_page(struct request *r, const struct page *page, struct status *st)
{
	if (!is_read(r))
		return method_not_allowed(st);
	r->handle = page->handle;
	return negotiates(page) ? negotiate(request_header(r, "accept"), page->offers, &r->accept, st) : 0;
}

/* ---- resources ---- */

/* A resource path in the making. */
struct target {
	struct str group, version;
	struct str rest[SEGMENTS_MAX];
	unsigned nrest;
	bool watch; /* the old /watch/ prefix */
};

static bool split(const struct request *r, struct target *t)
{
	unsigned at;

	if (r->nsegments >= 3 && str_is(r->segment[0], "api")) {
		t->group = STR("");
		t->version = r->segment[1];
		at = 2;
	} else if (r->nsegments >= 4 && str_is(r->segment[0], "apis")) {
		t->group = r->segment[1];
		t->version = r->segment[2];
		at = 3;
	} else {
		return false;
	}
	if (str_is(r->segment[at], "watch") && at + 1 < r->nsegments) {
		t->watch = true;
		at++;
	}
	for (; at < r->nsegments; at++)
		t->rest[t->nrest++] = r->segment[at];
	return true;
}

/* `namespaces/NS/RESOURCE...`; but `namespaces/NS` and its own subresources are about the namespace. */
static bool in_namespace(const struct target *t)
{
	return t->nrest >= 3 && str_is(t->rest[0], "namespaces") &&
	       !(t->nrest == 3 && !t->group.len &&
		 (str_is(t->rest[2], "status") || str_is(t->rest[2], "finalize")));
}

static bool resolve(struct request *r, const struct target *t)
{
	unsigned at = in_namespace(t) ? 2 : 0;

	if (t->nrest <= at || t->nrest > at + 3)
		return false;
	r->kind = kinds_find(store_kinds(r->api->store), t->group, t->version, t->rest[at]);
	if (!r->kind)
		return false;
	if (at)
		r->ns = t->rest[1];
	if (t->nrest > at + 1)
		r->name = t->rest[at + 1];
	if (t->nrest > at + 2) {
		r->subresource_name = t->rest[at + 2];
		r->subresource = kind_subresource(r->kind, r->subresource_name);
		if (!r->subresource)
			return false;
	}
	/* A namespaced object has no name outside its namespace; a cluster-scoped one has no namespace. */
	bool namespaced = kind_is(r->kind, KIND_NAMESPACED);
	return namespaced ? r->ns.ptr || !r->name.len : !r->ns.ptr;
}

static enum action action_of(const struct request *r, bool watch)
{
	bool named = r->name.len > 0;

	switch (r->method) {
	case METHOD_GET:
	case METHOD_HEAD:
		if (watch && r->method == METHOD_GET && !r->subresource)
			return ACTION_WATCH;
		return named ? ACTION_GET : ACTION_LIST;
	case METHOD_POST: return named && !r->subresource ? ACTION_NONE : ACTION_CREATE;
	case METHOD_PUT: return named ? ACTION_UPDATE : ACTION_NONE;
	case METHOD_PATCH: return named ? ACTION_PATCH : ACTION_NONE;
	case METHOD_DELETE: return named ? ACTION_DELETE : ACTION_DELETECOLLECTION;
	default: return ACTION_NONE;
	}
}

static const struct action_row {
	uint16_t verb;
	const char *name;
	unsigned offers;
	handler *handle;
} actions[ACTION_COUNT] = {
	[ACTION_GET] = {VERB_GET, "get", OFFER_TABLE | OFFER_PARTIAL, get_handle},
	[ACTION_LIST] = {VERB_LIST, "list", OFFER_TABLE | OFFER_PARTIAL_LIST, list_handle},
	[ACTION_WATCH] = {VERB_WATCH, "watch", OFFER_TABLE | OFFER_PARTIAL | OFFER_STREAM, watch_handle},
	[ACTION_CREATE] = {VERB_CREATE, "create", OFFER_TABLE | OFFER_PARTIAL, write_handle},
	[ACTION_UPDATE] = {VERB_UPDATE, "update", OFFER_TABLE | OFFER_PARTIAL, write_handle},
	[ACTION_PATCH] = {VERB_PATCH, "patch", OFFER_TABLE | OFFER_PARTIAL, write_handle},
	[ACTION_DELETE] = {VERB_DELETE, "delete", OFFER_TABLE | OFFER_PARTIAL, write_handle},
	[ACTION_DELETECOLLECTION] = {VERB_DELETECOLLECTION, "deletecollection", OFFER_TABLE | OFFER_PARTIAL_LIST,
				     deletecollection_handle},
};

static int verb_not_allowed(const struct request *r, const char *verb, struct status *st)
{
	return status_set(st, REASON_METHOD_NOT_ALLOWED, "%s is not supported on resources of kind \"%.*s%s%.*s\"", verb,
			  STR_ARG(r->kind->plural), r->kind->group.len ? "." : "", STR_ARG(r->kind->group));
}

static int check_verb(const struct request *r, struct status *st)
{
	uint16_t verbs = r->subresource ? r->subresource->verbs : r->kind->verbs;
	bool everywhere = kind_is(r->kind, KIND_NAMESPACED) && !r->ns.ptr;

	if (r->action == ACTION_NONE)
		return method_not_allowed(st);
	/* Nothing is created or deleted in all namespaces at once. */
	if (!(verbs & actions[r->action].verb) ||
	    (everywhere && (r->action == ACTION_CREATE || r->action == ACTION_DELETECOLLECTION)))
		return verb_not_allowed(r, actions[r->action].name, st);
	return 0;
}

/* Subresources that are the object itself, or that the write path knows. */
static bool subresource_works(struct str name)
{
	static const char *const names[] = {
		"status", "scale", "finalize", "approval", "binding", "ephemeralcontainers", "resize", "eviction",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

static handler *handler_of(const struct request *r)
{
	if (r->subresource && !subresource_works(r->subresource_name))
		return not_implemented;
	if (kind_is(r->kind, KIND_STORED))
		return actions[r->action].handle;
	if (r->action == ACTION_CREATE && review_knows(r->kind))
		return write_handle_review;
	if (r->action == ACTION_CREATE)
		return write_handle; /* the write path says what it makes of a Binding */
	return r->action == ACTION_LIST ? list_handle_virtual : page_not_found;
}

/* Virtual kinds, and subresources that are kinds of their own, have no Table and no metadata. */
static unsigned offers_of(const struct request *r)
{
	unsigned offers = actions[r->action].offers;
	bool plain = (!kind_is(r->kind, KIND_STORED) && r->action != ACTION_LIST) ||
		     (r->subresource && !str_eq(r->subresource->kind, r->kind->kind));

	return plain ? offers & OFFER_STREAM : offers;
}

static int check_writable(const struct request *r, struct status *st)
{
	if (!r->api->read_only || is_read(r) || r->handle == write_handle_review)
		return 0;
	return status_set(st, REASON_READ_ONLY, "this server is read-only");
}

static int route_resource(struct request *r, bool watch, struct status *st)
{
	r->action = action_of(r, watch || request_flag(r, "watch"));
	int rc = check_verb(r, st);
	if (rc < 0)
		return rc;
	r->handle = handler_of(r);
	rc = negotiate(request_header(r, "accept"), offers_of(r), &r->accept, st);
	return rc < 0 ? rc : check_writable(r, st);
}

int route(struct request *r, struct status *st)
{
	const struct page *page = find_page(r);
	struct target t = {0};

	if (page)
		return route_page(r, page, st);
	if (split(r, &t) && resolve(r, &t))
		return route_resource(r, t.watch, st);
	r->kind = NULL;
	r->handle = page_not_found;
	return 0;
}
