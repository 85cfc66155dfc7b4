# SPDX-License-Identifier: Apache-2.0
# Hostile and broken requests: each gets the right Status, changes nothing, and the server goes on.

load ../lib/holdfs

setup_file() {
	start_server
	namespace bad
	configmap bad there k 1
	http GET /api/v1/namespaces/bad/configmaps
	BEFORE=$(json .metadata.resourceVersion)
	export BEFORE
}

teardown_file() {
	stop_server
}

C=/api/v1/namespaces/bad/configmaps

# No test of this file may have written anything.
teardown() {
	http GET "$C"
	done_with 200
	equal "$(json '[.items[].metadata.name | select(. != "kube-root-ca.crt")] | join(" ")')" there
	equal "$(json '.items[] | select(.metadata.name == "there") | .data.k')" 1
}

@test "malformed JSON: 400" {
	local text
	while IFS= read -r text; do
		send POST "$C" "$text"
		status 400 BadRequest || { echo "for: $text" >&2; return 1; }
	done <<-'EOF'
		{
		{"metadata":{"name":"x"}
		{"metadata":{"name":"x"}} trailing
		{"metadata":{"name":"x",}}
		{'metadata':{'name':'x'}}
		{"metadata":{"name":x}}
		{"metadata":{"name":"x"},"data":{"k":01}}
		{"metadata":{"name":"x"},"data":{"k":"\x"}}
		{"metadata":{"name":"x"},"data":{"k":"\ud800x"}}x
		[]
		"text"
		42
		nul
		NaN
	EOF
}

@test "empty body: 400" {
	send POST "$C" ''
	status 400 BadRequest
}

@test "bytes that are no UTF-8: 400" {
	printf '{"metadata":{"name":"x"},"data":{"k":"\377\376"}}' >"$BATS_TEST_TMPDIR/body"
	send POST "$C" @"$BATS_TEST_TMPDIR/body"
	status 400 BadRequest
	printf '{"metadata":{"name":"x"},"data":{"k":"\300\257"}}' >"$BATS_TEST_TMPDIR/body"
	send POST "$C" @"$BATS_TEST_TMPDIR/body"
	status 400 BadRequest
	printf '{"metadata":{"name":"x\0y"}}' >"$BATS_TEST_TMPDIR/body"
	send POST "$C" @"$BATS_TEST_TMPDIR/body"
	status 400 BadRequest
}

@test "JSON too deep: refused" {
	python3 -c 'print("{\"metadata\":{\"name\":\"x\"},\"data\":" + "[" * 100000 + "]" * 100000 + "}")' >"$BATS_TEST_TMPDIR/body"
	send POST "$C" @"$BATS_TEST_TMPDIR/body"
	status 400 BadRequest
	python3 -c 'print("{\"metadata\":{\"name\":\"x\"},\"data\":" + "{\"a\":" * 600 + "1" + "}" * 601)' >"$BATS_TEST_TMPDIR/body"
	send POST "$C" @"$BATS_TEST_TMPDIR/body"
	status 400 BadRequest
}

@test "malformed YAML: 400" {
	local text
	for text in $'metadata: {name: x' $'a: b: c' $'metadata:\n\tname: x' $'metadata: &a [*a]' '%YAML 9' \
		$'metadata:\n  name: x\n---\nmetadata:\n  name: y\n' '- 1' '!!binary x' $'metadata: *nowhere'; do
		http POST "$C" -H 'Content-Type: application/yaml' --data-binary "$text"
		status 400 BadRequest || { echo "for: $text" >&2; return 1; }
	done
}

@test "YAML that grows when expanded: refused quickly" {
	python3 - >"$BATS_TEST_TMPDIR/body" <<-'EOF'
		print("metadata:\n  name: x\na0: &a0 [x,x,x,x,x,x,x,x,x,x]")
		for n in range(1, 12):
		    print(f"a{n}: &a{n} [" + ",".join([f"*a{n - 1}"] * 10) + "]")
	EOF
	http POST "$C" -H 'Content-Type: application/yaml' --data-binary @"$BATS_TEST_TMPDIR/body"
	[ "$code" = 400 ] || [ "$code" = 413 ]
}

@test "wrong types: refused with the field" {
	local text
	for text in '{"metadata":"x"}' '{"metadata":{"name":5}}' '{"metadata":{"name":"x","labels":[]}}' \
		'{"metadata":{"name":"x","labels":{"a":1}}}' '{"metadata":{"name":"x"},"data":"x"}' \
		'{"metadata":{"name":"x"},"data":{"k":1}}' '{"metadata":{"name":"x"},"data":{"k":{"a":"b"}}}' \
		'{"metadata":{"name":"x"},"binaryData":{"k":"not base64!"}}' '{"metadata":{"name":"x","finalizers":"y"}}' \
		'{"metadata":{"name":"x","ownerReferences":{}}}' '{"metadata":{"name":"x","creationTimestamp":"yesterday"}}' \
		'{"kind":5,"metadata":{"name":"x"}}' '{"apiVersion":["v1"],"metadata":{"name":"x"}}' \
		'{"metadata":{"name":"x"},"immutable":"yes"}'; do
		send POST "$C" "$text"
		[ "$code" = 400 ] || [ "$code" = 422 ] || { echo "for $text: $code $body" >&2; return 1; }
		equal "$(json .kind)" Status
	done
	send POST /apis/apps/v1/namespaces/bad/deployments '{"metadata":{"name":"x"},"spec":{"replicas":"3"}}'
	[ "$code" = 400 ] || [ "$code" = 422 ]
	contains "$body" spec.replicas
}

@test "unknown kinds and fields of other kinds: refused" {
	send POST /apis/example.com/v1/namespaces/bad/gadgets '{"metadata":{"name":"x"}}'
	done_with 404
	send POST "$C" '{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"x"}}'
	status 400 BadRequest
	send POST "$C?fieldValidation=Strict" '{"metadata":{"name":"x"},"spec":{}}'
	status 400 BadRequest 'unknown field "spec"'
}

@test "oversize body: 413" {
	head -c 3145729 /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/body"
	send POST "$C" @"$BATS_TEST_TMPDIR/body"
	status 413 RequestEntityTooLarge 'limit is 3145728'
	# Announced or not.
	code=$(curl -sS -m 30 -o /dev/null -w '%{http_code}' --cacert "$CA" -H "Authorization: Bearer $TOKEN" \
		-H 'Content-Type: application/json' -H 'Transfer-Encoding: chunked' \
		--data-binary @"$BATS_TEST_TMPDIR/body" "$URL$C" || true)
	[ "$code" = 413 ]
}

@test "ConfigMap data over 1 MiB: 422; annotations over 256 KiB: 422" {
	head -c 1048577 /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/big"
	jq -n --rawfile big "$BATS_TEST_TMPDIR/big" '{metadata: {name: "x"}, data: {b: $big}}' >"$BATS_TEST_TMPDIR/body"
	send POST "$C" @"$BATS_TEST_TMPDIR/body"
	status 422 Invalid
	jq -n --rawfile big "$BATS_TEST_TMPDIR/big" '{metadata: {name: "x", annotations: {b: $big[0:270000]}}}' >"$BATS_TEST_TMPDIR/body"
	send POST "$C" @"$BATS_TEST_TMPDIR/body"
	status 422 Invalid annotations
}

@test "wrong content type: 415" {
	send POST "$C" '{"metadata":{"name":"x"}}' -H 'Content-Type: text/html'
	status 415 UnsupportedMediaType 'application/json'
	send POST "$C" 'metadata=x' -H 'Content-Type: application/x-www-form-urlencoded'
	status 415 UnsupportedMediaType
}

@test "broken protobuf: 400" {
	local bytes
	for bytes in 'k8s\0' 'k8s\0\377\377\377\377\377\377\377\377\377\377\377' 'xxxx' 'k8s\0\012\377\377\377\377\017' 'k8s\0\022\004\012\200\200\200'; do
		printf "$bytes" >"$BATS_TEST_TMPDIR/body"
		http POST "$C" -H 'Content-Type: application/vnd.kubernetes.protobuf' --data-binary @"$BATS_TEST_TMPDIR/body"
		status 400 BadRequest
	done
}

@test "no token, wrong token: 401 everywhere but health and version" {
	local path
	for path in /api /apis /openapi/v3 "$C" "$C/there" /metrics /nowhere /api/v1/secrets; do
		code=$(curl -sS -m 10 -o "$SERVER_DIR/body" -w '%{http_code}' --cacert "$CA" "$URL$path")
		body=$(<"$SERVER_DIR/body")
		status 401 Unauthorized Unauthorized
		code=$(curl -sS -m 10 -o "$SERVER_DIR/body" -w '%{http_code}' --cacert "$CA" -H "Authorization: Bearer ${TOKEN}x" "$URL$path")
		[ "$code" = 401 ]
	done
	code=$(curl -sS -m 10 -o /dev/null -w '%{http_code}' --cacert "$CA" -H "Authorization: Bearer ${TOKEN%?}" "$URL$C")
	[ "$code" = 401 ]
	code=$(curl -sS -m 10 -o /dev/null -w '%{http_code}' --cacert "$CA" -u "admin:$TOKEN" "$URL$C")
	[ "$code" = 401 ]
	for path in /livez /readyz /healthz /version; do
		[ "$(curl -sS -m 10 -o /dev/null -w '%{http_code}' --cacert "$CA" "$URL$path")" = 200 ]
	done
	code=$(curl -sS -m 10 -o /dev/null -w '%{http_code}' --cacert "$CA" -X POST "$URL$C" -H 'Content-Type: application/json' -d '{"metadata":{"name":"x"}}')
	[ "$code" = 401 ]
}

@test "foreign Host: refused; the listening names are fine" {
	local port=${URL##*:} host
	for host in evil.example "evil.example:$port" 192.0.2.1 "127.0.0.1.evil.example:$port" 'localhost.evil' ''; do
		http GET "$C" -H "Host: $host"
		[ "$code" -ge 400 ] && [ "$code" -lt 500 ] || { echo "Host $host: $code" >&2; return 1; }
	done
	for host in "127.0.0.1:$port" "localhost:$port" "[::1]:$port" "LOCALHOST:$port"; do
		http GET "$C" -H "Host: $host"
		done_with 200
	done
}

@test "any Origin: refused" {
	http GET "$C" -H 'Origin: https://evil.example'
	[ "$code" = 403 ] || [ "$code" = 400 ]
	http GET "$C" -H 'Origin: null'
	[ "$code" = 403 ] || [ "$code" = 400 ]
	http POST "$C" -H "Origin: $URL" -H 'Content-Type: application/json' -d '{"metadata":{"name":"x"}}'
	[ "$code" = 403 ] || [ "$code" = 400 ]
}

# framed LINE...: a POST with these lines of framing and the body {"metadata":{"name":"x"}} (25 bytes).
framed() {
	local line
	printf 'POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n' \
		"$C" "${URL##*:}" "$TOKEN"
	for line; do printf '%b\r\n' "$line"; done
	printf 'Connection: close\r\n\r\n{"metadata":{"name":"x"}}'
}

@test "ambiguous framing: 400 and the connection ends" {
	local first second
	while read -r first second; do
		code=$(framed "${first//_/ }" ${second:+"${second//_/ }"} | raw_code)
		[[ $code =~ ^(400|413|501|)$ ]] || {
			echo "for '$first' '$second': $code" >&2
			return 1
		}
	done <<-'EOF'
		Content-Length:_25 Content-Length:_26
		Content-Length:_25 Content-Length:_25
		Content-Length:_25 Transfer-Encoding:_chunked
		Transfer-Encoding:_chunked Transfer-Encoding:_identity
		Transfer-Encoding:_gzip,_chunked
		Transfer-Encoding:_xchunked
		Content-Length:_+25
		Content-Length:_-1
		Content-Length:_0x19
		Content-Length:_25,25
		Content-Length:_99999999999999999999999
		Content-Length_:_25
		Host:_localhost Content-Length:_25
	EOF
}

@test "control bytes in the head: 400" {
	code=$(printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nX-A: a\001b\r\nConnection: close\r\n\r\n' "$C" "$TOKEN" | raw_code)
	[ "$code" = 400 ] || [ -z "$code" ]
	code=$(printf 'GET %s\001 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$C" "$TOKEN" | raw_code)
	[ "$code" = 400 ] || [ "$code" = 404 ] || [ -z "$code" ]
}

@test "no Host in HTTP/1.1: refused" {
	code=$(printf 'GET %s HTTP/1.1\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$C" "$TOKEN" | raw_code)
	[ "$code" = 400 ] || [ "$code" = 403 ] || [ "$code" = 421 ]
}

@test "noise on the socket: the connection ends, the server goes on" {
	head -c 65536 /dev/urandom | raw >/dev/null 2>&1 || true
	printf '\r\n\r\n\r\n' | raw >/dev/null 2>&1 || true
	head -c 200000 /dev/zero | tr '\0' A | raw >/dev/null 2>&1 || true
	head -c 4096 /dev/urandom | socat -t 1 - "TCP:${URL#*://}" >/dev/null 2>&1 || true
	http GET /livez
	equal "$body" ok
}

@test "path tricks: no way around names" {
	local path
	for path in "/api/v1/namespaces/bad/../default/configmaps" "/api/v1/namespaces//configmaps" \
		"/api/v1/namespaces/bad%2fconfigmaps/there" "$C/%2e%2e" "$C/..%2fthere" "/api//v1/pods" "$C/there%00" "$C/th%zzere" "//api/v1" ; do
		http GET "$path"
		[ "$code" = 400 ] || [ "$code" = 404 ] || [ "$code" = 301 ] || { echo "$path: $code" >&2; return 1; }
	done
	http GET "$C/%74here"
	[ "$code" = 200 ] || [ "$code" = 404 ]
}

@test "very long path and head: refused" {
	http GET "/api/v1/namespaces/$(head -c 60000 /dev/zero | tr '\0' a)/configmaps"
	[ "$code" -ge 400 ]
	http GET "$C" -H "X-Long: $(head -c 100000 /dev/zero | tr '\0' a)"
	[ "$code" -ge 200 ]
}

@test "slow and broken requests: others are served meanwhile" {
	local pids=() n
	for n in $(seq 20); do
		{ printf 'GET %s HTT' "$C"; sleep 3; } | socat -t 0 - "OPENSSL:${URL#*://},verify=0" >/dev/null 2>&1 3>&- &
		pids+=($!)
	done
	http GET "$C" -m 2
	done_with 200
	kill "${pids[@]}" 2>/dev/null || true
	wait
}

@test "Status says which request was bad, never what a secret holds" {
	send POST /api/v1/namespaces/bad/secrets '{"metadata":{"name":"x"},"data":{"k":"dG9wLXNlY3JldA"}}'
	[ "$code" = 400 ] || [ "$code" = 422 ]
	run grep -c 'dG9wLXNlY3JldA\|top-secret' "$SERVER_DIR/log"
	equal "$output" 0
}
