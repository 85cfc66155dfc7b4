/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of an OpenAPI document. Paths come first: they say which definitions are needed. */
#include "api/openapi_document.h"

#include "api/json_out.h"
#include "store/base/cleanup.h"

void openapi_add_root(struct buf *out, const struct kind *k)
{
	buf_adds(out, k->group.len ? "apis/" : "api/");
	buf_add_str(out, k->api_version);
}

static void add_info(struct openapi_doc *d)
{
	json_raw(d->out, d->dialect == OPENAPI_V2 ? "\"swagger\":\"2.0\"" : "\"openapi\":\"3.0.0\"");
	json_enter(d->out, "info", '{');
	json_member(d->out, "title", STR("Kubernetes"));
	json_member(d->out, "version", STR("v1.36.2"));
	json_close(d->out, '}');
}

static void add_document(struct openapi_doc *d)
{
	json_open(d->out, '{');
	add_info(d);
	json_enter(d->out, "paths", '{');
	openapi_add_paths(d);
	json_close(d->out, '}');
	if (d->dialect == OPENAPI_V3)
		json_enter(d->out, "components", '{');
	json_enter(d->out, d->dialect == OPENAPI_V2 ? "definitions" : "schemas", '{');
	openapi_add_definitions(d);
	json_close(d->out, '}');
	if (d->dialect == OPENAPI_V3)
		json_close(d->out, '}');
	json_close(d->out, '}');
}

int openapi_write(enum openapi_dialect dialect, const struct kinds *ks, struct str api_version, struct buf *out,
		  struct status *st)
{
	_cleanup_(arena_done) struct arena scratch;
	struct openapi_doc d = {.out = out, .dialect = dialect, .api_version = api_version};
	size_t ndefs;

	arena_init(&scratch, 0);
	schema_all(&ndefs);
	d.kinds = kinds_all(ks, &d.nkinds);
	d.used = arena_calloc(&scratch, ndefs, sizeof(*d.used));
	if (!d.used || !openapi_find_models(&d, &scratch))
		return status_no_memory(st);
	add_document(&d);
	return out->failed ? status_no_memory(st) : 0;
}
