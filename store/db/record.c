/* SPDX-License-Identifier: Apache-2.0 */
/* The record format: drafting, stamping, viewing (see record.h for the layout). */
#include "store/db/record.h"

#include <endian.h>
#include <zlib.h>

#include "store/base/cleanup.h"
#include "store/kind/convert.h"
#include "store/codec/yaml.h"
#include "store/db/key.h"
#include "store/kind/cells.h"
#include "store/kind/selector.h"

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "records are kept little-endian and read in place");

/* Values in LMDB are only 2-byte aligned, so headers are copied out, never cast. */
struct header {
	uint32_t checksum; /* CRC-32 of everything behind it */
	uint8_t format;
	uint8_t digits;    /* of the revision, in the hole */
	uint16_t flags;
	uint64_t revision, create_revision;
	int64_t created, modified;
	uint32_t rules;
	uint32_t yaml_len; /* digits not counted */
	uint32_t uid_len, labels_len, fields_len, owners_len, claims_len, cells_len, json_len;
	uint32_t metadata_at, metadata_len; /* within json; digits counted in the length */
	uint32_t hole_at;                   /* within json: behind the opening quote of resourceVersion */
};

static size_t sections_len(const struct header *h)
{
	return (size_t)h->uid_len + h->labels_len + h->fields_len + h->owners_len + h->claims_len + h->cells_len +
	       h->json_len;
}

/* Reads the header; false unless everything it says lies within raw. */
static bool header_read(struct str raw, struct header *h)
{
	if (raw.len < sizeof(*h))
		return false;
	memcpy(h, raw.ptr, sizeof(*h));
	if (h->format != RECORD_FORMAT || sections_len(h) != raw.len - sizeof(*h))
		return false;
	if (h->metadata_at > h->json_len || h->metadata_len > h->json_len - h->metadata_at)
		return false;
	return h->digits <= 20 && h->hole_at <= h->json_len && h->digits <= h->json_len - h->hole_at;
}

static inline struct str section(const char **p, uint32_t len)
{
	struct str s = str_n(*p, len);

	*p += len;
	return s;
}

bool record_view(struct str raw, struct str ns, struct str name, struct object *ret)
{
	struct header h;

	if (!header_read(raw, &h))
		return false;
	const char *p = raw.ptr + sizeof(h);
	/* Member by member: this runs once for each object of a list. */
	ret->revision = h.revision;
	ret->create_revision = h.create_revision;
	ret->created = h.created;
	ret->modified = h.modified;
	ret->flags = h.flags;
	ret->rules = h.rules;
	ret->yaml_len = h.yaml_len + h.digits;
	ret->ns = ns;
	ret->name = name;
	ret->raw = raw;
	ret->uid = section(&p, h.uid_len);
	ret->labels = section(&p, h.labels_len);
	ret->fields = section(&p, h.fields_len);
	ret->owners = section(&p, h.owners_len);
	ret->claims = section(&p, h.claims_len);
	ret->cells = section(&p, h.cells_len);
	ret->json = section(&p, h.json_len);
	ret->metadata = str_n(ret->json.ptr + h.metadata_at, h.metadata_len);
	return true;
}

static void add_u16(struct buf *out, size_t v)
{
	uint16_t n = (uint16_t)v;
	buf_add(out, &n, sizeof(n));
}

/* Adds a list section: u16 count, then (u16 length, bytes) each. */
static void add_list(const struct str *texts, size_t n, struct buf *out)
{
	add_u16(out, n);
	for (size_t i = 0; i < n; i++) {
		add_u16(out, texts[i].len);
		buf_add_str(out, texts[i]);
	}
}

bool record_list_next(struct str section, size_t *at, struct str *ret)
{
	uint16_t len;

	if (*at == 0)
		*at = sizeof(uint16_t);
	if (*at + sizeof(len) > section.len)
		return false;
	memcpy(&len, section.ptr + *at, sizeof(len));
	*at += sizeof(len);
	if (len > section.len - *at)
		return false;
	*ret = str_n(section.ptr + *at, len);
	*at += len;
	return true;
}

static void add_owners(const struct tree *metadata, struct buf *out)
{
	const struct tree *refs = tree_getz(metadata, "ownerReferences");
	size_t start = out->len;
	uint16_t n = 0;

	add_u16(out, 0);
	for (uint32_t i = 0; tree_is(refs, TREE_ARRAY) && i < refs->len; i++) {
		struct str uid = tree_gets(refs->items[i], "uid");
		if (!uid.len || uid.len > KEY_UID_MAX)
			continue;
		add_u16(out, uid.len);
		buf_add_str(out, uid);
		n++;
	}
	if (!out->failed)
		memcpy(out->ptr + start, &n, sizeof(n));
}

/* Writes metadata with an empty resourceVersion and notes where its digits go. */
static void add_metadata(const struct tree *metadata, size_t json_start, struct header *h, struct buf *out)
{
	h->metadata_at = (uint32_t)(out->len - json_start);
	buf_addc(out, '{');
	for (uint32_t i = 0; i < metadata->len; i++) {
		const struct tree_member *m = &metadata->members[i];
		if (i)
			buf_addc(out, ',');
		buf_add_json(out, m->key);
		buf_addc(out, ':');
		if (str_is(m->key, "resourceVersion")) {
			buf_addc(out, '"');
			h->hole_at = (uint32_t)(out->len - json_start);
			buf_addc(out, '"');
		} else {
			tree_write(m->value, out);
		}
	}
	buf_addc(out, '}');
	h->metadata_len = (uint32_t)(out->len - json_start) - h->metadata_at;
}

static void add_object(const struct tree *object, struct header *h, struct buf *out)
{
	size_t start = out->len;
	bool first = true;

	for (uint32_t i = 0; i < object->len; i++) {
		const struct tree_member *m = &object->members[i];
		if (str_is(m->key, "apiVersion") || str_is(m->key, "kind"))
			continue;
		if (!first)
			buf_addc(out, ',');
		first = false;
		buf_add_json(out, m->key);
		buf_addc(out, ':');
		if (str_is(m->key, "metadata"))
			add_metadata(m->value, start, h, out);
		else
			tree_write(m->value, out);
	}
	buf_addc(out, '}');
	h->json_len = (uint32_t)(out->len - start);
}

static bool yaml_length(const struct kind *k, struct str json, uint32_t *ret)
{
	_cleanup_(buf_done) struct buf text = {0}, yaml = {0};
	struct status st;

	buf_addc(&text, '{');
	buf_add_str(&text, k->type_meta);
	buf_add_str(&text, json);
	if (text.failed || yaml_from_json(buf_str(&text), &yaml, &st) < 0)
		return false;
	*ret = (uint32_t)yaml.len;
	return true;
}

static void checksum_set(char *record, size_t len)
{
	uint32_t sum = (uint32_t)crc32(0, (const Bytef *)record + sizeof(sum), (uInt)(len - sizeof(sum)));
	memcpy(record, &sum, sizeof(sum));
}

bool record_sound(struct str raw)
{
	struct header h;

	return header_read(raw, &h) && h.checksum == (uint32_t)crc32(0, (const Bytef *)raw.ptr + sizeof(h.checksum),
								     (uInt)(raw.len - sizeof(h.checksum)));
}

static uint16_t flags_of(const struct tree *metadata)
{
	return (uint16_t)((tree_getz(metadata, "deletionTimestamp") ? RECORD_TERMINATING : 0) |
			  (tree_is_empty(tree_getz(metadata, "finalizers")) ? 0 : RECORD_FINALIZERS));
}

bool record_draft(struct arena *a, const struct kind *storage, const struct tree *object, uint64_t create_revision,
		  int64_t modified, const struct str *claims, size_t nclaims, struct buf *out)
{
	struct tree *metadata = tree_getz(object, "metadata");
	struct header h = {.format = RECORD_FORMAT, .create_revision = create_revision, .modified = modified};
	struct str uid = tree_gets(metadata, "uid");
	size_t at;

	if (!tree_is(metadata, TREE_OBJECT) || !tree_sets(a, metadata, "resourceVersion", STR("")))
		return false;
	time_parse(tree_gets(metadata, "creationTimestamp"), &h.created);
	h.flags = flags_of(metadata);
	buf_clear(out);
	buf_add(out, &h, sizeof(h));
	buf_add_str(out, uid);
	h.uid_len = (uint32_t)uid.len;
	at = out->len;
	selector_labels_block(object, out);
	h.labels_len = (uint32_t)(out->len - at), at = out->len;
	selector_fields_block(storage, object, out);
	h.fields_len = (uint32_t)(out->len - at), at = out->len;
	add_owners(metadata, out);
	h.owners_len = (uint32_t)(out->len - at), at = out->len;
	add_list(claims, nclaims, out);
	h.claims_len = (uint32_t)(out->len - at), at = out->len;
	if (!cells_render(a, storage, object, out))
		return false;
	h.cells_len = (uint32_t)(out->len - at), at = out->len;
	add_object(object, &h, out);
	if (out->failed || !yaml_length(storage, str_n(out->ptr + at, out->len - at), &h.yaml_len))
		return false;
	memcpy(out->ptr, &h, sizeof(h));
	checksum_set(out->ptr, out->len);
	return true;
}

size_t record_stamped_len(struct str raw, uint64_t revision)
{
	struct header h;
	char digits[20];

	memcpy(&h, raw.ptr, sizeof(h));
	return raw.len - h.digits + u64_digits(revision, digits);
}

void record_stamp(struct str raw, uint64_t revision, char *out)
{
	struct header h;
	char digits[20];
	size_t n = u64_digits(revision, digits);

	memcpy(&h, raw.ptr, sizeof(h));
	size_t head = raw.len - h.json_len + h.hole_at; /* bytes before the hole */
	size_t tail = h.json_len - h.hole_at - h.digits;
	memcpy(out, raw.ptr, head);
	memcpy(out + head, digits, n);
	memcpy(out + head + n, raw.ptr + head + h.digits, tail);
	h.json_len += (uint32_t)n - h.digits;
	h.metadata_len += (uint32_t)n - h.digits;
	h.digits = (uint8_t)n;
	h.revision = revision;
	if (!h.create_revision)
		h.create_revision = revision;
	memcpy(out, &h, sizeof(h));
	checksum_set(out, head + n + tail);
}

/* The object in the form it is kept in. */
static bool stored_json(const struct kind *storage, const struct object *o, struct buf *out)
{
	if (!buf_reserve(out, 1 + storage->type_meta.len + o->json.len))
		return false;
	buf_addc(out, '{');
	buf_add_str(out, storage->type_meta);
	buf_add_str(out, o->json);
	return !out->failed;
}

struct tree *object_tree(struct arena *a, const struct kind *k, const struct object *o)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct status st;
	struct tree *t;

	if (!stored_json(k->storage, o, &text))
		return NULL;
	struct str copy = arena_str(a, buf_str(&text));
	if (!copy.ptr || tree_parse(a, copy, &t, NULL, &st) < 0)
		return NULL;
	if (k != k->storage && !convert_object(a, k->storage, k, t))
		return NULL;
	return t;
}

static bool converted_json(const struct kind *k, const struct object *o, struct buf *out)
{
	_cleanup_(arena_done) struct arena a;

	arena_init(&a, 0);
	struct tree *t = object_tree(&a, k, o);
	if (!t)
		return false;
	tree_write(t, out);
	return !out->failed;
}

bool object_json(const struct kind *k, const struct object *o, struct buf *out)
{
	return k == k->storage ? stored_json(k, o, out) : converted_json(k, o, out);
}

bool object_yaml(const struct kind *k, const struct object *o, struct buf *out)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct status st;

	return object_json(k, o, &text) && yaml_from_json(buf_str(&text), out, &st) == 0;
}
