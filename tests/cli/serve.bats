# SPDX-License-Identifier: Apache-2.0
# `holdfs serve`: options, exit codes, readiness, what it writes, how it stops.

load ../lib/holdfs

setup() {
	new_place
	RUNNING=
}

teardown() {
	[ -z "$RUNNING" ] || stop_server
}

# up [OPTION...]: a server that teardown stops.
up() {
	serve "$@"
	RUNNING=1
}

@test "no command, unknown command, unknown option: usage on stderr, exit 2" {
	run --separate-stderr "$HOLDFS"
	equal "$status" 2
	[ -z "$output" ]
	contains "$stderr" --help
	run "$HOLDFS" frobnicate
	equal "$status" 2
	contains "$output" frobnicate
	run "$HOLDFS" serve --frobnicate
	equal "$status" 2
	run "$HOLDFS" serve --listen
	equal "$status" 2
	run "$HOLDFS" serve --ready-fd x --data "$DATA"
	equal "$status" 2
	run "$HOLDFS" serve extra --data "$DATA"
	equal "$status" 2
	run "$HOLDFS" check --mount "$MNT"
	equal "$status" 2
	[ ! -e "$DATA" ]
}

@test "--help: on stdout, exit 0, for all and for each command" {
	local command
	run --separate-stderr "$HOLDFS" --help
	equal "$status" 0
	[ -z "$stderr" ]
	contains "$output" serve
	contains "$output" --insecure-http
	for command in serve import export check version; do
		run "$HOLDFS" "$command" --help
		equal "$status" 0
		contains "$output" "$command"
	done
}

@test "version: one line, exit 0" {
	run "$HOLDFS" version
	equal "$status" 0
	matches "$output" '^holdfs [0-9]+\.[0-9]+\.[0-9]+'
	equal "${#lines[@]}" 1
}

@test "bad --listen: exit 2; taken port: exit 1" {
	local address
	for address in 127.0.0.1 127.0.0.1:x 127.0.0.1:99999 '' ::1:6443; do
		run timeout 10 "$HOLDFS" serve --data "$DATA" --listen "$address"
		equal "$status" 2
	done
	up
	run timeout 10 "$HOLDFS" serve --data "$DATA.2" --listen "${URL#https://}"
	equal "$status" 1
	contains "$output" "${URL##*:}"
}

@test "--ready-fd: the address, when mount and API both answer" {
	up
	matches "$URL" '^https://127\.0\.0\.1:[0-9]+$'
	http GET /readyz
	equal "$code" 200
	mounted "$MNT"
	[ -d "$MNT/namespaces/default" ]
}

@test "kubeconfig: 0600, works, its token is random" {
	up
	equal "$(stat -c %a "$KUBECONFIG")" 600
	equal "$(k get namespace default -o name)" namespace/default
	[ ${#TOKEN} -ge 32 ]
	matches "$(cat "$KUBECONFIG")" "server: \"?$URL\"?"
	local first=$TOKEN old=$DATA
	stop_server
	new_place
	serve
	[ "$TOKEN" != "$first" ]
}

@test "kubeconfig without --kubeconfig: in the data directory" {
	"$HOLDFS" serve --data "$DATA" --listen 127.0.0.1:0 --ready-fd 9 9>"$SERVER_DIR/line" 2>"$SERVER_DIR/log" 3>&- &
	local pid=$!
	wait_until 10 test -s "$SERVER_DIR/line"
	equal "$(stat -c %a "$DATA/kubeconfig")" 600
	kill "$pid"
	wait "$pid"
}

@test "data directory: 0700, key material 0600" {
	up
	equal "$(stat -c %a "$DATA")" 700
	equal "$(find "$DATA" -type f -perm /077)" ""
}

@test "certificate: ECDSA P-256, the loopback names, verifies by the CA in the kubeconfig" {
	up
	local text
	text=$(openssl s_client -connect "${URL#https://}" -CAfile "$CA" -verify_return_error </dev/null 2>/dev/null |
		openssl x509 -noout -text)
	contains "$text" "NIST CURVE: P-256"
	contains "$text" "DNS:localhost"
	contains "$text" "IP Address:127.0.0.1"
	contains "$text" "IP Address:0:0:0:0:0:0:0:1"
	run curl -sS -m 5 "$URL/livez"
	[ "$status" -ne 0 ]
}

@test "TLS before 1.2: refused" {
	up
	run openssl s_client -connect "${URL#https://}" -tls1_1 -cipher 'ALL:@SECLEVEL=0' </dev/null
	[ "$status" -ne 0 ]
}

@test "--insecure-http: no token needed, loopback only, warned about" {
	up --insecure-http
	matches "$URL" '^http://127'
	equal "$(curl -sS "$URL/api/v1/namespaces/default" | jq -r .metadata.name)" default
	has_line "$SERVER_DIR/log" 'HTTP.*admin|warn'
	equal "$(k get namespace default -o name)" namespace/default
	local address
	for address in 0.0.0.0:0 192.0.2.1:0 '[::]:0' example.com:0; do
		run timeout 10 "$HOLDFS" serve --data "$DATA.2" --insecure-http --listen "$address"
		[ "$status" -ne 0 ] && [ "$status" -ne 124 ]
	done
}

@test "--insecure-http: foreign Host and Origin are refused all the same" {
	up --insecure-http
	[ "$(curl -sS -o /dev/null -w '%{http_code}' -H 'Host: evil.example' "$URL/api/v1/secrets")" -ge 400 ]
	[ "$(curl -sS -o /dev/null -w '%{http_code}' -H 'Origin: http://evil.example' "$URL/api/v1/secrets")" -ge 400 ]
}

@test "--listen on IPv6 loopback: served" {
	up --listen '[::1]:0'
	matches "$URL" '^https://\[::1\]:[0-9]+$'
	http GET /livez
	equal "$body" ok
}

@test "--read-only: reads work, writes are refused on both sides" {
	up
	configmap default x k one
	end_server
	serve --read-only
	http GET /api/v1/namespaces/default/configmaps/x
	done_with 200
	send POST /api/v1/namespaces/default/configmaps '{"metadata":{"name":"y"}}'
	[ "$code" -ge 400 ]
	equal "$(json .kind)" Status
	http DELETE /api/v1/namespaces/default/configmaps/x
	[ "$code" -ge 400 ]
	contains "$(cat "$MNT/namespaces/default/configmaps/x.yaml")" "k: one"
	run rm "$MNT/namespaces/default/configmaps/x.yaml"
	[ "$status" -ne 0 ]
	contains "$output" "Read-only"
	run bash -c "echo x >'$MNT/namespaces/default/configmaps/z.yaml'"
	[ "$status" -ne 0 ]
	http GET /api/v1/namespaces/default/configmaps/x
	done_with 200
}

@test "second server on the same store: exit 1, says why, first goes on" {
	up
	run timeout 10 "$HOLDFS" serve --data "$DATA" --listen 127.0.0.1:0
	equal "$status" 1
	[ -n "$output" ]
	http GET /livez
	equal "$body" ok
}

@test "mount point that cannot be: exit 1, nothing left" {
	touch "$SERVER_DIR/file"
	run timeout 10 "$HOLDFS" serve --data "$DATA" --listen 127.0.0.1:0 --mount "$SERVER_DIR/file"
	equal "$status" 1
	[ -n "$output" ]
}

@test "data directory that cannot be: exit 1" {
	touch "$SERVER_DIR/file"
	run timeout 10 "$HOLDFS" serve --data "$SERVER_DIR/file/data" --listen 127.0.0.1:0
	equal "$status" 1
	run timeout 10 "$HOLDFS" serve --data "$SERVER_DIR/file" --listen 127.0.0.1:0
	equal "$status" 1
}

@test "SIGTERM, SIGINT: stops within seconds, unmounted, exit 0, nothing lost" {
	local signal begin
	for signal in TERM INT; do
		serve
		configmap default "x-${signal,,}"
		begin=$(date +%s%N)
		kill -"$signal" "$SERVER_PID"
		wait_until 10 server_ended
		equal "$(<"$SERVER_DIR/exit")" 0
		[ $(($(date +%s%N) - begin)) -lt 5000000000 ]
		! mounted "$MNT"
	done
	serve
	RUNNING=1
	http GET /api/v1/namespaces/default/configmaps/x-term
	done_with 200
	http GET /api/v1/namespaces/default/configmaps/x-int
	done_with 200
}

@test "SIGTERM with a file open and a shell in the mount: still stops" {
	serve
	configmap default x
	exec {fd}<"$MNT/namespaces/default/configmaps/x.yaml"
	(cd "$MNT/namespaces" && exec sleep 30) 3>&- &
	local sleeper=$!
	kill -TERM "$SERVER_PID"
	wait_until 10 server_ended
	equal "$(<"$SERVER_DIR/exit")" 0
	! mounted "$MNT"
	exec {fd}<&-
	kill "$sleeper"
	wait "$sleeper" || true
}

@test "store over --max-size: writes are refused, reads and deletes go on" {
	up --max-size 4M
	local n big
	big=$(head -c 200000 /dev/zero | tr '\0' x)
	for n in $(seq 60); do
		send POST /api/v1/namespaces/default/configmaps "{\"metadata\":{\"name\":\"x$n\"},\"data\":{\"k\":\"$big\"}}"
		[ "$code" = 201 ] || break
	done
	equal "$code" 507
	equal "$(json .kind)" Status
	http GET /api/v1/namespaces/default/configmaps/x1
	done_with 200
	run cp "$MNT/namespaces/default/configmaps/x1.yaml" "$MNT/namespaces/default/configmaps/copy.yaml"
	[ "$status" -ne 0 ]
	contains "$output" "No space left"
	http DELETE /api/v1/namespaces/default/configmaps/x1
	done_with 200
}

@test "log: no bodies, no token" {
	up --verbose
	send POST /api/v1/namespaces/default/secrets '{"metadata":{"name":"s"},"stringData":{"k":"very-secret-text"}}'
	done_with 201
	equal "$(grep -c 'very-secret-text' "$SERVER_DIR/log" || true)" 0
	equal "$(grep -cF "$TOKEN" "$SERVER_DIR/log" || true)" 0
}
