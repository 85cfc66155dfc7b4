/* SPDX-License-Identifier: Apache-2.0 */
/* File names of objects. */
#include "fs/names.h"

#include <stdio.h>

enum { SHORT_HEAD = 200, SHORT_DIGITS = 16, SUFFIX = sizeof(".yaml") - 1, SUBDOMAIN_MAX = 253 };

uint64_t name_hash(uint64_t seed, struct str text)
{
	uint64_t h = seed ^ 0xcbf29ce484222325u;

	for (size_t i = 0; i < text.len; i++)
		h = (h ^ (unsigned char)text.ptr[i]) * 0x100000001b3u;
	/* FNV leaves the low bits of similar names alike. */
	h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
	h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
	return h ^ (h >> 33);
}

enum form name_parse(struct str file, struct str *ret_stem)
{
	enum form form = str_ends(file, STR(".yaml")) ? FORM_YAML : str_ends(file, STR(".json")) ? FORM_JSON : FORM_NONE;

	if (form == FORM_NONE || file.len == SUFFIX)
		return FORM_NONE;
	*ret_stem = str_n(file.ptr, file.len - SUFFIX);
	return form;
}

size_t name_file(struct str object, char out[FILE_NAME_MAX + 1])
{
	int n;

	if (object.len <= FILE_NAME_MAX - SUFFIX)
		n = snprintf(out, FILE_NAME_MAX + 1, "%.*s.yaml", STR_ARG(object));
	else
		n = snprintf(out, FILE_NAME_MAX + 1, "%.*s%%%016jx.yaml", SHORT_HEAD, object.ptr,
			     (uintmax_t)name_hash(0, object));
	return (size_t)n;
}

bool name_is_short(struct str stem, struct str *ret_head)
{
	if (stem.len != SHORT_HEAD + 1 + SHORT_DIGITS || stem.ptr[SHORT_HEAD] != '%')
		return false;
	*ret_head = str_n(stem.ptr, SHORT_HEAD);
	return true;
}

bool name_short_fits(struct str stem, struct str object)
{
	char file[FILE_NAME_MAX + 1];

	if (object.len <= FILE_NAME_MAX - SUFFIX)
		return false;
	size_t len = name_file(object, file);
	return str_eq(stem, str_n(file, len - SUFFIX));
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Lower case letters, digits, `-` and `.`, alphanumeric at both ends; colons where the kind has addresses. */
static bool is_subdomain(struct str s, bool colons)
{
	if (s.len == 0 || s.len > SUBDOMAIN_MAX)
		return false;
	if (!colons && (!is_alnum(s.ptr[0]) || !is_alnum(s.ptr[s.len - 1])))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (!is_alnum(c) && c != '-' && c != '.' && !(colons && c == ':'))
			return false;
	}
	return true;
}

bool name_for_new(const struct kind *k, struct str stem)
{
	if (k->name_rule != NAME_PATH_SEGMENT)
		return is_subdomain(stem, k->name_rule == NAME_IP);
	return stem.len > 0 && !strchr(".#~", stem.ptr[0]) && str_chr(stem, '%') < 0;
}
