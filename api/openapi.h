/* SPDX-License-Identifier: Apache-2.0 */
/* OpenAPI documents, made from the kinds' schemas: handlers of /openapi. */
#ifndef HOLDFS_API_OPENAPI_H
#define HOLDFS_API_OPENAPI_H

#include "api/request.h"

struct openapi;

/* NULL when out of memory. Nothing is made before it is asked for. */
struct openapi *openapi_new(void);
/* All replies must have been sent. Takes NULL. */
void openapi_free(struct openapi *o);

/* GET /openapi/v3: the index of documents with their hashes. */
int openapi_v3_index(struct request *r, struct reply *p, struct status *st);
/* GET /openapi/v3/PATH?hash=H: one group version. */
int openapi_v3_document(struct request *r, struct reply *p, struct status *st);
/* GET /openapi/v2: the swagger document. */
int openapi_v2(struct request *r, struct reply *p, struct status *st);

#endif
