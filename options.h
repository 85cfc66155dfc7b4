/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: commands and options are table rows that drive the parser, --help and the man page check. */
#ifndef HOLDFS_OPTIONS_H
#define HOLDFS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* All settings of all commands, after parsing. Strings point into argv or are defaults. */
struct options {
	const char *command;
	char *data;          /* --data; owned */
	const char *mount;
	const char *listen;
	const char *kubeconfig;
	const char *format;  /* export */
	bool read_only;
	bool insecure_http;
	bool allow_other;
	bool commit_each;
	bool verbose;
	bool quiet;
	uint64_t ready_fd;   /* UINT64_MAX: none */
	uint64_t max_size;   /* bytes */
	uint64_t feed_size;  /* bytes */
	uint64_t feed_age;   /* seconds */
	uint64_t threads;
	char **paths;        /* what follows the options */
	int npaths;
};

/* Parses argv. 0 to go on; otherwise what the process should exit with, less 1000 (help was printed: -1000 + EXIT_OK). */
int options_parse(int argc, char **argv, struct options *ret);
void options_done(struct options *o);

#endif
