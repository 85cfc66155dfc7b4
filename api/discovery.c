/* SPDX-License-Identifier: Apache-2.0 */
/* Discovery documents, written from the rows of kinds: groups are contiguous there, versions within them. */
#include "api/discovery.h"

#include "api/json_out.h"
#include "api/reply.h"
#include "api/tls.h"

static const struct {
	uint16_t bit;
	const char *name;
} verbs[] = {
	{VERB_CREATE, "create"}, {VERB_DELETE, "delete"}, {VERB_DELETECOLLECTION, "deletecollection"},
	{VERB_GET, "get"},       {VERB_LIST, "list"},     {VERB_PATCH, "patch"},
	{VERB_UPDATE, "update"}, {VERB_WATCH, "watch"},
};

static void add_verbs(struct buf *b, uint16_t bits)
{
	json_enter(b, "verbs", '[');
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (bits & verbs[i].bit)
			json_string(b, str_of(verbs[i].name));
	json_close(b, ']');
}

/* An array of names, left out when empty. */
static void add_names(struct buf *b, const char *key, const struct str *names, unsigned n)
{
	if (n == 0)
		return;
	json_enter(b, key, '[');
	for (unsigned i = 0; i < n; i++)
		json_string(b, names[i]);
	json_close(b, ']');
}

/* All rows; walks from one group, or version, to the next. */
struct rows {
	const struct kind *const *row;
	size_t n;
};

static struct rows rows_of(struct request *r)
{
	struct rows rows;

	rows.row = kinds_all(store_kinds(r->api->store), &rows.n);
	return rows;
}

static size_t group_end(const struct rows *rows, size_t at)
{
	size_t end = at;

	while (end < rows->n && str_eq(rows->row[end]->group, rows->row[at]->group))
		end++;
	return end;
}

static size_t version_end(const struct rows *rows, size_t at)
{
	size_t end = at;

	while (end < rows->n && str_eq(rows->row[end]->api_version, rows->row[at]->api_version))
		end++;
	return end;
}

/* ---- aggregated ---- */

static void add_response_kind(struct buf *b, struct str group, struct str version, struct str kind)
{
	json_enter(b, "responseKind", '{');
	json_member(b, "group", group);
	json_member(b, "version", version);
	json_member(b, "kind", kind);
	json_close(b, '}');
}

static void add_aggregated_subresources(struct buf *b, const struct kind *k)
{
	if (!k->nsubresources)
		return;
	json_enter(b, "subresources", '[');
	for (unsigned i = 0; i < k->nsubresources; i++) {
		const struct kind_subresource *s = &k->subresources[i];
		json_open(b, '{');
		json_member(b, "subresource", s->name);
		add_response_kind(b, s->group, s->version, s->kind);
		add_verbs(b, s->verbs);
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void add_aggregated_resource(struct buf *b, const struct kind *k)
{
	json_open(b, '{');
	json_member(b, "resource", k->plural);
	add_response_kind(b, k->group, k->version, k->kind);
	json_member(b, "scope", kind_is(k, KIND_NAMESPACED) ? STR("Namespaced") : STR("Cluster"));
	json_member(b, "singularResource", k->singular);
	add_verbs(b, k->verbs);
	add_names(b, "shortNames", k->short_names, k->nshort_names);
	add_names(b, "categories", k->categories, k->ncategories);
	add_aggregated_subresources(b, k);
	json_close(b, '}');
}

static void add_aggregated_group(struct buf *b, const struct rows *rows, size_t at, size_t end)
{
	json_open(b, '{');
	json_enter(b, "metadata", '{');
	json_member(b, "name", rows->row[at]->group);
	json_raw(b, "\"creationTimestamp\":null}");
	json_enter(b, "versions", '[');
	while (at < end) {
		size_t next = version_end(rows, at);
		json_open(b, '{');
		json_member(b, "version", rows->row[at]->version);
		json_enter(b, "resources", '[');
		for (; at < next; at++)
			add_aggregated_resource(b, rows->row[at]);
		json_close(b, ']');
		json_member(b, "freshness", STR("Current"));
		json_close(b, '}');
	}
	json_close(b, ']');
	json_close(b, '}');
}

static void add_aggregated(struct request *r, struct buf *b, bool core)
{
	struct rows rows = rows_of(r);

	buf_addf(b, "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/%s\",\"metadata\":{},\"items\":[",
		 r->accept.beta ? "v2beta1" : "v2");
	for (size_t at = 0, end; at < rows.n; at = end) {
		end = group_end(&rows, at);
		if (core == (rows.row[at]->group.len == 0))
			add_aggregated_group(b, &rows, at, end);
	}
	buf_adds(b, "]}");
}

/* With its ETag; 304 for who has it already. */
static int reply_aggregated(struct request *r, struct reply *p, bool core, struct status *st)
{
	struct pool_buf *b = pool_get(r->api->pool);
	char etag[2 + DIGEST_HEX + 1];

	if (!b)
		return status_no_memory(st);
	add_aggregated(r, &b->buf, core);
	int rc = digest_sha512_hex(buf_str(&b->buf), etag + 1, st);
	if (rc < 0) {
		pool_unref(b);
		return rc;
	}
	etag[0] = etag[DIGEST_HEX + 1] = '"';
	struct str tag = str_n(etag, sizeof(etag) - 1);
	reply_header(r, p, "ETag", tag);
	reply_header(r, p, "Vary", STR("Accept"));
	reply_header(r, p, "Cache-Control", STR("public"));
	p->content_type = r->accept.beta ? "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
					 : "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
	if (str_eq(request_header(r, "if-none-match"), tag)) {
		pool_unref(b);
		reply_borrow(p, 304, STR(""), NULL, NULL);
		return 0;
	}
	return reply_json(p, 200, b, 0, st);
}

/* ---- legacy ---- */

static void add_group_version(struct buf *b, const struct kind *k)
{
	json_open(b, '{');
	json_member(b, "groupVersion", k->api_version);
	json_member(b, "version", k->version);
	json_close(b, '}');
}

/* Members of an APIGroup from its name on. */
static void add_group(struct buf *b, const struct rows *rows, size_t at, size_t end)
{
	size_t first = at;

	json_member(b, "name", rows->row[at]->group);
	json_enter(b, "versions", '[');
	for (; at < end; at = version_end(rows, at))
		add_group_version(b, rows->row[at]);
	json_close(b, ']');
	json_key(b, STR("preferredVersion"));
	add_group_version(b, rows->row[first]);
}

int discovery_core(struct request *r, struct reply *p, struct status *st)
{
	struct pool_buf *b;

	if (r->accept.form == FORM_DISCOVERY)
		return reply_aggregated(r, p, true, st);
	if (!(b = pool_get(r->api->pool)))
		return status_no_memory(st);
	buf_adds(&b->buf, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],\"serverAddressByClientCIDRs\":"
			  "[{\"clientCIDR\":\"0.0.0.0/0\",\"serverAddress\":");
	buf_add_json(&b->buf, request_header(r, "host"));
	buf_adds(&b->buf, "}]}");
	return reply_json(p, 200, b, 0, st);
}

int discovery_groups(struct request *r, struct reply *p, struct status *st)
{
	struct rows rows = rows_of(r);
	struct pool_buf *b;

	if (r->accept.form == FORM_DISCOVERY)
		return reply_aggregated(r, p, false, st);
	if (!(b = pool_get(r->api->pool)))
		return status_no_memory(st);
	buf_adds(&b->buf, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
	for (size_t at = 0, end; at < rows.n; at = end) {
		end = group_end(&rows, at);
		if (!rows.row[at]->group.len)
			continue;
		json_open(&b->buf, '{');
		add_group(&b->buf, &rows, at, end);
		json_close(&b->buf, '}');
	}
	buf_adds(&b->buf, "]}");
	return reply_json(p, 200, b, 0, st);
}

int discovery_group(struct request *r, struct reply *p, struct status *st)
{
	struct rows rows = rows_of(r);
	size_t at = 0;

	while (at < rows.n && !str_eq(rows.row[at]->group, r->segment[1]))
		at++;
	if (at == rows.n) {
		reply_no_page(p);
		return 0;
	}
	struct pool_buf *b = pool_get(r->api->pool);
	if (!b)
		return status_no_memory(st);
	buf_adds(&b->buf, "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\"");
	add_group(&b->buf, &rows, at, group_end(&rows, at));
	buf_addc(&b->buf, '}');
	return reply_json(p, 200, b, 0, st);
}

static void add_subresource(struct buf *b, const struct kind *k, const struct kind_subresource *s)
{
	json_open(b, '{');
	json_key(b, STR("name"));
	buf_addf(b, "\"%.*s/%.*s\",\"singularName\":\"\"", STR_ARG(k->plural), STR_ARG(s->name));
	json_raw(b, kind_is(k, KIND_NAMESPACED) ? "\"namespaced\":true" : "\"namespaced\":false");
	if (!str_eq(s->group, k->group) || !str_eq(s->version, k->version)) {
		json_member(b, "group", s->group);
		json_member(b, "version", s->version);
	}
	json_member(b, "kind", s->kind);
	add_verbs(b, s->verbs);
	json_close(b, '}');
}

static void add_resource(struct buf *b, const struct kind *k)
{
	json_open(b, '{');
	json_member(b, "name", k->plural);
	json_member(b, "singularName", k->singular);
	json_raw(b, kind_is(k, KIND_NAMESPACED) ? "\"namespaced\":true" : "\"namespaced\":false");
	json_member(b, "kind", k->kind);
	add_verbs(b, k->verbs);
	add_names(b, "shortNames", k->short_names, k->nshort_names);
	add_names(b, "categories", k->categories, k->ncategories);
	if (k->version_hash.len)
		json_member(b, "storageVersionHash", k->version_hash);
	json_close(b, '}');
	for (unsigned i = 0; i < k->nsubresources; i++)
		add_subresource(b, k, &k->subresources[i]);
}

int discovery_resources(struct request *r, struct reply *p, struct status *st)
{
	bool core = str_is(r->segment[0], "api");
	struct str group = core ? STR("") : r->segment[1], version = r->segment[core ? 1 : 2];
	struct rows rows = rows_of(r);
	size_t at = 0;

	while (at < rows.n && !(str_eq(rows.row[at]->group, group) && str_eq(rows.row[at]->version, version)))
		at++;
	if (at == rows.n) {
		reply_no_page(p);
		return 0;
	}
	struct pool_buf *b = pool_get(r->api->pool);
	if (!b)
		return status_no_memory(st);
	buf_addf(&b->buf, "{\"kind\":\"APIResourceList\",%s\"groupVersion\":\"%.*s\",\"resources\":[",
		 core ? "" : "\"apiVersion\":\"v1\",", STR_ARG(rows.row[at]->api_version));
	for (size_t end = version_end(&rows, at); at < end; at++)
		add_resource(&b->buf, rows.row[at]);
	buf_adds(&b->buf, "]}");
	return reply_json(p, 200, b, 0, st);
}

/* ---- / ---- */

int discovery_paths(struct request *r, struct reply *p, struct status *st)
{
	static const char *const pages[] = {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz",
					    "/version"};
	struct rows rows = rows_of(r);
	struct pool_buf *b = pool_get(r->api->pool);

	if (!b)
		return status_no_memory(st);
	buf_adds(&b->buf, "{\"paths\":[\"/api\",\"/api/v1\",\"/apis\"");
	for (size_t at = 0; at < rows.n; at = version_end(&rows, at)) {
		const struct kind *k = rows.row[at];
		if (!k->group.len)
			continue;
		if (at == 0 || !str_eq(rows.row[at - 1]->group, k->group))
			buf_addf(&b->buf, ",\"/apis/%.*s\"", STR_ARG(k->group));
		buf_addf(&b->buf, ",\"/apis/%.*s\"", STR_ARG(k->api_version));
	}
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		json_string(&b->buf, str_of(pages[i]));
	buf_adds(&b->buf, "]}");
	return reply_json(p, 200, b, 0, st);
}
