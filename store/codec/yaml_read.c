/* SPDX-License-Identifier: Apache-2.0 */
/* YAML streams: libyaml's events become the nodes of one document at a time. */
#include "store/codec/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "store/base/cleanup.h"
#include "store/codec/base64.h"
#include "store/codec/plain.h"
#include "store/codec/scan.h"
#include "store/codec/yaml_node.h"

enum { ANCHOR_BUCKETS = 256, INPUT_RATIO = 10, OUTPUT_MIN = 1 << 20 };

struct anchor {
	struct anchor *next;
	struct str name;
	uint32_t hash;
	struct node *node;
};

struct yaml_stream {
	yaml_parser_t parser;
	struct str text;
	bool ended, failed;
	/* Of the current document: */
	struct arena arena;
	struct anchor *anchors[ANCHOR_BUCKETS];
	unsigned nanchors;
	struct node *open[YAML_DEPTH_MAX];
	unsigned depth;
	struct node *root;
	size_t nodes;
};

struct yaml_stream *yaml_open(struct str text)
{
	struct yaml_stream *y = calloc(1, sizeof(*y));

	if (!y)
		return NULL;
	if (!yaml_parser_initialize(&y->parser)) {
		free(y);
		return NULL;
	}
	y->text = text;
	arena_init(&y->arena, 0);
	yaml_parser_set_encoding(&y->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&y->parser, (const unsigned char *)(text.len ? text.ptr : ""), text.len);
	return y;
}

void yaml_close(struct yaml_stream *y)
{
	if (!y)
		return;
	yaml_parser_delete(&y->parser);
	arena_done(&y->arena);
	free(y);
}

static void cleanup_stream(struct yaml_stream **y)
{
	yaml_close(*y);
}

int yaml_fail(size_t line, struct status *st, const char *format, ...)
{
	char why[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return status_set(st, REASON_BAD_REQUEST, "error converting YAML to JSON: yaml: line %zu: %s", line, why);
}

/* Line of a byte, from 1. libyaml's reader gives no mark with its errors. */
static size_t line_of(struct str text, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i < text.len; i++)
		line += text.ptr[i] == '\n';
	return line;
}

static int parser_fail(const struct yaml_stream *y, struct status *st)
{
	const yaml_parser_t *p = &y->parser;
	const char *problem = p->problem ? p->problem : "cannot be read";

	if (p->error == YAML_MEMORY_ERROR)
		return status_no_memory(st);
	if (p->error == YAML_READER_ERROR)
		return yaml_fail(line_of(y->text, p->problem_offset), st, "%s", problem);
	return yaml_fail(p->problem_mark.line + 1, st, "%s", problem);
}

static const enum node_type plain_nodes[] = {
	[PLAIN_STRING] = NODE_STRING, [PLAIN_NULL] = NODE_NULL,     [PLAIN_TRUE] = NODE_TRUE,
	[PLAIN_FALSE] = NODE_FALSE,   [PLAIN_NUMBER] = NODE_NUMBER,
};

/* Tags that say something about a scalar; any other tag makes it a string. */
struct tag {
	const char *name; /* after tag:yaml.org,2002: */
	unsigned accepts; /* bits of enum plain_type; 0: any text, as a string */
};

static const struct tag tags[] = {
	{"bool", 1u << PLAIN_TRUE | 1u << PLAIN_FALSE},
	{"int", 1u << PLAIN_NUMBER},
	{"float", 1u << PLAIN_NUMBER},
	{"null", 1u << PLAIN_NULL},
};

static const struct tag *tag_find(struct str name)
{
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (str_is(name, tags[i].name))
			return &tags[i];
	return NULL;
}

static int set_text(struct yaml_stream *y, struct node *n, struct str text, struct status *st)
{
	n->text = arena_str(&y->arena, text);
	return n->text.ptr ? 0 : status_no_memory(st);
}

/* !!binary: what the base64 says, as a string. */
static int set_binary(struct yaml_stream *y, struct node *n, struct str text, struct status *st)
{
	_cleanup_(buf_done) struct buf bytes = {0};

	if (!base64_decode(text, &bytes))
		return yaml_fail(n->line, st, "!!binary value contains invalid base64 data");
	if (bytes.failed)
		return status_no_memory(st);
	if (!utf8_valid(buf_str(&bytes)))
		return yaml_fail(n->line, st, "!!binary value is not UTF-8 text");
	return set_text(y, n, buf_str(&bytes), st);
}

static int set_plain(struct yaml_stream *y, struct node *n, struct str text, const struct tag *tag, struct status *st)
{
	char room[PLAIN_NUMBER_MAX];
	struct str number = text;
	enum plain_type type = plain_resolve(text, room, &number);

	/* How yaml_write.c keeps numbers beyond float64. */
	if (type == PLAIN_STRING && tag && str_is(str_of(tag->name), "float") && plain_is_json_number(text))
		type = PLAIN_NUMBER;
	if (type == PLAIN_NOT_FINITE)
		return yaml_fail(n->line, st, "json: unsupported value: %.*s", STR_ARG(text));
	if (tag && !(tag->accepts & 1u << type))
		return yaml_fail(n->line, st, "cannot decode `%.*s` as a !!%s", STR_ARG(text), tag->name);
	n->type = plain_nodes[type];
	return set_text(y, n, type == PLAIN_NUMBER ? number : text, st);
}

static int set_scalar(struct yaml_stream *y, struct node *n, const yaml_event_t *e, struct status *st)
{
	struct str text = str_n((const char *)e->data.scalar.value, e->data.scalar.length);
	struct str tag = str_of((const char *)e->data.scalar.tag), prefix = STR("tag:yaml.org,2002:");
	bool plain = e->data.scalar.plain_implicit;

	n->type = NODE_STRING;
	n->merge = plain && str_is(text, "<<");
	if (!tag.len)
		return plain ? set_plain(y, n, text, NULL, st) : set_text(y, n, text, st);
	if (!str_starts(tag, prefix))
		return set_text(y, n, text, st);
	tag = str_skip(tag, prefix.len);
	if (str_is(tag, "binary"))
		return set_binary(y, n, text, st);
	const struct tag *known = tag_find(tag);
	return known ? set_plain(y, n, text, known, st) : set_text(y, n, text, st);
}

static uint32_t hash_of(struct str s)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * 16777619u;
	return h;
}

static int anchor_add(struct yaml_stream *y, const yaml_char_t *name, struct node *n, struct status *st)
{
	if (!name)
		return 0;
	if (y->nanchors++ == YAML_ANCHORS_MAX)
		return yaml_fail(n->line, st, "too many anchors");
	struct anchor *a = arena_alloc(&y->arena, sizeof(*a));
	struct str copy = arena_str(&y->arena, str_of((const char *)name));
	if (!a || !copy.ptr)
		return status_no_memory(st);
	uint32_t hash = hash_of(copy);
	struct anchor **bucket = &y->anchors[hash % ANCHOR_BUCKETS];
	*a = (struct anchor){.next = *bucket, .name = copy, .hash = hash, .node = n};
	*bucket = a;
	return 0;
}

/* An anchor may be defined again; the newest stands first in its bucket. */
static struct node *anchor_find(const struct yaml_stream *y, struct str name)
{
	uint32_t hash = hash_of(name);

	for (const struct anchor *a = y->anchors[hash % ANCHOR_BUCKETS]; a; a = a->next)
		if (a->hash == hash && str_eq(a->name, name))
			return a->node;
	return NULL;
}

static int set_alias(const struct yaml_stream *y, struct node *n, const yaml_event_t *e, struct status *st)
{
	struct str name = str_of((const char *)e->data.alias.anchor);
	struct node *target = anchor_find(y, name);

	if (!target)
		return yaml_fail(n->line, st, "unknown anchor '%.*s' referenced", STR_ARG(name));
	if (target->open)
		return yaml_fail(n->line, st, "anchor '%.*s' value contains itself", STR_ARG(name));
	n->type = NODE_ALIAS;
	n->target = target->type == NODE_ALIAS ? target->target : target;
	return 0;
}

static struct node *node_new(struct yaml_stream *y, const yaml_event_t *e)
{
	struct node *n = arena_alloc(&y->arena, sizeof(*n));

	if (!n)
		return NULL;
	*n = (struct node){.line = (uint32_t)e->start_mark.line + 1};
	if (y->depth == 0) {
		y->root = n;
		return n;
	}
	struct node *parent = y->open[y->depth - 1];
	if (parent->last)
		parent->last->next = n;
	else
		parent->first = n;
	parent->last = n;
	return n;
}

static int open_node(struct yaml_stream *y, struct node *n, enum node_type type, struct status *st)
{
	if (y->depth == YAML_DEPTH_MAX)
		return yaml_fail(n->line, st, "exceeded max depth");
	n->type = (uint8_t)type;
	n->open = true;
	y->open[y->depth++] = n;
	return 0;
}

static int read_node(struct yaml_stream *y, const yaml_event_t *e, struct status *st)
{
	struct node *n = node_new(y, e);
	int r;

	if (!n)
		return status_no_memory(st);
	if (++y->nodes > YAML_NODES_MAX)
		return yaml_fail(n->line, st, "document has too many values");
	switch (e->type) {
	case YAML_ALIAS_EVENT:
		return set_alias(y, n, e, st);
	case YAML_SCALAR_EVENT:
		r = set_scalar(y, n, e, st);
		return r < 0 ? r : anchor_add(y, e->data.scalar.anchor, n, st);
	case YAML_SEQUENCE_START_EVENT:
		r = open_node(y, n, NODE_LIST, st);
		return r < 0 ? r : anchor_add(y, e->data.sequence_start.anchor, n, st);
	default:
		r = open_node(y, n, NODE_MAP, st);
		return r < 0 ? r : anchor_add(y, e->data.mapping_start.anchor, n, st);
	}
}

static void document_clear(struct yaml_stream *y)
{
	arena_done(&y->arena);
	memset(y->anchors, 0, sizeof(y->anchors));
	y->nanchors = y->depth = 0;
	y->nodes = 0;
	y->root = NULL;
}

/* 1: the document is complete; 0: more events to come. */
static int read_event(struct yaml_stream *y, const yaml_event_t *e, struct status *st)
{
	switch (e->type) {
	case YAML_STREAM_END_EVENT:
		y->ended = true;
		return 1;
	case YAML_DOCUMENT_END_EVENT:
		return 1;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		y->open[--y->depth]->open = false;
		return 0;
	case YAML_ALIAS_EVENT:
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return read_node(y, e, st);
	default:
		return 0;
	}
}

static int read_document(struct yaml_stream *y, struct status *st)
{
	int r;

	document_clear(y);
	do {
		yaml_event_t e;
		if (!yaml_parser_parse(&y->parser, &e))
			return parser_fail(y, st);
		r = read_event(y, &e, st);
		yaml_event_delete(&e);
	} while (r == 0);
	return r < 0 ? r : 0;
}

static int write_document(struct yaml_stream *y, struct buf *out, struct status *st)
{
	size_t limit = y->text.len > SIZE_MAX / INPUT_RATIO ? SIZE_MAX : y->text.len * INPUT_RATIO;

	return yaml_write_nodes(&y->arena, y->root, limit < OUTPUT_MIN ? OUTPUT_MIN : limit, out, st);
}

/* As yaml_next, but the caller notes the failure. */
static int next_document(struct yaml_stream *y, struct buf *out, unsigned *ret_line, struct status *st)
{
	for (;;) {
		int r = read_document(y, st);
		if (r < 0)
			return r;
		if (y->ended)
			return 0;
		if (node_target(y->root)->type == NODE_NULL)
			continue;
		r = write_document(y, out, st);
		if (r < 0)
			return r;
		if (ret_line)
			*ret_line = y->root->line;
		return 1;
	}
}

int yaml_next(struct yaml_stream *y, struct buf *out, unsigned *ret_line, struct status *st)
{
	buf_clear(out);
	if (y->failed)
		return status_set(st, REASON_BAD_REQUEST, "error converting YAML to JSON: yaml: the stream is broken");
	if (y->ended)
		return 0;
	int r = next_document(y, out, ret_line, st);
	y->failed = r < 0;
	return r;
}

int yaml_to_json(struct str text, struct buf *out, struct status *st)
{
	_cleanup_(cleanup_stream) struct yaml_stream *y = yaml_open(text);
	_cleanup_(buf_done) struct buf second = {0};
	unsigned line = 0;

	buf_clear(out);
	if (!y)
		return status_no_memory(st);
	int r = yaml_next(y, out, &line, st);
	if (r < 0)
		return r;
	if (r == 0)
		buf_adds(out, "null");
	r = r ? yaml_next(y, &second, &line, st) : 0;
	if (r > 0)
		return yaml_fail(line, st, "expected a single document in the stream");
	if (r == 0 && out->failed)
		return status_no_memory(st);
	return r;
}
