/* SPDX-License-Identifier: Apache-2.0 */
/* What a new cluster has from the start: a table of objects, made where they are missing. */
#include <errno.h>
#include <stdio.h>

#include "store/store.h"

struct bootstrap_row {
	const char *group, *version, *plural, *ns, *name;
	const char *body; /* without apiVersion, kind and name; %u is the API's port */
};

/* bootstrap.json `objects`, those that the server itself makes. */
static const struct bootstrap_row rows[] = {
	{"", "v1", "namespaces", "", "default", "{\"metadata\":{\"name\":\"default\"}}"},
	{"", "v1", "namespaces", "", "kube-system", "{\"metadata\":{\"name\":\"kube-system\"}}"},
	{"", "v1", "namespaces", "", "kube-public", "{\"metadata\":{\"name\":\"kube-public\"}}"},
	{"", "v1", "namespaces", "", "kube-node-lease", "{\"metadata\":{\"name\":\"kube-node-lease\"}}"},
	{"", "v1", "services", "default", "kubernetes",
	 "{\"metadata\":{\"name\":\"kubernetes\",\"labels\":{\"component\":\"apiserver\",\"provider\":\"kubernetes\"}},"
	 "\"spec\":{\"clusterIP\":\"10.96.0.1\",\"clusterIPs\":[\"10.96.0.1\"],\"ports\":[{\"name\":\"https\","
	 "\"port\":443,\"protocol\":\"TCP\",\"targetPort\":%u}]}}"},
	{"scheduling.k8s.io", "v1", "priorityclasses", "", "system-cluster-critical",
	 "{\"metadata\":{\"name\":\"system-cluster-critical\"},\"value\":2000000000,\"description\":"
	 "\"For pods that the cluster needs, which may move to another node if they have to.\"}"},
	{"scheduling.k8s.io", "v1", "priorityclasses", "", "system-node-critical",
	 "{\"metadata\":{\"name\":\"system-node-critical\"},\"value\":2000001000,\"description\":"
	 "\"For pods that must stay on their node.\"}"},
};

static bool is_there(struct store *s, const struct kind *k, const struct bootstrap_row *row)
{
	struct status st;
	struct object o;
	struct read *r;

	if (read_begin(s, &r, &st) < 0)
		return false;
	int err = read_get(r, k, str_of(row->ns), str_of(row->name), &o, &st);
	read_end(r);
	return err == 0;
}

static int make(struct store *s, const struct bootstrap_row *row, unsigned port, struct status *st)
{
	const struct kind *k = kinds_find(store_kinds(s), str_of(row->group), str_of(row->version), str_of(row->plural));
	char number[12];
	struct write *w;

	if (!k)
		return status_set(st, REASON_INTERNAL, "Internal error occurred: no kind %s", row->plural);
	if (is_there(s, k, row))
		return 0;
	_cleanup_(buf_done) struct buf body = {0};
	const char *hole = strstr(row->body, "%u");
	snprintf(number, sizeof(number), "%u", port);
	buf_add(&body, row->body, hole ? (size_t)(hole - row->body) : strlen(row->body));
	if (hole) {
		buf_adds(&body, number);
		buf_adds(&body, hole + 2);
	}
	if (body.failed)
		return status_no_memory(st);
	struct write_request req = {
		.kind = k,
		.verb = WRITE_CREATE,
		.origin = ORIGIN_CONTROL,
		.ns = str_of(row->ns),
		.body = buf_str(&body),
		.grace = -1,
	};
	int err = write_run(s, &req, &w, st);
	write_free(w);
	return err == -EEXIST ? 0 : err;
}

int store_bootstrap(struct store *s, unsigned port, struct status *st)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int err = make(s, &rows[i], port, st);
		if (err)
			return err;
	}
	return 0;
}
