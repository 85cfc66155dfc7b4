# SPDX-License-Identifier: Apache-2.0
# Garbage collection: what belongs to a deleted owner goes too.

load ../lib/holdfs

setup() {
	start_server
	N=g
	namespace "$N"
	C=/api/v1/namespaces/$N/configmaps
}

teardown() {
	stop_server
}

# owned NAME OWNER-NAME OWNER-UID: a ConfigMap with an owner.
owned() {
	send POST "$C" "{\"metadata\":{\"name\":\"$1\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"$2\",\"uid\":\"$3\"}]}}"
	done_with 201
}

uid() {
	http GET "$1"
	json .metadata.uid
}

@test "delete owner: dependents and theirs go in the background" {
	configmap "$N" top
	owned middle top "$(uid "$C/top")"
	owned bottom middle "$(uid "$C/middle")"
	configmap "$N" bystander
	http DELETE "$C/top"
	done_with 200
	wait_until 20 gone "$C/middle"
	wait_until 20 gone "$C/bottom"
	http GET "$C/bystander"
	done_with 200
}

@test "delete owner with orphan: dependents stay, without the reference" {
	configmap "$N" top
	owned dependent top "$(uid "$C/top")"
	http DELETE "$C/top?propagationPolicy=Orphan"
	done_with 200
	wait_until 20 gone "$C/top"
	free() {
		http GET "$C/dependent"
		[ "$code" = 200 ] && [ "$(json '.metadata.ownerReferences // [] | length')" = 0 ]
	}
	wait_until 20 free
}

@test "two owners: stays while one is there" {
	configmap "$N" one
	local first second
	first=$(uid "$C/one")
	configmap "$N" two
	second=$(uid "$C/two")
	send POST "$C" "{\"metadata\":{\"name\":\"both\",\"ownerReferences\":[
		{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"one\",\"uid\":\"$first\"},
		{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"two\",\"uid\":\"$second\"}]}}"
	owned marker one "$first"
	http DELETE "$C/one"
	wait_until 20 gone "$C/marker"
	http GET "$C/both"
	done_with 200
	http DELETE "$C/two"
	wait_until 20 gone "$C/both"
}

@test "owner killed with the server: dependents go after the restart" {
	configmap "$N" top
	local top n
	top=$(uid "$C/top")
	for n in $(seq 20); do owned "d$n" top "$top"; done
	http DELETE "$C/top"
	kill_server
	serve
	none() {
		http GET "$C"
		[ "$(json '[.items[].metadata.name | select(startswith("d"))] | length')" = 0 ]
	}
	wait_until 20 none
}

@test "kubectl delete deployment: its ReplicaSet goes" {
	k create deployment web -n "$N" --image=i:1
	local owner
	owner=$(uid "/apis/apps/v1/namespaces/$N/deployments/web")
	send POST "/apis/apps/v1/namespaces/$N/replicasets" "{\"metadata\":{\"name\":\"web-1\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"web\",\"uid\":\"$owner\",\"controller\":true}]},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}"
	done_with 201
	k delete deployment web -n "$N"
	wait_until 20 gone "/apis/apps/v1/namespaces/$N/replicasets/web-1"
}
