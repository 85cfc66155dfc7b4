/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text to tree: one pass of the scanner, no recursion, no allocation per node but the arena's.
 *
 * The children of all open containers stand on one stack (`pending`); when a container closes, its
 * children are the top of it and move to the arena, sorted. The stack therefore also knows the path
 * of the value being read: the last child of each open container. */
#include "store/codec/tree.h"

#include <stdlib.h>

#include "store/base/cleanup.h"
#include "store/codec/scan.h"

/* More than this many duplicate keys tell nobody more; Kubernetes stops at 100 as well. */
enum { DUPS_MAX = 100 };

/* A child whose container is still open; its value is NULL while it is being read. */
struct pending {
	struct tree_member member; /* of an array: no key */
	size_t at;                 /* byte offset of the key */
};

struct frame {
	struct tree *container;
	size_t base; /* its first child in pending */
};

/* The public struct first: the list is one of tree_dup. */
struct dup {
	struct tree_dup public;
	size_t at;
};

struct parser {
	struct arena *arena;
	struct scan scan;
	struct pending *pending;
	size_t len, cap;
	unsigned depth;
	struct frame frames[SCAN_DEPTH_MAX];
	struct tree *root;
	struct tree_dup *dups;
	unsigned ndups; /* found, repeats included */
};

static void parser_done(struct parser *p)
{
	free(p->pending);
}

static bool push(struct parser *p, struct str key, size_t at)
{
	if (p->len == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 128;
		struct pending *grown = reallocarray(p->pending, cap, sizeof(*grown));
		if (!grown)
			return false;
		p->pending = grown;
		p->cap = cap;
	}
	p->pending[p->len++] = (struct pending){.member = {.key = key}, .at = at};
	return true;
}

static bool in_array(const struct parser *p)
{
	return p->depth && p->frames[p->depth - 1].container->type == TREE_ARRAY;
}

/* The decoded text of the string token just read; borrowed where nothing is escaped. */
static bool string_text(struct parser *p, struct str *ret)
{
	struct str span = p->scan.span;

	if (!p->scan.escaped) {
		*ret = str_n(span.ptr + 1, span.len - 2);
		return true;
	}
	char *text = arena_alloc(p->arena, span.len);
	if (!text)
		return false;
	*ret = str_n(text, scan_unescape(span, text));
	return true;
}

static const enum tree_type types[] = {
	[SCAN_OBJECT] = TREE_OBJECT, [SCAN_ARRAY] = TREE_ARRAY, [SCAN_STRING] = TREE_STRING,
	[SCAN_NUMBER] = TREE_NUMBER, [SCAN_TRUE] = TREE_TRUE,   [SCAN_FALSE] = TREE_FALSE,
	[SCAN_NULL] = TREE_NULL,
};

static bool add_key(struct parser *p)
{
	size_t at = (size_t)(p->scan.span.ptr - p->scan.json.ptr);
	struct str key;

	return string_text(p, &key) && push(p, key, at);
}

/* A scalar, or a container that is now open. */
static bool add_value(struct parser *p, enum scan_token token)
{
	struct tree *t = arena_alloc(p->arena, sizeof(*t));

	if (!t)
		return false;
	*t = (struct tree){.type = types[token]};
	if (t->type == TREE_NUMBER)
		t->text = p->scan.span;
	if (t->type == TREE_STRING && !string_text(p, &t->text))
		return false;
	if (in_array(p) && !push(p, (struct str){0}, 0))
		return false;
	if (p->depth)
		p->pending[p->len - 1].member.value = t;
	else
		p->root = t;
	if (t->type >= TREE_ARRAY)
		p->frames[p->depth++] = (struct frame){t, p->len};
	return true;
}

static int pending_cmp(const struct pending *a, const struct pending *b)
{
	return str_cmp(a->member.key, b->member.key);
}

/* Merges the sorted runs [from, mid) and [mid, to) of src into dst. */
static void merge_runs(const struct pending *src, struct pending *dst, size_t from, size_t mid, size_t to)
{
	size_t left = from, right = mid;

	for (size_t i = from; i < to; i++) {
		bool take_right = right < to && (left == mid || pending_cmp(&src[left], &src[right]) > 0);
		dst[i] = take_right ? src[right++] : src[left++];
	}
}

static void insertion_sort(struct pending *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct pending one = v[i];
		size_t j = i;
		for (; j > 0 && pending_cmp(&v[j - 1], &one) > 0; j--)
			v[j] = v[j - 1];
		v[j] = one;
	}
}

/* Stable, so that of equal keys the last one in the document stays last. */
static bool sort_pending(struct pending *v, size_t n)
{
	enum { RUN = 16 };

	for (size_t i = 0; i < n; i += RUN)
		insertion_sort(v + i, n - i < RUN ? n - i : RUN);
	if (n <= RUN)
		return true;
	_cleanup_free_ struct pending *spare = reallocarray(NULL, n, sizeof(*spare));
	if (!spare)
		return false;
	struct pending *src = v, *dst = spare;
	for (size_t width = RUN; width < n; width *= 2) {
		for (size_t from = 0; from < n; from += 2 * width) {
			size_t mid = n - from < width ? n : from + width;
			size_t to = n - mid < width ? n : mid + width;
			merge_runs(src, dst, from, mid, to);
		}
		struct pending *done = dst;
		dst = src;
		src = done;
	}
	if (src != v)
		memcpy(v, src, n * sizeof(*v));
	return true;
}

/* `spec.containers[0].` of the innermost open container, then key. */
static void path_of(const struct parser *p, struct str key, struct buf *path)
{
	for (unsigned i = 0; i + 1 < p->depth; i++) {
		size_t base = p->frames[i].base, next = p->frames[i + 1].base;
		if (p->frames[i].container->type == TREE_ARRAY) {
			buf_addf(path, "[%zu]", next - base - 1);
			continue;
		}
		if (path->len)
			buf_addc(path, '.');
		buf_add_str(path, p->pending[next - 1].member.key);
	}
	if (path->len)
		buf_addc(path, '.');
	buf_add_str(path, key);
}

static bool dup_seen(const struct parser *p, struct str path)
{
	for (const struct tree_dup *d = p->dups; d; d = d->next)
		if (str_eq(d->path, path))
			return true;
	return false;
}

/* Puts a duplicate in document order; one path is reported once. Repeats count against DUPS_MAX as
 * well: building the path of each one may be dear. */
static bool note_dup(struct parser *p, struct str key, size_t at)
{
	_cleanup_(buf_done) struct buf path = {0};
	struct tree_dup **link = &p->dups;

	if (p->ndups == DUPS_MAX)
		return true;
	p->ndups++;
	path_of(p, key, &path);
	if (!path.failed && dup_seen(p, buf_str(&path)))
		return true;
	struct dup *d = path.failed ? NULL : arena_alloc(p->arena, sizeof(*d));
	if (!d)
		return false;
	*d = (struct dup){.at = at, .public.path = arena_str(p->arena, buf_str(&path))};
	if (!d->public.path.ptr)
		return false;
	while (*link && ((struct dup *)*link)->at < at)
		link = &(*link)->next;
	d->public.next = *link;
	*link = &d->public;
	return true;
}

/* Drops all but the last of equal neighbours in sorted v; *n becomes what is left. */
static bool drop_dups(struct parser *p, struct pending *v, size_t *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < *n; i++) {
		bool again = kept && str_eq(v[kept - 1].member.key, v[i].member.key);
		if (again && !note_dup(p, v[i].member.key, v[i].at))
			return false;
		v[again ? kept - 1 : kept++] = v[i];
	}
	*n = kept;
	return true;
}

static bool strictly_sorted(const struct pending *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (pending_cmp(&v[i - 1], &v[i]) >= 0)
			return false;
	return true;
}

static bool fill_object(struct parser *p, struct tree *t, struct pending *v, size_t n)
{
	if (!strictly_sorted(v, n) && !(sort_pending(v, n) && drop_dups(p, v, &n)))
		return false;
	t->members = arena_alloc(p->arena, n * sizeof(*t->members));
	if (!t->members)
		return false;
	for (size_t i = 0; i < n; i++)
		t->members[i] = v[i].member;
	t->len = t->cap = (uint32_t)n;
	return true;
}

static bool fill_array(struct parser *p, struct tree *t, const struct pending *v, size_t n)
{
	t->items = arena_alloc(p->arena, n * sizeof(struct tree *));
	if (!t->items)
		return false;
	for (size_t i = 0; i < n; i++)
		t->items[i] = v[i].member.value;
	t->len = t->cap = (uint32_t)n;
	return true;
}

/* The innermost container is complete. */
static bool close_container(struct parser *p)
{
	struct frame *f = &p->frames[p->depth - 1];
	size_t n = p->len - f->base;
	bool done = true;

	if (n && f->container->type == TREE_OBJECT)
		done = fill_object(p, f->container, &p->pending[f->base], n);
	else if (n)
		done = fill_array(p, f->container, &p->pending[f->base], n);
	p->len = f->base;
	p->depth--;
	return done;
}

static int parse(struct parser *p, struct status *st)
{
	for (;;) {
		enum scan_token token = scan_next(&p->scan);
		bool good;
		if (token == SCAN_END)
			return 0;
		if (token == SCAN_ERROR)
			return scan_fail(&p->scan, st);
		if (token == SCAN_KEY)
			good = add_key(p);
		else if (token == SCAN_OBJECT_END || token == SCAN_ARRAY_END)
			good = close_container(p);
		else
			good = add_value(p, token);
		if (!good)
			return status_no_memory(st);
	}
}

int tree_parse(struct arena *a, struct str json, struct tree **ret, struct tree_dup **ret_dups, struct status *st)
{
	_cleanup_(parser_done) struct parser p;

	/* The frames are left alone: 8 KB that small documents never look at. */
	p.arena = a;
	p.pending = NULL;
	p.len = p.cap = 0;
	p.depth = p.ndups = 0;
	p.root = NULL;
	p.dups = NULL;
	if (json.len > UINT32_MAX)
		return status_set(st, REASON_TOO_LARGE, "JSON text of %zu bytes is too large", json.len);
	scan_init(&p.scan, json);
	int r = parse(&p, st);
	if (r < 0)
		return r;
	*ret = p.root;
	if (ret_dups)
		*ret_dups = p.dups;
	return 0;
}
