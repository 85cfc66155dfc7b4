# SPDX-License-Identifier: Apache-2.0
# Create, update, delete: what the server sets, keeps, refuses.

load ../lib/holdfs

setup_file() {
	start_server
	namespace t
}

teardown_file() {
	stop_server
}

setup() {
	N=t$BATS_TEST_NUMBER
	namespace "$N"
	C=/api/v1/namespaces/$N/configmaps
	D=/apis/apps/v1/namespaces/$N/deployments
}

deployment() {
	cat <<-EOF
		{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"$1"},"spec":{"replicas":${2:-1},
		"selector":{"matchLabels":{"app":"$1"}},"template":{"metadata":{"labels":{"app":"$1"}},
		"spec":{"containers":[{"name":"c","image":"i:1"}]}}}}
	EOF
}

@test "create: 201, the server's metadata, what was sent" {
	send POST "$C" '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","uid":"11111111-1111-1111-1111-111111111111","creationTimestamp":"2001-01-01T00:00:00Z","generation":7,"selfLink":"/x"},"data":{"a":"b"}}'
	done_with 201
	[ "$(json .metadata.uid)" != 11111111-1111-1111-1111-111111111111 ]
	[ "$(json .metadata.creationTimestamp)" != 2001-01-01T00:00:00Z ]
	equal "$(json '.metadata | has("generation"), has("selfLink")' | sort -u)" false
	equal "$(json '[.kind, .apiVersion, .metadata.namespace, .data.a] | join(" ")')" "ConfigMap v1 $N b"
}

@test "create twice: 409 AlreadyExists" {
	configmap "$N" x
	send POST "$C" '{"metadata":{"name":"x"}}'
	status 409 AlreadyExists 'configmaps "x" already exists'
}

@test "create with generateName: a name of the prefix and five letters" {
	send POST "$C" '{"metadata":{"generateName":"web-"}}'
	done_with 201
	matches "$(json .metadata.name)" '^web-[bcdfghjklmnpqrstvwxz2456789]{5}$'
	local long
	long=$(head -c 80 /dev/zero | tr '\0' a)
	send POST "$C" "{\"metadata\":{\"generateName\":\"$long\"}}"
	done_with 201
	equal "$(json '.metadata.name | length')" 63
	send POST "$C" '{"metadata":{}}'
	status 422 Invalid 'name or generateName is required'
}

@test "create with resourceVersion: refused" {
	send POST "$C" '{"metadata":{"name":"x","resourceVersion":"5"}}'
	[ "$code" = 400 ] || [ "$code" = 500 ]
	contains "$body" 'resourceVersion should not be set on objects to be created'
	gone "$C/x"
}

@test "create in an absent namespace: 404" {
	send POST /api/v1/namespaces/absent/configmaps '{"metadata":{"name":"x"}}'
	status 404 NotFound 'namespaces "absent" not found'
}

@test "create with another namespace in the body: 400" {
	send POST "$C" '{"metadata":{"name":"x","namespace":"other"}}'
	status 400 BadRequest 'the namespace of the provided object does not match the namespace sent on the request'
}

@test "create another kind at this path: 400" {
	send POST "$C" '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}'
	status 400 BadRequest
	send POST "$C" '{"apiVersion":"apps/v1","kind":"ConfigMap","metadata":{"name":"x"}}'
	status 400 BadRequest
	gone "$C/x"
}

@test "create as dry run: whole answer, nothing kept" {
	send POST "$D?dryRun=All" "$(deployment web)"
	done_with 201
	equal "$(json .spec.strategy.type)" RollingUpdate
	gone "$D/web"
	send POST "$C?dryRun=Some" '{"metadata":{"name":"x"}}'
	status 422 Invalid
}

@test "create as YAML: stored" {
	http POST "$C" -H 'Content-Type: application/yaml' --data-binary $'metadata:\n  name: from-yaml\ndata:\n  number: "1"\n  text: |\n    a\n    b\n'
	done_with 201
	equal "$(json -c .data)" '{"number":"1","text":"a\nb\n"}'
}

@test "create without content type: JSON" {
	http POST "$C" -H 'Content-Type:' --data-binary '{"metadata":{"name":"x"}}'
	done_with 201
}

@test "create Deployment: defaults, generation 1, status empty" {
	send POST "$D" "$(deployment web)"
	done_with 201
	equal "$(json .metadata.generation)" 1
	equal "$(json -cS .spec.strategy)" '{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"}'
	equal "$(json '.spec | [.revisionHistoryLimit, .progressDeadlineSeconds] | join(" ")')" "10 600"
	equal "$(json '.spec.template.spec | [.restartPolicy, .dnsPolicy, .schedulerName, .terminationGracePeriodSeconds] | map(tostring) | join(" ")')" \
		"Always ClusterFirst default-scheduler 30"
	equal "$(json '.spec.template.spec.containers[0] | [.imagePullPolicy, .terminationMessagePath, .terminationMessagePolicy] | join(" ")')" \
		"IfNotPresent /dev/termination-log File"
	equal "$(json -c .status)" '{}'
}

@test "create Pod: phase Pending, quality of service, account" {
	send POST "/api/v1/namespaces/$N/pods" '{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1000m","memory":"64Mi"}}}]}}'
	done_with 201
	equal "$(json '[.status.phase, .status.qosClass] | join(" ")')" "Pending Guaranteed"
	equal "$(json -cS '.spec.containers[0].resources')" '{"limits":{"cpu":"1","memory":"64Mi"},"requests":{"cpu":"1","memory":"64Mi"}}'
}

@test "create Service: cluster IP of its own, target port" {
	send POST "/api/v1/namespaces/$N/services" '{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}}'
	done_with 201
	matches "$(json .spec.clusterIP)" '^[0-9.]+$'
	equal "$(json '.spec.clusterIPs[0]')" "$(json .spec.clusterIP)"
	equal "$(json -c '[.spec.type, .spec.ports[0].protocol, .spec.ports[0].targetPort, .spec.sessionAffinity]')" '["ClusterIP","TCP",80,"None"]'
	local first
	first=$(json .spec.clusterIP)
	send POST "/api/v1/namespaces/$N/services" '{"metadata":{"name":"s2"},"spec":{"ports":[{"port":80}]}}'
	[ "$(json .spec.clusterIP)" != "$first" ]
	send POST "/api/v1/namespaces/$N/services" '{"metadata":{"name":"np"},"spec":{"type":"NodePort","ports":[{"port":80}]}}'
	done_with 201
	[ "$(json '.spec.ports[0].nodePort')" -ge 30000 ]
}

@test "create Secret: stringData becomes data" {
	send POST "/api/v1/namespaces/$N/secrets" '{"metadata":{"name":"s"},"stringData":{"a":"hello"}}'
	done_with 201
	equal "$(json '.data.a + " " + .type')" "aGVsbG8= Opaque"
	equal "$(json 'has("stringData")')" false
}

@test "update: new content, same uid, higher revision" {
	configmap "$N" x k 1
	local uid version
	uid=$(json .metadata.uid) version=$(json .metadata.resourceVersion)
	send PUT "$C/x" "$(json -c '.data.k = "2"')"
	done_with 200
	equal "$(json '.metadata.uid + " " + .data.k')" "$uid 2"
	[ "$(json .metadata.resourceVersion)" -gt "$version" ]
}

@test "update with stale resourceVersion: 409, nothing changed" {
	configmap "$N" x k 1
	local old=$body
	send PUT "$C/x" "$(json -c '.data.k = "2"')"
	send PUT "$C/x" "$(jq -c '.data.k = "3"' <<<"$old")"
	status 409 Conflict 'Operation cannot be fulfilled on configmaps "x": the object has been modified; please apply your changes to the latest version and try again'
	http GET "$C/x"
	equal "$(json .data.k)" 2
}

@test "update without resourceVersion: the last writer wins" {
	configmap "$N" x k 1
	send PUT "$C/x" '{"metadata":{"name":"x"},"data":{"k":"2"}}'
	done_with 200
	equal "$(json .data.k)" 2
}

@test "update with another uid: 409" {
	configmap "$N" x
	send PUT "$C/x" '{"metadata":{"name":"x","uid":"11111111-1111-1111-1111-111111111111"}}'
	status 409 Conflict
}

@test "update with another name: 400" {
	configmap "$N" x
	send PUT "$C/x" '{"metadata":{"name":"y"}}'
	status 400 BadRequest 'the name of the object (y) does not match the name on the URL (x)'
}

@test "update absent object: 404; Lease, Service: created" {
	send PUT "$C/x" '{"metadata":{"name":"x"}}'
	status 404 NotFound
	send PUT "/apis/coordination.k8s.io/v1/namespaces/$N/leases/l" '{"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}}'
	done_with 201
}

@test "update that changes nothing: same revision" {
	configmap "$N" x k 1
	local version
	version=$(json .metadata.resourceVersion)
	send PUT "$C/x" "$body"
	done_with 200
	equal "$(json .metadata.resourceVersion)" "$version"
}

@test "update Deployment: generation grows with spec, not with labels or status" {
	send POST "$D" "$(deployment web)"
	send PUT "$D/web" "$(json -c '.spec.replicas = 2')"
	equal "$(json .metadata.generation)" 2
	send PUT "$D/web" "$(json -c '.metadata.labels.x = "y"')"
	equal "$(json .metadata.generation)" 2
	send PUT "$D/web" "$(json -c '.status.replicas = 5')"
	done_with 200
	equal "$(json '[.metadata.generation, (.status.replicas // 0)] | map(tostring) | join(" ")')" "2 0"
}

@test "update status: only status is taken" {
	send POST "$D" "$(deployment web)"
	send PUT "$D/web/status" "$(json -c '.status = {"replicas": 1, "readyReplicas": 1} | .spec.replicas = 9')"
	done_with 200
	equal "$(json '[.spec.replicas, .status.readyReplicas, .metadata.generation] | map(tostring) | join(" ")')" "1 1 1"
	http GET "$D/web/status"
	equal "$(json .kind)" Deployment
	http GET "$C/x/status"
	done_with 404
}

@test "scale: read and set" {
	send POST "$D" "$(deployment web 2)"
	http GET "$D/web/scale"
	done_with 200
	equal "$(json '[.kind, .apiVersion, .spec.replicas, .status.selector] | map(tostring) | join(" ")')" "Scale autoscaling/v1 2 app=web"
	send PUT "$D/web/scale" "$(json -c '.spec.replicas = 4')"
	done_with 200
	send PATCH "$D/web/scale" '{"spec":{"replicas":5}}' -H 'Content-Type: application/merge-patch+json'
	done_with 200
	equal "$(json '.kind + " " + (.spec.replicas | tostring)')" "Scale 5"
	http GET "$D/web"
	equal "$(json .spec.replicas)" 5
	send PATCH "$D/web/scale" '{"spec":{"replicas":-1}}' -H 'Content-Type: application/merge-patch+json'
	status 422 Invalid
}

@test "immutable fields: refused" {
	send POST "$D" "$(deployment web)"
	send PUT "$D/web" "$(json -c '.spec.selector.matchLabels.app = "b" | .spec.template.metadata.labels.app = "b"')"
	status 422 Invalid 'field is immutable'
	send POST "/api/v1/namespaces/$N/secrets" '{"metadata":{"name":"s"},"type":"a/b"}'
	send PUT "/api/v1/namespaces/$N/secrets/s" "$(json -c '.type = "c/d"')"
	status 422 Invalid 'type: Invalid value: "c/d": field is immutable'
	send POST "$C" '{"metadata":{"name":"fixed"},"immutable":true,"data":{"a":"b"}}'
	send PUT "$C/fixed" "$(json -c '.data.a = "c"')"
	status 422 Invalid
}

@test "delete: 200 with Status, then 404" {
	configmap "$N" x
	local uid
	uid=$(json .metadata.uid)
	http DELETE "$C/x"
	done_with 200
	equal "$(json -c '[.kind, .status, .details.name, .details.kind, .details.uid]')" "[\"Status\",\"Success\",\"x\",\"configmaps\",\"$uid\"]"
	http DELETE "$C/x"
	status 404 NotFound
}

@test "delete with preconditions: 409 when they do not hold" {
	configmap "$N" x
	local version
	version=$(json .metadata.resourceVersion)
	send DELETE "$C/x" '{"preconditions":{"uid":"11111111-1111-1111-1111-111111111111"}}'
	status 409 Conflict
	send DELETE "$C/x" '{"preconditions":{"resourceVersion":"1"}}'
	status 409 Conflict
	send DELETE "$C/x" "{\"preconditions\":{\"resourceVersion\":\"$version\"}}"
	done_with 200
}

@test "delete as dry run: still there" {
	configmap "$N" x
	http DELETE "$C/x?dryRun=All"
	done_with 200
	http GET "$C/x"
	done_with 200
}

@test "delete with finalizer: marked, kept until the finalizer goes" {
	send POST "$C" '{"metadata":{"name":"x","finalizers":["example.com/hold"]}}'
	http DELETE "$C/x"
	done_with 200
	http GET "$C/x"
	matches "$(json .metadata.deletionTimestamp)" '^20'
	send PUT "$C/x" "$(json -c '.metadata.finalizers += ["example.com/more"]')"
	status 422 Invalid
	send POST "$C" '{"metadata":{"name":"x"}}'
	status 409 AlreadyExists 'object is being deleted'
	send PATCH "$C/x" '{"metadata":{"finalizers":null}}' -H 'Content-Type: application/merge-patch+json'
	done_with 200
	gone "$C/x"
}

@test "delete collection: by selector, then all" {
	send POST "$C" '{"metadata":{"name":"a","labels":{"x":"1"}}}'
	send POST "$C" '{"metadata":{"name":"b","labels":{"x":"2"}}}'
	send POST "$C" '{"metadata":{"name":"c","labels":{"x":"1"}}}'
	http DELETE "$C?labelSelector=x%3D1"
	done_with 200
	http GET "$C?labelSelector=x"
	equal "$(json '[.items[].metadata.name] | join(" ")')" b
	http DELETE "$C?labelSelector=x"
	http GET "$C?labelSelector=x"
	equal "$(json -c .items)" '[]'
}

@test "object of 1 MiB: written and read back" {
	head -c 1000000 /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/big"
	jq -n --rawfile big "$BATS_TEST_TMPDIR/big" '{metadata: {name: "big"}, data: {big: $big}}' >"$BATS_TEST_TMPDIR/big.json"
	send POST "$C" @"$BATS_TEST_TMPDIR/big.json"
	done_with 201
	http GET "$C/big"
	equal "$(jq -r '.data.big' "$SERVER_DIR/body" | wc -c)" 1000001
}

@test "name rules: each kind's grammar" {
	local name
	for name in Upper under_score -dash dash- a..b 'sp ace' "$(head -c 254 /dev/zero | tr '\0' a)"; do
		send POST "$C" "$(jq -cn --arg n "$name" '{metadata: {name: $n}}')"
		status 422 Invalid metadata.name
	done
	send POST /api/v1/namespaces '{"metadata":{"name":"a.b"}}'
	status 422 Invalid metadata.name
	send POST /apis/rbac.authorization.k8s.io/v1/clusterroles "{\"metadata\":{\"name\":\"$N:Odd_but fine\"}}"
	done_with 201
	send POST /apis/rbac.authorization.k8s.io/v1/clusterroles '{"metadata":{"name":"a/b"}}'
	status 422 Invalid
}

@test "key rules: labels, annotations, data" {
	send POST "$C" '{"metadata":{"name":"x","labels":{"a b":"c"}}}'
	status 422 Invalid metadata.labels
	send POST "$C" '{"metadata":{"name":"x","labels":{"a":"b c"}}}'
	status 422 Invalid metadata.labels
	send POST "$C" '{"metadata":{"name":"x","annotations":{"a b":"c"}}}'
	status 422 Invalid metadata.annotations
	send POST "$C" '{"metadata":{"name":"x"},"data":{"a b":"c"}}'
	status 422 Invalid 'data[a b]'
	send POST "$C" '{"metadata":{"name":"x"},"data":{"..":"c"}}'
	status 422 Invalid
	gone "$C/x"
}

@test "required fields: 422 names each" {
	send POST "$D" '{"metadata":{"name":"x"},"spec":{"template":{"spec":{}}}}'
	status 422 Invalid 'Deployment.apps "x" is invalid'
	equal "$(json '.details.kind + " " + .details.group')" "Deployment apps"
	contains "$(json '[.details.causes[] | .field + " " + .reason] | join("; ")')" 'spec.selector FieldValueRequired'
	contains "$(json '[.details.causes[] | .field + " " + .reason] | join("; ")')" 'spec.template.spec.containers FieldValueRequired'
}

@test "unknown and duplicate fields: Strict refuses, Warn warns, Ignore is silent" {
	local text='{"metadata":{"name":"x"},"spec":{"replicas":1,"replicas":2,"foo":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","bar":2}]}}}}'
	send POST "$D?fieldValidation=Strict" "$text"
	status 400 BadRequest 'strict decoding error'
	contains "$(json .message)" 'unknown field "spec.foo"'
	contains "$(json .message)" 'unknown field "spec.template.spec.containers[0].bar"'
	contains "$(json .message)" 'duplicate field "spec.replicas"'
	gone "$D/x"
	send POST "$D?fieldValidation=Ignore" "$text"
	done_with 201
	equal "$(header warning)" ""
	equal "$(json -c '[.spec | has("foo"), .replicas]')" '[false,2]'
	http DELETE "$D/x"
	send POST "$D" "$text"
	done_with 201
	contains "$(header warning)" '299 - "unknown field \"spec.foo\""'
	contains "$(header warning)" '299 - "duplicate field \"spec.replicas\""'
	send POST "$D?fieldValidation=Sometimes" "$text"
	status 422 Invalid
}

@test "fieldManager: too long or unprintable is refused" {
	send POST "$C?fieldManager=$(head -c 129 /dev/zero | tr '\0' a)" '{"metadata":{"name":"x"}}'
	status 422 Invalid
	send POST "$C?fieldManager=me" '{"metadata":{"name":"x"}}'
	done_with 201
}

@test "every create at once: each has its own revision" {
	local n text
	for n in $(seq 8); do
		seq 25 | sed "s/.*/{\"metadata\":{\"name\":\"q&-$n\"}}/" >"$BATS_TEST_TMPDIR/$n"
		while IFS= read -r text; do
			curl -sS --cacert "$CA" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
				-X POST "$URL$C" -d "$text" -o /dev/null
		done <"$BATS_TEST_TMPDIR/$n" 3>&- &
	done
	wait
	http GET "$C"
	equal "$(json '[.items[].metadata | select(.name | startswith("q"))] | length')" 200
	equal "$(json '[.items[].metadata | select(.name | startswith("q")) | .resourceVersion] | unique | length')" 200
}

@test "object of nearly 3 MiB, and one 500 levels deep: stored; 600 levels: 400" {
	local url=/apis/apps/v1/namespaces/$N/controllerrevisions
	python3 - "$BATS_TEST_TMPDIR" <<-'P'
		import json, sys
		def put(name, data):
		    open(f"{sys.argv[1]}/{name}.json", "w").write('{"metadata":{"name":"%s"},"revision":1,"data":{"d":%s}}' % (name, data))
		put("large", json.dumps("x" * 3000000))
		put("deep", "[" * 500 + "]" * 500)
		put("deeper", "[" * 600 + "]" * 600)
	P
	send POST "$url" "@$BATS_TEST_TMPDIR/large.json"
	done_with 201
	http GET "$url/large"
	equal "$(json '.data.d | length')" 3000000
	send POST "$url" "@$BATS_TEST_TMPDIR/deep.json"
	done_with 201
	send POST "$url" "@$BATS_TEST_TMPDIR/deeper.json"
	status 400 BadRequest
	gone "$url/deeper"
}
