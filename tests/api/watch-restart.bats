# SPDX-License-Identifier: Apache-2.0
# Revisions and the feed outlive the server.

load ../lib/holdfs

setup() {
	start_server
	EVENTS=$BATS_TEST_TMPDIR/events
	C=/api/v1/namespaces/default/configmaps
}

teardown() {
	watch_stop
	stop_server
}

revision() {
	http GET "$C"
	json .metadata.resourceVersion
}

@test "restart: revisions go on, a watch resumes exactly" {
	local from before
	from=$(revision)
	configmap default x
	configmap default y
	http DELETE "$C/x"
	before=$(revision)
	end_server
	serve
	[ "$(revision)" -ge "$before" ]
	watch_start "$C?watch=true&resourceVersion=$from" "$EVENTS"
	configmap default z
	wait_until 10 has_lines "$EVENTS" 4
	equal "$(jq -r '.type + " " + .object.metadata.name' "$EVENTS")" $'ADDED x\nADDED y\nDELETED x\nADDED z'
}

@test "restart: objects, uids and times are as before" {
	configmap default x
	http GET "$C/x"
	local before=$body
	end_server
	serve
	http GET "$C/x"
	equal "$body" "$before"
}

@test "restart: the same token, CA and kubeconfig hold" {
	local token=$TOKEN
	end_server
	serve
	equal "$TOKEN" "$token"
}

@test "running watch at SIGTERM: the server still stops at once" {
	watch_start "$C?watch=true&resourceVersion=$(revision)" "$EVENTS"
	local begin=$(date +%s%N)
	end_server
	[ $(($(date +%s%N) - begin)) -lt 5000000000 ]
	serve
}

@test "resume below the compacted revision: 410 Expired" {
	end_server
	serve --feed-size 64K
	local from n
	from=$(revision)
	# Compaction comes after some thousand events.
	for n in $(seq 5000); do
		printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n' "$n"
	done | "$HOLDFS" import --data "$DATA" --quiet -
	expired() {
		http GET "$C?watch=true&timeoutSeconds=1&resourceVersion=$from"
		[ "$code" = 410 ] || contains "$body" '"code":410' 2>/dev/null
	}
	wait_until 20 expired
	contains "$body" '"reason":"Expired"'
	http GET "$C?resourceVersion=$from&resourceVersionMatch=Exact"
	status 410 Expired
}

@test "young continue token: the feed is kept for it" {
	end_server
	serve --feed-size 64K
	local n big next
	configmap default second
	http GET "$C?limit=1"
	next=$(json .metadata.continue)
	big=$(head -c 20000 /dev/zero | tr '\0' x)
	for n in $(seq 20); do
		configmap default "big$n" k "$big"
	done
	http GET "$C?continue=$next"
	done_with 200
	equal "$(json '[.items[].metadata.name] | map(select(startswith("big"))) | length')" 0
}
