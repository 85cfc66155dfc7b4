# SPDX-License-Identifier: Apache-2.0
# A write on one side is seen on the other, at once.

load ../lib/holdfs

setup_file() {
	start_server
}

teardown_file() {
	stop_server
}

setup() {
	N=m$BATS_TEST_NUMBER
	namespace "$N"
	DIR=$MNT/namespaces/$N/configmaps
	C=/api/v1/namespaces/$N/configmaps
	SEEN=$BATS_TEST_TMPDIR/seen
}

teardown() {
	watch_stop
}

pod() {
	printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  labels:\n    color: blue\nspec:\n  containers:\n  - name: c\n    image: i:1\n' "$1"
}

text() {
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  k: %s\n' "$1" "$2"
}

# sees REGEX [COUNT]: the watching kubectl has printed this, so many times.
sees() {
	wait_until 10 seen "$1" "${2:-1}" || {
		echo "not seen: $1; seen:" >&2
		cat "$SEEN" >&2
		return 1
	}
}

seen() {
	[ "$(grep -Ec -- "$1" "$SEEN")" -ge "$2" ]
}

@test "kubectl get pods -w: shows cp, sed -i and rm in the mount" {
	pod first >"$BATS_TEST_TMPDIR/first.yaml"
	cp "$BATS_TEST_TMPDIR/first.yaml" "$MNT/namespaces/$N/pods/first.yaml"
	K_TIMEOUT=60 k get pods -n "$N" -w -L color --output-watch-events >"$SEEN" 2>&1 3>&- &
	WATCH_PID=$!
	sees '^ADDED +first .* blue'
	cp "$BATS_TEST_TMPDIR/first.yaml" "$MNT/namespaces/$N/pods/second.yaml"
	sees '^ADDED +second .* blue'
	sed -i 's/color: blue/color: green/' "$MNT/namespaces/$N/pods/second.yaml"
	sees '^MODIFIED +second .* green'
	equal "$(grep -c DELETED "$SEEN" || true)" 0
	rm "$MNT/namespaces/$N/pods/second.yaml"
	sees '^DELETED +second'
	mv "$MNT/namespaces/$N/pods/first.yaml" "$MNT/namespaces/$N/pods/third.yaml"
	sees '^ADDED +third'
	sees '^DELETED +first'
}

@test "grep -r in the mount: finds what kubectl wrote a moment ago" {
	local n
	for n in 1 2 3 4 5; do
		k create configmap "c$n" -n "$N" --from-literal=k="needle-$n" >/dev/null
		equal "$(grep -rl "needle-$n" "$MNT/namespaces/$N")" "$DIR/c$n.yaml"
	done
	k patch configmap c3 -n "$N" --type=merge -p '{"data":{"k":"thread"}}'
	equal "$(grep -rl needle "$MNT/namespaces/$N" | sort | tr '\n' ' ')" "$DIR/c1.yaml $DIR/c2.yaml $DIR/c4.yaml $DIR/c5.yaml "
	k delete configmap c1 -n "$N"
	equal "$(grep -rl needle-1 "$MNT/namespaces/$N")" ""
}

@test "API write after the file was read: the next read has the new text, size and time" {
	configmap "$N" x k one
	contains "$(cat "$DIR/x.yaml")" "k: one"
	local size
	size=$(stat -c %s "$DIR/x.yaml")
	equal "$size" "$(wc -c <"$DIR/x.yaml")"
	local n
	for n in $(seq 20); do
		send PATCH "$C/x" "{\"data\":{\"k\":\"value-$n\"}}" -H 'Content-Type: application/merge-patch+json'
		wait_until 2 grep -q "k: value-$n" "$DIR/x.yaml"
		equal "$(stat -c %s "$DIR/x.yaml")" "$(wc -c <"$DIR/x.yaml")"
	done
}

@test "API create and delete: the directory lists it, then not" {
	equal "$(ls "$DIR" | grep -v kube-root || true)" ""
	[ ! -e "$DIR/x.yaml" ]
	configmap "$N" x
	wait_until 2 test -e "$DIR/x.yaml"
	equal "$(ls "$DIR" | grep -v kube-root)" x.yaml
	http DELETE "$C/x"
	wait_until 2 test ! -e "$DIR/x.yaml"
	equal "$(ls "$DIR" | grep -v kube-root || true)" ""
}

@test "file saved: the API has it when close returns" {
	text x one >"$DIR/x.yaml"
	http GET "$C/x"
	equal "$(json .data.k)" one
	printf 'binaryData:\n  l: AAAA\n' >>"$DIR/x.yaml"
	http GET "$C/x"
	equal "$(json -c '[.data, .binaryData]')" '[{"k":"one"},{"l":"AAAA"}]'
	rm "$DIR/x.yaml"
	gone "$C/x"
}

@test "file copied: the name is the path's, uid and revision are its own" {
	configmap "$N" x k one
	local uid
	uid=$(json .metadata.uid)
	cp "$DIR/x.yaml" "$DIR/y.yaml"
	http GET "$C/y"
	equal "$(json '.metadata.name + " " + .data.k')" "y one"
	[ "$(json .metadata.uid)" != "$uid" ]
	namespace "$N-b"
	cp "$DIR/x.yaml" "$MNT/namespaces/$N-b/configmaps/"
	http GET "/api/v1/namespaces/$N-b/configmaps/x"
	equal "$(json .metadata.namespace)" "$N-b"
}

@test "mkdir and rmdir under namespaces: create and delete a Namespace" {
	mkdir "$MNT/namespaces/$N-made"
	http GET "/api/v1/namespaces/$N-made"
	equal "$(json .status.phase)" Active
	rmdir "$MNT/namespaces/$N-made"
	wait_until 20 gone "/api/v1/namespaces/$N-made"
	wait_until 10 test ! -e "$MNT/namespaces/$N-made"
	k create namespace "$N-told"
	[ -d "$MNT/namespaces/$N-told" ]
}

@test "broken save: the tool gets an error, the object stays, the text and reason are kept" {
	configmap "$N" x k one
	text x two >"$BATS_TEST_TMPDIR/x"
	sed -i 's/^data:/dat a: [/' "$BATS_TEST_TMPDIR/x"
	run cp "$BATS_TEST_TMPDIR/x" "$DIR/x.yaml"
	[ "$status" -ne 0 ]
	http GET "$C/x"
	equal "$(json .data.k)" one
	contains "$(cat "$DIR/x.yaml")" "k: one"
	contains "$(cat "$DIR/x.yaml.rej")" "k: two"
	contains "$(cat "$MNT/.errors")" x.yaml
}

@test "stale text: a conflict, the other's change stays" {
	configmap "$N" x k one
	cat "$DIR/x.yaml" >"$BATS_TEST_TMPDIR/x"
	send PATCH "$C/x" '{"data":{"k":"two"}}' -H 'Content-Type: application/merge-patch+json'
	sed -i 's/k: one/k: three/' "$BATS_TEST_TMPDIR/x"
	run cp "$BATS_TEST_TMPDIR/x" "$DIR/x.yaml"
	[ "$status" -ne 0 ]
	http GET "$C/x"
	equal "$(json .data.k)" two
}

@test "vim: one update, same uid" {
	configmap "$N" x k one
	local uid
	uid=$(json .metadata.uid)
	watch_start "$C?watch=true&resourceVersion=$(json .metadata.resourceVersion)" "$SEEN"
	vim -es -N -u NONE -c 'set backup writebackup swapfile' -c '%s/k: one/k: two/' -c wq "$DIR/x.yaml" </dev/null
	sees MODIFIED
	http GET "$C/x"
	equal "$(json '.metadata.uid + " " + .data.k')" "$uid two"
	equal "$(jq -r .type "$SEEN")" MODIFIED
	equal "$(ls "$DIR" | grep -v kube-root)" x.yaml
}

@test "kubectl apply -f on the mount's own files: nothing to do; apply of a changed copy" {
	configmap "$N" x k one
	k replace -f "$DIR/x.yaml"
	cp "$DIR/x.yaml" "$BATS_TEST_TMPDIR/x.yaml"
	sed -i 's/k: one/k: two/' "$BATS_TEST_TMPDIR/x.yaml"
	k replace -f "$BATS_TEST_TMPDIR/x.yaml"
	contains "$(cat "$DIR/x.yaml")" "k: two"
}

@test "many writers on both sides: both sides agree in the end" {
	local n
	for n in $(seq 4); do
		(for m in $(seq 15); do text "f$n-$m" file >"$DIR/f$n-$m.yaml"; done) 3>&- &
		(for m in $(seq 15); do configmap "$N" "a$n-$m" k api; done) 3>&- &
	done
	wait
	http GET "$C"
	equal "$(json '[.items[].metadata.name | select(. != "kube-root-ca.crt")] | length')" 120
	equal "$(ls "$DIR" | grep -vc kube-root)" 120
	equal "$(ls "$DIR" | sed 's/.yaml$//' | sort)" "$(json '.items[].metadata.name' | sort)"
	equal "$(cat "$DIR"/f*.yaml | grep -c 'k: file')" 60
	equal "$(cat "$DIR"/a*.yaml | grep -c 'k: api')" 60
}

@test "tar, diff, du of the mount: whole files, true sizes" {
	k apply -f "$DATA_DIR/shop.yaml" >/dev/null
	tar -C "$MNT/namespaces/shop" -cf "$BATS_TEST_TMPDIR/shop.tar" .
	tar -tf "$BATS_TEST_TMPDIR/shop.tar" | grep -q '^./deployments.apps/web.yaml$'
	mkdir "$BATS_TEST_TMPDIR/out"
	tar -C "$BATS_TEST_TMPDIR/out" -xf "$BATS_TEST_TMPDIR/shop.tar"
	diff -r "$MNT/namespaces/shop" "$BATS_TEST_TMPDIR/out"
	equal "$(du -s --apparent-size "$MNT/namespaces/shop" | awk '{print ($1 > 0)}')" 1
}
