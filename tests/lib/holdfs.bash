# SPDX-License-Identifier: Apache-2.0
# What every bats file loads: servers on stores of their own, clients of them, assertions.
#
# A file starts one server for all its tests (setup_file: start_server; teardown_file: stop_server) or
# one for each test (setup, teardown). stop_server fails unless the server ended with 0, left no mount
# and left a store that `holdfs check` finds nothing wrong with.

TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ROOT=$(dirname "$TESTS")
DATA_DIR=$TESTS/data
SHARED=${HOLDFS_SHARED:-$ROOT/../shared}
BUILD=${HOLDFS_BUILD:-$ROOT/build-check}
CLIENTS=${HOLDFS_CLIENTS:-$BUILD/clients}
HOLDFS=${HOLDFS:-$BUILD/holdfs}
export TESTS ROOT DATA_DIR SHARED BUILD CLIENTS HOLDFS
export LC_ALL=C.UTF-8 TZ=UTC
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:exitcode=99}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
bats_require_minimum_version 1.5.0

# --- Servers

# start_server [OPTION...]: a server on a new store with a mount, in a directory of its own.
# Sets DATA, MNT, KUBECONFIG, URL, SERVER_PID, SERVER_DIR, CA, TOKEN.
start_server() {
	new_place
	serve "$@"
}

# new_place: a directory for a store, a mount and a kubeconfig; nothing runs on it yet.
new_place() {
	SERVER_DIR=$(mktemp -d "${BATS_RUN_TMPDIR:-${TMPDIR:-/tmp}}/server.XXXXXX")
	DATA=$SERVER_DIR/data
	MNT=$SERVER_DIR/mnt
	KUBECONFIG=$SERVER_DIR/kubeconfig
	mkdir "$MNT"
	export SERVER_DIR DATA MNT KUBECONFIG
}

# serve [OPTION...]: a server on the store that DATA names; again after stop_server or kill_server.
serve() {
	local ready
	rm -f "$SERVER_DIR/ready" "$SERVER_DIR/pid" "$SERVER_DIR/exit"
	mkfifo "$SERVER_DIR/ready"
	run_server --data "$DATA" --mount "$MNT" --kubeconfig "$KUBECONFIG" --listen 127.0.0.1:0 "$@" &
	# Opening waits until the server's side is open; reading ends with a line or when the server ends.
	exec {ready}<"$SERVER_DIR/ready"
	if ! IFS= read -r -t 30 URL <&"$ready"; then
		echo "the server did not get ready; its log:" >&2
		cat "$SERVER_DIR/log" >&2
		return 1
	fi
	exec {ready}<&-
	SERVER_PID=$(<"$SERVER_DIR/pid")
	export URL SERVER_PID
	read_kubeconfig
}

# run_server OPTION...: in the background, with its log, pid and exit code in SERVER_DIR.
run_server() {
	exec >>"$SERVER_DIR/log" 2>&1 </dev/null
	close_others
	# What bats does at the end of its own processes is not for this one.
	trap - ERR EXIT DEBUG
	set +eET
	"$HOLDFS" serve --ready-fd 9 "$@" 9>"$SERVER_DIR/ready" </dev/null &
	echo $! >"$SERVER_DIR/pid.new"
	mv "$SERVER_DIR/pid.new" "$SERVER_DIR/pid"
	wait $!
	echo $? >"$SERVER_DIR/exit"
}

# close_others: closes all descriptors but the first three; bats waits until nobody has its own open.
close_others() {
	local fd
	for fd in /proc/self/fd/*; do
		fd=${fd##*/}
		[ "$fd" -le 2 ] || eval "exec $fd>&-"
	done
}

# read_kubeconfig: takes CA and TOKEN for curl out of the kubeconfig.
read_kubeconfig() {
	CA=$SERVER_DIR/ca.pem
	TOKEN=$(sed -n 's/^ *token: *"\{0,1\}\([^"]*\)"\{0,1\} *$/\1/p' "$KUBECONFIG")
	sed -n 's/^ *certificate-authority-data: *//p' "$KUBECONFIG" | tr -d '"' | base64 -d >"$CA"
	export CA TOKEN
}

server_ended() {
	[ -s "$SERVER_DIR/exit" ]
}

mounted() {
	grep -q " $(readlink -f "$1") fuse" /proc/self/mounts
}

# stop_server: SIGTERM; the server must end with 0, unmounted, and leave a sound store.
stop_server() {
	end_server || return
	check_store
	rm -rf "$SERVER_DIR"
}

# end_server: the first half of stop_server; the store stays.
end_server() {
	local code
	kill -TERM "$SERVER_PID" 2>/dev/null || true
	if ! wait_until 20 server_ended; then
		echo "the server did not stop within 20 s" >&2
		kill -KILL "$SERVER_PID" 2>/dev/null || true
		server_log
		return 1
	fi
	code=$(<"$SERVER_DIR/exit")
	if mounted "$MNT"; then
		echo "the mount is still there after the server ended" >&2
		fusermount3 -uz "$MNT"
		code=1
	fi
	if [ "$code" -ne 0 ]; then
		echo "the server ended with $code; its log:" >&2
		server_log
		return 1
	fi
}

# kill_server: SIGKILL; removes what the kernel keeps of the mount.
kill_server() {
	kill -KILL "$SERVER_PID"
	wait_until 10 server_ended
	if mounted "$MNT"; then
		fusermount3 -uz "$MNT"
	fi
}

server_log() {
	tail -n 100 "$SERVER_DIR/log" >&2
}

# check_store: `holdfs check` finds nothing wrong.
check_store() {
	"$HOLDFS" check --data "$DATA" >"$SERVER_DIR/check" 2>&1 || {
		echo "holdfs check:" >&2
		cat "$SERVER_DIR/check" >&2
		return 1
	}
}

# --- Clients

# k ARG...: kubectl of the version that K names (1.35, 1.27 or system), with a home of its own.
k() {
	local version=${K:-1.35} kubectl home=$SERVER_DIR/home-${K:-1.35}
	kubectl=$(kubectl_path "$version")
	HOME=$home timeout "${K_TIMEOUT:-60}" "$kubectl" --kubeconfig "$KUBECONFIG" "$@"
}

kubectl_path() {
	if [ "$1" = system ]; then
		command -v kubectl
	else
		echo "$CLIENTS/kubectl-$1"
	fi
}

# versions: the kubectl versions at hand.
versions() {
	echo 1.27 1.35
	if command -v kubectl >/dev/null; then
		echo system
	fi
}

# h ARG...: the helm that HELM names (helm3 or helm4), with a home of its own.
h() {
	HOME=$SERVER_DIR/home-${HELM:-helm4} timeout 120 "$CLIENTS/${HELM:-helm4}" \
		--kubeconfig "$KUBECONFIG" "$@"
}

# http METHOD PATH [CURL-OPTION...]: sets code, body (and the file headers in SERVER_DIR).
http() {
	local method=$1 path=$2
	shift 2
	: >"$SERVER_DIR/body"
	code=$(curl -sS -m 30 -X "$method" --path-as-is -o "$SERVER_DIR/body" -D "$SERVER_DIR/headers" \
		-w '%{http_code}' --cacert "$CA" -H "Authorization: Bearer $TOKEN" "$@" "$URL$path")
	body=$(tr -d '\0' <"$SERVER_DIR/body")
}

# send METHOD PATH BODY [CURL-OPTION...]: a request with a JSON body; @FILE as a body means the file.
send() {
	local method=$1 path=$2 text=$3 type=(-H 'Content-Type: application/json')
	shift 3
	if [[ $* == *Content-Type:* ]]; then
		type=()
	fi
	if [[ $text != @* ]]; then
		printf '%s' "$text" >"$SERVER_DIR/request.$BASHPID"
		text=@$SERVER_DIR/request.$BASHPID
	fi
	http "$method" "$path" "${type[@]}" --data-binary "$text" "$@"
}

# header NAME: the value of a header of the last reply.
header() {
	sed -n "s/^$1: *//Ip" "$SERVER_DIR/headers" | tr -d '\r'
}

# json FILTER: jq over the body of the last reply.
json() {
	jq -r "$@" <<<"$body"
}

# raw: bytes from stdin to the API's socket, its answer to stdout. Speaks TLS, closes after a second
# of silence.
raw() {
	local address=${URL#*://}
	socat -t 2 -T 5 - "OPENSSL:$address,cafile=$CA,commonname=127.0.0.1,verify=1"
}

# raw_code: the status code of the first reply to the bytes on stdin; empty when there was none.
raw_code() {
	raw | sed -n '1s/^HTTP\/1\.[01] \([0-9]*\).*/\1/p' | tr -d '\r'
}

# watch_start PATH FILE [CURL-OPTION...]: a raw watch in the background, one event a line in FILE; sets
# WATCH_PID.
watch_start() {
	local path=$1 file=$2
	shift 2
	(
		close_others
		exec curl -sSN --cacert "$CA" -H "Authorization: Bearer $TOKEN" "$@" "$URL$path" >"$file" 2>&1 </dev/null
	) &
	WATCH_PID=$!
}

watch_stop() {
	kill "$WATCH_PID" 2>/dev/null || true
	wait "$WATCH_PID" 2>/dev/null || true
}

# --- Waiting and comparing

# wait_until SECONDS COMMAND...: runs the command again and again until it succeeds.
wait_until() {
	local seconds=$1 end
	shift
	end=$(($(date +%s%N) + seconds * 1000000000))
	while ! "$@"; do
		[ "$(date +%s%N)" -lt "$end" ] || return 1
		sleep 0.02
	done
}

# has_line FILE REGEX, has_lines FILE COUNT: for wait_until.
has_line() {
	grep -Eq -- "$2" "$1"
}

has_lines() {
	[ "$(wc -l <"$1")" -ge "$2" ]
}

# gone URL-PATH: the object is not there any more.
gone() {
	http GET "$1"
	[ "$code" = 404 ]
}

# equal GOT WANTED: shows a diff when they differ.
equal() {
	[ "$1" = "$2" ] && return 0
	diff -u --label wanted --label got <(printf '%s\n' "$2") <(printf '%s\n' "$1") >&2
	return 1
}

# matches GOT REGEX: shows what was got.
matches() {
	[[ $1 =~ $2 ]] && return 0
	printf 'does not match %s:\n%s\n' "$2" "$1" >&2
	return 1
}

# contains GOT TEXT
contains() {
	[[ $1 == *"$2"* ]] && return 0
	printf 'does not contain %s:\n%s\n' "$2" "$1" >&2
	return 1
}

# status CODE REASON [TEXT]: the last reply is this Status, its message contains TEXT.
status() {
	if [ "$code" != "$1" ] || [ "$(json .kind)" != Status ] || [ "$(json .reason)" != "$2" ] ||
		[ "$(json .code)" != "$1" ] || [ "$(json .status)" != Failure ]; then
		printf 'wanted %s %s, got %s: %s\n' "$1" "$2" "$code" "$body" >&2
		return 1
	fi
	contains "$(json .message)" "${3:-}"
}

# done_with CODE: the last reply had this code.
done_with() {
	[ "$code" = "$1" ] && return 0
	printf 'wanted %s, got %s: %s\n' "$1" "$code" "$body" >&2
	return 1
}

# namespace NAME: a new namespace to work in, ready for objects.
namespace() {
	send POST /api/v1/namespaces "{\"metadata\":{\"name\":\"$1\"}}"
	done_with 201
}

# configmap NAMESPACE NAME [KEY VALUE]
configmap() {
	send POST "/api/v1/namespaces/$1/configmaps" \
		"{\"metadata\":{\"name\":\"$2\"},\"data\":{\"${3:-k}\":\"${4:-v}\"}}"
	done_with 201
}
