# SPDX-License-Identifier: Apache-2.0
# The rules of the house that a machine can check.

load ../lib/holdfs

setup() {
	cd "$ROOT"
}

# sources [DIR...]: C files and headers of the product.
sources() {
	find "${@:-.}" \( -path ./tests -o -path ./bench -o -path './build*' -o -path ./.git \) -prune -o \
		\( -name '*.c' -o -name '*.h' \) -print | sed 's|^\./||' | sort
}

# home HEADER-REGEX FILE-REGEX: only files of that name include such a header.
home() {
	local strays
	strays=$(grep -lE "^#include [<\"]$1" $(sources) | grep -vE "^($2)$" || true)
	equal "$strays" ""
}

@test "outside libraries: each at home in one place" {
	home 'lmdb\.h' 'store/db/.*'
	home 'microhttpd\.h' 'api/http[a-z_]*\.[ch]'
	home 'fuse' 'fs/.*'
	home 'gnutls/' 'api/tls\.c'
	home 'yaml\.h>' 'store/codec/yaml[a-z_]*\.[ch]'
	home 'json-c' 'nowhere'
	home 'curl/' 'store/upstream/.*'
}

@test "api and fs: never include each other; only store.h and what it gives" {
	equal "$(grep -lE '^#include "fs/' $(sources api) || true)" ""
	equal "$(grep -lE '^#include "api/' $(sources fs) || true)" ""
}

@test "store: nothing points back up" {
	equal "$(grep -lE '^#include "(api|fs)/' $(sources store) || true)" ""
	equal "$(grep -lE '^#include "store/(codec|kind|change|db|control|dump|upstream)/|store/store.h' $(sources store/base) || true)" ""
	equal "$(grep -lE '^#include "store/(kind|change|db|control|dump|upstream)/|store/store.h' $(sources store/codec) || true)" ""
	equal "$(grep -lE '^#include "store/(db|control|dump|upstream)/|store/store.h' $(sources store/kind) || true)" ""
}

@test "files: at most 800 lines" {
	equal "$(wc -l $(sources) $(find tests bench contrib -name '*.[ch]' -o -name '*.bash' -o -name '*.bats' -o -name '*.py') |
		awk '$2 != "total" && $1 > 800')" ""
}

@test "C files: licence in the first line, what the file is in the second" {
	local file wrong=""
	for file in $(sources) $(find tests bench -name '*.[ch]'); do
		[ "$(sed -n 1p "$file")" = "/* SPDX-License-Identifier: Apache-2.0 */" ] || wrong+="$file: licence"$'\n'
		[[ $(sed -n 2p "$file") == "/* "* ]] || wrong+="$file: what it is"$'\n'
	done
	equal "$wrong" ""
}

@test "scripts: licence, syntax" {
	local file wrong=""
	for file in contrib/check contrib/quickstart contrib/get-clients contrib/install-packages .ci/run \
		$(find tests contrib store -name '*.bash' -o -name '*.bats' -o -name '*.py' -o -name '*.awk'); do
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || wrong+="$file: licence"$'\n'
		case $file in
		*.bats | *.py | *.awk) ;;
		*) bash -n "$file" || wrong+="$file: syntax"$'\n' ;;
		esac
	done
	equal "$wrong" ""
}

@test "headers: each has a guard and compiles alone" {
	local file flags wrong=""
	flags=$(pkg-config --cflags fuse3 libmicrohttpd lmdb gnutls yaml-0.1)
	for file in $(sources | grep '\.h$'); do
		grep -q '^#ifndef HOLDFS_' "$file" || wrong+="$file: guard"$'\n'
		gcc -std=gnu17 -D_GNU_SOURCE -I. $flags -fsyntax-only -Wall -x c "$file" -include stddef.h 2>"$BATS_TEST_TMPDIR/error" ||
			wrong+="$file: $(head -n 2 "$BATS_TEST_TMPDIR/error")"$'\n'
	done
	equal "$wrong" ""
}

@test "exit, abort, signal handlers: main.c and serve.c only" {
	equal "$(grep -nE '(^|[^_a-z])(exit|abort|quick_exit)\(' $(sources api fs store) | grep -v '_exit(' || true)" ""
}

@test "unsafe functions, left-overs: none" {
	equal "$(grep -nwE 'strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|system|popen|mktemp|tmpnam' $(sources) | grep -E '\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca|system|popen|mktemp|tmpnam)\(' || true)" ""
	equal "$(grep -nE '\b(TODO|FIXME|XXX|HACK)\b' $(sources) $(find tests bench contrib -type f -name '*.[ch]' -o -name '*.bash') || true)" ""
}

@test "tests: every unit test and fuzz program is built" {
	local file wrong=""
	for file in tests/unit/test_*.c tests/fuzz/fuzz_*.c; do
		grep -q "'$(basename "$file" .c | sed 's/^test_//; s/^fuzz_//')'" tests/meson.build || wrong+="$file"$'\n'
	done
	equal "$wrong" ""
}

@test "tests: no fixed sleeps" {
	equal "$(grep -nE '^[[:space:]]*sleep [0-9]+$' $(find tests -name '*.bats' -o -name '*.bash') || true)" ""
}

@test "man pages: every option of --help, and no other" {
	local command page wanted got
	for command in serve import export check; do
		page=man/holdfs-$command.1
		wanted=$("$HOLDFS" "$command" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort)
		got=$(sed -n '/^\.TP/{n;s/^\.B[IR]* *"\{0,1\}\(\\-\\-[^ "]*\).*/\1/p}' "$page" | sed 's/\\-/-/g' | sort)
		equal "$got" "$wanted"
	done
}

@test "man pages: render without warnings" {
	local page
	for page in man/*.1; do
		equal "$(nroff -man -ww -Tutf8 "$page" 2>&1 >/dev/null)" ""
	done
}
