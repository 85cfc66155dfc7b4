/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask: bearer token, Host and Origin checks, and what a mutating body must look like. */
#ifndef HOLDFS_API_AUTH_H
#define HOLDFS_API_AUTH_H

#include "store/base/status.h"
#include "store/base/str.h"

struct request;

/* Immutable after auth_init. */
struct auth {
	char *token;        /* NUL-terminated; NULL: everybody is admin */
	size_t token_len;
	char *hosts;        /* more names, separated by commas; may be NULL */
	bool everywhere;    /* listens on all addresses: any of them is a good Host (only names can be rebound) */
};

int auth_init(struct auth *a, struct str token, const char *host, const char *allowed_hosts, struct status *st);
void auth_done(struct auth *a);

/* Looks at the head of a request: 0, or REASON_UNAUTHORIZED, REASON_FORBIDDEN,
 * REASON_UNSUPPORTED_MEDIA_TYPE. Takes the same time for every wrong token of one length. */
int auth_check(const struct auth *a, const struct request *r, struct status *st);

#endif
