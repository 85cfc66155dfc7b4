/* SPDX-License-Identifier: Apache-2.0 */
/* Which Kubernetes we look like. Clients compare gitVersion as semver and major, minor as integers. */
#include "api/version.h"

#include "api/reply.h"

int version_handle(struct request *r, struct reply *p, struct status *st)
{
	static const char body[] =
		"{\"major\":\"1\",\"minor\":\"36\",\"emulationMajor\":\"1\",\"emulationMinor\":\"36\","
		"\"minCompatibilityMajor\":\"1\",\"minCompatibilityMinor\":\"35\",\"gitVersion\":\"v1.36.2+holdfs\","
		"\"gitCommit\":\"\",\"gitTreeState\":\"clean\",\"buildDate\":\"1970-01-01T00:00:00Z\","
		"\"goVersion\":\"none\",\"compiler\":\"gcc\",\"platform\":\"linux/amd64\"}\n";

	(void)r, (void)st;
	reply_borrow(p, 200, str_of(body), NULL, NULL);
	return 0;
}
