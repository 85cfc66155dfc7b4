/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the row of a resource. The rows themselves are generated. */
#include "store/kind/kind.h"

#include "store/kind/generated.h"

/* Longer words name nothing: 63 for the resource, 253 for the group, 63 for the version, two dots. */
enum { NAME_MAX_BYTES = 63 + 1 + 63 + 1 + 253 };

/* What an index is asked for; the first nparts of part are the key. */
struct probe {
	struct str part[3];
	unsigned nparts;
	bool (*same)(const struct kind *k, const struct str *part);
};

const struct kinds *kinds_builtin(void)
{
	return &kinds_generated;
}

static const struct kind *index_find(const struct kinds *ks, const struct kind_index *index, const struct probe *p)
{
	uint32_t h = KIND_HASH_START;

	for (unsigned i = 0; i < p->nparts; i++)
		h = kind_hash(h, p->part[i]);
	for (uint32_t at = h & index->mask; index->slots[at]; at = (at + 1) & index->mask) {
		const struct kind *k = ks->rows[index->slots[at] - 1];

		if (p->same(k, p->part))
			return k;
	}
	return NULL;
}

static bool same_resource(const struct kind *k, const struct str *part)
{
	return str_eq(k->plural, part[2]) && str_eq(k->group, part[0]) && str_eq(k->version, part[1]);
}

static bool same_gvk(const struct kind *k, const struct str *part)
{
	return str_eq(k->kind, part[1]) && str_eq(k->api_version, part[0]);
}

static bool same_dir(const struct kind *k, const struct str *part)
{
	return str_eq(k->dir, part[0]);
}

const struct kind *kinds_find(const struct kinds *ks, struct str group, struct str version, struct str resource)
{
	return index_find(ks, &ks->by_resource, &(struct probe){{group, version, resource}, 3, same_resource});
}

const struct kind *kinds_by_gvk(const struct kinds *ks, struct str api_version, struct str kind)
{
	return index_find(ks, &ks->by_gvk, &(struct probe){{api_version, kind}, 2, same_gvk});
}

const struct kind *kinds_by_dir(const struct kinds *ks, struct str dir)
{
	return index_find(ks, &ks->by_dir, &(struct probe){{dir}, 1, same_dir});
}

const struct kind *const *kinds_all(const struct kinds *ks, size_t *ret_count)
{
	*ret_count = ks->count;
	return ks->rows;
}

/* Place of the first entry whose word is not below word. */
static size_t words_lower_bound(const struct kinds *ks, struct str word)
{
	size_t low = 0, high = ks->nwords;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (str_cmp(ks->words[middle].word, word) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What may stand behind the word: nothing, a group, or a version and a group. */
struct wanted {
	struct str group, version;
	bool any_group, any_version, group_prefix;
};

static bool wanted_fits(const struct wanted *w, const struct kind *k)
{
	if (!w->any_version && !str_eq(k->version, w->version))
		return false;
	if (w->any_group)
		return true;
	return w->group_prefix ? str_starts(k->group, w->group) : str_eq(k->group, w->group);
}

static const struct kind *words_find(const struct kinds *ks, struct str word, const struct wanted *w)
{
	for (size_t i = words_lower_bound(ks, word); i < ks->nwords && str_eq(ks->words[i].word, word); i++) {
		const struct kind *k = ks->rows[ks->words[i].row];

		if (wanted_fits(w, k))
			return k;
	}
	return NULL;
}

/* kubectl's order: resource.version.group when there are two dots, then resource.group with the exact
 * group, then with the beginning of one. */
static const struct kind *name_resolve(const struct kinds *ks, struct str name)
{
	struct str rest = name, word = str_cut(&rest, '.'), group = rest, version = str_cut(&rest, '.');
	const struct kind *k = NULL;

	if (word.len == name.len)
		return words_find(ks, word, &(struct wanted){.any_group = true, .any_version = true});
	if (str_chr(group, '.') >= 0)
		k = words_find(ks, word, &(struct wanted){.group = rest, .version = version});
	if (!k)
		k = words_find(ks, word, &(struct wanted){.group = group, .any_version = true});
	if (!k && group.len > 0)
		k = words_find(ks, word, &(struct wanted){.group = group, .any_version = true, .group_prefix = true});
	return k;
}

const struct kind *kinds_by_resource(const struct kinds *ks, struct str name)
{
	char lower[NAME_MAX_BYTES];

	if (name.len > sizeof(lower))
		return NULL;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];

		lower[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	return name_resolve(ks, str_n(lower, name.len));
}

const struct kind_subresource *kind_subresource(const struct kind *k, struct str name)
{
	for (unsigned i = 0; i < k->nsubresources; i++)
		if (str_eq(k->subresources[i].name, name))
			return &k->subresources[i];
	return NULL;
}
