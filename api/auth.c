/* SPDX-License-Identifier: Apache-2.0 */
/* One admin, known by a bearer token; protection against browsers (DNS rebinding, CSRF). */
#include "api/auth.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/request.h"

int auth_init(struct auth *a, struct str token, const char *host, const char *allowed_hosts, struct status *st)
{
	*a = (struct auth){0};
	if (token.len) {
		a->token = strndup(token.ptr, token.len);
		a->token_len = token.len;
	}
	a->everywhere = host && (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0);
	if (asprintf(&a->hosts, "%s,%s", host ? host : "", allowed_hosts ? allowed_hosts : "") < 0)
		a->hosts = NULL;
	if ((token.len && !a->token) || !a->hosts) {
		auth_done(a);
		return status_no_memory(st);
	}
	return 0;
}

void auth_done(struct auth *a)
{
	if (a->token)
		explicit_bzero(a->token, a->token_len);
	free(a->token);
	free(a->hosts);
	*a = (struct auth){0};
}

/* Time depends on the lengths only. */
static bool equal_secret(struct str given, const char *want, size_t len)
{
	volatile unsigned char diff = given.len != len;

	for (size_t i = 0; i < given.len; i++)
		diff = diff | (unsigned char)(given.ptr[i] ^ want[i % (len ? len : 1)]);
	return diff == 0;
}

/* What anybody may ask: is it alive, which version is it. */
static bool is_public(const struct request *r)
{
	static const char *const paths[] = {"livez", "readyz", "healthz", "version"};

	if (r->nsegments == 0 || (r->method != METHOD_GET && r->method != METHOD_HEAD))
		return false;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (str_is(r->segment[0], paths[i]))
			return true;
	return false;
}

static bool token_good(const struct auth *a, const struct request *r)
{
	struct str h = request_header(r, "authorization");

	if (h.len < 7 || strncasecmp(h.ptr, "bearer ", 7) != 0)
		return false;
	h = str_skip(h, 7);
	while (h.len && h.ptr[0] == ' ')
		h = str_skip(h, 1);
	return equal_secret(h, a->token, a->token_len);
}

/* The name in a Host header, without port and brackets. */
static struct str host_name(struct str host)
{
	if (host.len && host.ptr[0] == '[') {
		ptrdiff_t end = str_chr(host, ']');
		return end < 0 ? host : str_n(host.ptr + 1, (size_t)end - 1);
	}
	return str_cut(&host, ':');
}

static bool host_listed(struct str name, struct str list)
{
	while (list.len) {
		struct str one = str_cut(&list, ',');
		if (one.len && one.len == name.len && strncasecmp(one.ptr, name.ptr, one.len) == 0)
			return true;
	}
	return false;
}

static bool is_address(struct str name)
{
	char text[INET6_ADDRSTRLEN], bytes[16];

	if (name.len >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", STR_ARG(name));
	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static bool host_allowed(const struct auth *a, struct str host)
{
	struct str name = host_name(host);

	return (a->everywhere && is_address(name)) || host_listed(name, str_of(a->hosts)) ||
	       host_listed(name, STR("localhost,127.0.0.1,::1,kubernetes,kubernetes.default,kubernetes.default.svc,"
				     "kubernetes.default.svc.cluster.local"));
}

/* A browser sends these three without asking anybody first; none of them is a body for us. */
static bool is_form(struct str type)
{
	static const char *const forms[] = {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data"};

	struct str media = str_cut(&type, ';');
	while (media.len && media.ptr[media.len - 1] == ' ')
		media.len--;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (media.len == strlen(forms[i]) && strncasecmp(media.ptr, forms[i], media.len) == 0)
			return true;
	return false;
}

static int check_browser(const struct auth *a, const struct request *r, struct status *st)
{
	if (!r->trusted && !host_allowed(a, request_header(r, "host")))
		return status_set(st, REASON_FORBIDDEN,
				  "forbidden: this server does not answer to the name in the Host header");
	if (request_header(r, "origin").ptr)
		return status_set(st, REASON_FORBIDDEN, "forbidden: requests from web pages are not allowed");
	/* A PATCH always asks first, and has media types of its own. */
	bool simple = r->method != METHOD_GET && r->method != METHOD_HEAD && r->method != METHOD_PATCH;
	if (simple && is_form(request_header(r, "content-type")))
		return status_set(st, REASON_UNSUPPORTED_MEDIA_TYPE,
				  "the body of the request was in an unknown format - accepted media types include: "
				  "application/json, application/yaml, application/vnd.kubernetes.protobuf");
	return 0;
}

int auth_check(const struct auth *a, const struct request *r, struct status *st)
{
	int rc = check_browser(a, r, st);

	if (rc < 0 || r->trusted || !a->token || is_public(r) || token_good(a, r))
		return rc;
	return status_set(st, REASON_UNAUTHORIZED, "Unauthorized");
}
