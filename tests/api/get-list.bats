# SPDX-License-Identifier: Apache-2.0
# Reading objects: get, list, selectors, pages, Tables, metadata only, media types.

load ../lib/holdfs

TABLE='Accept: application/json;as=Table;v=v1;g=meta.k8s.io'

setup_file() {
	start_server
	namespace a
	namespace b
	local n
	for n in 1 2 3 4 5; do
		send POST /api/v1/namespaces/a/configmaps \
			"{\"metadata\":{\"name\":\"c$n\",\"labels\":{\"n\":\"$n\",\"odd\":\"$((n % 2))\"}},\"data\":{\"k\":\"$n\"}}"
		done_with 201
	done
	send POST /api/v1/namespaces/b/configmaps '{"metadata":{"name":"c1","labels":{"n":"1"}}}'
	done_with 201
}

teardown_file() {
	stop_server
}

names() {
	json '[.items[].metadata | .namespace + "/" + .name] | map(select(endswith("kube-root-ca.crt") | not)) | join(" ")'
}

list() {
	http GET "$1"
	done_with 200
	names
}

@test "get object: kind, version, uid, creation time and data are there" {
	http GET /api/v1/namespaces/a/configmaps/c1
	done_with 200
	equal "$(json '[.kind, .apiVersion, .metadata.name, .metadata.namespace, .data.k] | join(" ")')" \
		"ConfigMap v1 c1 a 1"
	matches "$(json .metadata.uid)" '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
	matches "$(json .metadata.creationTimestamp)" '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z$'
	matches "$(json .metadata.resourceVersion)" '^[1-9][0-9]*$'
	equal "$(json '.metadata.resourceVersion | type')" string
	equal "$(header content-type)" application/json
}

@test "get absent object: 404 names the resource" {
	http GET /api/v1/namespaces/a/configmaps/nope
	status 404 NotFound 'configmaps "nope" not found'
	equal "$(json -c .details)" '{"name":"nope","kind":"configmaps"}'
	http GET /apis/apps/v1/namespaces/a/deployments/nope
	status 404 NotFound 'deployments.apps "nope" not found'
	equal "$(json -c .details)" '{"name":"nope","group":"apps","kind":"deployments"}'
}

@test "list namespace: items in name order, list kind, no kind in items" {
	equal "$(list /api/v1/namespaces/a/configmaps)" "a/c1 a/c2 a/c3 a/c4 a/c5"
	http GET /api/v1/namespaces/a/configmaps
	equal "$(json '[.kind, .apiVersion] | join(" ")')" "ConfigMapList v1"
	equal "$(json '[.items[] | has("kind")] | any')" false
}

@test "list all namespaces: namespace, then name order" {
	equal "$(list '/api/v1/configmaps?labelSelector=n')" "a/c1 a/c2 a/c3 a/c4 a/c5 b/c1"
}

@test "list nothing: items is an empty list" {
	http GET /api/v1/namespaces/a/pods
	done_with 200
	equal "$(json -c .items)" '[]'
	http GET /api/v1/namespaces/absent/pods
	equal "$(json -c .items)" '[]'
}

@test "list by label: every operator" {
	local base=/api/v1/namespaces/a/configmaps?labelSelector
	equal "$(list "$base=odd%3D1")" "a/c1 a/c3 a/c5"
	equal "$(list "$base=odd%3D%3D1,n!%3D3")" "a/c1 a/c5"
	equal "$(list "$base=n+in+(2,4,9)")" "a/c2 a/c4"
	equal "$(list "$base=n,n+notin+(1,2)")" "a/c3 a/c4 a/c5"
	equal "$(list "$base=n%3E3")" "a/c4 a/c5"
	equal "$(list "$base=n%3C2")" "a/c1"
	equal "$(list "$base=!n")" ""
	equal "$(list "$base=absent!%3Dx,n")" "a/c1 a/c2 a/c3 a/c4 a/c5"
}

@test "list by field: name, namespace, phase" {
	equal "$(list '/api/v1/configmaps?fieldSelector=metadata.name%3Dc1')" "a/c1 b/c1"
	equal "$(list '/api/v1/configmaps?fieldSelector=metadata.namespace%3Db,metadata.name%3Dc1')" "b/c1"
	equal "$(list '/api/v1/configmaps?fieldSelector=metadata.name!%3Dc1&labelSelector=n')" "a/c2 a/c3 a/c4 a/c5"
	send POST /api/v1/namespaces/b/pods '{"metadata":{"name":"p"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}}'
	done_with 201
	equal "$(list '/api/v1/pods?fieldSelector=status.phase%3DPending,spec.nodeName%3Dn1')" "b/p"
	equal "$(list '/api/v1/pods?fieldSelector=spec.nodeName%3Dn2')" ""
}

@test "list by bad selector: 400" {
	http GET '/api/v1/configmaps?labelSelector=a%3Db%3Dc'
	status 400 BadRequest
	http GET '/api/v1/configmaps?labelSelector=in+('
	status 400 BadRequest
	http GET '/api/v1/configmaps?fieldSelector=data.k%3D1'
	status 400 BadRequest
	http GET '/api/v1/configmaps?fieldSelector=metadata.name'
	status 400 BadRequest 'invalid selector'
}

@test "list in pages: all items once, one revision, right counts" {
	local seen="" next="" revision="" rest page=0
	while :; do
		http GET "/api/v1/namespaces/a/configmaps?limit=2&continue=$next"
		done_with 200
		page=$((page + 1))
		[ "$(json '.items | length')" -le 2 ]
		: "${revision:=$(json .metadata.resourceVersion)}"
		equal "$(json .metadata.resourceVersion)" "$revision"
		seen="$seen $(names)"
		rest=$(json '.metadata.remainingItemCount // 0')
		next=$(json '.metadata.continue // ""')
		[ -n "$next" ] || break
		[ "$rest" -gt 0 ]
		# What is written meanwhile is not part of this list.
		configmap a "b$page"
	done
	equal "$(echo $seen)" "a/c1 a/c2 a/c3 a/c4 a/c5"
	[ "$page" -ge 3 ]
	for n in $(seq 1 $((page - 1))); do http DELETE "/api/v1/namespaces/a/configmaps/b$n"; done
}

@test "list in pages with a selector: no remaining count, pages full" {
	http GET '/api/v1/namespaces/a/configmaps?limit=2&labelSelector=odd%3D1'
	done_with 200
	equal "$(names)" "a/c1 a/c3"
	equal "$(json '.metadata | has("remainingItemCount")')" false
	http GET "/api/v1/namespaces/a/configmaps?limit=2&labelSelector=odd%3D1&continue=$(json .metadata.continue)"
	equal "$(names)" "a/c5"
	equal "$(json '.metadata.continue // ""')" ""
}

@test "list with bad continue: 400" {
	http GET '/api/v1/namespaces/a/configmaps?limit=2&continue=garbage'
	status 400 BadRequest continue
	http GET '/api/v1/namespaces/a/configmaps?limit=2'
	http GET "/api/v1/namespaces/a/configmaps?limit=2&resourceVersion=5&continue=$(json .metadata.continue)"
	status 400 BadRequest
	http GET '/api/v1/namespaces/a/configmaps?limit=-1'
	[ "$code" = 400 ] || [ "$code" = 200 ]
}

@test "list exactly at a revision: the state of then" {
	http GET /api/v1/namespaces/a/configmaps
	local revision
	revision=$(json .metadata.resourceVersion)
	configmap a later
	http DELETE /api/v1/namespaces/a/configmaps/c5
	send PATCH /api/v1/namespaces/a/configmaps/c4 '{"data":{"k":"new"}}' -H 'Content-Type: application/merge-patch+json'
	done_with 200
	http GET "/api/v1/namespaces/a/configmaps?resourceVersion=$revision&resourceVersionMatch=Exact"
	done_with 200
	equal "$(names)" "a/c1 a/c2 a/c3 a/c4 a/c5"
	equal "$(json '.items[] | select(.metadata.name == "c4") | .data.k')" 4
	equal "$(json .metadata.resourceVersion)" "$revision"
	http DELETE /api/v1/namespaces/a/configmaps/later
	send PATCH /api/v1/namespaces/a/configmaps/c4 '{"data":{"k":"4"}}' -H 'Content-Type: application/merge-patch+json'
	send POST /api/v1/namespaces/a/configmaps '{"metadata":{"name":"c5","labels":{"n":"5","odd":"1"}},"data":{"k":"5"}}'
	done_with 201
}

@test "list with wrong version parameters: 400 and 422" {
	http GET '/api/v1/configmaps?resourceVersion=abc'
	status 400 BadRequest
	http GET '/api/v1/configmaps?resourceVersionMatch=Exact'
	status 422 Invalid
	http GET '/api/v1/configmaps?resourceVersionMatch=Exact&resourceVersion=0'
	status 422 Invalid
	http GET '/api/v1/configmaps?resourceVersionMatch=Nearly&resourceVersion=1'
	status 422 Invalid
	http GET '/api/v1/configmaps?sendInitialEvents=true'
	status 422 Invalid
}

@test "list beyond the newest revision: 504 with the cause that clients look for" {
	http GET '/api/v1/configmaps?resourceVersion=99999999&resourceVersionMatch=NotOlderThan'
	status 504 Timeout 'Too large resource version: 99999999'
	equal "$(json '.details.causes[0].reason')" ResourceVersionTooLarge
}

@test "list as Table: columns, cells, metadata of each row" {
	http GET /api/v1/namespaces/a/configmaps -H "$TABLE"
	done_with 200
	equal "$(json '[.kind, .apiVersion] | join(" ")')" "Table meta.k8s.io/v1"
	equal "$(json '[.columnDefinitions[].name] | join(" ")')" "Name Data Age"
	equal "$(json -c '[.rows[] | select(.object.metadata.labels.n) | .cells[0:2]]')" \
		'[["c1",1],["c2",1],["c3",1],["c4",1],["c5",1]]'
	matches "$(json '.rows[0].cells[2]')" '^[0-9]+s$'
	equal "$(json '.rows[0].object.kind')" PartialObjectMetadata
	equal "$(json '.rows[0].object | has("data")')" false
}

@test "Table of one object: one row; includeObject chooses its object" {
	http GET /api/v1/namespaces/a/configmaps/c2 -H "$TABLE"
	equal "$(json '.rows | length')" 1
	http GET '/api/v1/namespaces/a/configmaps/c2?includeObject=Object' -H "$TABLE"
	equal "$(json '.rows[0].object.data.k')" 2
	http GET '/api/v1/namespaces/a/configmaps/c2?includeObject=None' -H "$TABLE"
	equal "$(json '.rows[0].object')" null
}

@test "Table of every kind: the columns that Kubernetes has" {
	local path columns wrong=0
	while IFS=$'\t' read -r path columns; do
		http GET "$path" -H "$TABLE"
		equal "$path $(json '[.columnDefinitions[] | (if .priority > 0 then "*" else "" end) + .name + ":" + .type + (if (.format // "") != "" then "/" + .format else "" end)] | join(" | ")' 2>&1)" \
			"$path $columns" || wrong=1
	done <"$DATA_DIR/columns.tsv"
	[ "$wrong" -eq 0 ]
}

@test "list metadata only: no data" {
	http GET /api/v1/namespaces/a/configmaps \
		-H 'Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
	done_with 200
	equal "$(json '[.kind, .apiVersion] | join(" ")')" "PartialObjectMetadataList meta.k8s.io/v1"
	equal "$(json '[.items[] | has("data")] | any')" false
	contains "$(names)" "a/c1 a/c2 a/c3 a/c4 a/c5"
	http GET /api/v1/namespaces/a/configmaps/c1 -H 'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
	equal "$(json .kind)" PartialObjectMetadata
}

@test "get as YAML: a document with the same content" {
	http GET /api/v1/namespaces/a/configmaps/c1 -H 'Accept: application/yaml'
	done_with 200
	matches "$(header content-type)" '^application/yaml'
	contains "$body" "kind: ConfigMap"
	contains "$body" "name: c1"
}

@test "get in an unknown form: 406" {
	http GET /api/v1/namespaces/a/configmaps/c1 -H 'Accept: text/html'
	status 406 NotAcceptable 'application/json'
	http GET /api/v1/namespaces/a/configmaps -H 'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
	status 406 NotAcceptable
}

@test "get with Accept list: the first that fits wins" {
	http GET /api/v1/namespaces/a/configmaps \
		-H 'Accept: text/html, application/json;as=Table;v=v1;g=meta.k8s.io, application/json'
	equal "$(json .kind)" Table
	http GET /api/v1/namespaces/a/configmaps -H 'Accept: */*'
	equal "$(json .kind)" ConfigMapList
}

@test "get pretty: indented for people" {
	http GET '/api/v1/namespaces/a/configmaps/c1?pretty=true'
	contains "$body" $'\n  "kind": "ConfigMap"'
	http GET /api/v1/namespaces/a/configmaps/c1 -A 'kubectl/v1.35'
	equal "$(wc -l <"$SERVER_DIR/body")" "$(wc -l <"$SERVER_DIR/body")"
	[ "$(wc -l <"$SERVER_DIR/body")" -le 1 ]
}

@test "get unknown paths: 404 as a real server says it" {
	http GET /nowhere
	done_with 404
	http GET /api/v1/namespaces/a/gadgets
	done_with 404
	http GET /apis/example.com/v1/gadgets
	done_with 404
	http GET /apis/apps/v1beta1/deployments
	done_with 404
	http GET /api/v1/namespaces/a/configmaps/c1/log
	done_with 404
}

@test "wrong method: 405" {
	http PUT /api/v1/namespaces/a/configmaps -H 'Content-Type: application/json' -d '{}'
	done_with 405
	http DELETE /version
	[ "$code" = 405 ] || [ "$code" = 404 ] || [ "$code" = 403 ]
	http POST /api/v1/configmaps -H 'Content-Type: application/json' -d '{"metadata":{"name":"x"}}'
	[ "$code" = 405 ] || [ "$code" = 404 ]
}

@test "new store: the namespaces, account, CA and service of a new cluster" {
	equal "$(list '/api/v1/namespaces?fieldSelector=metadata.name!%3Da,metadata.name!%3Db')" \
		"/default /kube-node-lease /kube-public /kube-system"
	http GET /api/v1/namespaces/default/serviceaccounts/default
	done_with 200
	http GET /api/v1/namespaces/default/configmaps/kube-root-ca.crt
	done_with 200
	equal "$(json '.data["ca.crt"]')" "$(cat "$CA")"
	http GET /api/v1/namespaces/default/services/kubernetes
	done_with 200
	matches "$(json .spec.clusterIP)" '^[0-9.]+$'
}
