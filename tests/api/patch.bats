# SPDX-License-Identifier: Apache-2.0
# The three kinds of patch: JSON, merge, strategic merge.

load ../lib/holdfs

setup_file() {
	start_server
}

teardown_file() {
	stop_server
}

setup() {
	N=p$BATS_TEST_NUMBER
	namespace "$N"
	C=/api/v1/namespaces/$N/configmaps
	D=/apis/apps/v1/namespaces/$N/deployments
}

# patch KIND PATH BODY [CURL-OPTION...]
patch() {
	local kind=$1 type
	case $kind in
	json | merge) type=application/$kind-patch+json ;;
	strategic) type=application/strategic-merge-patch+json ;;
	esac
	shift
	send PATCH "$@" -H "Content-Type: $type"
}

deployment() {
	send POST "$D" '{"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"app":"web"}},"template":
		{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[
		{"name":"a","image":"a:1","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}],"args":["p","q"],
		 "ports":[{"containerPort":80},{"containerPort":81}]},
		{"name":"b","image":"b:1"}],"volumes":[{"name":"v","emptyDir":{}}]}}}}'
	done_with 201
}

containers() {
	json -c '[.spec.template.spec.containers[] | .name + "=" + .image]'
}

@test "merge patch: sets, replaces lists, null removes" {
	send POST "$C" '{"metadata":{"name":"x","finalizers":["a.b/c","a.b/d"]},"data":{"a":"1","b":"2"}}'
	patch merge "$C/x" '{"data":{"b":null,"c":"3"},"metadata":{"finalizers":["a.b/e"]}}'
	done_with 200
	equal "$(json -cS '[.data, .metadata.finalizers]')" '[{"a":"1","c":"3"},["a.b/e"]]'
	patch merge "$C/x" '{"metadata":{"finalizers":null}}'
}

@test "merge patch that is no object: 400" {
	configmap "$N" x
	patch merge "$C/x" '[1]'
	status 400 BadRequest
	patch merge "$C/x" '{"data":'
	status 400 BadRequest
}

@test "JSON patch: add, remove, replace, move, copy, test" {
	send POST "$C" '{"metadata":{"name":"x","annotations":{"t.e/x":"3"}},"data":{"a":"1","b":"2"}}'
	patch json "$C/x" '[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"9"},
		{"op":"remove","path":"/data/b"},{"op":"add","path":"/data/e","value":"5"},
		{"op":"move","from":"/metadata/annotations/t.e~1x","path":"/data/f"},{"op":"copy","from":"/data/e","path":"/data/g"}]'
	done_with 200
	equal "$(json -cS .data)" '{"a":"9","e":"5","f":"3","g":"5"}'
}

@test "JSON patch whose test fails: 422, nothing changed" {
	configmap "$N" x k 1
	patch json "$C/x" '[{"op":"replace","path":"/data/k","value":"2"},{"op":"test","path":"/data/k","value":"7"}]'
	status 422 Invalid
	patch json "$C/x" '[{"op":"remove","path":"/data/nope"}]'
	status 422 Invalid
	patch json "$C/x" '[{"op":"add","path":"/data/a/b/c","value":"7"}]'
	status 422 Invalid
	http GET "$C/x"
	equal "$(json .data.k)" 1
}

@test "JSON patch that is none: 400" {
	configmap "$N" x
	patch json "$C/x" '{"op":"add"}'
	status 400 BadRequest
	patch json "$C/x" 'nonsense'
	status 400 BadRequest
}

@test "JSON patch of too many operations: 413" {
	configmap "$N" x
	python3 -c 'import json; print(json.dumps([{"op": "test", "path": "/data/k", "value": "v"}] * 10001))' >"$BATS_TEST_TMPDIR/ops"
	patch json "$C/x" @"$BATS_TEST_TMPDIR/ops"
	status 413 RequestEntityTooLarge
}

@test "strategic merge: list elements by key" {
	deployment
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"b:2"},{"name":"c","image":"c:1"}]}}}}'
	done_with 200
	equal "$(containers | jq -c sort)" '["a=a:1","b=b:2","c=c:1"]'
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"3"},{"name":"Z","value":"4"}]}]}}}}'
	equal "$(json -c '.spec.template.spec.containers[] | select(.name == "a") | [.env[] | .name + .value] | sort')" '["X1","Y3","Z4"]'
}

@test "strategic merge: \$patch delete, replace" {
	deployment
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"containers":[{"$patch":"delete","name":"b"}]}}}}'
	done_with 200
	equal "$(containers)" '["a=a:1"]'
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"containers":[{"$patch":"replace"},{"name":"z","image":"z:1"}]}}}}'
	equal "$(containers)" '["z=z:1"]'
	patch strategic "$D/web" '{"spec":{"template":{"metadata":{"labels":{"$patch":"replace","app":"web","only":"this"}}}}}'
	equal "$(json -cS .spec.template.metadata.labels)" '{"app":"web","only":"this"}'
}

@test "strategic merge: \$setElementOrder gives the order" {
	deployment
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"b"},{"name":"a"}],"containers":[{"name":"c","image":"c:1"}]}}}}'
	done_with 200
	equal "$(containers)" '["c=c:1","b=b:1","a=a:1"]'
}

@test "strategic merge: \$retainKeys drops the rest of a union" {
	deployment
	patch strategic "$D/web" '{"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}'
	done_with 200
	equal "$(json -c .spec.strategy)" '{"type":"Recreate"}'
}

@test "strategic merge: primitive lists merge or are replaced" {
	send POST "$C" '{"metadata":{"name":"x","finalizers":["a.b/c"]}}'
	patch strategic "$C/x" '{"metadata":{"finalizers":["a.b/d"]}}'
	equal "$(json -c '.metadata.finalizers | sort')" '["a.b/c","a.b/d"]'
	patch strategic "$C/x" '{"metadata":{"$deleteFromPrimitiveList/finalizers":["a.b/c"]}}'
	equal "$(json -c .metadata.finalizers)" '["a.b/d"]'
	patch merge "$C/x" '{"metadata":{"finalizers":null}}'
	deployment
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"containers":[{"name":"a","args":["z"]}]}}}}'
	equal "$(json -c '.spec.template.spec.containers[0].args')" '["z"]'
}

@test "strategic merge: null removes, ports merge by containerPort" {
	deployment
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"volumes":null,"containers":[{"name":"a","args":null,"ports":[{"containerPort":81,"name":"http"}]}]}}}}'
	done_with 200
	equal "$(json -c '.spec.template.spec | [has("volumes"), (.containers[0] | has("args"))]')" '[false,false]'
	equal "$(json -c '[.spec.template.spec.containers[0].ports[] | [.containerPort, .name]] | sort')" '[[80,null],[81,"http"]]'
}

@test "strategic merge with wrong directives: refused, nothing changed" {
	deployment
	local version
	version=$(json .metadata.resourceVersion)
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"containers":[{"image":"x"}]}}}}'
	[ "$code" = 500 ] || [ "$code" = 422 ] || [ "$code" = 400 ]
	contains "$body" 'does not contain declared merge key: name'
	patch strategic "$D/web" '{"spec":{"template":{"spec":{"containers":[{"$patch":"explode","name":"a"}]}}}}'
	[ "$code" -ge 400 ]
	patch strategic "$D/web" '{"spec":{"$retainKeys":"replicas"}}'
	[ "$code" -ge 400 ]
	http GET "$D/web"
	equal "$(json .metadata.resourceVersion)" "$version"
}

@test "patch of absent object: 404" {
	patch merge "$C/x" '{"data":{"a":"1"}}'
	status 404 NotFound
}

@test "patch of unknown type: 415 lists those accepted" {
	configmap "$N" x
	send PATCH "$C/x" '{}' -H 'Content-Type: application/json'
	status 415 UnsupportedMediaType application/merge-patch+json
	send PATCH "$C/x" '{}' -H 'Content-Type: text/plain'
	status 415 UnsupportedMediaType application/strategic-merge-patch+json
}

@test "patch with resourceVersion: a precondition" {
	configmap "$N" x k 1
	local version
	version=$(json .metadata.resourceVersion)
	patch merge "$C/x" "{\"metadata\":{\"resourceVersion\":\"$version\"},\"data\":{\"k\":\"2\"}}"
	done_with 200
	patch merge "$C/x" "{\"metadata\":{\"resourceVersion\":\"$version\"},\"data\":{\"k\":\"3\"}}"
	status 409 Conflict 'the object has been modified'
	patch merge "$C/x" '{"metadata":{"uid":"11111111-1111-1111-1111-111111111111"}}'
	status 409 Conflict
}

@test "patch to something invalid: 422, nothing changed" {
	deployment
	patch merge "$D/web" '{"spec":{"replicas":-1}}'
	status 422 Invalid spec.replicas
	patch merge "$D/web" '{"spec":{"replicas":"many"}}'
	[ "$code" = 422 ] || [ "$code" = 400 ]
	patch merge "$D/web?fieldValidation=Strict" '{"spec":{"foo":1}}'
	status 422 Invalid 'unknown field "spec.foo"'
	patch merge "$D/web" '{"metadata":{"name":"other"}}'
	status 400 BadRequest
	http GET "$D/web"
	equal "$(json -c '[.spec.replicas, .metadata.generation]')" '[1,1]'
}

@test "patch as dry run: the answer changed, the object not" {
	configmap "$N" x k 1
	patch merge "$C/x?dryRun=All" '{"data":{"k":"2"}}'
	done_with 200
	equal "$(json .data.k)" 2
	http GET "$C/x"
	equal "$(json .data.k)" 1
}

@test "patch of status: only status" {
	deployment
	patch merge "$D/web/status" '{"status":{"observedGeneration":1},"spec":{"replicas":7}}'
	done_with 200
	equal "$(json -c '[.spec.replicas, .status.observedGeneration]')" '[1,1]'
}

@test "force without apply: 422" {
	configmap "$N" x
	patch merge "$C/x?force=true" '{"data":{"k":"2"}}'
	status 422 Invalid
}

@test "many patches at once: none is lost, none sees a conflict" {
	send POST "$C" '{"metadata":{"name":"x"}}'
	local n
	for n in $(seq 6); do
		for m in $(seq 10); do
			curl -sS --cacert "$CA" -H "Authorization: Bearer $TOKEN" -X PATCH "$URL$C/x" -o /dev/null -w '%{http_code}\n' \
				-H 'Content-Type: application/merge-patch+json' -d "{\"data\":{\"k$n-$m\":\"v\"}}"
		done >"$BATS_TEST_TMPDIR/codes.$n" 3>&- &
	done
	wait
	equal "$(sort -u "$BATS_TEST_TMPDIR"/codes.*)" 200
	http GET "$C/x"
	equal "$(json '.data | length')" 60
}
