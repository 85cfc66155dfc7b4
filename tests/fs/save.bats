# SPDX-License-Identifier: Apache-2.0
# A save is a commit: by every tool, for a good text, a refused one and a conflicting one.

load ../lib/holdfs

setup_file() {
	start_server
}

teardown_file() {
	stop_server
}

setup() {
	N=s$BATS_TEST_NUMBER
	namespace "$N"
	configmap "$N" c
	DIR=$MNT/namespaces/$N/configmaps
	F=$DIR/c.yaml
	C=/api/v1/namespaces/$N/configmaps
	http GET "$C/c"
	UID0=$(json .metadata.uid)
	VERSION0=$(json .metadata.resourceVersion)
}

text() {
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: %s\n' "$1"
}

# holds VALUE: the object has it, is still the same object, and the file shows it.
holds() {
	http GET "$C/c"
	done_with 200
	equal "$(json .data.k)" "$1"
	equal "$(json .metadata.uid)" "$UID0"
	contains "$(cat "$F")" "k: $1"
	equal "$(stat -c %s "$F")" "$(cat "$F" | wc -c)"
}

# untouched: the last good object is there, in the version of the start.
untouched() {
	http GET "$C/c"
	equal "$(json .metadata.resourceVersion)" "$VERSION0"
	contains "$(cat "$F")" "k: v"
}

# kept TEXT: what was refused is beside the object, with the reason on top, and in .errors.
kept() {
	matches "$(head -n 1 "$F.rej")" '^# error: '
	contains "$(cat "$F.rej")" "$1"
	contains "$(cat "$MNT/.errors")" "namespaces/$N/configmaps/c.yaml"
}

@test "redirect: the object is updated" {
	text new >"$F"
	holds new
}

@test "redirect with a here document through cat: updated once" {
	cat >"$F" <<-E
		data:
		  k: here
	E
	holds here
}

@test "redirect of several commands: one commit, of the whole" {
	(
		echo "data:"
		cat <<<"  k: both"
		echo "  l: x"
	) >"$F"
	holds both
	equal "$(json .data.l)" x
}

@test "append: the text is added" {
	printf '\n' >>"$F"
	printf 'binaryData:\n  b: AAAA\n' >>"$F"
	http GET "$C/c"
	equal "$(json .binaryData.b)" AAAA
}

@test "sed -i: updated, nothing is left behind" {
	sed -i 's/k: v/k: sed/' "$F"
	holds sed
	equal "$(ls "$DIR" | grep -vc -e '^c.yaml$' -e kube-root)" 0
}

@test "perl -pi: updated" {
	perl -pi -e 's/k: v/k: perl/' "$F"
	holds perl
}

@test "tee, dd, python: updated" {
	text tee | tee "$F" >/dev/null
	holds tee
	text dd | dd of="$F" status=none
	holds dd
	python3 -c 'import sys; open(sys.argv[1], "w").write(sys.argv[2])' "$F" "$(text py)"
	holds py
}

@test "cp over it, mv over it, install over it: the same object" {
	text cp >"$BATS_TEST_TMPDIR/n"
	cp "$BATS_TEST_TMPDIR/n" "$F"
	holds cp
	text mv >"$BATS_TEST_TMPDIR/n"
	mv "$BATS_TEST_TMPDIR/n" "$F"
	holds mv
	text install >"$BATS_TEST_TMPDIR/n"
	install -m 644 "$BATS_TEST_TMPDIR/n" "$F"
	holds install
}

@test "rsync and rsync --inplace: updated" {
	text rsync >"$BATS_TEST_TMPDIR/c.yaml"
	rsync "$BATS_TEST_TMPDIR/c.yaml" "$DIR/"
	holds rsync
	text inplace >"$BATS_TEST_TMPDIR/c.yaml"
	rsync --inplace "$BATS_TEST_TMPDIR/c.yaml" "$DIR/"
	holds inplace
}

@test "vim, in its default and both backupcopy modes: updated, no file is left" {
	local mode
	for mode in auto yes no; do
		vim -es -u NONE -i NONE -c "set backupcopy=$mode" -c '%s/k: .*/k: vim'$mode'/' -c wq "$F" </dev/null
		holds "vim$mode"
	done
	equal "$(ls -A "$DIR" | grep -vc -e '^c.yaml$' -e kube-root)" 0
}

@test "kubectl sees no write for the same text: no new version" {
	http GET "$C/c"
	cat "$F" >"$BATS_TEST_TMPDIR/same"
	cat "$BATS_TEST_TMPDIR/same" >"$F"
	untouched
}

@test "open for writing and close, truncate by open alone: nothing happens" {
	exec {fd}>>"$F"
	exec {fd}>&-
	: >"$F"
	untouched
}

@test "create by redirect: a new object, name and namespace from the path" {
	printf 'metadata:\n  name: other\n  namespace: elsewhere\ndata:\n  a: b\n' >"$DIR/made.yaml"
	http GET "$C/made"
	done_with 200
	equal "$(json .metadata.namespace)" "$N"
}

@test "cp of an object to another name and namespace: a clone with an identity of its own" {
	cp "$F" "$DIR/clone.yaml"
	http GET "$C/clone"
	done_with 200
	[ "$(json .metadata.uid)" != "$UID0" ]
	namespace "$N-b"
	cp "$F" "$MNT/namespaces/$N-b/configmaps/"
	http GET "/api/v1/namespaces/$N-b/configmaps/c"
	done_with 200
	equal "$(json .data.k)" v
}

@test "mv of an object: renamed" {
	mv "$F" "$DIR/moved.yaml"
	gone "$C/c"
	http GET "$C/moved"
	done_with 200
	contains "$(cat "$DIR/moved.yaml")" "name: moved"
	[ ! -e "$F" ]
}

@test "rm: deleted" {
	rm "$F"
	gone "$C/c"
	[ ! -e "$F" ]
}

@test "mv of an object to a backup name: the object stays" {
	mv "$F" "$F.bak"
	http GET "$C/c"
	done_with 200
	contains "$(cat "$F.bak")" "k: v"
	rm "$F.bak"
}

@test "scratch files: listed, read back, never objects" {
	echo hello >"$DIR/.notes.swp"
	equal "$(cat "$DIR/.notes.swp")" hello
	contains "$(ls -A "$DIR")" .notes.swp
	http GET "$C"
	equal "$(json '[.items[].metadata.name] | join(" ")')" "c kube-root-ca.crt"
	rm "$DIR/.notes.swp"
	[ ! -e "$DIR/.notes.swp" ]
}

@test "refused by close: the tool hears it, the text is kept, the object stays" {
	run bash -c "printf 'data: nope\n' | cat >'$F'"
	[ "$status" -ne 0 ]
	untouched
	kept "data: nope"
}

@test "refused where the shell hides it: kept all the same" {
	echo "data: [1]" >"$F"
	untouched
	kept "data: [1]"
}

@test "refused by rename: the tool hears it, in words that fit" {
	run sed -i 's/k: v/k: [1/' "$F"
	[ "$status" -ne 0 ]
	contains "$output" "Bad message"
	untouched
	kept "k: [1"
}

@test "refused and fixed: mv of the kept text commits it" {
	echo "data: {k: 5}" >"$F"
	kept "data: {k: 5}"
	sed -i 's/5/"five"/' "$F.rej"
	mv "$F.rej" "$F"
	holds five
	[ ! -e "$F.rej" ]
}

@test "refused new object: nothing is left at its name" {
	echo "data: nope" >"$DIR/new.yaml"
	[ ! -e "$DIR/new.yaml" ]
	gone "$C/new"
	contains "$(cat "$DIR/new.yaml.rej")" "data: nope"
}

@test "mv over it from another file system, refused: the last good object stays" {
	echo "data: nope" >"$BATS_TEST_TMPDIR/n"
	run mv "$BATS_TEST_TMPDIR/n" "$F"
	[ "$status" -ne 0 ]
	untouched
	kept "data: nope"
}

@test "unknown field: refused with its name" {
	text x | sed 's/data/dota/' >"$BATS_TEST_TMPDIR/n"
	run cp "$BATS_TEST_TMPDIR/n" "$F"
	[ "$status" -ne 0 ]
	untouched
	contains "$(cat "$F.rej")" 'unknown field "dota"'
}

@test "changed since it was opened: a conflict, nothing is lost" {
	exec {fd}>"$F"
	send PATCH "$C/c" '{"data":{"k":"theirs"}}' -H 'Content-Type: application/merge-patch+json'
	done_with 200
	text mine >&"$fd"
	exec {fd}>&- || true
	http GET "$C/c"
	equal "$(json .data.k)" theirs
	contains "$(cat "$F.rej")" "k: mine"
	contains "$(cat "$F.rej")" "has been modified"
}

@test "a stale resourceVersion in the text: a conflict" {
	cat "$F" >"$BATS_TEST_TMPDIR/old"
	send PATCH "$C/c" '{"data":{"k":"newer"}}' -H 'Content-Type: application/merge-patch+json'
	done_with 200
	wait_until 2 grep -q newer "$F"
	run cp "$BATS_TEST_TMPDIR/old" "$F"
	[ "$status" -ne 0 ]
	contains "$output" busy
	http GET "$C/c"
	equal "$(json .data.k)" newer
}

@test "a text over 3 MiB: EFBIG" {
	run bash -c "head -c 3200000 /dev/zero | tr '\\0' x | cat >'$F'"
	[ "$status" -ne 0 ]
	untouched
}

@test "YAML bombs and binary: refused, the object stays" {
	{
		echo 'a0: &a0 [x,x,x,x,x,x,x,x,x]'
		for i in {1..9}; do
			echo "a$i: &a$i [*a$((i - 1)),*a$((i - 1)),*a$((i - 1)),*a$((i - 1)),*a$((i - 1)),*a$((i - 1)),*a$((i - 1)),*a$((i - 1)),*a$((i - 1))]"
		done
	} >"$F"
	untouched
	run bash -c "head -c 1000 /bin/ls >'$F'"
	[ "$status" -ne 0 ]
	untouched
}

@test "JSON text in a .yaml and in a .json file: stored" {
	echo '{"data":{"k":"json"}}' >"$F"
	holds json
	jq '.data.k = "two"' "$DIR/c.json" >"$BATS_TEST_TMPDIR/j"
	cp "$BATS_TEST_TMPDIR/j" "$DIR/c.json"
	holds two
}

@test "git in a work tree on the mount: checkout and stash update the same object" {
	cd "$DIR"
	export GIT_DIR=$BATS_TEST_TMPDIR/git GIT_WORK_TREE=$DIR
	git init -q
	git -c user.name=t -c user.email=t@t add c.yaml
	git -c user.name=t -c user.email=t@t commit -qm one
	sed -i 's/k: v/k: w/' c.yaml
	# The committed text carries an old resourceVersion: git's checkout is a conflict, unless it is left out.
	sed -i '/resourceVersion/d' c.yaml
	holds w
	equal "$(git status --porcelain c.yaml)" " M c.yaml"
}

@test "read-only server: EROFS, and a 403 over HTTP" {
	SERVER_DIR_OLD=$SERVER_DIR
	(
		start_server --read-only
		run mkdir "$MNT/namespaces/x"
		[ "$status" -ne 0 ]
		contains "$output" "Read-only"
		run bash -c "echo x >'$MNT/namespaces/default/configmaps/x.yaml'"
		[ "$status" -ne 0 ]
		send POST /api/v1/namespaces '{"metadata":{"name":"x"}}'
		[ "$code" = 403 ]
		stop_server
	)
}
