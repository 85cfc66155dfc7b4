/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and reading the blocks that selectors are matched against. */
#include "store/kind/selector_block.h"

#include "store/kind/selectable.h"
#include "store/kind/selector.h"

/* ---- reading ---- */

static bool take_u16(struct str *rest, uint16_t *ret)
{
	if (rest->len < 2)
		return false;
	*ret = (uint16_t)((uint8_t)rest->ptr[0] | (uint8_t)rest->ptr[1] << 8);
	*rest = str_skip(*rest, 2);
	return true;
}

static bool take_bytes(struct str *rest, size_t n, struct str *ret)
{
	if (rest->len < n)
		return false;
	*ret = str_n(rest->ptr, n);
	*rest = str_skip(*rest, n);
	return true;
}

void block_labels_open(struct block_labels *w, struct str block)
{
	*w = (struct block_labels){.rest = block};
	if (!take_u16(&w->rest, &w->left))
		w->left = 0;
}

bool block_labels_next(struct block_labels *w)
{
	uint16_t key, value;

	if (w->left == 0)
		return false;
	w->left--;
	if (take_u16(&w->rest, &key) && take_u16(&w->rest, &value) && take_bytes(&w->rest, key, &w->key) &&
	    take_bytes(&w->rest, value, &w->value))
		return true;
	w->left = 0;
	return false;
}

struct str block_field(struct str block, unsigned slot)
{
	struct str value = {0};
	uint16_t count, len;

	if (!take_u16(&block, &count) || slot >= count)
		return value;
	for (unsigned i = 0; i <= slot; i++)
		if (!take_u16(&block, &len) || !take_bytes(&block, len, &value))
			return (struct str){0};
	return value;
}

/* ---- writing ---- */

static void add_u16(struct buf *out, size_t v)
{
	buf_addc(out, (char)(v & 0xff));
	buf_addc(out, (char)(v >> 8));
}

static bool label_fits(const struct tree_member *m)
{
	return tree_is(m->value, TREE_STRING) && m->key.len <= UINT16_MAX && m->value->text.len <= UINT16_MAX;
}

void selector_labels_block(const struct tree *object, struct buf *out)
{
	const struct tree *labels = tree_path(object, "metadata.labels");
	uint32_t n = tree_is(labels, TREE_OBJECT) ? labels->len : 0, fit = 0;

	for (uint32_t i = 0; i < n && fit < UINT16_MAX; i++)
		fit += label_fits(&labels->members[i]);
	add_u16(out, fit);
	for (uint32_t i = 0; fit > 0; i++) {
		const struct tree_member *m = &labels->members[i];

		if (!label_fits(m))
			continue;
		add_u16(out, m->key.len);
		add_u16(out, m->value->text.len);
		buf_add_str(out, m->key);
		buf_add_str(out, m->value->text);
		fit--;
	}
}

static const struct tree *walk(const struct tree *object, struct str path)
{
	while (path.len > 0)
		object = tree_get(object, str_cut(&path, '.'));
	return object;
}

/* An integer as it stands: decoded objects have it in canonical form. */
static struct str number_text(const struct tree *t)
{
	return tree_is(t, TREE_NUMBER) ? t->text : STR("0");
}

static struct str bool_text(const struct tree *t)
{
	return tree_is_true(t) ? STR("true") : STR("false");
}

static struct str scalar_text(const struct tree *t)
{
	if (tree_is(t, TREE_NUMBER))
		return t->text;
	if (tree_is(t, TREE_TRUE) || tree_is(t, TREE_FALSE))
		return bool_text(t);
	return tree_text(t);
}

static struct str pod_ip(const struct tree *ips)
{
	return tree_is(ips, TREE_ARRAY) && ips->len > 0 ? tree_gets(ips->items[0], "ip") : (struct str){0};
}

static struct str field_text(const struct kind_selectable *field, const struct tree *object)
{
	const struct tree *value = walk(object, field->path);
	struct str text;

	switch ((enum selectable_rule)field->rule) {
	case SELECTABLE_BOOL:
		return bool_text(value);
	case SELECTABLE_INTEGER:
		return number_text(value);
	case SELECTABLE_POD_IP:
		return pod_ip(value);
	case SELECTABLE_SCALAR:
		return scalar_text(value);
	case SELECTABLE_NONE:
		return (struct str){0};
	case SELECTABLE_TEXT:
		break;
	}
	text = tree_text(value);
	return text.len == 0 && field->other.len > 0 ? tree_text(walk(object, field->other)) : text;
}

/* Other names of a field (slot of another row of the table) carry no value of their own. */
void selector_fields_block(const struct kind *storage, const struct tree *object, struct buf *out)
{
	add_u16(out, storage->nselectable);
	for (unsigned i = 0; i < storage->nselectable; i++) {
		const struct kind_selectable *field = &storage->selectable[i];
		struct str text = {0};

		if (field->slot == i)
			text = field_text(field, object);
		/* Longer than any selector: where it is cut makes no difference. */
		if (text.len > UINT16_MAX)
			text.len = UINT16_MAX;
		add_u16(out, text.len);
		buf_add_str(out, text);
	}
}
