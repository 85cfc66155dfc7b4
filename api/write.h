/* SPDX-License-Identifier: Apache-2.0 */
/* Create, update, patch, delete: HTTP's side of the one write path. */
#ifndef HOLDFS_API_WRITE_H
#define HOLDFS_API_WRITE_H

#include "api/request.h"
#include "store/change/delete_options.h"

/* POST, PUT, PATCH, DELETE of one object or of a subresource. */
int write_handle(struct request *r, struct reply *p, struct status *st);
/* POST of a review. */
int write_handle_review(struct request *r, struct reply *p, struct status *st);

/* dryRun: only All. Notes a cause for anything else. */
bool writeopts_dry_run(const struct request *r, struct status *st);
/* DeleteOptions from the body, else from the query. Strings live as long as the request. */
int writeopts_delete(struct request *r, struct delete_options *ret, struct status *st);
/* The query's share of a create, update or patch; REASON_INVALID, REASON_UNSUPPORTED_MEDIA_TYPE. */
int writeopts_change(struct request *r, struct write_request *req, struct status *st);
/* The body as strict JSON; json keeps it when it had to be converted. */
int writeopts_body(struct request *r, struct buf *json, struct str *ret, struct status *st);

#endif
