/* SPDX-License-Identifier: Apache-2.0 */
/* holdfs: a Kubernetes-compatible object store, shown as files and as an API.
 *
 *     main.c          the command line: import, export, check, version
 *     options.c       options and commands as tables
 *     serve.c         `holdfs serve`: starts the parts, waits for a signal, stops them in reverse
 *     api/            HTTP requests turned into store calls
 *     fs/             file operations turned into the same store calls
 *     store/          the object store; store.h is all that the above may see
 *       control/      internal controllers: namespaces, garbage collection, compaction
 *       dump/         objects from files and to files
 *       upstream/     a client of other servers
 *       change/       how a request becomes the next object: the one write path
 *       db/           how objects are kept: records, feed, writer, lists
 *       kind/         what an object is: kinds, schemas, defaults, validation, columns, selectors
 *       codec/        bytes and values: JSON, YAML, protobuf
 *       base/         the C we write in
 *
 * Nothing points back up, and api/ and fs/ never meet. ARCHITECTURE.md says more. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "options.h"
#include "serve.h"
#include "store/dump/dump.h"
#include "store/store.h"
#include "store/upstream/client.h"

static int fail(const char *what, const struct status *st)
{
	fprintf(stderr, "holdfs: %s%s%s\n", what ? what : "", what ? ": " : "", st->message);
	return EXIT_FAILED;
}

struct import_ui {
	bool terminal, shown;
	struct timespec start, last;
};

static double seconds_since(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - t->tv_sec) + (double)(now.tv_nsec - t->tv_nsec) / 1e9;
}

static void clear_line(struct import_ui *ui)
{
	if (ui->shown)
		fputs("\r\033[K", stderr);
	ui->shown = false;
}

static void import_report(void *arg, const char *file, unsigned line, struct str object, const char *why)
{
	clear_line(arg);
	fprintf(stderr, "holdfs: %s", strcmp(file, "-") == 0 ? "standard input" : file);
	if (line)
		fprintf(stderr, ":%u", line);
	fprintf(stderr, ": %.*s%s%s\n", STR_ARG(object), object.len ? ": " : "", why);
}

/* A line that says how far it is, on a terminal, from the first second on. */
static void import_progress(void *arg, const struct import_counts *counts)
{
	struct import_ui *ui = arg;
	double total = seconds_since(&ui->start);

	if (!ui->terminal || total < 1 || seconds_since(&ui->last) < 0.1)
		return;
	clock_gettime(CLOCK_MONOTONIC, &ui->last);
	fprintf(stderr, "\r\033[K%ju objects stored, %ju failed, %ju files, %.0f objects/s", (uintmax_t)counts->stored,
		(uintmax_t)counts->failed, (uintmax_t)counts->files, (double)counts->stored / total);
	fflush(stderr);
	ui->shown = true;
}

static int run_import(const struct options *o, const struct kinds *kinds, struct import_sink *sink)
{
	struct import_ui ui = {.terminal = isatty(STDERR_FILENO) && !o->quiet};
	struct import_counts counts;
	struct import_options options = {
		.kinds = kinds,
		.sink = sink,
		.report = import_report,
		.progress = import_progress,
		.arg = &ui,
	};

	clock_gettime(CLOCK_MONOTONIC, &ui.start);
	ui.last = ui.start;
	int err = import_paths(&options, o->paths, o->npaths, &counts);
	clear_line(&ui);
	if (!o->quiet)
		fprintf(stderr, "%ju objects stored, %ju failed\n", (uintmax_t)counts.stored, (uintmax_t)counts.failed);
	return err || counts.failed ? EXIT_FAILED : EXIT_OK;
}

/* A new store gets what `serve` would have put there, so that imports into `default` work. */
static int import_locally(const struct options *o, struct store *s)
{
	struct import_sink *sink;
	struct status st;

	status_clear(&st);
	if (store_bootstrap(s, 6443, &st) < 0)
		return fail(NULL, &st);
	sink = import_sink_store(s);
	if (!sink) {
		status_no_memory(&st);
		return fail(NULL, &st);
	}
	int code = run_import(o, store_kinds(s), sink);
	import_sink_store_free(sink);
	return code;
}

static int import_through_server(const struct options *o)
{
	struct import_sink *sink = import_sink_server(o->data);
	struct status st;

	if (!sink) {
		status_no_memory(&st);
		return fail(NULL, &st);
	}
	int code = run_import(o, kinds_builtin(), sink);
	import_sink_server_free(sink);
	return code;
}

static int command_import(const struct options *o)
{
	struct store_options options = {.dir = o->data, .max_size = o->max_size};
	struct store *s;
	struct status st;

	status_clear(&st);
	int err = store_open(&options, &s, &st);
	if (err == -EBUSY)
		return import_through_server(o);
	if (err)
		return fail(NULL, &st);
	int code = import_locally(o, s);
	store_close(s);
	return code;
}

static int open_for_reading(const struct options *o, struct store **ret, struct read **ret_read)
{
	struct store_options options = {.dir = o->data, .read_only = true};
	struct status st;

	status_clear(&st);
	if (store_open(&options, ret, &st) < 0)
		return fail(NULL, &st);
	if (ret_read && read_begin(*ret, ret_read, &st) < 0) {
		store_close(*ret);
		return fail(NULL, &st);
	}
	return EXIT_OK;
}

static int command_export(const struct options *o)
{
	struct store *s;
	struct read *r;
	struct status st;
	uint64_t count = 0;

	if (o->npaths > 1) {
		fprintf(stderr, "holdfs: export takes one path\n");
		return EXIT_USAGE;
	}
	int code = open_for_reading(o, &s, &r);
	if (code)
		return code;
	status_clear(&st);
	int err = o->npaths ? export_tree(s, r, o->paths[0], &count, &st) : export_list(s, r, STDOUT_FILENO, &count, &st);
	read_end(r);
	store_close(s);
	if (err)
		return fail(NULL, &st);
	if (!o->quiet)
		fprintf(stderr, "%ju objects written\n", (uintmax_t)count);
	return EXIT_OK;
}

static void check_report(void *arg, const char *line)
{
	(void)arg;
	printf("%s\n", line);
}

/* A database file that was cut short is mapped all the same; touching what is missing raises SIGBUS. LMDB has no way to tell:
 * pages at the end that were never used are never written. */
static void on_bus_error(int number)
{
	static const char text[] = "the store is damaged: its file is cut short\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	_exit(EXIT_FAILED);
}

static int command_check(const struct options *o)
{
	signal(SIGBUS, on_bus_error);
	struct store *s;
	struct status st;
	int code = open_for_reading(o, &s, NULL);

	if (code)
		return code;
	status_clear(&st);
	int faults = store_check(s, check_report, NULL, &st);
	struct store_info info;
	store_info(s, &info);
	store_close(s);
	if (faults < 0)
		return fail(NULL, &st);
	fprintf(stderr, "%ju objects, revision %ju: %d faults\n", (uintmax_t)info.objects, (uintmax_t)info.revision, faults);
	return faults ? EXIT_FAILED : EXIT_OK;
}

static int command_version(const struct options *o)
{
	(void)o;
	printf("holdfs " HOLDFS_VERSION " (Kubernetes v1.36)\n");
	return EXIT_OK;
}

static const struct {
	const char *name;
	int (*run)(const struct options *o);
} commands[] = {
	{"serve", command_serve}, {"import", command_import}, {"export", command_export},
	{"check", command_check}, {"version", command_version},
};

int main(int argc, char **argv)
{
	struct options o;
	int code = options_parse(argc, argv, &o);

	if (code)
		return code + 1000;
	code = EXIT_USAGE;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(commands[i].name, o.command) == 0)
			code = commands[i].run(&o);
	options_done(&o);
	return code;
}
