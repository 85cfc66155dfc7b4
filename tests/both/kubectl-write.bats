# SPDX-License-Identifier: Apache-2.0
# kubectl writes, in every version at hand; the mount shows the result at once.

load ../lib/holdfs
load ../lib/versions

setup_file() {
	start_server
}

teardown_file() {
	stop_server
}

# in_mount RESOURCE NAME: the file of an object.
in_mount() {
	cat "$MNT/namespaces/$N/$1/$2.yaml"
}

@test "create -f: object stored, twice is an error" {
	for K in $(versions); do
		new_namespace
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  a: b\n' >"$BATS_TEST_TMPDIR/c.yaml"
		equal "$(kn create -f "$BATS_TEST_TMPDIR/c.yaml")" "configmap/c created"
		contains "$(in_mount configmaps c)" "a: b"
		run kn create -f "$BATS_TEST_TMPDIR/c.yaml"
		equal "$status" 1
		contains "$output" AlreadyExists
	done
}

@test "create -f with an unknown field: refused, --validate=false accepted" {
	for K in $(versions); do
		new_namespace
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\nspec: {}\n' >"$BATS_TEST_TMPDIR/c.yaml"
		run kn create -f "$BATS_TEST_TMPDIR/c.yaml"
		equal "$status" 1
		contains "$output" 'unknown field "spec"'
		kn create --validate=false -f "$BATS_TEST_TMPDIR/c.yaml"
	done
}

@test "apply: created, unchanged, configured; removed fields go" {
	for K in $(versions); do
		new_namespace
		equal "$(deployment web)" "deployment.apps/web created"
		equal "$(deployment web)" "deployment.apps/web unchanged"
		kn get deployment web -o yaml >/dev/null
		kn apply -f - <<-EOF
			apiVersion: apps/v1
			kind: Deployment
			metadata:
			  name: web
			spec:
			  replicas: 5
			  selector:
			    matchLabels: {app: web}
			  template:
			    metadata:
			      labels: {app: web}
			    spec:
			      containers:
			        - {name: b, image: "b:2"}
		EOF
		equal "$(field deployment web '[.spec.replicas, .metadata.labels, [.spec.template.spec.containers[] | .name + .image]]')" \
			'[5,null,["bb:2"]]'
		contains "$(in_mount deployments.apps web)" "image: b:2"
	done
}

@test "apply --dry-run=server: nothing kept" {
	for K in $(versions); do
		new_namespace
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n' >"$BATS_TEST_TMPDIR/c.yaml"
		contains "$(kn apply --dry-run=server -f "$BATS_TEST_TMPDIR/c.yaml")" "server dry run"
		equal "$(kn get configmap c --ignore-not-found)" ""
	done
}

@test "apply of a directory and of a List: all objects" {
	for K in $(versions); do
		new_namespace
		mkdir -p "$BATS_TEST_TMPDIR/d"
		printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: two}\n' >"$BATS_TEST_TMPDIR/d/a.yaml"
		printf '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"three"}}]}' >"$BATS_TEST_TMPDIR/d/b.json"
		kn apply -f "$BATS_TEST_TMPDIR/d"
		equal "$(kn get configmap/one secret/two serviceaccount/three -o name)" $'configmap/one\nsecret/two\nserviceaccount/three'
	done
}

@test "edit: what the editor saves" {
	for K in $(versions); do
		new_namespace
		deployment web
		KUBE_EDITOR="sed -i 's/replicas: 2/replicas: 7/'" kn edit deployment web
		equal "$(field deployment web .spec.replicas)" 7
		contains "$(in_mount deployments.apps web)" "replicas: 7"
	done
}

@test "edit to something invalid: the editor opens again with the reason" {
	for K in $(versions); do
		new_namespace
		deployment web
		cat >"$BATS_TEST_TMPDIR/editor" <<-EOF
			#!/bin/sh
			cat "\$1" >>"$BATS_TEST_TMPDIR/seen-$K"
			grep -q 'replicas: -1' "\$1" || sed -i 's/replicas: 2/replicas: -1/' "\$1"
		EOF
		chmod +x "$BATS_TEST_TMPDIR/editor"
		KUBE_EDITOR=$BATS_TEST_TMPDIR/editor run kn edit deployment web
		[ "$status" -ne 0 ]
		has_line "$BATS_TEST_TMPDIR/seen-$K" 'spec.replicas: Invalid value'
		equal "$(field deployment web .spec.replicas)" 2
	done
}

@test "patch: strategic, merge, JSON, status" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"a:2"}]}}}}'
		kn patch deployment web --type=merge -p '{"spec":{"replicas":3}}'
		kn patch deployment web --type=json -p '[{"op":"add","path":"/metadata/labels/x","value":"y"}]'
		kn patch deployment web --subresource=status --type=merge -p '{"status":{"replicas":3}}'
		equal "$(field deployment web '[[.spec.template.spec.containers[].image], .spec.replicas, .metadata.labels.x, .status.replicas]')" \
			'[["a:2","b:1"],3,"y",3]'
		contains "$(kn patch deployment web --type=merge -p '{"spec":{"replicas":3}}')" "no change"
	done
}

@test "label, annotate: set, refuse to change, overwrite, remove, by selector" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn label deployment web tier=front
		run kn label deployment web tier=back
		equal "$status" 1
		kn label deployment web tier=back --overwrite
		kn label deployment -l tier=back x=y
		kn annotate deployment web 'note=hello world'
		equal "$(field deployment web '[.metadata.labels.tier, .metadata.labels.x, .metadata.annotations.note]')" '["back","y","hello world"]'
		kn label deployment web tier- x-
		kn annotate deployment --all note-
		equal "$(field deployment web '[.metadata.labels.tier, .metadata.labels.x, .metadata.annotations.note]')" '[null,null,null]'
	done
}

@test "scale: deployment, with precondition, statefulset" {
	for K in $(versions); do
		new_namespace
		deployment web
		equal "$(kn scale deployment web --replicas=4)" "deployment.apps/web scaled"
		equal "$(field deployment web .spec.replicas)" 4
		kn scale deployment web --current-replicas=4 --replicas=1
		equal "$(field deployment web .spec.replicas)" 1
		run kn scale deployment web --current-replicas=9 --replicas=2
		equal "$status" 1
	done
}

@test "set image, set env, set resources: the named container" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn set image deployment/web b=b:9
		kn set env deployment/web -c a COLOR=blue
		kn set resources deployment/web -c a --limits=cpu=200m,memory=64Mi
		equal "$(field deployment web '[.spec.template.spec.containers[] | [.image, .env[0].value?, .resources.limits.cpu?]]')" \
			'[["a:1","blue","200m"],["b:9",null,null]]'
	done
}

@test "rollout restart, pause, resume" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn rollout restart deployment/web
		matches "$(field deployment web '.spec.template.metadata.annotations["kubectl.kubernetes.io/restartedAt"]')" '^"20'
		kn rollout pause deployment/web
		equal "$(field deployment web .spec.paused)" true
		kn rollout resume deployment/web
		equal "$(field deployment web .spec.paused)" null
	done
}

@test "expose: a service with the selector and port" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn expose deployment web --port=80 --target-port=8080
		equal "$(field service web '[.spec.selector, .spec.ports[0].port, .spec.ports[0].targetPort]')" '[{"app":"web"},80,8080]'
	done
}

@test "run: a pod" {
	for K in $(versions); do
		new_namespace
		kn run p --image=busybox --restart=Never --env=A=B --labels=x=y -- sleep 1
		equal "$(field pod p '[.spec.containers[0].args, .spec.restartPolicy, .metadata.labels, .status.phase]')" \
			'[["sleep","1"],"Never",{"x":"y"},"Pending"]'
	done
}

@test "replace: whole object; --force: a new one" {
	for K in $(versions); do
		new_namespace
		kn create configmap c --from-literal=a=b
		kn get configmap c -o json | jq '.data = {x: "y"}' >"$BATS_TEST_TMPDIR/c.json"
		kn replace -f "$BATS_TEST_TMPDIR/c.json"
		equal "$(field configmap c .data)" '{"x":"y"}'
		local before
		before=$(field configmap c .metadata.uid)
		jq 'del(.metadata.uid, .metadata.resourceVersion)' "$BATS_TEST_TMPDIR/c.json" >"$BATS_TEST_TMPDIR/d.json"
		kn replace --force -f "$BATS_TEST_TMPDIR/d.json"
		[ "$(field configmap c .metadata.uid)" != "$before" ]
	done
}

@test "replace with a stale resourceVersion: Conflict" {
	for K in $(versions); do
		new_namespace
		kn create configmap c --from-literal=a=b
		kn get configmap c -o json >"$BATS_TEST_TMPDIR/c.json"
		kn label configmap c x=y
		run kn replace -f "$BATS_TEST_TMPDIR/c.json"
		equal "$status" 1
		contains "$output" Conflict
	done
}

@test "delete: by name, by file, by label, all; the files go" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn create configmap a --from-literal=k=v
		kn create configmap b --from-literal=k=v
		kn label configmap b x=y
		[ -e "$MNT/namespaces/$N/configmaps/a.yaml" ]
		kn delete configmap a
		[ ! -e "$MNT/namespaces/$N/configmaps/a.yaml" ]
		kn delete configmap -l x=y
		[ ! -e "$MNT/namespaces/$N/configmaps/b.yaml" ]
		kn delete deployment --all
		equal "$(kn get deployment --ignore-not-found -o name)" ""
		run kn delete configmap nope
		equal "$status" 1
		contains "$output" 'configmaps "nope" not found'
		k delete namespace "$N"
		[ ! -e "$MNT/namespaces/$N" ]
	done
}

@test "delete --force --grace-period=0: gone" {
	for K in $(versions); do
		new_namespace
		kn run p --image=busybox
		kn delete pod p --force --grace-period=0
		equal "$(kn get pod p --ignore-not-found)" ""
	done
}
