/* SPDX-License-Identifier: Apache-2.0 */
/* The table of reasons, and Status as JSON. */
#include "store/base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct reason_row {
	unsigned http;
	const char *string;
	int errnum;
};

static const struct reason_row reasons[REASON_COUNT] = {
	[REASON_OK] = {200, "", 0},
	[REASON_BAD_REQUEST] = {400, "BadRequest", EINVAL},
	[REASON_UNAUTHORIZED] = {401, "Unauthorized", EACCES},
	[REASON_FORBIDDEN] = {403, "Forbidden", EACCES},
	[REASON_NOT_FOUND] = {404, "NotFound", ENOENT},
	[REASON_METHOD_NOT_ALLOWED] = {405, "MethodNotAllowed", EPERM},
	[REASON_NOT_ACCEPTABLE] = {406, "NotAcceptable", EINVAL},
	[REASON_ALREADY_EXISTS] = {409, "AlreadyExists", EEXIST},
	[REASON_CONFLICT] = {409, "Conflict", EBUSY},
	[REASON_EXPIRED] = {410, "Expired", ESTALE},
	[REASON_TOO_LARGE] = {413, "RequestEntityTooLarge", EFBIG},
	[REASON_UNSUPPORTED_MEDIA_TYPE] = {415, "UnsupportedMediaType", EINVAL},
	[REASON_INVALID] = {422, "Invalid", EINVAL},
	[REASON_TOO_MANY_REQUESTS] = {429, "TooManyRequests", EAGAIN},
	[REASON_INTERNAL] = {500, "InternalError", EIO},
	[REASON_NOT_IMPLEMENTED] = {501, "", ENOSYS},
	[REASON_UNAVAILABLE] = {503, "ServiceUnavailable", EAGAIN},
	[REASON_TIMEOUT] = {504, "Timeout", ETIMEDOUT},
	[REASON_NO_SPACE] = {507, "InsufficientStorage", ENOSPC},
	[REASON_READ_ONLY] = {403, "Forbidden", EROFS},
	[REASON_NO_MEMORY] = {503, "ServiceUnavailable", ENOMEM},
	[REASON_UNKNOWN] = {500, "", EIO},
};

struct cause_row {
	const char *string;
	const char *head; /* how the message starts; "" where the text says it all */
};

static const struct cause_row causes[CAUSE_COUNT] = {
	[CAUSE_REQUIRED] = {"FieldValueRequired", "Required value"},
	[CAUSE_INVALID] = {"FieldValueInvalid", "Invalid value"},
	[CAUSE_NOT_SUPPORTED] = {"FieldValueNotSupported", "Unsupported value"},
	[CAUSE_FORBIDDEN] = {"FieldValueForbidden", "Forbidden"},
	[CAUSE_DUPLICATE] = {"FieldValueDuplicate", "Duplicate value"},
	[CAUSE_NOT_FOUND] = {"FieldValueNotFound", "Not found"},
	[CAUSE_TOO_LONG] = {"FieldValueTooLong", "Too long"},
	[CAUSE_TOO_SHORT] = {"FieldValueTooShort", "Too short"},
	[CAUSE_TOO_MANY] = {"FieldValueTooMany", "Too many"},
	[CAUSE_TOO_FEW] = {"FieldValueTooFew", "Too few"},
	[CAUSE_TYPE_INVALID] = {"FieldValueTypeInvalid", "Invalid value"},
	[CAUSE_INTERNAL] = {"InternalError", "Internal error"},
	[CAUSE_NAMESPACE_TERMINATING] = {"NamespaceTerminating", ""},
	[CAUSE_RESOURCE_VERSION_TOO_LARGE] = {"ResourceVersionTooLarge", ""},
	[CAUSE_FIELD_MANAGER_CONFLICT] = {"FieldManagerConflict", ""},
	[CAUSE_UNEXPECTED_SERVER_RESPONSE] = {"UnexpectedServerResponse", ""},
};

unsigned reason_http(enum reason reason)
{
	return reasons[reason].http;
}

const char *reason_string(enum reason reason)
{
	return reasons[reason].string;
}

int reason_errno(enum reason reason)
{
	return reasons[reason].errnum;
}

const char *cause_string(enum cause_type type)
{
	return causes[type].string;
}

void status_clear(struct status *st)
{
	st->reason = REASON_OK;
	st->message[0] = st->name[0] = st->group[0] = st->kind[0] = st->uid[0] = st->next[0] = '\0';
	st->retry_after = st->causes = 0;
}

/* Cuts z, which is full, so that it ends on a whole UTF-8 character. */
static void cut_utf8(char *z, size_t len)
{
	size_t i = len;

	while (i > 0 && ((unsigned char)z[i - 1] & 0xC0) == 0x80)
		i--;
	if (i == 0)
		return;
	unsigned char lead = (unsigned char)z[i - 1];
	size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
	if (len - (i - 1) < want)
		z[i - 1] = '\0';
}

static void vput(char *out, size_t room, const char *format, va_list ap)
{
	int n = vsnprintf(out, room, format, ap);

	if (n >= 0 && (size_t)n >= room)
		cut_utf8(out, room - 1);
}

__attribute__((format(printf, 3, 4)))
static void put(char *out, size_t room, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vput(out, room, format, ap);
	va_end(ap);
}

int status_set(struct status *st, enum reason reason, const char *format, ...)
{
	va_list ap;

	st->reason = reason;
	va_start(ap, format);
	vput(st->message, sizeof(st->message), format, ap);
	va_end(ap);
	return -reason_errno(reason);
}

void status_details(struct status *st, struct str group, struct str kind, struct str name)
{
	put(st->group, sizeof(st->group), "%.*s", STR_ARG(group));
	put(st->kind, sizeof(st->kind), "%.*s", STR_ARG(kind));
	put(st->name, sizeof(st->name), "%.*s", STR_ARG(name));
}

/* `PLURAL[.GROUP]` as messages spell it. */
static const char *dot(struct str group)
{
	return group.len ? "." : "";
}

int status_not_found(struct status *st, struct str group, struct str resource, struct str name)
{
	status_details(st, group, resource, name);
	return status_set(st, REASON_NOT_FOUND, "%.*s%s%.*s \"%.*s\" not found", STR_ARG(resource), dot(group),
			  STR_ARG(group), STR_ARG(name));
}

int status_already_exists(struct status *st, struct str group, struct str resource, struct str name)
{
	status_details(st, group, resource, name);
	return status_set(st, REASON_ALREADY_EXISTS, "%.*s%s%.*s \"%.*s\" already exists", STR_ARG(resource),
			  dot(group), STR_ARG(group), STR_ARG(name));
}

int status_conflict(struct status *st, struct str group, struct str resource, struct str name, const char *why)
{
	status_details(st, group, resource, name);
	return status_set(st, REASON_CONFLICT, "Operation cannot be fulfilled on %.*s%s%.*s \"%.*s\": %s",
			  STR_ARG(resource), dot(group), STR_ARG(group), STR_ARG(name), why);
}

int status_forbidden(struct status *st, struct str group, struct str resource, struct str name,
		     const char *format, ...)
{
	char why[STATUS_MESSAGE_MAX / 2];
	va_list ap;

	va_start(ap, format);
	vput(why, sizeof(why), format, ap);
	va_end(ap);
	status_details(st, group, resource, name);
	return status_set(st, REASON_FORBIDDEN, "%.*s%s%.*s \"%.*s\" is forbidden: %s", STR_ARG(resource),
			  dot(group), STR_ARG(group), STR_ARG(name), why);
}

int status_no_memory(struct status *st)
{
	st->retry_after = 1;
	return status_set(st, REASON_NO_MEMORY, "out of memory");
}

void status_cause(struct status *st, enum cause_type type, const char *field, const char *format, ...)
{
	va_list ap;
	unsigned i = st->causes++;

	if (i >= STATUS_CAUSES_MAX)
		return;
	struct cause *c = &st->cause[i];
	c->type = type;
	put(c->field, sizeof(c->field), "%s", field);
	size_t head = strlen(causes[type].head);
	memcpy(c->message, causes[type].head, head);
	va_start(ap, format);
	vput(c->message + head, sizeof(c->message) - head, format, ap);
	va_end(ap);
}

static unsigned causes_kept(const struct status *st)
{
	return st->causes < STATUS_CAUSES_MAX ? st->causes : STATUS_CAUSES_MAX;
}

static bool cause_seen(const struct status *st, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (strcmp(st->cause[i].field, st->cause[j].field) == 0 &&
		    strcmp(st->cause[i].message, st->cause[j].message) == 0)
			return true;
	return false;
}

int status_invalid(struct status *st, struct str group, struct str kind, struct str name)
{
	_Static_assert(STATUS_MESSAGE_MAX > 1024, "room for the head");
	unsigned kept = causes_kept(st), distinct = 0;
	char text[STATUS_MESSAGE_MAX];
	size_t at = 0;

	if (!kept)
		return 0;
	text[0] = '\0';
	for (unsigned i = 0; i < kept; i++) {
		if (cause_seen(st, i))
			continue;
		put(text + at, sizeof(text) - at, "%s%s: %s", distinct++ ? ", " : "", st->cause[i].field,
		    st->cause[i].message);
		at += strlen(text + at);
	}
	status_details(st, group, kind, name);
	return status_set(st, REASON_INVALID, "%.*s%s%.*s \"%.*s\" is invalid: %s%s%s", STR_ARG(kind), dot(group),
			  STR_ARG(group), STR_ARG(name), distinct > 1 ? "[" : "", text, distinct > 1 ? "]" : "");
}

static void add_field(struct buf *out, bool *first, const char *key, const char *value)
{
	if (!value[0])
		return;
	buf_addf(out, "%s\"%s\":", *first ? "" : ",", key);
	buf_add_json(out, str_of(value));
	*first = false;
}

static void add_causes(const struct status *st, struct buf *out, bool *first)
{
	unsigned kept = causes_kept(st);

	if (!kept)
		return;
	buf_adds(out, *first ? "\"causes\":[" : ",\"causes\":[");
	*first = false;
	for (unsigned i = 0; i < kept; i++) {
		bool first_key = true;
		buf_adds(out, i ? ",{" : "{");
		add_field(out, &first_key, "reason", causes[st->cause[i].type].string);
		add_field(out, &first_key, "message", st->cause[i].message);
		add_field(out, &first_key, "field", st->cause[i].field);
		buf_addc(out, '}');
	}
	buf_addc(out, ']');
}

static void add_details(const struct status *st, struct buf *out)
{
	size_t start = out->len;
	bool first = true;

	buf_adds(out, ",\"details\":{");
	size_t empty = out->len;
	add_field(out, &first, "name", st->name);
	add_field(out, &first, "group", st->group);
	add_field(out, &first, "kind", st->kind);
	add_field(out, &first, "uid", st->uid);
	add_causes(st, out, &first);
	if (st->retry_after) {
		buf_addf(out, "%s\"retryAfterSeconds\":%u", first ? "" : ",", st->retry_after);
		first = false;
	}
	if (out->len == empty)
		out->len = start;
	else
		buf_addc(out, '}');
}

void status_json(const struct status *st, struct buf *out)
{
	bool first = true;

	buf_adds(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
	add_field(out, &first, "continue", st->next);
	buf_adds(out, st->reason == REASON_OK ? "},\"status\":\"Success\"" : "},\"status\":\"Failure\"");
	if (st->message[0]) {
		buf_adds(out, ",\"message\":");
		buf_add_json(out, str_of(st->message));
	}
	if (reasons[st->reason].string[0])
		buf_addf(out, ",\"reason\":\"%s\"", reasons[st->reason].string);
	add_details(st, out);
	if (st->reason != REASON_OK)
		buf_addf(out, ",\"code\":%u", reasons[st->reason].http);
	buf_addc(out, '}');
}
