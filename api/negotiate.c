/* SPDX-License-Identifier: Apache-2.0 */
/* Walks an Accept header: clauses by quality, each with its `as`, `g` and `v` parameters. */
#include "api/negotiate.h"

#include <strings.h>

enum { CLAUSES_MAX = 32 };

struct clause {
	struct str type;       /* "application/json" */
	struct str as, group, version;
	unsigned quality;      /* in thousandths */
};

static struct str trim(struct str s)
{
	while (s.len && (s.ptr[0] == ' ' || s.ptr[0] == '\t'))
		s = str_skip(s, 1);
	while (s.len && (s.ptr[s.len - 1] == ' ' || s.ptr[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static bool same(struct str s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.ptr, word, s.len) == 0;
}

/* `1`, `0.8`, `0.855` in thousandths; anything else counts as 1, as Go's parser does. */
static unsigned quality(struct str s)
{
	unsigned q, scale = 100;

	if (s.len == 0 || s.ptr[0] < '0' || s.ptr[0] > '9')
		return 1000;
	q = (unsigned)(s.ptr[0] - '0') * 1000;
	for (size_t i = 2; i < s.len && i < 5 && s.ptr[i] >= '0' && s.ptr[i] <= '9'; i++, scale /= 10)
		q += (unsigned)(s.ptr[i] - '0') * scale;
	return q > 1000 ? 1000 : q;
}

static struct clause clause_parse(struct str text)
{
	struct clause c = {.quality = 1000};

	c.type = trim(str_cut(&text, ';'));
	while (text.len) {
		struct str value = trim(str_cut(&text, ';'));
		struct str key = trim(str_cut(&value, '='));
		value = trim(value);
		if (same(key, "as"))
			c.as = value;
		else if (same(key, "g"))
			c.group = value;
		else if (same(key, "v"))
			c.version = value;
		else if (same(key, "q"))
			c.quality = quality(value);
	}
	return c;
}

/* What `as` names, the group and versions it must come with, and the offer that allows it. */
static const struct as_row {
	const char *as, *group, *version, *beta;
	unsigned offer;
	enum form form;
} as_rows[] = {
	{"Table", "meta.k8s.io", "v1", "v1beta1", OFFER_TABLE, FORM_TABLE},
	{"PartialObjectMetadata", "meta.k8s.io", "v1", "v1beta1", OFFER_PARTIAL, FORM_PARTIAL},
	{"PartialObjectMetadataList", "meta.k8s.io", "v1", "v1beta1", OFFER_PARTIAL_LIST, FORM_PARTIAL},
	{"APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2", "v2beta1", OFFER_DISCOVERY, FORM_DISCOVERY},
};

static bool as_acceptable(const struct clause *c, unsigned offers, struct negotiation *n)
{
	if (c->as.len == 0)
		return true;
	for (size_t i = 0; i < sizeof(as_rows) / sizeof(as_rows[0]); i++) {
		const struct as_row *row = &as_rows[i];
		if (!str_is(c->as, row->as) || !(offers & row->offer) || !str_is(c->group, row->group))
			continue;
		n->beta = str_is(c->version, row->beta);
		n->form = row->form;
		return n->beta || str_is(c->version, row->version);
	}
	return false;
}

static bool clause_acceptable(const struct clause *c, unsigned offers, struct negotiation *n)
{
	*n = (struct negotiation){0};
	n->yaml = same(c->type, "application/yaml") && !(offers & OFFER_STREAM);
	bool json = same(c->type, "application/json") || same(c->type, "application/*") || same(c->type, "*/*");
	return (json || n->yaml) && c->quality > 0 && as_acceptable(c, offers, n);
}

static int not_acceptable(struct negotiation *ret, struct status *st)
{
	*ret = (struct negotiation){0};
	return status_set(st, REASON_NOT_ACCEPTABLE,
			  "only the following media types are accepted: application/json, application/yaml");
}

int negotiate(struct str accept, unsigned offers, struct negotiation *ret, struct status *st)
{
	struct negotiation n;
	unsigned best = 0;

	*ret = (struct negotiation){0};
	if (!accept.ptr || trim(accept).len == 0)
		return 0;
	/* The first clause of the highest quality that fits: no need to sort. */
	for (unsigned i = 0; accept.len && i < CLAUSES_MAX; i++) {
		struct clause c = clause_parse(str_cut(&accept, ','));
		if (c.quality <= best || !clause_acceptable(&c, offers, &n))
			continue;
		best = c.quality;
		*ret = n;
	}
	return best ? 0 : not_acceptable(ret, st);
}
