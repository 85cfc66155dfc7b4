/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI documents: what kubectl reads before it creates, applies, diffs and explains. */
#ifndef HOLDFS_API_OPENAPI_H
#define HOLDFS_API_OPENAPI_H

#include "api/request.h"

/* The documents made so far: each on its first use, kept until the set of kinds changes. Any thread. */
struct openapi;

/* NULL when out of memory. */
struct openapi *openapi_new(void);
/* No reply may borrow a document any more. Takes NULL. */
void openapi_free(struct openapi *o);

/* Handlers. They read the Accept header themselves (r->accept is not looked at), because protobuf is on offer here. */

/* GET /openapi/v3: where the document of each group version is, with the hash of its content. JSON whatever is asked
 * for, as Kubernetes has it. */
int openapi_v3_index(struct request *r, struct reply *p, struct status *st);
/* GET /openapi/v3/api/v1, /openapi/v3/apis/GROUP/VERSION: JSON or protobuf; 301 when ?hash= is an old one,
 * 404 for an unknown group version. */
int openapi_v3_document(struct request *r, struct reply *p, struct status *st);
/* GET /openapi/v2: one document for everything, JSON or protobuf. */
int openapi_v2(struct request *r, struct reply *p, struct status *st);

#endif
