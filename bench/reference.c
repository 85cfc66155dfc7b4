/* SPDX-License-Identifier: Apache-2.0 */
/* The json-c way: a tree of the whole list for each reply. The one place outside store/codec that may use it. */
#include "bench/reference.h"

#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

#include "store/base/cleanup.h"

static void put(struct json_object **o)
{
	json_object_put(*o);
}

static struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;
	return json_object_object_get_ex(o, key, &value) ? value : NULL;
}

static const char *text(struct json_object *o, const char *key)
{
	struct json_object *value = get(o, key);
	return value ? json_object_get_string(value) : "";
}

static struct json_object *parse(struct str json, struct status *st)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o = tok ? json_tokener_parse_ex(tok, json.ptr, (int)json.len) : NULL;

	if (tok)
		json_tokener_free(tok);
	if (!o)
		status_set(st, REASON_INTERNAL, "json-c does not parse a list of %zu bytes", json.len);
	return o;
}

static int serialize(struct json_object *o, struct buf *out, struct status *st)
{
	size_t len = 0;
	const char *json =
		json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	buf_clear(out);
	buf_add(out, json, json ? len : 0);
	return json && !out->failed ? 0 : status_no_memory(st);
}

int reference_select(struct str list, const char *key, const char *value, struct buf *out, struct status *st)
{
	_cleanup_(put) struct json_object *root = parse(list, st);
	struct json_object *items = root ? get(root, "items") : NULL;

	if (!items)
		return status_set(st, REASON_INTERNAL, "no list");
	struct json_object *hits = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(items); i++) {
		struct json_object *item = json_object_array_get_idx(items, i);
		struct json_object *labels = get(get(item, "metadata"), "labels");
		if (strcmp(text(labels, key), value) == 0)
			json_object_array_add(hits, json_object_get(item));
	}
	json_object_object_add(root, "items", hits);
	return serialize(root, out, st);
}

static const char columns[] =
	"[{\"name\":\"Name\",\"type\":\"string\",\"format\":\"name\",\"description\":\"Name of the object.\",\"priority\":0},"
	"{\"name\":\"Data\",\"type\":\"integer\",\"format\":\"\",\"description\":\"Number of keys.\",\"priority\":0},"
	"{\"name\":\"Age\",\"type\":\"string\",\"format\":\"\",\"description\":\"Time since creation.\",\"priority\":0}]";

static struct json_object *age_cell(struct json_object *metadata, time_t now)
{
	struct tm tm = {0};
	char age[32];

	strptime(text(metadata, "creationTimestamp"), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(age, sizeof(age), "%lds", (long)(now - timegm(&tm)));
	return json_object_new_string(age);
}

static struct json_object *table_row(struct json_object *item, time_t now)
{
	struct json_object *metadata = get(item, "metadata"), *data = get(item, "data");
	struct json_object *row = json_object_new_object(), *cells = json_object_new_array();
	struct json_object *partial = json_object_new_object();

	json_object_array_add(cells, json_object_new_string(text(metadata, "name")));
	json_object_array_add(cells, json_object_new_int(data ? json_object_object_length(data) : 0));
	json_object_array_add(cells, age_cell(metadata, now));
	json_object_object_add(row, "cells", cells);
	json_object_object_add(partial, "kind", json_object_new_string("PartialObjectMetadata"));
	json_object_object_add(partial, "apiVersion", json_object_new_string("meta.k8s.io/v1"));
	json_object_object_add(partial, "metadata", json_object_get(metadata));
	json_object_object_add(row, "object", partial);
	return row;
}

int reference_table(struct str list, struct buf *out, struct status *st)
{
	_cleanup_(put) struct json_object *root = parse(list, st);
	_cleanup_(put) struct json_object *table = json_object_new_object();
	struct json_object *items = root ? get(root, "items") : NULL, *rows = json_object_new_array();
	time_t now = time(NULL);

	json_object_object_add(table, "kind", json_object_new_string("Table"));
	json_object_object_add(table, "apiVersion", json_object_new_string("meta.k8s.io/v1"));
	json_object_object_add(table, "metadata", json_object_get(get(root, "metadata")));
	json_object_object_add(table, "columnDefinitions", json_tokener_parse(columns));
	json_object_object_add(table, "rows", rows);
	if (!items)
		return status_set(st, REASON_INTERNAL, "no list");
	for (size_t i = 0; i < json_object_array_length(items); i++)
		json_object_array_add(rows, table_row(json_object_array_get_idx(items, i), now));
	return serialize(table, out, st);
}

int reference_count(struct str json, const char *field, size_t *ret, struct status *st)
{
	_cleanup_(put) struct json_object *root = parse(json, st);
	struct json_object *array = root ? get(root, field) : NULL;

	if (!array || !json_object_is_type(array, json_type_array))
		return status_set(st, REASON_INTERNAL, "no %s in the reply", field);
	*ret = json_object_array_length(array);
	return 0;
}
