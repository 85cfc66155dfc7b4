/* SPDX-License-Identifier: Apache-2.0 */
/* Table cells: renders a row into a block at write time, fills the ages in when it is sent. */
#include "store/kind/cells.h"

#include <endian.h>

#include "store/base/cleanup.h"
#include "store/kind/cells_private.h"

#define COUNT_SIZE sizeof(uint16_t)
#define HOLE_SIZE (sizeof(uint32_t) + sizeof(int64_t))

static cell_rule_fn *const rules[CELL_RULES] = {
	[CELL_TEXT] = rule_text,
	[CELL_TEXT_TRIMMED] = rule_text_trimmed,
	[CELL_INT] = rule_int,
	[CELL_INT_TEXT] = rule_int_text,
	[CELL_BOOL] = rule_bool,
	[CELL_BOOL_TEXT] = rule_bool_text,
	[CELL_QUANTITY] = rule_quantity,
	[CELL_DURATION] = rule_duration,
	[CELL_AGE] = rule_age,
	[CELL_CREATED_AT] = rule_created_at,
	[CELL_COUNT] = rule_count,
	[CELL_JOIN] = rule_join,
	[CELL_JOIN_MORE] = rule_join_more,
	[CELL_LABELS] = rule_labels,
	[CELL_SELECTOR] = rule_selector,
	[CELL_SELECTOR_DEPLOYMENT] = rule_selector_deployment,
	[CELL_BY_TYPE] = rule_by_type,
	[CELL_PAIR] = rule_pair,
	[CELL_SUBJECTS] = rule_subjects,
	[CELL_PHASE] = rule_phase,
	[CELL_CLASS_NAME] = rule_class_name,
	[CELL_REPLICAS_READY] = rule_replicas_ready,
	[CELL_ACCESS_MODES] = rule_access_modes,
	[CELL_STORAGE_CLASS] = rule_storage_class,
	[CELL_LOAD_BALANCER] = rule_load_balancer,
	[CELL_PARAM_REF] = rule_param_ref,
	[CELL_POD_READY] = rule_pod_ready,
	[CELL_POD_STATUS] = rule_pod_status,
	[CELL_POD_RESTARTS] = rule_pod_restarts,
	[CELL_POD_GATES] = rule_pod_gates,
	[CELL_JOB_STATUS] = rule_job_status,
	[CELL_JOB_COMPLETIONS] = rule_job_completions,
	[CELL_JOB_DURATION] = rule_job_duration,
	[CELL_HPA_TARGETS] = rule_hpa_targets,
	[CELL_OWNER] = rule_owner,
	[CELL_SERVICE_EXTERNAL_IP] = rule_service_external_ip,
	[CELL_SERVICE_PORTS] = rule_service_ports,
	[CELL_INGRESS_HOSTS] = rule_ingress_hosts,
	[CELL_INGRESS_PORTS] = rule_ingress_ports,
	[CELL_CLASS_PARAMETERS] = rule_class_parameters,
	[CELL_ENDPOINTS] = rule_endpoints,
	[CELL_SLICE_PORTS] = rule_slice_ports,
	[CELL_PARENT_REF] = rule_parent_ref,
	[CELL_NODE_STATUS] = rule_node_status,
	[CELL_NODE_ROLES] = rule_node_roles,
	[CELL_NODE_KERNEL] = rule_node_kernel,
	[CELL_COMPONENT_STATUS] = rule_component_status,
	[CELL_EVENT_LAST_SEEN] = rule_event_last_seen,
	[CELL_EVENT_OBJECT] = rule_event_object,
	[CELL_EVENT_SOURCE] = rule_event_source,
	[CELL_EVENT_COUNT] = rule_event_count,
	[CELL_CLAIM_CAPACITY] = rule_claim_capacity,
	[CELL_CLAIM_ACCESS_MODES] = rule_claim_access_modes,
	[CELL_QUOTA_REQUESTS] = rule_quota_requests,
	[CELL_QUOTA_LIMITS] = rule_quota_limits,
	[CELL_CSR_CONDITION] = rule_csr_condition,
	[CELL_CLAIM_STATE] = rule_claim_state,
	[CELL_API_AVAILABLE] = rule_api_available,
};

static void cells_done(struct cells *c)
{
	buf_done(&c->text);
	buf_done(&c->holes);
}

static void row_render(struct cells *c, const struct kind *k)
{
	buf_addc(&c->text, '[');
	for (size_t i = 0; i < k->ncolumns; i++) {
		if (i)
			buf_addc(&c->text, ',');
		c->path = k->columns[i].path;
		rules[k->columns[i].cell](c);
	}
	buf_addc(&c->text, ']');
	if (c->conditions) {
		buf_adds(&c->text, ",\"conditions\":");
		buf_adds(&c->text, c->conditions);
	}
}

bool cells_render(struct arena *a, const struct kind *k, const struct tree *object, struct buf *out)
{
	_cleanup_(cells_done) struct cells c = {.arena = a, .object = object};

	row_render(&c, k);
	if (c.failed || c.text.failed || c.holes.failed)
		return false;
	uint16_t count = htole16((uint16_t)(c.holes.len / HOLE_SIZE));
	buf_add(out, &count, sizeof(count));
	buf_add_str(out, buf_str(&c.holes));
	buf_add_str(out, buf_str(&c.text));
	return !out->failed;
}

void cell_add_age(struct cells *c, int64_t t)
{
	uint32_t offset = htole32((uint32_t)c->text.len);
	uint64_t time = htole64((uint64_t)t);

	buf_add(&c->holes, &offset, sizeof(offset));
	buf_add(&c->holes, &time, sizeof(time));
}

static size_t hole_count(struct str block)
{
	uint16_t n;

	if (block.len < COUNT_SIZE)
		return 0;
	memcpy(&n, block.ptr, sizeof(n));
	return le16toh(n);
}

static void hole_read(const char *p, size_t *ret_offset, int64_t *ret_time)
{
	uint32_t offset;
	uint64_t time;

	memcpy(&offset, p, sizeof(offset));
	memcpy(&time, p + sizeof(offset), sizeof(time));
	*ret_offset = le32toh(offset);
	*ret_time = (int64_t)le64toh(time);
}

static int64_t seconds_since(int64_t t, int64_t now)
{
	int64_t d;

	if (__builtin_sub_overflow(now, t, &d))
		return t > now ? INT64_MIN : INT64_MAX;
	return d;
}

void cells_write(struct str block, int64_t now, struct buf *out)
{
	size_t count = hole_count(block), head = COUNT_SIZE + count * HOLE_SIZE, done = 0;

	/* A damaged block must not damage the reply around it. */
	if (block.len <= head) {
		buf_adds(out, "[]");
		return;
	}
	struct str text = str_skip(block, head);
	if (!buf_reserve(out, text.len + count * AGE_MAX))
		return;
	char *p = out->ptr + out->len;
	for (size_t i = 0; i < count; i++) {
		size_t offset;
		int64_t t;
		hole_read(block.ptr + COUNT_SIZE + i * HOLE_SIZE, &offset, &t);
		if (offset < done || offset > text.len)
			break;
		memcpy(p, text.ptr + done, offset - done);
		p += offset - done;
		p += age_text(seconds_since(t, now), p);
		done = offset;
	}
	memcpy(p, text.ptr + done, text.len - done);
	out->len = (size_t)(p + (text.len - done) - out->ptr);
}
