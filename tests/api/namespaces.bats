# SPDX-License-Identifier: Apache-2.0
# The life of a namespace: what it gets, how it goes.

load ../lib/holdfs

setup() {
	start_server
}

teardown() {
	stop_server
}

ready() {
	http GET "/api/v1/namespaces/$1/serviceaccounts/default"
	[ "$code" = 200 ] || return 1
	http GET "/api/v1/namespaces/$1/configmaps/kube-root-ca.crt"
	[ "$code" = 200 ]
}

@test "create namespace: Active, name label, finalizer, then its account and CA" {
	namespace n
	equal "$(json -c '[.status.phase, .metadata.labels["kubernetes.io/metadata.name"], .spec.finalizers]')" \
		'["Active","n",["kubernetes"]]'
	wait_until 10 ready n
}

@test "delete namespace: its content goes, then the namespace" {
	namespace n
	namespace other
	configmap n x
	configmap other x
	send POST /api/v1/namespaces/n/pods '{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
	done_with 201
	http DELETE /api/v1/namespaces/n
	done_with 200
	equal "$(json -c '[.kind, .status.phase]')" '["Namespace","Terminating"]'
	wait_until 20 gone /api/v1/namespaces/n
	gone /api/v1/namespaces/n/configmaps/x
	gone /api/v1/namespaces/n/pods/p
	http GET /api/v1/namespaces/other/configmaps/x
	done_with 200
	# The name is free again.
	namespace n
	gone /api/v1/namespaces/n/configmaps/x
}

@test "create in a namespace that is going: 403 with the cause" {
	namespace n
	send POST /api/v1/namespaces/n/configmaps '{"metadata":{"name":"held","finalizers":["example.com/hold"]}}'
	http DELETE /api/v1/namespaces/n
	send POST /api/v1/namespaces/n/configmaps '{"metadata":{"name":"late"}}'
	status 403 Forbidden 'because it is being terminated'
	equal "$(json '.details.causes[0].reason')" NamespaceTerminating
	http GET /api/v1/namespaces/n
	equal "$(json .status.phase)" Terminating
	send PATCH /api/v1/namespaces/n/configmaps/held '{"metadata":{"finalizers":null}}' -H 'Content-Type: application/merge-patch+json'
	wait_until 20 gone /api/v1/namespaces/n
}

@test "default, kube-system, kube-public: cannot be deleted" {
	local name
	for name in default kube-system kube-public; do
		http DELETE "/api/v1/namespaces/$name"
		status 403 Forbidden
	done
}

@test "delete namespace, server stopped in between: goes on after the restart" {
	namespace n
	send POST /api/v1/namespaces/n/configmaps '{"metadata":{"name":"held","finalizers":["example.com/hold"]}}'
	http DELETE /api/v1/namespaces/n
	end_server
	serve
	http GET /api/v1/namespaces/n
	equal "$(json .status.phase)" Terminating
	send PATCH /api/v1/namespaces/n/configmaps/held '{"metadata":{"finalizers":null}}' -H 'Content-Type: application/merge-patch+json'
	done_with 200
	wait_until 20 gone /api/v1/namespaces/n
}

@test "delete namespace, server killed at once: goes on after the restart" {
	namespace n
	local x
	for x in $(seq 30); do configmap n "x$x"; done
	http DELETE /api/v1/namespaces/n
	kill_server
	serve
	wait_until 20 gone /api/v1/namespaces/n
	http GET /api/v1/namespaces/n/configmaps
	equal "$(json -c .items)" '[]'
}

@test "kubectl delete namespace: waits until all is gone" {
	k create namespace n
	k create configmap x -n n --from-literal=a=b
	k delete namespace n --timeout=30s
	equal "$(k get namespace n --ignore-not-found)" ""
}
