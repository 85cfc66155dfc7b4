/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of OpenAPI v2 and v3 documents (gnostic's models), as far as our documents fill them. */
#include "api/openapi_proto.h"

#define MESSAGE(name, number)                                                                  \
	const struct proto_message name = {name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0]), number}

/* ---- v2 ---- */

static const struct proto_message v2_schema, v2_named_schema;

static const struct proto_field v2_schema_fields[] = {
	{"$ref", PROTO_STRING, {1}, NULL, NULL},
	{"format", PROTO_STRING, {2}, NULL, NULL},
	{"title", PROTO_STRING, {3}, NULL, NULL},
	{"description", PROTO_STRING, {4}, NULL, NULL},
	{"default", PROTO_ANY, {5}, NULL, NULL},
	{"pattern", PROTO_STRING, {13}, NULL, NULL},
	{"required", PROTO_STRING, {19}, NULL, NULL},
	{"enum", PROTO_ANY, {20}, NULL, NULL},
	{"additionalProperties", PROTO_BOOL, {21, 2}, "bool", NULL},
	{"additionalProperties", PROTO_MESSAGE, {21, 1}, NULL, &v2_schema},
	{"type", PROTO_STRING, {22, 1}, NULL, NULL},
	{"items", PROTO_MESSAGE, {23, 1}, NULL, &v2_schema},
	{"allOf", PROTO_MESSAGE, {24}, NULL, &v2_schema},
	{"properties", PROTO_MAP, {25, 1}, NULL, &v2_named_schema},
};
static MESSAGE(v2_schema, 31);

static const struct proto_field v2_named_schema_fields[] = {
	{"*", PROTO_MESSAGE, {2}, NULL, &v2_schema},
};
static MESSAGE(v2_named_schema, 0);

static const struct proto_field v2_body_fields[] = {
	{"description", PROTO_STRING, {1}, NULL, NULL}, {"name", PROTO_STRING, {2}, NULL, NULL},
	{"in", PROTO_STRING, {3}, NULL, NULL},          {"required", PROTO_BOOL, {4}, NULL, NULL},
	{"schema", PROTO_MESSAGE, {5}, NULL, &v2_schema},
};
static MESSAGE(v2_body, 6);

static const struct proto_field v2_query_fields[] = {
	{"required", PROTO_BOOL, {1}, NULL, NULL},      {"in", PROTO_STRING, {2}, NULL, NULL},
	{"description", PROTO_STRING, {3}, NULL, NULL}, {"name", PROTO_STRING, {4}, NULL, NULL},
	{"type", PROTO_STRING, {6}, NULL, NULL},        {"format", PROTO_STRING, {7}, NULL, NULL},
};
static MESSAGE(v2_query, 23);

static const struct proto_field v2_path_fields[] = {
	{"required", PROTO_BOOL, {1}, NULL, NULL},      {"in", PROTO_STRING, {2}, NULL, NULL},
	{"description", PROTO_STRING, {3}, NULL, NULL}, {"name", PROTO_STRING, {4}, NULL, NULL},
	{"type", PROTO_STRING, {5}, NULL, NULL},        {"format", PROTO_STRING, {6}, NULL, NULL},
};
static MESSAGE(v2_path, 22);

static const struct proto_field v2_response_fields[] = {
	{"description", PROTO_STRING, {1}, NULL, NULL},
	{"schema", PROTO_MESSAGE, {2, 1}, NULL, &v2_schema},
};
static MESSAGE(v2_response, 5);

static const struct proto_field v2_named_response_fields[] = {
	{"*", PROTO_MESSAGE, {2, 1}, NULL, &v2_response},
};
static MESSAGE(v2_named_response, 0);

static const struct proto_field v2_operation_fields[] = {
	{"tags", PROTO_STRING, {1}, NULL, NULL},
	{"description", PROTO_STRING, {3}, NULL, NULL},
	{"operationId", PROTO_STRING, {5}, NULL, NULL},
	{"produces", PROTO_STRING, {6}, NULL, NULL},
	{"consumes", PROTO_STRING, {7}, NULL, NULL},
	{"parameters", PROTO_MESSAGE, {8, 1, 1}, "body", &v2_body},
	{"parameters", PROTO_MESSAGE, {8, 1, 2, 3}, "query", &v2_query},
	{"parameters", PROTO_MESSAGE, {8, 1, 2, 4}, "path", &v2_path},
	{"responses", PROTO_MAP, {9, 1}, NULL, &v2_named_response},
};
static MESSAGE(v2_operation, 13);

static const struct proto_field v2_path_item_fields[] = {
	{"get", PROTO_MESSAGE, {2}, NULL, &v2_operation},
	{"put", PROTO_MESSAGE, {3}, NULL, &v2_operation},
	{"post", PROTO_MESSAGE, {4}, NULL, &v2_operation},
	{"delete", PROTO_MESSAGE, {5}, NULL, &v2_operation},
	{"patch", PROTO_MESSAGE, {8}, NULL, &v2_operation},
	{"parameters", PROTO_MESSAGE, {9, 1, 2, 3}, "query", &v2_query},
	{"parameters", PROTO_MESSAGE, {9, 1, 2, 4}, "path", &v2_path},
};
static MESSAGE(v2_path_item, 10);

static const struct proto_field v2_named_path_item_fields[] = {
	{"*", PROTO_MESSAGE, {2}, NULL, &v2_path_item},
};
static MESSAGE(v2_named_path_item, 0);

static const struct proto_field v2_info_fields[] = {
	{"title", PROTO_STRING, {1}, NULL, NULL},
	{"version", PROTO_STRING, {2}, NULL, NULL},
};
static MESSAGE(v2_info, 7);

static const struct proto_field proto_v2_document_fields[] = {
	{"swagger", PROTO_STRING, {1}, NULL, NULL},
	{"info", PROTO_MESSAGE, {2}, NULL, &v2_info},
	{"paths", PROTO_MAP, {8, 2}, NULL, &v2_named_path_item},
	{"definitions", PROTO_MAP, {9, 1}, NULL, &v2_named_schema},
};
MESSAGE(proto_v2_document, 16);

/* ---- v3 ---- */

static const struct proto_message v3_schema, v3_named_schema;

static const struct proto_field v3_reference_fields[] = {
	{"$ref", PROTO_STRING, {1}, NULL, NULL},
	{"description", PROTO_STRING, {3}, NULL, NULL},
};
static MESSAGE(v3_reference, 0);

static const struct proto_field v3_schema_fields[] = {
	{"title", PROTO_STRING, {9}, NULL, NULL},
	{"pattern", PROTO_STRING, {17}, NULL, NULL},
	{"required", PROTO_STRING, {23}, NULL, NULL},
	{"enum", PROTO_ANY, {24}, NULL, NULL},
	{"type", PROTO_STRING, {25}, NULL, NULL},
	{"allOf", PROTO_MESSAGE, {26, 2}, "$ref", &v3_reference},
	{"allOf", PROTO_MESSAGE, {26, 1}, NULL, &v3_schema},
	{"oneOf", PROTO_MESSAGE, {27, 2}, "$ref", &v3_reference},
	{"oneOf", PROTO_MESSAGE, {27, 1}, NULL, &v3_schema},
	{"items", PROTO_MESSAGE, {30, 1, 2}, "$ref", &v3_reference},
	{"items", PROTO_MESSAGE, {30, 1, 1}, NULL, &v3_schema},
	{"properties", PROTO_MAP, {31, 1}, NULL, &v3_named_schema},
	{"additionalProperties", PROTO_BOOL, {32, 2}, "bool", NULL},
	{"additionalProperties", PROTO_MESSAGE, {32, 1, 2}, "$ref", &v3_reference},
	{"additionalProperties", PROTO_MESSAGE, {32, 1, 1}, NULL, &v3_schema},
	{"default", PROTO_DEFAULT, {33}, NULL, NULL},
	{"description", PROTO_STRING, {34}, NULL, NULL},
	{"format", PROTO_STRING, {35}, NULL, NULL},
};
static MESSAGE(v3_schema, 36);

static const struct proto_field v3_named_schema_fields[] = {
	{"*", PROTO_MESSAGE, {2, 2}, "$ref", &v3_reference},
	{"*", PROTO_MESSAGE, {2, 1}, NULL, &v3_schema},
};
static MESSAGE(v3_named_schema, 0);

static const struct proto_field v3_parameter_fields[] = {
	{"name", PROTO_STRING, {1}, NULL, NULL},
	{"in", PROTO_STRING, {2}, NULL, NULL},
	{"description", PROTO_STRING, {3}, NULL, NULL},
	{"required", PROTO_BOOL, {4}, NULL, NULL},
	{"schema", PROTO_MESSAGE, {10, 2}, "$ref", &v3_reference},
	{"schema", PROTO_MESSAGE, {10, 1}, NULL, &v3_schema},
};
static MESSAGE(v3_parameter, 14);

static const struct proto_field v3_media_type_fields[] = {
	{"schema", PROTO_MESSAGE, {1, 2}, "$ref", &v3_reference},
	{"schema", PROTO_MESSAGE, {1, 1}, NULL, &v3_schema},
};
static MESSAGE(v3_media_type, 5);

static const struct proto_field v3_named_media_type_fields[] = {
	{"*", PROTO_MESSAGE, {2}, NULL, &v3_media_type},
};
static MESSAGE(v3_named_media_type, 0);

static const struct proto_field v3_request_body_fields[] = {
	{"description", PROTO_STRING, {1}, NULL, NULL},
	{"content", PROTO_MAP, {2, 1}, NULL, &v3_named_media_type},
	{"required", PROTO_BOOL, {3}, NULL, NULL},
};
static MESSAGE(v3_request_body, 4);

static const struct proto_field v3_response_fields[] = {
	{"description", PROTO_STRING, {1}, NULL, NULL},
	{"content", PROTO_MAP, {3, 1}, NULL, &v3_named_media_type},
};
static MESSAGE(v3_response, 5);

static const struct proto_field v3_named_response_fields[] = {
	{"*", PROTO_MESSAGE, {2, 1}, NULL, &v3_response},
};
static MESSAGE(v3_named_response, 0);

static const struct proto_field v3_operation_fields[] = {
	{"tags", PROTO_STRING, {1}, NULL, NULL},
	{"description", PROTO_STRING, {3}, NULL, NULL},
	{"operationId", PROTO_STRING, {5}, NULL, NULL},
	{"parameters", PROTO_MESSAGE, {6, 1}, NULL, &v3_parameter},
	{"requestBody", PROTO_MESSAGE, {7, 1}, NULL, &v3_request_body},
	{"responses", PROTO_MAP, {8, 2}, NULL, &v3_named_response},
};
static MESSAGE(v3_operation, 13);

static const struct proto_field v3_path_item_fields[] = {
	{"get", PROTO_MESSAGE, {4}, NULL, &v3_operation},
	{"put", PROTO_MESSAGE, {5}, NULL, &v3_operation},
	{"post", PROTO_MESSAGE, {6}, NULL, &v3_operation},
	{"delete", PROTO_MESSAGE, {7}, NULL, &v3_operation},
	{"patch", PROTO_MESSAGE, {10}, NULL, &v3_operation},
	{"parameters", PROTO_MESSAGE, {13, 1}, NULL, &v3_parameter},
};
static MESSAGE(v3_path_item, 14);

static const struct proto_field v3_named_path_item_fields[] = {
	{"*", PROTO_MESSAGE, {2}, NULL, &v3_path_item},
};
static MESSAGE(v3_named_path_item, 0);

static const struct proto_field v3_components_fields[] = {
	{"schemas", PROTO_MAP, {1, 1}, NULL, &v3_named_schema},
};
static MESSAGE(v3_components, 10);

static const struct proto_field v3_info_fields[] = {
	{"title", PROTO_STRING, {1}, NULL, NULL},
	{"version", PROTO_STRING, {6}, NULL, NULL},
};
static MESSAGE(v3_info, 7);

static const struct proto_field proto_v3_document_fields[] = {
	{"openapi", PROTO_STRING, {1}, NULL, NULL},
	{"info", PROTO_MESSAGE, {2}, NULL, &v3_info},
	{"paths", PROTO_MAP, {4, 1}, NULL, &v3_named_path_item},
	{"components", PROTO_MESSAGE, {5}, NULL, &v3_components},
};
MESSAGE(proto_v3_document, 9);
