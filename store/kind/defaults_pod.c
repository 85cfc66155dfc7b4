/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of pods, containers and volumes that depend on more than one field. */
#include "store/kind/defaults_fn.h"

#include "store/kind/quantity.h"

/* The old field mirrors the new one; on input it counts only when the new one is empty. */
DEFAULT_FN(pod_account)
{
	if (!tree_gets(object, "serviceAccountName").len) {
		struct str old = tree_gets(object, "serviceAccount");
		tree_removez(object, "serviceAccountName");
		if (!old.len) {
			tree_removez(object, "serviceAccount");
			return true;
		}
		if (!tree_sets(d->arena, object, "serviceAccountName", old))
			return false;
	}
	return tree_sets(d->arena, object, "serviceAccount", tree_gets(object, "serviceAccountName"));
}

/* Always for an image without tag and digest or with the tag latest. A colon before the last slash belongs to a
 * port number. */
static struct str pull_policy_of(struct str image)
{
	ptrdiff_t at = str_chr(image, '@');
	struct str name = at < 0 ? image : str_n(image.ptr, (size_t)at);
	size_t i = name.len;

	while (i > 0 && name.ptr[i - 1] != ':' && name.ptr[i - 1] != '/')
		i--;
	bool tagged = i > 0 && name.ptr[i - 1] == ':';
	if (tagged ? str_is(str_skip(name, i), "latest") : at < 0)
		return STR("Always");
	return STR("IfNotPresent");
}

DEFAULT_FN(pull_policy)
{
	struct str image = tree_gets(object, "image");

	if (tree_gets(object, "imagePullPolicy").len)
		return true;
	return tree_sets(d->arena, object, "imagePullPolicy", pull_policy_of(image));
}

DEFAULT_FN(image_volume)
{
	if (tree_gets(object, "pullPolicy").len)
		return true;
	return tree_sets(d->arena, object, "pullPolicy", pull_policy_of(tree_gets(object, "reference")));
}

DEFAULT_FN(volume)
{
	for (uint32_t i = 0; i < object->len; i++)
		if (!str_is(object->members[i].key, "name"))
			return true;
	return tree_setz(d->arena, object, "emptyDir", tree_object(d->arena));
}

/* ---- resources: only on Pod objects, never inside templates ---- */

/* requests[R] is limits[R] where only that is given. */
static bool requests_from_limits(struct arena *a, struct tree *container)
{
	struct tree *resources = tree_getz(container, "resources");
	const struct tree *limits = tree_getz(resources, "limits");

	if (!members_of(limits))
		return true;
	struct tree *requests = tree_ensure(a, resources, STR("requests"));
	for (uint32_t i = 0; requests && i < members_of(limits); i++)
		if (!tree_get(requests, limits->members[i].key) &&
		    !tree_set(a, requests, limits->members[i].key, limits->members[i].value))
			return false;
	return requests;
}

static bool host_ports(struct arena *a, struct tree *container)
{
	const struct tree *ports = tree_getz(container, "ports");

	for (uint32_t i = 0; i < items_of(ports); i++) {
		struct tree *number = tree_getz(ports->items[i], "containerPort");
		if (number && !fill(a, ports->items[i], "hostPort", number))
			return false;
	}
	return true;
}

static bool huge_pages(struct str resource)
{
	return str_starts(resource, STR("hugepages-"));
}

/* The sum of resources.KIND[resource] over a pod's containers; false when none of them sets it. */
static bool sum(const struct tree *spec, const char *kind, struct str resource, struct quantity *ret)
{
	const struct tree *containers = tree_getz(spec, "containers");
	bool found = false;

	*ret = (struct quantity){0};
	for (uint32_t i = 0; i < items_of(containers); i++) {
		const struct tree *list = tree_getz(tree_getz(containers->items[i], "resources"), kind);
		struct quantity q;
		if (!quantity_parse(tree_text(tree_get(list, resource)), &q))
			continue;
		if (__builtin_add_overflow(ret->nano, q.nano, &ret->nano))
			return false;
		ret->format = found ? ret->format : q.format;
		found = true;
	}
	return found;
}

static bool set_quantity(struct arena *a, struct tree *list, struct str resource, const struct quantity *q)
{
	char text[64];
	struct str copy = arena_str(a, str_n(text, quantity_text(q, text)));

	return copy.ptr && tree_set(a, list, resource, tree_string(a, copy));
}

/* Huge pages that containers limit, where the pod says nothing about them. */
static bool pod_huge_pages(struct arena *a, const struct tree *spec, struct tree *resources)
{
	const struct tree *containers = tree_getz(spec, "containers");

	for (uint32_t i = 0; i < items_of(containers); i++) {
		const struct tree *limits = tree_getz(tree_getz(containers->items[i], "resources"), "limits");
		for (uint32_t j = 0; j < members_of(limits); j++) {
			struct str name = limits->members[j].key;
			struct quantity q;
			if (!huge_pages(name) || tree_get(tree_getz(resources, "limits"), name) ||
			    tree_get(tree_getz(resources, "requests"), name) || !sum(spec, "limits", name, &q))
				continue;
			struct tree *list = tree_ensure(a, resources, STR("limits"));
			if (!list || !set_quantity(a, list, name, &q))
				return false;
		}
	}
	return true;
}

/* Pod-level requests follow from those of the containers, else from the pod-level limits. */
static bool pod_requests(struct arena *a, const struct tree *spec, struct tree *resources)
{
	const struct tree *limits = tree_getz(resources, "limits");

	for (uint32_t i = 0; i < members_of(limits); i++) {
		struct str name = limits->members[i].key;
		struct quantity q;
		if (!(str_is(name, "cpu") || str_is(name, "memory") || huge_pages(name)) ||
		    tree_get(tree_getz(resources, "requests"), name))
			continue;
		struct tree *requests = tree_ensure(a, resources, STR("requests"));
		if (!requests)
			return false;
		bool done = !huge_pages(name) && sum(spec, "requests", name, &q)
				    ? set_quantity(a, requests, name, &q)
				    : tree_set(a, requests, name, limits->members[i].value);
		if (!done)
			return false;
	}
	return true;
}

static bool pod_containers(const struct defaulting *d, const struct tree *list, bool host_network)
{
	for (uint32_t i = 0; i < items_of(list); i++)
		if (!requests_from_limits(d->arena, list->items[i]) ||
		    (host_network && !host_ports(d->arena, list->items[i])))
			return false;
	return true;
}

DEFAULT_FN(pod)
{
	const struct tree *spec = tree_getz(object, "spec");
	struct tree *resources = tree_getz(spec, "resources");
	bool host_network = tree_is_true(tree_getz(spec, "hostNetwork"));

	if (!pod_containers(d, tree_getz(spec, "containers"), host_network) ||
	    !pod_containers(d, tree_getz(spec, "initContainers"), host_network))
		return false;
	if (!members_of(resources))
		return true;
	return pod_huge_pages(d->arena, spec, resources) && pod_requests(d->arena, spec, resources);
}
