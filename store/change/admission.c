/* SPDX-License-Identifier: Apache-2.0 */
/* The admission plugins that fill in what depends on other objects (defaults.json `admission`): a
 * table by kind; each row runs at create only.
 *
 * Left out on purpose: the finalizers of StorageObjectInUseProtection, which only a running cluster's
 * controllers would ever take off again. */
#include <errno.h>
#include <sys/random.h>

#include "store/base/cleanup.h"
#include "store/change/prepare.h"
#include "store/store.h"

/* A tree of our own literal text. */
static struct tree *literal(struct prepare *p, const char *json)
{
	struct tree *t;
	struct status st;

	return tree_parse(p->arena, str_of(json), &t, NULL, &st) == 0 ? t : NULL;
}

static bool set_if_absent(struct prepare *p, struct tree *object, const char *key, struct tree *value)
{
	return tree_getz(object, key) || (value && tree_setz(p->arena, object, key, value));
}

static const struct kind *find_kind(struct prepare *p, const char *group, const char *version, const char *plural)
{
	return kinds_find(store_kinds(p->store), str_of(group), str_of(version), str_of(plural));
}

/* The object of a cluster-scoped kind whose annotation says that it is the default: newest first, then by name. */
static int find_default(struct prepare *p, const struct kind *k, const char *annotation, struct str *ret,
			struct status *st)
{
	struct list_query q = {.kind = k};
	struct list *list;
	struct object o;
	int64_t newest = INT64_MIN;
	int rc = list_begin(p->read, p->arena, &q, &list, st);

	if (rc)
		return rc;
	while ((rc = list_next(list, &o, st)) == 1) {
		const struct tree *t = object_tree(p->arena, k, &o);
		const struct tree *annotations = tree_getz(tree_getz(t, "metadata"), "annotations");
		if (!str_is(tree_gets(annotations, annotation), "true") || o.created <= newest)
			continue;
		newest = o.created;
		*ret = arena_str(p->arena, o.name);
	}
	list_end(list);
	return rc;
}

static int default_storage_class(struct prepare *p, struct status *st)
{
	struct tree *spec = tree_getz(p->next, "spec");
	const struct tree *annotations = tree_getz(tree_getz(p->next, "metadata"), "annotations");
	struct str name = {0};

	if (!spec || tree_getz(spec, "storageClassName") ||
	    tree_getz(annotations, "volume.beta.kubernetes.io/storage-class"))
		return 0;
	int err = find_default(p, find_kind(p, "storage.k8s.io", "v1", "storageclasses"),
			       "storageclass.kubernetes.io/is-default-class", &name, st);
	if (!err && name.len && !tree_sets(p->arena, spec, "storageClassName", name))
		err = status_no_memory(st);
	return err;
}

static int default_ingress_class(struct prepare *p, struct status *st)
{
	struct tree *spec = tree_getz(p->next, "spec");
	const struct tree *annotations = tree_getz(tree_getz(p->next, "metadata"), "annotations");
	struct str name = {0};

	if (!spec || tree_getz(spec, "ingressClassName") || tree_getz(annotations, "kubernetes.io/ingress.class"))
		return 0;
	int err = find_default(p, find_kind(p, "networking.k8s.io", "v1", "ingressclasses"),
			       "ingressclass.kubernetes.io/is-default-class", &name, st);
	if (!err && name.len && !tree_sets(p->arena, spec, "ingressClassName", name))
		err = status_no_memory(st);
	return err;
}

/* Both not-ready tolerations, unless the pod has said something about that taint. */
static bool add_toleration(struct prepare *p, struct tree *list, const char *key)
{
	for (uint32_t i = 0; i < list->len; i++) {
		const struct tree *t = list->items[i];
		struct str effect = tree_gets(t, "effect"), name = tree_gets(t, "key");
		if ((!name.len || str_is(name, key)) && (!effect.len || str_is(effect, "NoExecute")))
			return true;
	}
	struct tree *t = literal(p, "{\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":300}");
	return t && tree_sets(p->arena, t, "key", str_of(key)) && tree_append(p->arena, list, t);
}

static bool pod_tolerations(struct prepare *p, struct tree *spec)
{
	struct tree *list = tree_getz(spec, "tolerations");

	if (!list) {
		list = tree_array(p->arena);
		if (!list || !tree_setz(p->arena, spec, "tolerations", list))
			return false;
	}
	return tree_is(list, TREE_ARRAY) && add_toleration(p, list, "node.kubernetes.io/not-ready") &&
	       add_toleration(p, list, "node.kubernetes.io/unreachable");
}

static int pod_priority(struct prepare *p, struct tree *spec, struct status *st)
{
	struct str name = tree_gets(spec, "priorityClassName");
	const struct kind *k = find_kind(p, "scheduling.k8s.io", "v1", "priorityclasses");
	struct tree *value = tree_int(p->arena, 0), *policy = tree_string(p->arena, STR("PreemptLowerPriority"));
	struct object o;

	if (name.len) {
		int err = read_get(p->read, k, STR(""), name, &o, st);
		if (err == -ENOENT && p->req->origin == ORIGIN_API)
			return status_forbidden(st, STR(""), STR("pods"), p->name,
						"no PriorityClass with name %.*s was found", STR_ARG(name));
		if (err && err != -ENOENT)
			return err;
		const struct tree *t = err ? NULL : object_tree(p->arena, k, &o);
		if (tree_getz(t, "value"))
			value = tree_getz(t, "value");
		if (tree_getz(t, "preemptionPolicy"))
			policy = tree_getz(t, "preemptionPolicy");
	}
	return set_if_absent(p, spec, "priority", value) && set_if_absent(p, spec, "preemptionPolicy", policy)
		       ? 0
		       : status_no_memory(st);
}

#define TOKEN_PATH "/var/run/secrets/kubernetes.io/serviceaccount"

static struct tree *token_volume(struct prepare *p, struct str name)
{
	struct tree *t = literal(p, "{\"projected\":{\"defaultMode\":420,\"sources\":["
				    "{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}},"
				    "{\"configMap\":{\"items\":[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}],"
				    "\"name\":\"kube-root-ca.crt\"}},"
				    "{\"downwardAPI\":{\"items\":[{\"fieldRef\":{\"apiVersion\":\"v1\","
				    "\"fieldPath\":\"metadata.namespace\"},\"path\":\"namespace\"}]}}]}}");

	return t && tree_sets(p->arena, t, "name", name) ? t : NULL;
}

static struct tree *ensure_list(struct prepare *p, struct tree *object, const char *key)
{
	struct tree *list = tree_getz(object, key);

	if (!list) {
		list = tree_array(p->arena);
		if (!list || !tree_setz(p->arena, object, key, list))
			return NULL;
	}
	return tree_is(list, TREE_ARRAY) ? list : NULL;
}

/* Mounts the token into one container, unless something is mounted there. *used says whether it was. */
static bool mount_token(struct prepare *p, struct tree *container, struct str volume, bool *used)
{
	struct tree *mounts = ensure_list(p, container, "volumeMounts");

	for (uint32_t i = 0; mounts && i < mounts->len; i++)
		if (str_is(tree_gets(mounts->items[i], "mountPath"), TOKEN_PATH))
			return true;
	struct tree *mount = literal(p, "{\"mountPath\":\"" TOKEN_PATH "\",\"readOnly\":true}");
	*used = true;
	return mounts && mount && tree_sets(p->arena, mount, "name", volume) && tree_append(p->arena, mounts, mount);
}

static bool mount_tokens(struct prepare *p, struct tree *spec)
{
	static const char *const lists[] = {"initContainers", "containers"};
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char r[5];
	bool used = false;

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return false;
	for (size_t i = 0; i < sizeof(r); i++)
		r[i] = (unsigned char)letters[r[i] % (sizeof(letters) - 1)];
	struct str volume = arena_printf(p->arena, "kube-api-access-%.5s", (const char *)r);
	for (size_t i = 0; i < 2; i++) {
		const struct tree *list = tree_getz(spec, lists[i]);
		for (uint32_t j = 0; tree_is(list, TREE_ARRAY) && j < list->len; j++)
			if (!mount_token(p, list->items[j], volume, &used))
				return false;
	}
	if (!used)
		return true;
	struct tree *volumes = ensure_list(p, spec, "volumes"), *v = token_volume(p, volume);
	return volumes && v && tree_append(p->arena, volumes, v);
}

/* The account must exist; `default` is made by a controller a moment after its namespace, and is not waited for. */
static int pod_account(struct prepare *p, struct tree *spec, struct status *st)
{
	const struct kind *k = find_kind(p, "", "v1", "serviceaccounts");
	struct tree *account = NULL;
	struct object o;

	if (!tree_gets(spec, "serviceAccountName").len &&
	    (!tree_sets(p->arena, spec, "serviceAccountName", STR("default")) ||
	     !tree_sets(p->arena, spec, "serviceAccount", STR("default"))))
		return status_no_memory(st);
	struct str name = tree_gets(spec, "serviceAccountName");
	int err = read_get(p->read, k, p->req->ns, name, &o, st);
	if (err && err != -ENOENT)
		return err;
	if (!err)
		account = object_tree(p->arena, k, &o);
	else if (!str_is(name, "default") && p->req->origin == ORIGIN_API)
		return status_forbidden(st, STR(""), STR("pods"), p->name,
					"error looking up service account %.*s/%.*s: serviceaccount \"%.*s\" not found",
					STR_ARG(p->req->ns), STR_ARG(name), STR_ARG(name));
	struct tree *secrets = tree_getz(account, "imagePullSecrets");
	if (secrets && !set_if_absent(p, spec, "imagePullSecrets", secrets))
		return status_no_memory(st);
	const struct tree *automount = tree_getz(spec, "automountServiceAccountToken");
	if (!automount)
		automount = tree_getz(account, "automountServiceAccountToken");
	return tree_is(automount, TREE_FALSE) || mount_tokens(p, spec) ? 0 : status_no_memory(st);
}

static int admit_pod(struct prepare *p, struct status *st)
{
	struct tree *spec = tree_getz(p->next, "spec");
	int err = spec ? pod_account(p, spec, st) : 0;

	if (!err && spec)
		err = pod_priority(p, spec, st);
	if (!err && spec && (!pod_tolerations(p, spec) || !pod_status_new(p)))
		err = status_no_memory(st);
	return err;
}

/* A new node is not ready until something says so. */
static int taint_node(struct prepare *p, struct status *st)
{
	struct tree *spec = tree_ensure(p->arena, p->next, STR("spec"));
	struct tree *taints = spec ? ensure_list(p, spec, "taints") : NULL;

	for (uint32_t i = 0; taints && i < taints->len; i++)
		if (str_is(tree_gets(taints->items[i], "key"), "node.kubernetes.io/not-ready"))
			return 0;
	struct tree *taint = literal(p, "{\"effect\":\"NoSchedule\",\"key\":\"node.kubernetes.io/not-ready\"}");
	return taints && taint && tree_append(p->arena, taints, taint) ? 0 : status_no_memory(st);
}

static int sign_request(struct prepare *p, struct status *st)
{
	struct tree *spec = tree_ensure(p->arena, p->next, STR("spec"));
	struct tree *groups = literal(p, "[\"system:masters\",\"system:authenticated\"]");

	return spec && groups && tree_sets(p->arena, spec, "username", STR("kubernetes-admin")) &&
			       tree_setz(p->arena, spec, "groups", groups)
		       ? 0
		       : status_no_memory(st);
}

static const struct {
	const char *group, *kind;
	int (*admit)(struct prepare *p, struct status *st);
} plugins[] = {
	{"", "Pod", admit_pod},
	{"", "PersistentVolumeClaim", default_storage_class},
	{"", "Node", taint_node},
	{"networking.k8s.io", "Ingress", default_ingress_class},
	{"certificates.k8s.io", "CertificateSigningRequest", sign_request},
};

int admission_mutate(struct prepare *p, struct status *st)
{
	if (p->old)
		return 0;
	for (size_t i = 0; i < sizeof(plugins) / sizeof(*plugins); i++)
		if (str_is(p->storage->kind, plugins[i].kind) && str_is(p->storage->group, plugins[i].group))
			return plugins[i].admit(p, st);
	return 0;
}
