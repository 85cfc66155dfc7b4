# SPDX-License-Identifier: Apache-2.0
# `holdfs import` and `holdfs export`, with and without a running server.

load ../lib/holdfs

setup() {
	new_place
	IN=$BATS_TEST_TMPDIR/in
	mkdir -p "$IN"
	RUNNING=
}

teardown() {
	if [ -n "$RUNNING" ]; then
		stop_server
	elif [ -d "$DATA" ]; then
		check_store
	fi
}

up() {
	serve
	RUNNING=1
}

import() {
	"$HOLDFS" import --data "$DATA" "$@"
}

# names PATH: what the API lists there, without what each namespace gets.
names() {
	http GET "$1"
	json '[.items[].metadata.name | select(. != "kube-root-ca.crt")] | join(" ")'
}

cm() {
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n%sdata:\n  k: v\n' "$1" "${2:+  namespace: $2$'\n'}"
}

@test "import YAML of many documents: all stored, default namespace where none is named" {
	{ cm a; echo ---; cm b kube-system; echo '---'; echo '# nothing'; echo '---'; cm c; } >"$IN/many.yaml"
	run --separate-stderr import "$IN/many.yaml"
	equal "$status" 0
	up
	equal "$(names /api/v1/namespaces/default/configmaps)" "a c"
	equal "$(names /api/v1/namespaces/kube-system/configmaps)" "b"
}

@test "import JSON, v1 List, lists of a kind: all items" {
	echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}}' >"$IN/one.json"
	echo '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"two"}},{"apiVersion":"v1","kind":"Secret","metadata":{"name":"three"}}]}' >"$IN/list.json"
	echo '{"apiVersion":"v1","kind":"ConfigMapList","items":[{"metadata":{"name":"four"}}]}' >"$IN/kindlist.json"
	import "$IN/one.json" "$IN/list.json" "$IN/kindlist.json"
	up
	equal "$(names /api/v1/namespaces/default/configmaps)" "four one two"
	equal "$(names /api/v1/namespaces/default/secrets)" "three"
}

@test "import directory: files below it, whatever their order of namespaces" {
	mkdir -p "$IN/d/e"
	cm a late >"$IN/d/a.yaml"
	cm b >"$IN/d/e/b.yml"
	echo '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"late"}}' >"$IN/d/z.json"
	echo 'not an object' >"$IN/d/README.md"
	import "$IN/d"
	up
	equal "$(names /api/v1/namespaces/late/configmaps)" a
	equal "$(names /api/v1/namespaces/default/configmaps)" b
}

@test "import standard input" {
	cm a | import -
	up
	equal "$(names /api/v1/namespaces/default/configmaps)" a
}

@test "import while a server runs: through it, watchers see it" {
	up
	http GET /api/v1/namespaces/default/configmaps
	watch_start "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=$(json .metadata.resourceVersion)" "$BATS_TEST_TMPDIR/events"
	{ cm a; echo ---; cm b; } | import -
	wait_until 10 has_lines "$BATS_TEST_TMPDIR/events" 2
	watch_stop
	equal "$(names /api/v1/namespaces/default/configmaps)" "a b"
	contains "$(cat "$MNT/namespaces/default/configmaps/a.yaml")" "k: v"
}

@test "import again: updated, not doubled; the same again changes nothing" {
	cm a >"$IN/a.yaml"
	import "$IN/a.yaml"
	up
	http GET /api/v1/namespaces/default/configmaps/a
	local version
	version=$(json .metadata.resourceVersion)
	import "$IN/a.yaml"
	http GET /api/v1/namespaces/default/configmaps/a
	equal "$(json .metadata.resourceVersion)" "$version"
	sed -i 's/k: v/k: w/' "$IN/a.yaml"
	import "$IN/a.yaml"
	http GET /api/v1/namespaces/default/configmaps/a
	equal "$(json .data.k)" w
}

# broken_input: a directory with one good object among bad ones.
broken_input() {
	cm good >"$IN/a.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n' >"$IN/name.yaml"
	printf 'apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g}\n' >"$IN/kind.yaml"
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: t}\ndata: [1]\n' >"$IN/type.yaml"
	printf 'a: b: c\n' >"$IN/syntax.yaml"
	printf '{"apiVersion":"v1",' >"$IN/cut.json"
	cm lost absent >"$IN/namespace.yaml"
	{ cm first; echo ---; printf 'kind: ConfigMap\n'; echo ---; cm last; } >"$IN/mixed.yaml"
}

reports_all() {
	local text=$1 file
	for file in name.yaml kind.yaml type.yaml syntax.yaml cut.json namespace.yaml mixed.yaml; do
		contains "$text" "$IN/$file"
	done
	contains "$text" Bad_Name
	contains "$text" Gadget
	contains "$text" 'namespaces "absent" not found'
	! [[ $text == *"$IN/a.yaml"* ]]
}

@test "import with bad files: reported by file and object, the rest stored, exit 1" {
	broken_input
	run import "$IN"
	equal "$status" 1
	reports_all "$output"
	up
	equal "$(names /api/v1/namespaces/default/configmaps)" "first good last"
}

@test "import with bad files through a server: the same" {
	broken_input
	up
	run import "$IN"
	equal "$status" 1
	reports_all "$output"
	equal "$(names /api/v1/namespaces/default/configmaps)" "first good last"
}

@test "import of an absent path: exit 1; of no path: exit 2" {
	run import "$IN/nowhere.yaml"
	equal "$status" 1
	contains "$output" nowhere.yaml
	run import
	equal "$status" 2
}

@test "import of the application, export as a tree: like the mount" {
	import "$DATA_DIR/shop.yaml"
	"$HOLDFS" export --data "$DATA" "$BATS_TEST_TMPDIR/out"
	[ -f "$BATS_TEST_TMPDIR/out/namespaces/shop/deployments.apps/web.yaml" ]
	[ -f "$BATS_TEST_TMPDIR/out/cluster/namespaces/shop.yaml" ]
	equal "$(stat -c %a "$BATS_TEST_TMPDIR/out/namespaces/shop/secrets/keys.yaml")" 600
	up
	diff -r "$MNT/namespaces/shop" "$BATS_TEST_TMPDIR/out/namespaces/shop" -x kube-root-ca.crt.yaml -x default.yaml -x serviceaccounts
}

@test "export while a server runs: a snapshot of it" {
	up
	configmap default x
	"$HOLDFS" export --data "$DATA" "$BATS_TEST_TMPDIR/out"
	contains "$(cat "$BATS_TEST_TMPDIR/out/namespaces/default/configmaps/x.yaml")" "k: v"
}

@test "export to stdout: a v1 List that can be imported elsewhere" {
	import "$DATA_DIR/shop.yaml"
	"$HOLDFS" export --data "$DATA" >"$BATS_TEST_TMPDIR/list.yaml"
	contains "$(head -n 5 "$BATS_TEST_TMPDIR/list.yaml")" "kind: List"
	check_store
	new_place
	import "$BATS_TEST_TMPDIR/list.yaml"
	up
	http GET /apis/apps/v1/namespaces/shop/deployments/web
	done_with 200
	equal "$(json '[.spec.replicas, .spec.template.spec.containers[0].image] | map(tostring) | join(" ")')" "3 registry.example/shop/web:1.4.2"
}

@test "export of no store: exit 1" {
	run "$HOLDFS" export --data "$SERVER_DIR/nowhere"
	equal "$status" 1
	[ ! -e "$SERVER_DIR/nowhere" ]
}

@test "import on a terminal: a line of progress once it takes over a second, none elsewhere" {
	local big=$BATS_TEST_TMPDIR/big.json store=$BATS_TEST_TMPDIR/store
	python3 - "$big" <<-'P'
		import json, sys
		items = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{i}"}, "data": {"k": "v" * 100}}
		         for i in range(20000)]
		json.dump({"apiVersion": "v1", "kind": "List", "items": items}, open(sys.argv[1], "w"))
	P
	run script -qec "'$HOLDFS' import --data '$store' '$big'" /dev/null
	equal "$status" 0
	matches "$output" '[0-9]+ objects stored, 0 failed, [0-9]+ files, [0-9]+ objects/s'
	run "$HOLDFS" import --data "$store" "$big"
	equal "$status" 0
	equal "$output" "20000 objects stored, 0 failed"
}
