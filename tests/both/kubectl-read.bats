# SPDX-License-Identifier: Apache-2.0
# kubectl reads, in every version at hand.

load ../lib/holdfs
load ../lib/versions
load ../lib/manifests

setup_file() {
	start_server
}

teardown_file() {
	stop_server
}

@test "version: client and server" {
	for K in $(versions); do
		matches "$(k version 2>&1 | tr '\n' ' ')" 'Server Version: .*v1\.[0-9]+'
	done
}

@test "get: table, wide, name, yaml, json, jsonpath, custom-columns" {
	for K in $(versions); do
		new_namespace
		deployment web
		equal "$(printed "$(kn get deployment)")" $'NAME READY UP-TO-DATE AVAILABLE AGE\nweb 0/2 0 0 <age>'
		equal "$(printed "$(kn get deploy -o wide)")" \
			$'NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR\nweb 0/2 0 0 <age> a,b a:1,b:1 app=web'
		equal "$(kn get deployments.apps -o name)" deployment.apps/web
		contains "$(kn get deployment web -o yaml)" "kind: Deployment"
		equal "$(kn get deployment web -o 'jsonpath={.spec.replicas}')" 2
		equal "$(printed "$(kn get deployment -o custom-columns=N:.metadata.name,R:.spec.replicas)")" $'N R\nweb 2'
	done
}

@test "get: by label, field, all namespaces, show-labels, sort-by, several kinds" {
	for K in $(versions); do
		new_namespace
		kn create configmap a --from-literal=k=v
		kn create configmap b --from-literal=k=v
		kn label configmap b x=y
		equal "$(kn get configmap -l x=y -o name)" configmap/b
		equal "$(kn get configmap --field-selector metadata.name=a -o name)" configmap/a
		equal "$(printed "$(k get configmap -A -l x=y | grep "^$N ")")" "$N b 1 <age>"
		equal "$(printed "$(kn get configmap b --show-labels)")" $'NAME DATA AGE LABELS\nb 1 <age> x=y'
		equal "$(kn get configmap --sort-by=.metadata.name -o name | grep -v kube-root)" $'configmap/a\nconfigmap/b'
		contains "$(kn get configmap,serviceaccount)" serviceaccount/default
		contains "$(kn get secrets 2>&1)" "No resources found in $N namespace."
		k delete namespace "$N"
	done
}

@test "get all: the kinds of that category" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn run p --image=i
		kn expose deployment web --port=80
		equal "$(kn get all -o name | sort)" $'deployment.apps/web\npod/p\nservice/web'
	done
}

@test "get absent: NotFound, exit code 1" {
	for K in $(versions); do
		run k get configmap nope
		equal "$status" 1
		equal "$output" 'Error from server (NotFound): configmaps "nope" not found'
		run k get gadgets
		equal "$status" 1
		contains "$output" "the server doesn't have a resource type \"gadgets\""
	done
}

@test "get in chunks: all of many" {
	namespace many
	local n
	for n in $(seq 1 120); do printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%03d","namespace":"many"}}\n' "$n"; done |
		jq -s '{apiVersion: "v1", kind: "List", items: .}' >"$BATS_TEST_TMPDIR/list.json"
	k create -f "$BATS_TEST_TMPDIR/list.json" >/dev/null
	for K in $(versions); do
		equal "$(k get configmap -n many --chunk-size=50 -o name | grep -c /c)" 120
	done
}

@test "describe: deployment with events, service, namespace, node, pod, configmap, secret" {
	send POST /api/v1/nodes '{"metadata":{"name":"n1"},"status":{"capacity":{"cpu":"4"}}}'
	for K in $(versions); do
		new_namespace
		deployment web
		kn expose deployment web --port=80
		kn run p --image=i
		kn create configmap c --from-literal=hello=world
		kn create secret generic s --from-literal=a=b
		local uid
		uid=$(kn get deployment web -o 'jsonpath={.metadata.uid}')
		kn create -f - <<-EOF
			apiVersion: v1
			kind: Event
			metadata: {name: web.1}
			involvedObject: {kind: Deployment, apiVersion: apps/v1, name: web, namespace: $N, uid: $uid}
			reason: Testing
			message: a test looks at this
			type: Normal
			source: {component: bats}
			firstTimestamp: "2026-01-01T00:00:00Z"
			lastTimestamp: "2026-01-01T00:00:00Z"
			count: 1
		EOF
		matches "$(kn describe deployment web)" 'Replicas: +2 desired'
		contains "$(kn describe deployment web)" "a test looks at this"
		matches "$(kn describe service web)" 'Selector: +app=web'
		matches "$(k describe namespace "$N")" 'Status: +Active'
		matches "$(k describe node n1)" 'Name: +n1'
		matches "$(kn describe pod p)" 'Status: +Pending'
		contains "$(kn describe configmap c)" world
		matches "$(kn describe secret s)" 'a: +1 bytes'
	done
}

@test "events: all, and of one object" {
	for K in $(versions); do
		new_namespace
		deployment web
		for name in one two; do
			kn create -f - <<-EOF
				apiVersion: v1
				kind: Event
				metadata: {name: $name}
				involvedObject: {kind: Deployment, apiVersion: apps/v1, name: $name, namespace: $N}
				reason: Because
				message: event of $name
				type: Warning
				lastTimestamp: "2026-01-01T00:00:00Z"
			EOF
		done
		contains "$(kn events)" "event of one"
		contains "$(kn events --for deployment/web 2>&1)" "No events found"
		equal "$(kn get events --field-selector involvedObject.name=two -o name)" event/two
		contains "$(kn get events)" "deployment/one"
		equal "$(kn get events.events.k8s.io -o name | sort)" $'event.events.k8s.io/one\nevent.events.k8s.io/two'
	done
}

@test "wait: condition, jsonpath, delete" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn wait deployment/web --for=jsonpath='{.spec.replicas}'=2 --timeout=10s
		kn wait deployment/web --for=condition=Available --timeout=30s >"$BATS_TEST_TMPDIR/wait" 2>&1 3>&- &
		local waiting=$!
		send PATCH "/apis/apps/v1/namespaces/$N/deployments/web/status" '{"status":{"conditions":[{"type":"Available","status":"True"}]}}' \
			-H 'Content-Type: application/merge-patch+json'
		done_with 200
		wait "$waiting"
		kn wait deployment/web --for=delete --timeout=30s 3>&- &
		waiting=$!
		kn delete deployment web
		wait "$waiting"
		run kn wait configmap/kube-root-ca.crt --for=condition=Never --timeout=1s
		equal "$status" 1
	done
}

@test "rollout status: waits for the status, then ends" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn rollout status deployment/web --timeout=30s >"$BATS_TEST_TMPDIR/rollout" 2>&1 3>&- &
		local waiting=$!
		wait_until 10 has_line "$BATS_TEST_TMPDIR/rollout" Waiting
		send PATCH "/apis/apps/v1/namespaces/$N/deployments/web/status" \
			'{"status":{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2}}' \
			-H 'Content-Type: application/merge-patch+json'
		done_with 200
		wait "$waiting"
		has_line "$BATS_TEST_TMPDIR/rollout" 'successfully rolled out'
	done
}

@test "diff: nothing, then what differs" {
	for K in $(versions); do
		new_namespace
		deployment web
		kn get deployment web -o json | jq 'del(.metadata.managedFields, .status, .metadata.resourceVersion, .metadata.uid, .metadata.creationTimestamp, .metadata.generation)' >"$BATS_TEST_TMPDIR/d.json"
		kn diff -f "$BATS_TEST_TMPDIR/d.json"
		jq '.spec.replicas = 9' "$BATS_TEST_TMPDIR/d.json" >"$BATS_TEST_TMPDIR/e.json"
		run kn diff -f "$BATS_TEST_TMPDIR/e.json"
		equal "$status" 1
		contains "$output" "+  replicas: 9"
		equal "$(field deployment web .spec.replicas)" 2
	done
}

@test "explain: kind, field, recursive" {
	for K in $(versions); do
		matches "$(k explain deployment)" 'KIND: +Deployment'
		contains "$(k explain deployment.spec)" replicas
		contains "$(k explain pod.spec.containers --recursive)" imagePullPolicy
		contains "$(k explain ingress.spec.rules.http.paths.pathType)" string
		run k explain deployment.spec.nope
		equal "$status" 1
	done
}

@test "api-resources, api-versions: the same in every version" {
	local resources=""
	for K in $(versions); do
		: "${resources:=$(k api-resources --no-headers -o name | sort)}"
		equal "$(k api-resources --no-headers -o name | sort)" "$resources"
		contains "$resources" deployments.apps
		contains "$(k api-resources --namespaced=false -o name)" nodes
		contains "$(k api-versions)" apps/v1
		contains "$(k api-resources --categories=all -o name)" statefulsets.apps
	done
}

@test "cluster-info, get --raw, auth can-i" {
	for K in $(versions); do
		contains "$(k cluster-info)" "$URL"
		equal "$(k get --raw /readyz)" ok
		equal "$(k auth can-i create deployments.apps)" yes
	done
}

@test "get -w: what changes is printed" {
	for K in $(versions); do
		new_namespace
		K_TIMEOUT=40 kn get configmap -w >"$BATS_TEST_TMPDIR/$K" 2>&1 3>&- &
		local watching=$!
		wait_until 20 has_line "$BATS_TEST_TMPDIR/$K" '^kube-root-ca'
		kn create configmap a --from-literal=k=v
		kn label configmap a x=y
		wait_until 10 eval "[ \$(grep -c '^a ' '$BATS_TEST_TMPDIR/$K') -ge 2 ]"
		kill "$watching"
	done
}
