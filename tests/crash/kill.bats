# SPDX-License-Identifier: Apache-2.0
# SIGKILL at any moment loses nothing that was acknowledged.

load ../lib/holdfs

@test "kill 60 times under parallel writes: check is content, nothing acknowledged is lost" {
	mkdir "$BATS_TEST_TMPDIR/crash"
	run timeout 500 python3 "$TESTS/crash/driver.py" "$HOLDFS" "$BATS_TEST_TMPDIR/crash" 60
	echo "$output"
	[ "$status" -eq 0 ] || tail -n 50 "$BATS_TEST_TMPDIR/crash/log"
	equal "$status" 0
	matches "$output" '60 kills, [0-9]+ writes acknowledged, none lost'
}

@test "kill under import: what it reported as stored is there" {
	start_server
	local n
	for n in $(seq 3000); do
		printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n' "$n"
	done >"$BATS_TEST_TMPDIR/many.yaml"
	"$HOLDFS" import --data "$DATA" "$BATS_TEST_TMPDIR/many.yaml" >"$BATS_TEST_TMPDIR/import" 2>&1 3>&- &
	local importing=$! code=0
	some() { http GET '/api/v1/namespaces/default/configmaps?limit=200' && [ "$(json '.items | length')" -ge 100 ]; }
	wait_until 30 some
	kill_server
	wait "$importing" || code=$?
	[ "$code" -eq 1 ]
	check_store
	serve
	"$HOLDFS" import --data "$DATA" "$BATS_TEST_TMPDIR/many.yaml"
	http GET /api/v1/namespaces/default/configmaps
	equal "$(json '[.items[].metadata.name | select(startswith("c"))] | length')" 3000
	stop_server
}
