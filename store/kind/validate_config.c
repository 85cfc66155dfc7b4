/* SPDX-License-Identifier: Apache-2.0 */
/* Validation of ConfigMaps and Secrets. */
#include "store/kind/checks.h"

#include "store/base/cleanup.h"
#include "store/codec/base64.h"
#include "store/codec/scan.h"
#include "store/kind/names.h"

enum { DATA_MAX = 1048576 };

static const char frozen[] = "field is immutable when `immutable` is set";

static void check_keys(const struct checking *c, const char *field, const struct tree *map)
{
	struct place data = place_field(NULL, field);

	for (uint32_t i = 0; i < check_members(map); i++) {
		struct place key = place_key(&data, map->members[i].key);
		const char *wrong = name_config_key(map->members[i].key);
		if (wrong)
			check_invalid_text(c, &key, NULL, map->members[i].key, wrong);
	}
}

static size_t plain_size(const struct tree *map)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < check_members(map); i++)
		sum += tree_text(map->members[i].value).len;
	return sum;
}

/* Bytes behind canonical base64. */
static size_t decoded_size(const struct tree *map)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < check_members(map); i++) {
		struct str s = tree_text(map->members[i].value);
		size_t pads = str_ends(s, STR("==")) ? 2 : str_ends(s, STR("="));
		sum += s.len / 4 * 3 - (s.len ? pads : 0);
	}
	return sum;
}

/* What was declared immutable stays so, and stays as it is. */
static void check_frozen(const struct checking *c, const char *const *fields, size_t n)
{
	if (!tree_is_true(tree_getz(c->old, "immutable")))
		return;
	if (!tree_is_true(tree_getz(c->root, "immutable")))
		check_forbidden(c, NULL, "immutable", frozen);
	for (size_t i = 0; i < n; i++)
		if (!check_same(tree_getz(c->root, fields[i]), tree_getz(c->old, fields[i])))
			check_forbidden(c, NULL, fields[i], frozen);
}

CHECK_FN(config_map)
{
	static const char *const fields[] = {"data", "binaryData"};
	const struct tree *data = tree_getz(object, "data"), *binary = tree_getz(object, "binaryData");
	struct place map = place_field(NULL, "data");

	(void)at;
	check_keys(c, "data", data);
	for (uint32_t i = 0; i < check_members(data); i++) {
		struct place key = place_key(&map, data->members[i].key);
		if (tree_get(binary, data->members[i].key))
			check_invalid_text(c, &key, NULL, data->members[i].key,
					   "duplicate of key present in binaryData");
	}
	check_keys(c, "binaryData", binary);
	if (plain_size(data) + decoded_size(binary) > DATA_MAX)
		check_too_long(c, NULL, "[]", DATA_MAX); /* the path of the whole object */
	check_frozen(c, fields, 2);
}

/* ---- Secret types ---- */

enum secret_rule {
	SECRET_ALL,  /* all keys are there */
	SECRET_ANY,  /* one of the keys is there */
	SECRET_FULL, /* the key is there and not empty */
	SECRET_JSON, /* the key is there and JSON */
};

struct secret_type {
	const char *name;
	const char *keys[2];
	enum secret_rule rule;
};

static const struct secret_type *type_of(struct str name)
{
	static const struct secret_type types[] = {
		{"kubernetes.io/dockercfg", {".dockercfg"}, SECRET_JSON},
		{"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}, SECRET_JSON},
		{"kubernetes.io/tls", {"tls.crt", "tls.key"}, SECRET_ALL},
		{"kubernetes.io/basic-auth", {"username", "password"}, SECRET_ANY},
		{"kubernetes.io/ssh-auth", {"ssh-privatekey"}, SECRET_FULL},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (str_is(name, types[i].name))
			return &types[i];
	return NULL;
}

static bool is_json(struct str text)
{
	struct scan s;
	enum scan_token token;

	scan_init(&s, text);
	do
		token = scan_next(&s);
	while (token != SCAN_END && token != SCAN_ERROR);
	return token == SCAN_END;
}

/* Go names the byte it did not like; clients match on the place. */
static void check_json(const struct checking *c, const struct place *key, struct str text)
{
	_cleanup_(buf_done) struct buf plain = {0};

	if (!base64_decode(text, &plain) || plain.failed)
		return;
	if (!is_json(buf_str(&plain)))
		check_invalid_text(c, key, NULL, STR("<secret contents redacted>"), "invalid character in JSON");
}

static void check_secret_keys(const struct checking *c, const struct tree *data, const struct secret_type *type)
{
	struct place map = place_field(NULL, "data");

	for (int i = 0; type->rule == SECRET_ANY && i < 2; i++)
		if (tree_getz(data, type->keys[i]))
			return;
	for (int i = 0; i < 2 && type->keys[i]; i++) {
		struct place key = place_key(&map, str_of(type->keys[i]));
		const struct tree *value = tree_getz(data, type->keys[i]);
		if (!value || (type->rule == SECRET_FULL && !tree_text(value).len))
			check_missing(c, &key, NULL, "");
		else if (type->rule == SECRET_JSON)
			check_json(c, &key, tree_text(value));
	}
}

CHECK_FN(secret)
{
	static const char *const fields[] = {"data"};
	const struct tree *data = tree_getz(object, "data");
	struct str type = tree_gets(object, "type");
	const struct secret_type *row = type_of(type);

	(void)at;
	check_keys(c, "data", data);
	if (decoded_size(data) > DATA_MAX)
		check_too_long(c, NULL, "data", DATA_MAX);
	if (row)
		check_secret_keys(c, data, row);
	if (str_is(type, "kubernetes.io/service-account-token") &&
	    !tree_gets(tree_path(object, "metadata.annotations"), "kubernetes.io/service-account.name").len)
		check_missing(c, NULL, "metadata.annotations[kubernetes.io/service-account.name]", "");
	check_frozen(c, fields, 1);
}
