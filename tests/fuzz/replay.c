/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without libFuzzer: over a corpus, and over mutations of it that are the same each time. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 1 << 20, MUTATIONS = 2000 };

/* xorshift64: a fixed seed, so that a failure comes again. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The target gets a copy of exact size, so that the sanitizer sees each byte read beyond it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* Changes, removes, repeats or swaps in a few bytes. Gives the new size. */
static size_t mutate(uint8_t *data, size_t size, uint64_t *state)
{
	static const char special[] = "{}[]\",:\\&*!|>-#%@=()\n\t\0\xff\x80 09eE";
	size_t at = size ? next_random(state) % size : 0;

	switch (next_random(state) % 5) {
	case 0: /* a bit */
		if (size)
			data[at] ^= (uint8_t)(1u << (next_random(state) % 8));
		return size;
	case 1: /* a byte that grammars care about */
		if (size)
			data[at] = (uint8_t)special[next_random(state) % (sizeof(special) - 1)];
		return size;
	case 2: /* cut */
		return at;
	case 3: { /* take something out */
		size_t n = size - at < 8 ? size - at : next_random(state) % 8;

		memmove(data + at, data + at + n, size - at - n);
		return size - n;
	}
	default: { /* say something twice */
		size_t n = size - at < 64 ? size - at : next_random(state) % 64;

		if (size + n > INPUT_MAX)
			return size;
		memmove(data + at + n, data + at, size - at);
		return size + n;
	}
	}
}

static void run_mutations(uint8_t *work, const uint8_t *data, size_t size)
{
	uint64_t state = 0x9e3779b97f4a7c15u ^ size;

	for (int i = 0; i < MUTATIONS; i++) {
		size_t n = size;

		memcpy(work, data, size);
		for (uint64_t rounds = 1 + next_random(&state) % 4; rounds; rounds--)
			n = mutate(work, n, &state);
		run(work, n);
	}
}

static size_t read_input(const char *dir, const char *name, uint8_t *data)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	if (!f)
		return 0;
	size_t size = fread(data, 1, INPUT_MAX, f);
	fclose(f);
	return size;
}

static int run_corpus(const char *path, int number)
{
	uint8_t *data = malloc(INPUT_MAX), *work = malloc(INPUT_MAX);
	DIR *dir = opendir(path);
	unsigned inputs = 0;

	for (struct dirent *entry; data && work && dir && (entry = readdir(dir)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		size_t size = read_input(path, entry->d_name, data);
		run(data, size);
		run_mutations(work, data, size);
		inputs++;
	}
	if (dir)
		closedir(dir);
	free(data);
	free(work);
	printf("%sok %d - %u inputs of %s and %d mutations of each\n", inputs ? "" : "not ", number, inputs, path,
	       MUTATIONS);
	return inputs == 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++)
		failed |= run_corpus(argv[i], i);
	return failed;
}
