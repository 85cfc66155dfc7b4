/* SPDX-License-Identifier: Apache-2.0 */
/* Which form of an answer the Accept header asks for. */
#ifndef HOLDFS_API_NEGOTIATE_H
#define HOLDFS_API_NEGOTIATE_H

#include "store/base/status.h"
#include "store/base/str.h"

enum form { FORM_OBJECT, FORM_TABLE, FORM_PARTIAL, FORM_DISCOVERY };

/* What an endpoint offers besides plain JSON and YAML. */
enum offer {
	OFFER_TABLE = 1 << 0,
	OFFER_PARTIAL = 1 << 1,      /* as=PartialObjectMetadata */
	OFFER_PARTIAL_LIST = 1 << 2, /* as=PartialObjectMetadataList */
	OFFER_DISCOVERY = 1 << 3,    /* as=APIGroupDiscoveryList */
	OFFER_STREAM = 1 << 4,       /* a watch: JSON only */
};

struct negotiation {
	enum form form;
	bool yaml;
	bool beta; /* v1beta1 of meta.k8s.io, v2beta1 of apidiscovery.k8s.io */
};

/* Walks the clauses by quality, then by order; the first acceptable one wins. accept.ptr NULL: plain JSON.
 * -EINVAL with REASON_NOT_ACCEPTABLE when nothing fits; *ret is plain JSON then. */
int negotiate(struct str accept, unsigned offers, struct negotiation *ret, struct status *st);

#endif
