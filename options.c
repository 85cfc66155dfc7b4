/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing the command line with getopt_long from the tables below. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_type { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER, OPTION_SIZE };

/* Commands as bits, for the rows of options. */
enum { SERVE = 1, IMPORT = 2, EXPORT = 4, CHECK = 8, VERSION = 16 };

struct command_row {
	const char *name;
	unsigned bit;
	const char *arguments, *help;
	bool takes_paths, needs_path;
};

static const struct command_row commands[] = {
	{"serve", SERVE, "", "run the API and the mount on a store until SIGINT or SIGTERM", false, false},
	{"import", IMPORT, "PATH...", "store the objects of YAML and JSON files, directories, - (standard input)", true, true},
	{"export", EXPORT, "[PATH]", "write all objects as a tree of files under PATH, or as a v1 List", true, false},
	{"check", CHECK, "", "verify a store", false, false},
	{"version", VERSION, "", "print the version", false, false},
};

struct option_row {
	const char *name;
	unsigned commands;
	enum option_type type;
	size_t offset;
	const char *value, *def, *help;
};

#define ROW(name, commands, type, field, value, def, help) \
	{name, commands, type, offsetof(struct options, field), value, def, help}

static const struct option_row rows[] = {
	ROW("data", SERVE | IMPORT | EXPORT | CHECK, OPTION_TEXT, data, "DIR", NULL,
	    "directory of the store [$HOLDFS_DATA, or ~/.local/share/holdfs]"),
	ROW("mount", SERVE, OPTION_TEXT, mount, "DIR", NULL, "mount the objects as files on DIR (made when absent)"),
	ROW("listen", SERVE, OPTION_TEXT, listen, "HOST:PORT", "127.0.0.1:6443", "address of the API; port 0 picks a free one"),
	ROW("kubeconfig", SERVE, OPTION_TEXT, kubeconfig, "FILE", NULL, "write a kubeconfig (mode 0600) [DATA/kubeconfig]"),
	ROW("read-only", SERVE, OPTION_FLAG, read_only, NULL, NULL, "refuse every write, on both sides"),
	ROW("insecure-http", SERVE, OPTION_FLAG, insecure_http, NULL, NULL,
	    "plain HTTP on a loopback address, where every caller is admin"),
	ROW("ready-fd", SERVE, OPTION_NUMBER, ready_fd, "N", NULL, "write the API's address to descriptor N when all is up"),
	ROW("allow-other", SERVE, OPTION_FLAG, allow_other, NULL, NULL, "let other users use the mount, as file modes permit"),
	ROW("threads", SERVE, OPTION_NUMBER, threads, "N", "0", "threads that serve HTTP; 0: one a core"),
	ROW("max-size", SERVE | IMPORT, OPTION_SIZE, max_size, "SIZE", "64G", "size of the store beyond which writes are refused"),
	ROW("feed-size", SERVE, OPTION_SIZE, feed_size, "SIZE", "256M", "history kept for watches and lists, by size"),
	ROW("feed-age", SERVE, OPTION_NUMBER, feed_age, "SECONDS", "3600", "history kept, by age"),
	ROW("commit-each", SERVE, OPTION_FLAG, commit_each, NULL, NULL,
	    "one commit a write instead of groups (a reference for benchmarks)"),
	ROW("verbose", SERVE | IMPORT, OPTION_FLAG, verbose, NULL, NULL, "log every request"),
	ROW("quiet", SERVE | IMPORT | EXPORT, OPTION_FLAG, quiet, NULL, NULL, "print errors only"),
};

enum { NROWS = sizeof(rows) / sizeof(*rows), NCOMMANDS = sizeof(commands) / sizeof(*commands) };

static const struct command_row *find_command(const char *name)
{
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static void print_help(const struct command_row *only)
{
	if (!only)
		printf("holdfs: Kubernetes objects as files and as an API, from one store\n\n");
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (!only || only == &commands[i])
			printf("  holdfs %s [OPTION...] %s\n      %s\n", commands[i].name, commands[i].arguments,
			       commands[i].help);
	printf("\nOptions:\n");
	for (size_t i = 0; i < NROWS; i++) {
		char head[64];
		if (only && !(rows[i].commands & only->bit))
			continue;
		snprintf(head, sizeof(head), "--%s%s%s", rows[i].name, rows[i].value ? " " : "",
			 rows[i].value ? rows[i].value : "");
		printf("  %-24s %s%s%s%s\n", head, rows[i].help, rows[i].def ? " [" : "", rows[i].def ? rows[i].def : "",
		       rows[i].def ? "]" : "");
	}
	printf("  %-24s %s\n", "--help", "print this");
}

/* Bytes with an optional K, M, G or T (powers of 1024). */
static bool parse_number(const char *text, bool size, uint64_t *ret)
{
	static const char units[] = "KMGT";
	char *end;

	errno = 0;
	if (*text < '0' || *text > '9')
		return false;
	unsigned long long n = strtoull(text, &end, 10);
	const char *unit = size && *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (errno || (unit ? end[1] : *end) || n > UINT64_MAX >> shift)
		return false;
	*ret = (uint64_t)n << shift;
	return true;
}

static bool set_row(struct options *o, const struct option_row *row, const char *value)
{
	char *field = (char *)o + row->offset;

	switch (row->type) {
	case OPTION_FLAG: *(bool *)field = true; return true;
	case OPTION_TEXT: *(const char **)field = value; return true;
	case OPTION_NUMBER: return parse_number(value, false, (uint64_t *)field);
	case OPTION_SIZE: return parse_number(value, true, (uint64_t *)field);
	}
	return false;
}

static void set_defaults(struct options *o)
{
	o->ready_fd = UINT64_MAX;
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].def)
			set_row(o, &rows[i], rows[i].def);
}

static int usage(const char *command)
{
	fprintf(stderr, "Try 'holdfs %s%s--help'.\n", command ? command : "", command ? " " : "");
	return EXIT_USAGE - 1000;
}

static int parse_options(int argc, char **argv, const struct command_row *command, struct options *o)
{
	struct option longs[NROWS + 2] = {0};
	int c, index;

	for (size_t i = 0; i < NROWS; i++)
		longs[i] = (struct option){rows[i].name, rows[i].type == OPTION_FLAG ? no_argument : required_argument,
					   NULL, 1};
	longs[NROWS] = (struct option){"help", no_argument, NULL, 'h'};
	while ((c = getopt_long(argc, argv, "h", longs, &index)) != -1) {
		if (c == 'h') {
			print_help(command);
			return EXIT_OK - 1000;
		}
		if (c != 1)
			return usage(command->name);
		if (!(rows[index].commands & command->bit)) {
			fprintf(stderr, "holdfs: %s does not take --%s\n", command->name, rows[index].name);
			return usage(command->name);
		}
		if (!set_row(o, &rows[index], optarg)) {
			fprintf(stderr, "holdfs: --%s does not take '%s'\n", rows[index].name, optarg);
			return usage(command->name);
		}
	}
	return 0;
}

static char *default_data(void)
{
	const char *env = getenv("HOLDFS_DATA"), *home = getenv("HOME");
	char *path = NULL;

	if (env && *env)
		return strdup(env);
	if (geteuid() == 0)
		return strdup("/var/lib/holdfs");
	return asprintf(&path, "%s/.local/share/holdfs", home ? home : "") < 0 ? NULL : path;
}

int options_parse(int argc, char **argv, struct options *ret)
{
	const struct command_row *command = argc > 1 ? find_command(argv[1]) : NULL;

	*ret = (struct options){0};
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_help(NULL);
		return EXIT_OK - 1000;
	}
	if (argc > 1 && strcmp(argv[1], "--version") == 0)
		command = find_command("version");
	if (!command) {
		fprintf(stderr, argc > 1 ? "holdfs: unknown command '%s'\n" : "holdfs: no command given\n",
			argc > 1 ? argv[1] : "");
		return usage(NULL);
	}
	set_defaults(ret);
	ret->command = command->name;
	int rc = parse_options(argc - 1, argv + 1, command, ret);
	if (rc)
		return rc;
	ret->paths = argv + 1 + optind;
	ret->npaths = argc - 1 - optind;
	if (ret->npaths && !command->takes_paths) {
		fprintf(stderr, "holdfs: %s takes no argument '%s'\n", command->name, ret->paths[0]);
		return usage(command->name);
	}
	if (!ret->npaths && command->needs_path) {
		fprintf(stderr, "holdfs: %s needs a path\n", command->name);
		return usage(command->name);
	}
	ret->data = ret->data ? strdup(ret->data) : default_data();
	return ret->data ? 0 : EXIT_FAILED - 1000;
}

void options_done(struct options *o)
{
	free(o->data);
	o->data = NULL;
}
