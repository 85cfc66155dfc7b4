# SPDX-License-Identifier: Apache-2.0
# contrib/quickstart: ready, the commands that it prints work, Ctrl-C stops it, a second run goes on.

load ../lib/holdfs

setup() {
	export HOLDFS_BUILD=$BUILD HOLDFS_DIR=$BATS_TEST_TMPDIR/place
	SERVER_DIR=$BATS_TEST_TMPDIR
	OUT=$BATS_TEST_TMPDIR/out
	KUBECONFIG=$HOLDFS_DIR/kubeconfig
}

teardown() {
	kill -TERM "$QUICKSTART" 2>/dev/null || true
	wait_until 10 ended
	! mounted "$HOLDFS_DIR/mount"
}

# begin [OPTION...]: quickstart in the background, with a process group of its own as a terminal gives it.
begin() {
	rm -f "$OUT"
	(
		close_others
		exec setsid "$ROOT/contrib/quickstart" "$@" >"$OUT" 2>&1 </dev/null
	) &
	QUICKSTART=$!
	wait_until 120 eval "has_line '$OUT' 'Ctrl-C unmounts' 2>/dev/null || ended"
	has_line "$OUT" 'Ctrl-C unmounts'
}

ended() {
	! kill -0 "$QUICKSTART" 2>/dev/null
}

# commands: those that it prints to try.
commands() {
	sed -n '/^Try in/,/^$/s/^  //p' "$OUT" | sed "s|kubectl |$(kubectl_path 1.35) |g"
}

@test "quickstart: prints mount, kubeconfig, commands that work; Ctrl-C stops; again on the same store" {
	begin --listen 127.0.0.1:0 --quiet
	has_line "$OUT" "mount +$HOLDFS_DIR/mount"
	has_line "$OUT" "kubeconfig +$KUBECONFIG"
	equal "$(commands | wc -l)" 4
	HOME=$SERVER_DIR bash -euc "$(commands)" >"$BATS_TEST_TMPDIR/tried"
	has_line "$BATS_TEST_TMPDIR/tried" 'greeting: hello'

	kill -INT -- "-$QUICKSTART"
	wait_until 10 ended
	wait "$QUICKSTART"
	! mounted "$HOLDFS_DIR/mount"
	DATA=$HOLDFS_DIR check_store

	begin --listen 127.0.0.1:0 --quiet
	equal "$(k get configmap hello -o 'jsonpath={.data.greeting}')" hello
	contains "$(cat "$HOLDFS_DIR/mount/namespaces/default/configmaps/hello.yaml")" "greeting: hello"
	kill -TERM "$QUICKSTART"
	wait_until 10 ended
	wait "$QUICKSTART"
}
