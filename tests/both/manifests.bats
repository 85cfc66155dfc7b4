# SPDX-License-Identifier: Apache-2.0
# Real applications: accepted whole, read back, unchanged at the second apply, no diff, deleted whole.
# Without ../shared the tests take the project's own manifests instead.

load ../lib/holdfs
load ../lib/manifests

setup() {
	start_server
	REAL=$SHARED/manifests
	WORK=$BATS_TEST_TMPDIR/manifests
	mkdir -p "$WORK"
}

teardown() {
	stop_server
}

# builtin_only DIR: copies its files into WORK, without what needs custom resources; files that keep
# nothing are left out.
builtin_only() {
	local base=$1 file to
	while IFS= read -r file; do
		to=$WORK/$(tr / - <<<"${file#"$base"/}")
		awk -f "$TESTS/lib/builtin.awk" "$file" >"$to"
		[ -s "$to" ] || rm "$to"
	done < <(find "$base" -name '*.yaml' -type f | sort)
}

# whole_before_delete FILE...: as whole_life, but the objects stay.
whole_before_delete() {
	applied_whole "$@"
	sent_comes_back "$@"
	unchanged_again "$@"
	no_difference "$@"
}

@test "own application: every kind, columns, both ends" {
	whole_before_delete "$DATA_DIR/shop.yaml"
	prints_as "$DATA_DIR/shop.get" shop
	deleted_whole "$DATA_DIR/shop.yaml"
	[ ! -e "$MNT/namespaces/shop" ]
}

@test "own application with kubectl 1.27: the same" {
	export K=1.27
	whole_before_delete "$DATA_DIR/shop.yaml"
	prints_as "$DATA_DIR/shop.get" shop
	deleted_whole "$DATA_DIR/shop.yaml"
}

@test "own application in the mount: each object a file with its text" {
	k apply -f "$DATA_DIR/shop.yaml" >/dev/null
	equal "$(cd "$MNT/namespaces/shop" && find . -name '*.yaml' ! -name kube-root-ca.crt.yaml ! -path ./serviceaccounts/default.yaml | wc -l)" \
		"$(grep -c '^  namespace: shop' "$DATA_DIR/shop.yaml")"
	contains "$(cat "$MNT/namespaces/shop/configmaps/settings.yaml")" "what would you like?"
	equal "$(k get -f "$MNT/namespaces/shop/deployments.apps/web.yaml" -o 'jsonpath={.spec.replicas}')" 3
	equal "$(stat -c %a "$MNT/namespaces/shop/secrets/keys.yaml")" 600
	[ -e "$MNT/cluster/storageclasses.storage.k8s.io/shop-fast.yaml" ]
}

@test "online-boutique: whole life" {
	local file=$REAL/online-boutique.yaml
	[ -e "$file" ] || file=$DATA_DIR/shop.yaml
	applied_whole "$file"
	sent_comes_back "$file"
	unchanged_again "$file"
	no_difference "$file"
	if [ -e "$REAL" ]; then
		equal "$(printed "$(k get deployment cartservice)")" $'NAME READY UP-TO-DATE AVAILABLE AGE\ncartservice 0/1 0 0 <age>'
		equal "$(printed "$(k get service frontend-external | tail -n 1 | sed 's/:3[0-9]*/:N/')")" \
			'frontend-external LoadBalancer <ip> <pending> 80:N/TCP <age>'
	fi
	deleted_whole "$file"
}

@test "examples: each file's whole life" {
	local file
	if [ ! -d "$REAL/examples" ]; then
		whole_life "$DATA_DIR/shop.yaml"
		return
	fi
	builtin_only "$REAL/examples"
	[ "$(find "$WORK" -name '*.yaml' | wc -l)" -ge 25 ]
	# The namespaces that some of them expect.
	namespace monitoring
	namespace gke-managed-system
	for file in "$WORK"/*.yaml; do
		echo "--- $file"
		whole_life "$file"
	done
}

@test "kube-prometheus without custom resources: whole life" {
	if [ ! -d "$REAL/kube-prometheus" ]; then
		whole_life "$DATA_DIR/shop.yaml"
		return
	fi
	builtin_only "$REAL/kube-prometheus"
	k apply -f "$WORK/setup-namespace.yaml"
	rm "$WORK/setup-namespace.yaml"
	applied_whole "$WORK"
	sent_comes_back "$WORK"
	unchanged_again "$WORK"
	no_difference "$WORK"
	equal "$(printed "$(k get daemonset -n monitoring node-exporter)")" \
		$'NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE SELECTOR AGE\nnode-exporter 0 0 0 0 0 kubernetes.io/os=linux <age>'
	deleted_whole "$WORK"
	k delete namespace monitoring --timeout=30s
}

@test "argo-cd without custom resources: whole life" {
	local file=$WORK/argo-cd.yaml
	if [ ! -e "$REAL/argo-cd.yaml" ]; then
		whole_life "$DATA_DIR/shop.yaml"
		return
	fi
	awk -f "$TESTS/lib/builtin.awk" "$REAL/argo-cd.yaml" >"$file"
	k create namespace argocd
	k config set-context --current --namespace=argocd
	whole_life "$file"
}
