# SPDX-License-Identifier: Apache-2.0
# The tree as a file system: listing, attributes, links, what can be entered, what ends.

load ../lib/holdfs

setup_file() {
	start_server
	namespace shop
	configmap shop settings color red
	send POST /api/v1/namespaces/shop/secrets '{"metadata":{"name":"key"},"stringData":{"k":"v"}}'
	done_with 201
	send POST /apis/rbac.authorization.k8s.io/v1/clusterroles '{"metadata":{"name":"system:thing:x"},"rules":[]}'
	done_with 201
	export SHOP=$MNT/namespaces/shop
}

teardown_file() {
	stop_server
}

@test "list the root: namespaces and cluster, nothing hidden" {
	equal "$(ls -A "$MNT")" $'cluster\nnamespaces'
}

@test "list a namespace: the resources that have objects, by their canonical names" {
	equal "$(ls "$SHOP")" $'configmaps\nsecrets\nserviceaccounts'
}

@test "list cluster: cluster-scoped resources" {
	contains "$(ls "$MNT/cluster")" namespaces
	contains "$(ls "$MNT/cluster/namespaces")" shop.yaml
}

@test "list a resource: each object once, as YAML" {
	equal "$(ls "$SHOP/configmaps")" $'kube-root-ca.crt.yaml\nsettings.yaml'
}

@test "cat an object: what kubectl get -o yaml holds" {
	equal "$(python3 -c 'import sys; print(sorted(l.strip() for l in open(sys.argv[1])))' "$SHOP/configmaps/settings.yaml")" \
		"$(k get cm settings -n shop -o yaml | python3 -c 'import sys; print(sorted(l.strip() for l in sys.stdin))')"
}

@test "open the JSON form: by name, not listed, its size is true" {
	equal "$(jq -r .data.color "$SHOP/configmaps/settings.json")" red
	equal "$(stat -c %s "$SHOP/configmaps/settings.json")" "$(cat "$SHOP/configmaps/settings.json" | wc -c)"
	equal "$(ls "$SHOP/configmaps" | grep -c json || true)" 0
}

@test "open short names and bare plurals: symlinks that are not listed" {
	equal "$(readlink "$SHOP/cm")" configmaps
	equal "$(readlink "$SHOP/deploy")" deployments.apps
	equal "$(readlink "$SHOP/deployments")" deployments.apps
	[ -f "$SHOP/cm/settings.yaml" ]
	equal "$(ls "$SHOP" | grep -c '^cm$' || true)" 0
}

@test "enter a resource without objects: empty, and a file can be made there" {
	equal "$(ls "$SHOP/services")" ""
	printf 'spec:\n  ports:\n  - port: 80\n' >"$SHOP/services/web.yaml"
	equal "$(k get svc web -n shop -o jsonpath='{.spec.ports[0].port}')" 80
	contains "$(ls "$SHOP")" services
	rm "$SHOP/services/web.yaml"
}

@test "enter what is no resource, or of the other scope: ENOENT" {
	[ ! -e "$SHOP/nonsense" ]
	[ ! -e "$SHOP/nodes" ]
	[ ! -e "$MNT/cluster/pods" ]
	[ ! -e "$MNT/namespaces/nowhere" ]
}

@test "stat: true size, time of the last write, stable inode, link count" {
	local file=$SHOP/configmaps/settings.yaml inode
	equal "$(stat -c %s "$file")" "$(cat "$file" | wc -c)"
	equal "$(stat -c %h "$file")" 1
	inode=$(stat -c %i "$file")
	local before after
	before=$(stat -c %.9Y "$file")
	k annotate cm settings -n shop a=b >/dev/null
	after=$(stat -c %.9Y "$file")
	[[ $after > $before ]]
	equal "$(stat -c %i "$file")" "$inode"
	equal "$(stat -c %s "$file")" "$(cat "$file" | wc -c)"
	contains "$(cat "$file")" "a: b"
}

@test "modes: Secrets are for the owner only, chmod does not widen them" {
	equal "$(stat -c %a "$SHOP/secrets")" 700
	equal "$(stat -c %a "$SHOP/secrets/key.yaml")" 600
	chmod 644 "$SHOP/secrets/key.yaml"
	equal "$(stat -c %a "$SHOP/secrets/key.yaml")" 600
	equal "$(stat -c %a "$SHOP/configmaps/settings.yaml")" 644
}

@test "names with colons: reachable" {
	contains "$(cat "$MNT/cluster/clusterroles.rbac.authorization.k8s.io/system:thing:x.yaml")" "name: system:thing:x"
}

@test "names too long for a file: a short form, unique, that can be read and removed" {
	local a b long
	long=$(printf 'a%.0s' {1..252})
	for tail in x y; do
		send POST /api/v1/namespaces/shop/configmaps "{\"metadata\":{\"name\":\"$long$tail\"}}"
		done_with 201
	done
	mapfile -t files < <(ls "$SHOP/configmaps" | grep '^aaaa')
	equal "${#files[@]}" 2
	[ "${files[0]}" != "${files[1]}" ]
	contains "$(cat "$SHOP/configmaps/${files[0]}" "$SHOP/configmaps/${files[1]}")" "${long}x"
	rm "$SHOP/configmaps/${files[0]}" "$SHOP/configmaps/${files[1]}"
	gone "/api/v1/namespaces/shop/configmaps/${long}x"
}

@test "find, grep -r, du, tar of the whole mount: end, and agree" {
	local n
	n=$(find "$MNT" -type f | wc -l)
	[ "$n" -gt 10 ]
	equal "$(tar -C "$MNT" -cf - . | tar -tf - | grep -c yaml)" "$n"
	contains "$(grep -rl 'color: red' "$MNT")" settings.yaml
	du -s "$MNT"
	df "$MNT"
}

@test "mkdir and rmdir below namespaces: a Namespace comes and goes" {
	mkdir "$MNT/namespaces/made"
	equal "$(k get ns made -o jsonpath='{.status.phase}')" Active
	rmdir "$MNT/namespaces/made"
	gone /api/v1/namespaces/made
	[ ! -e "$MNT/namespaces/made" ]
}

@test "rmdir of a namespace with objects: ENOTEMPTY, it stays" {
	run rmdir "$SHOP"
	[ "$status" -ne 0 ]
	contains "$output" "not empty"
	k get ns shop
}

@test "rm -r of a namespace: all of it is deleted" {
	mkdir "$MNT/namespaces/old"
	wait_until 5 test -e "$MNT/namespaces/old/configmaps/kube-root-ca.crt.yaml"
	printf 'data:\n  k: v\n' >"$MNT/namespaces/old/configmaps/x.yaml"
	rm -r "$MNT/namespaces/old"
	gone /api/v1/namespaces/old
}

@test "mkdir of a bad name or elsewhere: refused" {
	run mkdir "$MNT/namespaces/Bad_Name"
	[ "$status" -ne 0 ]
	run mkdir "$SHOP/configmaps/x"
	[ "$status" -ne 0 ]
	run mkdir "$SHOP/nonsense"
	[ "$status" -ne 0 ]
}

@test "links and devices: refused" {
	run ln -s settings.yaml "$SHOP/configmaps/link.yaml"
	[ "$status" -ne 0 ]
	run ln "$SHOP/configmaps/settings.yaml" "$SHOP/configmaps/hard.yaml"
	[ "$status" -ne 0 ]
}

@test "a change over HTTP: the next read sees it, every time" {
	local file=$SHOP/configmaps/settings.yaml i
	for i in {1..40}; do
		send PATCH /api/v1/namespaces/shop/configmaps/settings "{\"data\":{\"color\":\"c$i\"}}" \
			-H 'Content-Type: application/merge-patch+json'
		done_with 200
		wait_until 2 grep -q "color: c$i\$" "$file"
		equal "$(stat -c %s "$file")" "$(cat "$file" | wc -c)"
	done
}

@test "an object made or deleted over HTTP: its name appears and vanishes" {
	local file=$SHOP/configmaps/flash.yaml i
	for i in {1..20}; do
		[ ! -e "$file" ]
		configmap shop flash
		wait_until 2 test -e "$file"
		contains "$(ls "$SHOP/configmaps")" flash.yaml
		http DELETE /api/v1/namespaces/shop/configmaps/flash
		wait_until 2 test ! -e "$file"
	done
}
