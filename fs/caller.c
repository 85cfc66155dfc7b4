/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks: from the thread number that the kernel sends with a request. */
#include "fs/mount.h"

/* node and others open and close a file on different threads: what counts is the process. */
pid_t tgid_of(pid_t tid)
{
	char path[64], line[128];
	pid_t tgid = tid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	FILE *f = fopen(path, "re");
	if (!f)
		return tid;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	fclose(f);
	return tgid;
}

void comm_of(pid_t pid, char *out, size_t room)
{
	char path[64];

	snprintf(out, room, "?");
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(out, (int)room, f))
		out[strcspn(out, "\n")] = '\0';
	fclose(f);
}
