# SPDX-License-Identifier: Apache-2.0
# Watching: events in order, resume, bookmarks, initial events, selectors, forms, ends.

load ../lib/holdfs

setup_file() {
	start_server
	namespace w
}

teardown_file() {
	stop_server
}

setup() {
	EVENTS=$BATS_TEST_TMPDIR/events
	N=w$BATS_TEST_NUMBER
	namespace "$N"
	C=/api/v1/namespaces/$N/configmaps
	# What the controllers put into a new namespace is not what these tests look for.
	wait_until 10 exists "$C/kube-root-ca.crt"
}

teardown() {
	watch_stop
}

exists() {
	http GET "$1"
	[ "$code" = 200 ]
}

revision() {
	http GET "$C"
	json .metadata.resourceVersion
}

merge() {
	send PATCH "$1" "$2" -H 'Content-Type: application/merge-patch+json'
	done_with 200
}

# events FILTER: what jq says of each event so far.
events() {
	jq -rc "$1" "$EVENTS"
}

# got COUNT: waits for so many events.
got() {
	wait_until 10 has_lines "$EVENTS" "$1" || {
		echo "wanted $1 events, got:" >&2
		cat "$EVENTS" >&2
		return 1
	}
}

BRIEF='.type + " " + .object.metadata.name + " " + (.object.data.k // "")'

@test "watch from a revision: added, modified, deleted in order" {
	watch_start "$C?watch=true&resourceVersion=$(revision)" "$EVENTS"
	configmap "$N" x k 1
	merge "$C/x" '{"data":{"k":"2"}}'
	http DELETE "$C/x"
	got 3
	equal "$(events "$BRIEF")" $'ADDED x 1\nMODIFIED x 2\nDELETED x 2'
	equal "$(events '.object.metadata.resourceVersion | tonumber' | sort -nu | wc -l)" 3
	equal "$(events '.object.metadata.resourceVersion | tonumber')" \
		"$(events '.object.metadata.resourceVersion | tonumber' | sort -n)"
	equal "$(events '.object.kind + " " + .object.apiVersion' | sort -u)" "ConfigMap v1"
}

@test "watch without revision: what is there comes as ADDED, then the changes" {
	configmap "$N" x k 1
	watch_start "$C?watch=true&fieldSelector=metadata.name%3Dx" "$EVENTS"
	got 1
	merge "$C/x" '{"data":{"k":"2"}}'
	got 2
	equal "$(events "$BRIEF")" $'ADDED x 1\nMODIFIED x 2'
}

@test "watch resumes from any earlier revision: the same events again" {
	local from
	from=$(revision)
	configmap "$N" x k 1
	merge "$C/x" '{"data":{"k":"2"}}'
	configmap "$N" y
	http DELETE "$C/y"
	watch_start "$C?watch=true&resourceVersion=$from" "$EVENTS"
	got 4
	equal "$(events "$BRIEF")" $'ADDED x 1\nMODIFIED x 2\nADDED y v\nDELETED y v'
	watch_stop
	local second
	second=$(events .object.metadata.resourceVersion | sed -n 2p)
	watch_start "$C?watch=true&resourceVersion=$second" "$EVENTS"
	got 2
	equal "$(events "$BRIEF")" $'ADDED y v\nDELETED y v'
}

@test "watch with sendInitialEvents: objects, the end bookmark, then changes" {
	configmap "$N" x k 1
	watch_start "$C?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" "$EVENTS"
	got 3
	equal "$(events "$BRIEF" | head -n 2 | sort)" "$(printf 'ADDED kube-root-ca.crt \nADDED x 1')"
	equal "$(sed -n 3p "$EVENTS" | jq -c '[.type, .object.kind, .object.apiVersion, .object.metadata.annotations]')" \
		'["BOOKMARK","ConfigMap","v1",{"k8s.io/initial-events-end":"true"}]'
	matches "$(sed -n 3p "$EVENTS" | jq -r .object.metadata.resourceVersion)" '^[1-9][0-9]*$'
	configmap "$N" y k 2
	got 4
	equal "$(events "$BRIEF" | tail -n 1)" "ADDED y 2"
}

@test "watch with wrong parameters: 422" {
	http GET "$C?watch=true&sendInitialEvents=true"
	status 422 Invalid
	http GET "$C?watch=true&resourceVersionMatch=NotOlderThan"
	status 422 Invalid
	http GET "$C?watch=true&resourceVersion=abc"
	status 400 BadRequest
}

@test "watch with timeoutSeconds: ends cleanly, with a bookmark when asked" {
	local code=0
	curl -sSN -m 20 --cacert "$CA" -H "Authorization: Bearer $TOKEN" \
		"$URL$C?watch=true&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=$(revision)" >"$EVENTS" || code=$?
	equal "$code" 0
	equal "$(events .type | sort -u)" "BOOKMARK"
	equal "$(events '.object | keys' | sort -u)" '["apiVersion","kind","metadata"]'
}

@test "watch by label: leaving the selection is DELETED, coming in is ADDED" {
	watch_start "$C?watch=true&labelSelector=on%3Dyes&resourceVersion=$(revision)" "$EVENTS"
	configmap "$N" x k 1
	merge "$C/x" '{"metadata":{"labels":{"on":"yes"}}}'
	merge "$C/x" '{"data":{"k":"2"}}'
	merge "$C/x" '{"metadata":{"labels":{"on":null}},"data":{"k":"3"}}'
	merge "$C/x" '{"data":{"k":"4"}}'
	http DELETE "$C/x"
	configmap "$N" z
	merge "$C/z" '{"metadata":{"labels":{"on":"yes"}}}'
	got 4
	equal "$(events "$BRIEF")" $'ADDED x 1\nMODIFIED x 2\nDELETED x 2\nADDED z v'
}

@test "watch by field: only the named object" {
	watch_start "$C?watch=true&fieldSelector=metadata.name%3Dy&resourceVersion=$(revision)" "$EVENTS"
	configmap "$N" x
	configmap "$N" y
	got 1
	equal "$(events "$BRIEF")" "ADDED y v"
}

@test "watch one object by path: only its events" {
	configmap "$N" x
	configmap "$N" y
	watch_start "/api/v1/watch/namespaces/$N/configmaps/x?resourceVersion=$(revision)" "$EVENTS"
	merge "$C/y" '{"data":{"k":"2"}}'
	merge "$C/x" '{"data":{"k":"3"}}'
	got 1
	equal "$(events "$BRIEF")" "MODIFIED x 3"
}

@test "watch all namespaces: events of each" {
	watch_start "/api/v1/configmaps?watch=true&resourceVersion=$(revision)" "$EVENTS"
	configmap "$N" x
	configmap w "x$BATS_TEST_NUMBER"
	got 2
	equal "$(events .object.metadata.namespace)" "$N"$'\nw'
}

@test "watch as Table: columns in the first event only" {
	watch_start "$C?watch=true&resourceVersion=$(revision)" "$EVENTS" \
		-H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io'
	configmap "$N" x
	merge "$C/x" '{"data":{"l":"2"}}'
	got 2
	equal "$(events '.object.kind + " " + .type')" $'Table ADDED\nTable MODIFIED'
	equal "$(events '.object.columnDefinitions // [] | length')" $'3\n0'
	equal "$(events '.object.rows[0].cells[0:2]')" $'["x",1]\n["x",2]'
	equal "$(events '.object.rows[0].object.kind' | sort -u)" PartialObjectMetadata
}

@test "watch metadata only: no data" {
	watch_start "$C?watch=true&resourceVersion=$(revision)" "$EVENTS" \
		-H 'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
	configmap "$N" x
	got 1
	equal "$(events '[.object.kind, .object.metadata.name, (.object | has("data"))]')" \
		'["PartialObjectMetadata","x",false]'
}

@test "watch while nothing changes: the reply's head comes at once" {
	watch_start "$C?watch=true&resourceVersion=$(revision)" "$EVENTS" -D "$SERVER_DIR/watch-headers"
	wait_until 5 has_line "$SERVER_DIR/watch-headers" '^HTTP/1.1 200'
	has_line "$SERVER_DIR/watch-headers" '[Cc]ontent-[Tt]ype: application/json'
}

@test "write that changes nothing: no event" {
	configmap "$N" x k 1
	watch_start "$C?watch=true&resourceVersion=$(revision)" "$EVENTS"
	merge "$C/x" '{"data":{"k":"1"}}'
	configmap "$N" y
	got 1
	equal "$(events "$BRIEF")" "ADDED y v"
}

@test "hundred watchers: each gets each event" {
	local from n pids=()
	from=$(revision)
	for n in $(seq 100); do
		curl -sSN --cacert "$CA" -H "Authorization: Bearer $TOKEN" \
			"$URL$C?watch=true&resourceVersion=$from" >"$EVENTS.$n" 2>&1 3>&- &
		pids+=($!)
	done
	for n in $(seq 20); do configmap "$N" "x$n"; done
	for n in $(seq 100); do wait_until 20 has_lines "$EVENTS.$n" 20; done
	kill "${pids[@]}"
	equal "$(cat "$EVENTS".* | jq -r .object.metadata.name | sort | uniq -c | awk '{print $1}' | sort -u)" 100
	for n in 1 50 100; do equal "$(cat "$EVENTS.$n")" "$(cat "$EVENTS.2")"; done
}
