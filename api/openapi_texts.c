/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions: a sentence for each kind and each common field; for the others their name in words. */
#include "api/openapi_document.h"

struct text_row {
	const char *name, *text;
};

/* Kinds, in discovery order. */
static const struct text_row kind_rows[] = {
	{"Binding", "Binds a Pod to the node that is to run it."},
	{"ComponentStatus", "How a part of the control plane fares. Deprecated."},
	{"ConfigMap", "Configuration that Pods read as files or environment variables."},
	{"Endpoints", "The addresses behind a Service. Superseded by EndpointSlice."},
	{"Event", "A report of something that happened to an object."},
	{"LimitRange", "Bounds and defaults for the resources that Pods and claims of a namespace ask for."},
	{"Namespace", "A scope for names; most objects belong to one."},
	{"Node", "A machine that runs Pods."},
	{"PersistentVolumeClaim", "A request for storage, and the volume that was found for it."},
	{"PersistentVolume", "A piece of storage in the cluster."},
	{"Pod", "Containers that run together on one node."},
	{"PodTemplate", "A pattern to make Pods from."},
	{"ReplicationController", "Keeps a number of equal Pods running. Superseded by ReplicaSet."},
	{"ResourceQuota", "Bounds of what a namespace may use in sum."},
	{"Secret", "Confidential data that Pods read as files or environment variables."},
	{"ServiceAccount", "An identity for processes that run in Pods."},
	{"Service", "A stable address for a set of Pods."},
	{"APIService", "Announces a group version and says who serves it."},
	{"ControllerRevision", "A former state of a DaemonSet or a StatefulSet."},
	{"DaemonSet", "Runs one Pod on each of a set of nodes."},
	{"Deployment", "Keeps a number of equal Pods running, and rolls out changes of their template."},
	{"ReplicaSet", "Keeps a number of equal Pods running. Usually owned by a Deployment."},
	{"StatefulSet", "Keeps Pods with stable names and storage running."},
	{"SelfSubjectReview", "Asks who the caller is."},
	{"TokenReview", "Asks whether a token is good, and whose it is."},
	{"LocalSubjectAccessReview", "Asks whether somebody may do something in one namespace."},
	{"SelfSubjectAccessReview", "Asks whether the caller may do something."},
	{"SelfSubjectRulesReview", "Asks for all that the caller may do in one namespace."},
	{"SubjectAccessReview", "Asks whether somebody may do something."},
	{"HorizontalPodAutoscaler", "Scales a workload by what its Pods use."},
	{"CronJob", "Creates a Job at the times of a schedule."},
	{"Job", "Runs Pods until enough of them have succeeded."},
	{"CertificateSigningRequest", "Asks a signer for a certificate."},
	{"IngressClass", "A controller that Ingresses may choose."},
	{"Ingress", "Rules that lead HTTP requests from outside to Services."},
	{"IPAddress", "One address of the Service network, and who has it."},
	{"NetworkPolicy", "Which connections a set of Pods may make and take."},
	{"ServiceCIDR", "A range of addresses for Services."},
	{"PodDisruptionBudget", "How many Pods of a set may be down on purpose at one time."},
	{"ClusterRoleBinding", "Grants a ClusterRole to subjects in the whole cluster."},
	{"ClusterRole", "A set of permissions for the whole cluster."},
	{"RoleBinding", "Grants a role to subjects in one namespace."},
	{"Role", "A set of permissions in one namespace."},
	{"CSIDriver", "A storage driver of the Container Storage Interface."},
	{"CSINode", "The storage drivers on a node."},
	{"CSIStorageCapacity", "How much storage of a class is left in a part of the cluster."},
	{"StorageClass", "A kind of storage that claims may ask for."},
	{"VolumeAttachment", "Asks for a volume to be attached to a node."},
	{"VolumeAttributesClass", "Properties of volumes that may change while they are used."},
	{"MutatingAdmissionPolicy", "Expressions that change objects before they are stored."},
	{"MutatingAdmissionPolicyBinding", "Puts a MutatingAdmissionPolicy into effect."},
	{"MutatingWebhookConfiguration", "Webhooks that change objects before they are stored."},
	{"ValidatingAdmissionPolicy", "Expressions that objects must satisfy to be stored."},
	{"ValidatingAdmissionPolicyBinding", "Puts a ValidatingAdmissionPolicy into effect."},
	{"ValidatingWebhookConfiguration", "Webhooks that may refuse objects before they are stored."},
	{"CustomResourceDefinition", "Defines a resource: its names, versions and schema."},
	{"PriorityClass", "A named priority for Pods."},
	{"Lease", "A lock or a sign of life with a time limit."},
	{"RuntimeClass", "A container runtime that Pods may choose."},
	{"EndpointSlice", "A part of the addresses behind a Service."},
	{"DeviceClass", "A kind of device that claims may ask for."},
	{"ResourceClaim", "A request for devices, and what was found for it."},
	{"ResourceClaimTemplate", "A pattern to make ResourceClaims from."},
	{"ResourceSlice", "Devices that a driver offers on nodes."},
	{"FlowSchema", "Sorts requests to the API server into priority levels."},
	{"PriorityLevelConfiguration", "The share of the API server that a priority level gets."},
	{"Scale", "The number of replicas of a workload."},
	{"Eviction", "Asks for a Pod to be removed, within its disruption budgets."},
	{"TokenRequest", "Asks for a token of a service account."},
	{"DeleteOptions", "How an object is to be deleted."},
	{"Status", "The outcome of a request that does not answer with an object."},
	{"WatchEvent", "One change that a watch reports."},
	{"ObjectMeta", "What all objects have: names, labels, owners, times."},
	{"ListMeta", "What all lists have."},
	{"LabelSelector", "Chooses objects by their labels; all conditions must hold."},
	{"OwnerReference", "An object that this one goes with."},
	{"ManagedFieldsEntry", "The fields that one manager owns."},
	{"Patch", "A change of an object."},
};

static const struct text_row field_rows[] = {
	{"annotations", "Free-form notes of tools and people, not for selection."},
	{"apiVersion", "Group and version of the form this object is in."},
	{"conditions", "What has been observed."},
	{"creationTimestamp", "When the object was created. Set by the server."},
	{"deletionTimestamp", "When deletion was asked for. Set by the server."},
	{"finalizers", "Who has to clean up before the object may go."},
	{"generateName", "Start of a name that the server completes."},
	{"generation", "Grows with each change of what is wanted."},
	{"kind", "What this object is."},
	{"labels", "Keys and values by which objects are chosen."},
	{"lastTransitionTime", "When the status last changed."},
	{"managedFields", "Which manager owns which fields."},
	{"message", "Text for people."},
	{"metadata", "Name, labels and the rest of what all objects have."},
	{"name", "The name."},
	{"namespace", "The namespace the name belongs to."},
	{"observedGeneration", "The generation of the object that this status is about."},
	{"ownerReferences", "Objects without which this one is deleted."},
	{"reason", "One word for programs."},
	{"replicas", "The number of Pods."},
	{"resourceVersion", "Changes with each write; opaque. Set by the server."},
	{"selector", "Chooses the objects this one is about."},
	{"spec", "What is wanted."},
	{"status", "What has been observed."},
	{"template", "The pattern to make objects from."},
	{"uid", "Unique among all objects of all times. Set by the server."},
};

static const char *rows_find(const struct text_row *rows, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(name, rows[i].name))
			return rows[i].text;
	return NULL;
}

#define ROWS(rows) rows, sizeof(rows) / sizeof((rows)[0])

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Does a word start at i? At a capital behind a small letter, and at the last capital of a row that a small letter
 * follows: cluster IP Family, pod IPs. */
static bool word_starts(struct str s, size_t i)
{
	if (i == 0 || !is_upper(s.ptr[i]))
		return false;
	if (!is_upper(s.ptr[i - 1]))
		return true;
	return i + 2 < s.len && !is_upper(s.ptr[i + 1]);
}

void openapi_add_words(struct buf *out, struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool starts = word_starts(name, i);
		bool acronym = i + 1 < name.len && is_upper(name.ptr[i + 1]);

		if (starts)
			buf_addc(out, ' ');
		if (starts && !acronym)
			c = (char)(c | 0x20);
		else if (i == 0 && c >= 'a' && c <= 'z')
			c = (char)(c & ~0x20);
		buf_addc(out, c);
	}
}

/* Names of definitions and fields are made of letters, digits, `$` and dots: nothing to escape. */
static void add_words_sentence(struct buf *out, struct str name)
{
	openapi_add_words(out, name);
	buf_addc(out, '.');
}

void openapi_add_def_text(struct buf *out, const struct schema_def *def)
{
	struct str name = def->name;

	while (str_chr(name, '.') >= 0)
		str_cut(&name, '.');
	const char *text = rows_find(ROWS(kind_rows), name);
	buf_addc(out, '"');
	if (text)
		buf_adds(out, text);
	else if (schema_field(def, STR("items")) && str_ends(name, STR("List")))
		buf_addf(out, "A list of %.*s objects.", (int)(name.len - 4), name.ptr);
	else
		add_words_sentence(out, name);
	buf_addc(out, '"');
}

/* What kubectl explain does not say by itself: which items of a list are the same. */
static void add_list_text(struct buf *out, const struct schema_node *n)
{
	if (n->list == LIST_SET)
		buf_adds(out, " Each value once.");
	if (n->list != LIST_MAP)
		return;
	buf_adds(out, " One entry for each ");
	for (unsigned i = 0; i < n->nlist_keys; i++) {
		if (i)
			buf_adds(out, i + 1u == n->nlist_keys ? " and " : ", ");
		buf_add_str(out, n->list_keys[i]);
	}
	buf_addc(out, '.');
}

void openapi_add_field_text(struct buf *out, const struct schema_field *f)
{
	const char *text = rows_find(ROWS(field_rows), f->name);

	buf_addc(out, '"');
	if (text)
		buf_adds(out, text);
	else
		add_words_sentence(out, f->name);
	add_list_text(out, &f->node);
	buf_addc(out, '"');
}
