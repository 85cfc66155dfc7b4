/* SPDX-License-Identifier: Apache-2.0 */
/* Accept headers: what clients send, and what they get. */
#include "api/negotiate.h"
#include "tests/unit/tap.h"

#define TABLE "application/json;as=Table;v=v1;g=meta.k8s.io"
#define TABLE_BETA "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
#define PARTIAL "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define PROTO "application/vnd.kubernetes.protobuf"

static const struct row {
	const char *accept;
	unsigned offers;
	int form; /* -1: 406 */
	bool yaml, beta;
} rows[] = {
	{"", 0, FORM_OBJECT, false, false},
	{"*/*", 0, FORM_OBJECT, false, false},
	{"application/*", OFFER_TABLE, FORM_OBJECT, false, false},
	{"application/json", 0, FORM_OBJECT, false, false},
	{"Application/JSON; charset=utf-8", 0, FORM_OBJECT, false, false},
	{"application/yaml", 0, FORM_OBJECT, true, false},
	{"application/yaml", OFFER_STREAM, -1, false, false},
	{TABLE "," TABLE_BETA ",application/json", OFFER_TABLE, FORM_TABLE, false, false},
	{TABLE_BETA ",application/json", OFFER_TABLE, FORM_TABLE, false, true},
	{TABLE "," TABLE_BETA ",application/json", 0, FORM_OBJECT, false, false},
	{TABLE, 0, -1, false, false},
	{"application/yaml;as=Table;v=v1;g=meta.k8s.io", OFFER_TABLE, FORM_TABLE, true, false},
	{"application/json;as=Table;v=v2;g=meta.k8s.io", OFFER_TABLE, -1, false, false},
	{"application/json;as=Table;v=v1;g=other", OFFER_TABLE, -1, false, false},
	{"application/json;as=Thing;v=v1;g=meta.k8s.io", ~0u & ~OFFER_STREAM, -1, false, false},
	{PARTIAL, OFFER_PARTIAL, FORM_PARTIAL, false, false},
	{PARTIAL, OFFER_PARTIAL_LIST, -1, false, false},
	{PROTO, 0, -1, false, false},
	{PROTO ",application/json", 0, FORM_OBJECT, false, false},
	{PROTO ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1," PARTIAL ",application/json", OFFER_PARTIAL,
	 FORM_PARTIAL, false, false},
	{"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json", OFFER_DISCOVERY,
	 FORM_DISCOVERY, false, false},
	{"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", OFFER_DISCOVERY,
	 FORM_DISCOVERY, false, true},
	{"application/json;q=0.5,application/yaml;q=0.9", 0, FORM_OBJECT, true, false},
	{"application/json;q=0", 0, -1, false, false},
	{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 0, FORM_OBJECT, false, false},
	{"application/json;profile=nopeer", 0, FORM_OBJECT, false, false},
	{";;;,,=,q=", 0, -1, false, false},
	{"application/json;q=", 0, FORM_OBJECT, false, false},
	{"application/json;q=1.", 0, FORM_OBJECT, false, false},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct negotiation n;
		struct status st;
		status_clear(&st);
		int rc = negotiate(str_of(row->accept), row->offers, &n, &st);
		bool good = row->form < 0 ? rc < 0 && st.reason == REASON_NOT_ACCEPTABLE
					  : rc == 0 && (int)n.form == row->form && n.yaml == row->yaml &&
						    n.beta == row->beta;
		ok(good, "'%s' offered %x", row->accept, row->offers);
	}
	return tap_done();
}
