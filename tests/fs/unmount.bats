# SPDX-License-Identifier: Apache-2.0
# Ends of a mount that nobody planned.

load ../lib/holdfs

setup() {
	start_server
	namespace u
	configmap u c
	F=$MNT/namespaces/u/configmaps/c.yaml
}

@test "unmount by somebody else: the server lives on and stops cleanly" {
	umount "$MNT"
	http GET /api/v1/namespaces/u/configmaps/c
	done_with 200
	stop_server
}

@test "stop with files and directories open: at once, their users get errors" {
	python3 - "$F" "$SERVER_PID" <<-'END' 3>&-
		import errno, os, signal, sys, time
		name, pid = sys.argv[1], int(sys.argv[2])
		os.chdir(os.path.dirname(name))
		reader, writer = open(name), open("draft.tmp", "w")
		listing = os.scandir(".")
		os.kill(pid, signal.SIGTERM)
		end = time.monotonic() + 5
		while os.path.exists("/proc/%d" % pid) and time.monotonic() < end:
		    time.sleep(0.01)
		assert time.monotonic() < end, "still there"
		for call in lambda: reader.read(), lambda: open("c.yaml"), lambda: os.listdir("."):
		    try:
		        call()
		        sys.exit("the mount answers")
		    except OSError as e:
		        assert e.errno in (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO), e
	END
	stop_server
}

@test "start on a dead mount: it is replaced" {
	kill -KILL "$SERVER_PID"
	wait_until 10 server_ended
	serve
	contains "$(cat "$F")" "k: v"
	stop_server
}

@test "stop during writes: every save that was reported is there" {
	python3 - "$MNT/namespaces/u/configmaps" "$SERVER_PID" >"$BATS_TEST_TMPDIR/saved" <<-'END' 3>&-
		import os, signal, sys, threading
		dir, pid = sys.argv[1], int(sys.argv[2])
		saved = []
		def save(thread):
		    for i in range(100000):
		        name = "t%d-%d" % (thread, i)
		        try:
		            with open("%s/%s.yaml" % (dir, name), "w") as f:
		                f.write("data:\n  k: v\n")
		        except OSError:
		            return
		        saved.append(name)
		        if len(saved) == 40:
		            os.kill(pid, signal.SIGTERM)
		threads = [threading.Thread(target=save, args=(i,)) for i in range(4)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
		print("\n".join(sorted(saved)))
	END
	wait_until 20 server_ended
	serve
	cd "$MNT/namespaces/u/configmaps"
	local name
	while read -r name; do
		[ -e "$name.yaml" ]
	done <"$BATS_TEST_TMPDIR/saved"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/saved")" -ge 40 ]
	cd /
	stop_server
}
