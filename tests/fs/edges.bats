# SPDX-License-Identifier: Apache-2.0
# What programs do to files that is not in the book: saves from one buffer, names that move, files without names, unmounts.

load ../lib/holdfs

setup_file() {
	start_server
}

teardown_file() {
	stop_server
}

setup() {
	N=e$BATS_TEST_NUMBER
	namespace "$N"
	configmap "$N" c
	DIR=$MNT/namespaces/$N/configmaps
	F=$DIR/c.yaml
	C=/api/v1/namespaces/$N/configmaps
	http GET "$C/c"
	UID0=$(json .metadata.uid)
	VERSION0=$(json .metadata.resourceVersion)
}

text() {
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: %s\n' "$1"
}

# holds VALUE: the object has it and is still the same object, the file shows it.
holds() {
	http GET "$C/c"
	done_with 200
	equal "$(json .data.k)" "$1"
	equal "$(json .metadata.uid)" "$UID0"
	contains "$(cat "$F")" "k: $1"
}

py() {
	python3 - "$@"
}

@test "save twice from one buffer: its own older resourceVersion is no conflict" {
	py "$F" <<-'END'
		import sys
		text = open(sys.argv[1]).read()
		assert "resourceVersion" in text
		for value in "one", "two", "three":
		    with open(sys.argv[1], "w") as f:
		        f.write(text.replace("k: v", "k: " + value))
	END
	holds three
	[ ! -e "$F.rej" ]
}

@test "vim: :w, change, :w again: both are saved" {
	vim -es -u NONE -c 'set backup writebackup' -c '%s/k: v/k: one/' -c w -c '%s/k: one/k: two/' -c 'wq' "$F"
	holds two
	equal "$(ls -A "$DIR" | grep -cv -e '^c.yaml$' -e '^kube-root-ca' -e '~$' || true)" 0
}

@test "save twice with somebody else's change between: a conflict" {
	run ! py "$F" "$CA" "$URL$C/c" "$TOKEN" <<-'END'
		import subprocess, sys
		name, ca, url, token = sys.argv[1:]
		text = open(name).read()
		open(name, "w").write(text.replace("k: v", "k: one"))
		subprocess.run(["curl", "-sSf", "-o", "/dev/null", "--cacert", ca, "-H", "Authorization: Bearer " + token,
		    "-X", "PATCH", "-H", "Content-Type: application/merge-patch+json", "-d", '{"data":{"k":"theirs"}}', url],
		    check=True)
		f = open(name, "w")
		f.write(text.replace("k: v", "k: two"))
		f.close()
	END
	contains "$output" "Device or resource busy"
	holds theirs
	contains "$(cat "$F.rej")" "k: two"
}

@test "an old text from another process: a conflict, although only the mount wrote" {
	cp "$F" "$BATS_TEST_TMPDIR/old"
	sed -i 's/k: v/k: one/' "$F"
	sed -i 's/k: v/k: two/' "$BATS_TEST_TMPDIR/old"
	run ! cp "$BATS_TEST_TMPDIR/old" "$F"
	holds one
}

@test "write and fsync again and again in one open file: one object, each text in turn" {
	py "$F" <<-'END'
		import os, sys
		f = open(sys.argv[1], "w")
		f.write("data:\n  k: one\n")
		f.flush(); os.fsync(f.fileno())
		f.write("  l: two\n")
		f.flush(); os.fsync(f.fileno())
		os.ftruncate(f.fileno(), 0); f.seek(0)
		f.write("data:\n  k: three\n")
		f.close()
	END
	holds three
	equal "$(json '.data | keys | join(" ")')" k
}

@test "refused by fsync: close says so again, a better text is accepted" {
	py "$F" <<-'END'
		import errno, os, sys
		fd = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
		os.write(fd, b"data: [1]\n")
		for call in os.fsync, os.fsync, lambda fd: os.close(os.dup(fd)):
		    try:
		        call(fd)
		        sys.exit("accepted")
		    except OSError as e:
		        assert e.errno == errno.EINVAL, e
		os.ftruncate(fd, 0)
		os.pwrite(fd, b"data:\n  k: better\n", 0)
		os.close(fd)
	END
	holds better
}

@test "a child that inherits the file and ends: commits nothing; the opener's close does" {
	py "$F" <<-'END'
		import os, sys
		fd = os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
		os.write(fd, b"data:\n  k: half\n")
		if os.fork() == 0:
		    os.close(fd)
		    os._exit(0)
		os.wait()
		assert os.stat(sys.argv[1]).st_size == len("data:\n  k: half\n")
		os.pwrite(fd, b"data:\n  k: full\n", 0)
		os.close(fd)
	END
	holds full
	equal "$(json .metadata.resourceVersion)" "$(($(json .metadata.resourceVersion)))"
}

@test "NAME.yaml to NAME.json: refused, the object stays" {
	run ! mv "$F" "$DIR/c.json"
	holds v
}

@test "mv -n onto an object, and link-like names: nothing is replaced" {
	configmap "$N" d k other
	mv -n "$F" "$DIR/d.yaml"
	contains "$(cat "$DIR/d.yaml")" "k: other"
	holds v
}

@test "mv of an object over another: the other takes the text and keeps its identity" {
	configmap "$N" d k other
	local uid
	uid=$(json .metadata.uid)
	mv "$F" "$DIR/d.yaml"
	http GET "$C/d"
	equal "$(json '.data.k + " " + .metadata.uid')" "v $uid"
	gone "$C/c"
	equal "$(stat -c %s "$DIR/d.yaml")" "$(wc -c <"$DIR/d.yaml")"
}

@test "mv of an object to a directory of another kind: refused, it stays" {
	run ! mv "$F" "$MNT/namespaces/$N/secrets/c.yaml"
	holds v
}

@test "move away and create anew with O_EXCL: an update" {
	py "$F" <<-'END'
		import os, sys
		os.rename(sys.argv[1], sys.argv[1] + ".orig")
		fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_EXCL)
		os.write(fd, b"data:\n  k: anew\n")
		os.close(fd)
	END
	holds anew
	contains "$(cat "$F.orig")" "k: v"
}

@test "temporary file opened, removed, used: keeps its content until it is closed" {
	py "$DIR/tmp" <<-'END'
		import os, sys
		f = open(sys.argv[1], "w+")
		f.write("before")
		f.flush()
		os.unlink(sys.argv[1])
		f.write(" after")
		f.flush()
		f.seek(0)
		assert f.read() == "before after"
		assert os.fstat(f.fileno()).st_nlink == 0
	END
	[ ! -e "$DIR/tmp" ]
}

@test "temporary file renamed over an object while open: reads on, commits once" {
	py "$F" <<-'END'
		import os, sys
		f = open(sys.argv[1] + ".tmp", "w+")
		f.write("data:\n  k: temp\n")
		f.flush()
		os.rename(sys.argv[1] + ".tmp", sys.argv[1])
		f.seek(0)
		assert f.read() == "data:\n  k: temp\n"
	END
	holds temp
}

@test "scratch file renamed: the same file, also for who has it open" {
	py "$DIR" <<-'END'
		import os, sys
		os.chdir(sys.argv[1])
		f = open("a.tmp", "w")
		f.write("one")
		f.flush()
		ino = os.stat("a.tmp").st_ino
		os.rename("a.tmp", "b.tmp")
		f.write(" two")
		f.close()
		assert open("b.tmp").read() == "one two"
		assert os.stat("b.tmp").st_ino == ino
		assert not os.path.exists("a.tmp")
		os.unlink("b.tmp")
	END
}

@test "new file removed before it is closed: no object" {
	py "$DIR/new.yaml" <<-'END'
		import os, sys
		f = open(sys.argv[1], "w")
		f.write("data:\n  k: v\n")
		f.flush()
		assert os.path.exists(sys.argv[1])
		os.unlink(sys.argv[1])
		f.close()
		assert not os.path.exists(sys.argv[1])
	END
	gone "$C/new"
}

@test "touch of a new name: nothing stays" {
	touch "$DIR/new.yaml"
	wait_until 5 test ! -e "$DIR/new.yaml"
	equal "$(ls "$DIR" | grep -c new || true)" 0
	text v >"$DIR/new.yaml"
	http GET "$C/new"
	done_with 200
}

@test "object deleted over HTTP while a file is open: reading goes on, the name is gone" {
	exec {fd}<"$F"
	http DELETE "$C/c"
	wait_until 5 test ! -e "$F"
	contains "$(cat <&"$fd")" "k: v"
	exec {fd}<&-
}

@test "object deleted over HTTP while it is edited: the text is not lost" {
	py "$F" "$CA" "$URL$C/c" "$TOKEN" <<-'END' || true
		import subprocess, sys
		name, ca, url, token = sys.argv[1:]
		f = open(name, "w")
		f.write("data:\n  k: mine\n")
		f.flush()
		subprocess.run(["curl", "-sSf", "-o", "/dev/null", "--cacert", ca, "-H", "Authorization: Bearer " + token,
		    "-X", "DELETE", url], check=True)
		f.close()
	END
	cat "$F" "$F.rej" 2>/dev/null | grep -q "k: mine"
}

@test "long names: sed -i and rm of a short form reach the object" {
	local name file
	name=$(printf 'a%.0s' $(seq 63)).$(printf 'b%.0s' $(seq 63)).$(printf 'c%.0s' $(seq 63)).$(printf 'd%.0s' $(seq 60))
	configmap "$N" "$name"
	file=$(ls "$DIR" | grep %)
	sed -i 's/k: v/k: long/' "$DIR/$file"
	http GET "$C/$name"
	equal "$(json .data.k)" long
	rm "$DIR/$file"
	gone "$C/$name"
}

@test "JSON as only JSON may be: tabs and surrogate pairs" {
	printf '{\n\t"data": {\n\t\t"k": "\\ud83d\\ude00"\n\t}\n}\n' >"$F"
	http GET "$C/c"
	equal "$(json .data.k)" "😀"
	printf '{"data":\n\t{"k":"two"}}' >"$DIR/c.json"
	holds two
}

@test "text in another version of its kind: converted" {
	cat >"$MNT/namespaces/$N/horizontalpodautoscalers.autoscaling/h.yaml" <<-'END'
		apiVersion: autoscaling/v1
		kind: HorizontalPodAutoscaler
		metadata:
		  name: h
		spec:
		  maxReplicas: 3
		  targetCPUUtilizationPercentage: 50
		  scaleTargetRef:
		    kind: Deployment
		    name: web
		    apiVersion: apps/v1
	END
	http GET "/apis/autoscaling/v2/namespaces/$N/horizontalpodautoscalers/h"
	equal "$(json '.spec.metrics[0].resource.target.averageUtilization')" 50
}

@test "scratch files beyond the quota: ENOSPC, objects are saved all the same" {
	run ! py "$DIR" <<-'END'
		import sys
		for i in range(300):
		    open(sys.argv[1] + "/s%d" % i, "w").close()
	END
	contains "$output" "No space left"
	text room >"$F"
	holds room
	rm "$DIR"/s*
	equal "$(ls "$DIR" | grep -c '^s' || true)" 0
	run ! dd if=/dev/zero of="$DIR/big" bs=1M count=17 status=none
	contains "$output" "No space left"
	rm "$DIR/big"
}

@test "thousands of objects while others come and go: each that stays is listed once" {
	local i
	for i in $(seq 2500); do
		printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: n%s, namespace: %s}\n' "$i" "$N"
	done >"$BATS_TEST_TMPDIR/many.yaml"
	"$HOLDFS" import --data "$DATA" "$BATS_TEST_TMPDIR/many.yaml"
	(while [ ! -e "$BATS_TEST_TMPDIR/stop" ]; do
		text v >"$DIR/zz.yaml"
		rm "$DIR/zz.yaml"
	done) 3>&- &
	local n
	for n in 1 2 3 4 5; do
		ls "$DIR" | grep '^n' >"$BATS_TEST_TMPDIR/listed"
		equal "$(wc -l <"$BATS_TEST_TMPDIR/listed")" 2500
		equal "$(sort -u "$BATS_TEST_TMPDIR/listed" | wc -l)" 2500
	done
	touch "$BATS_TEST_TMPDIR/stop"
	wait
}

@test "readers of an object that grows and shrinks: never a mix, never cut" {
	py "$F" "$CA" "$URL$C/c" "$TOKEN" <<-'END'
		import os, ssl, sys, threading, time, urllib.request
		name, ca, url, token = sys.argv[1:]
		stop = False
		def write():
		    context = ssl.create_default_context(cafile=ca)
		    i = 0
		    while not stop:
		        i += 1
		        n = 1 + i * 7919 % 5000
		        body = ('{"data":{"k":"%s","n":"%d"}}' % ("x" * n, n)).encode()
		        request = urllib.request.Request(url, body, method="PATCH", headers={
		            "Authorization": "Bearer " + token, "Content-Type": "application/merge-patch+json"})
		        urllib.request.urlopen(request, context=context).read()
		failures = []
		def read():
		    while not stop:
		        try:
		            text = open(name).read()
		        except OSError as e:
		            failures.append(str(e))
		            continue
		        fields = dict(line.strip().split(": ", 1) for line in text.splitlines() if ": " in line)
		        if fields["k"] != "v" and len(fields["k"]) != int(fields["n"].strip('"')):
		            failures.append("mixed: %d %s" % (len(fields["k"]), fields["n"]))
		        if not text.endswith("\n") or "uid" not in fields:
		            failures.append("cut: %r" % text[-60:])
		threads = [threading.Thread(target=t) for t in (write, read, read, read)]
		for t in threads:
		    t.start()
		time.sleep(4)
		stop = True
		for t in threads:
		    t.join()
		assert not failures, (len(failures), failures[:3])
	END
}

@test "a storm of saves, renames, removals and API writes: in the end the mount shows what the API has" {
	py "$DIR" "$CA" "$URL$C" "$TOKEN" <<-'END'
		import json, os, random, ssl, sys, threading, time, urllib.error, urllib.request
		dir, ca, url, token = sys.argv[1:]
		context = ssl.create_default_context(cafile=ca)
		end = time.monotonic() + 5
		names = ["s%d" % i for i in range(12)]
		def http(method, path="", body=None, kind="application/json"):
		    request = urllib.request.Request(url + path, body, method=method, headers={
		        "Authorization": "Bearer " + token, "Content-Type": kind})
		    try:
		        return json.loads(urllib.request.urlopen(request, context=context).read())
		    except urllib.error.HTTPError as e:
		        assert e.code in (404, 409), e.read()
		def text(random):
		    return "data:\n  k: %s\n" % ("y" * random.randrange(1, 9000))
		def by_file(random, name):
		    path = "%s/%s.yaml" % (dir, name)
		    act = random.randrange(7)
		    if act == 0:
		        open(path, "w").write(text(random))
		    elif act == 1:
		        temp = path + ".%d" % threading.get_ident()
		        open(temp, "w").write(text(random))
		        os.rename(temp, path)
		    elif act == 2:
		        os.unlink(path)
		    elif act == 3:
		        os.rename(path, "%s/%s.yaml" % (dir, random.choice(names)))
		    elif act == 4:
		        os.rename(path, path + "~")
		        open(path, "w").write(text(random))
		        os.unlink(path + "~")
		    elif act == 5:
		        open(path).read()
		        os.stat(path)
		    else:
		        for entry in os.scandir(dir):
		            entry.stat()
		def by_api(random, name):
		    act = random.randrange(3)
		    body = json.dumps({"metadata": {"name": name}, "data": {"k": "z" * random.randrange(1, 9000)}}).encode()
		    if act == 0:
		        http("POST", "", body)
		    elif act == 1:
		        http("PATCH", "/" + name, body, "application/merge-patch+json")
		    else:
		        http("DELETE", "/" + name)
		failures = []
		def run(seed, act):
		    r = random.Random(seed)
		    while time.monotonic() < end:
		        try:
		            act(r, r.choice(names))
		        except OSError as e:
		            if e.errno not in (2, 16, 17, 22, 74, 116): # ENOENT, EBUSY, EEXIST, EINVAL, EBADMSG, ESTALE
		                failures.append(repr(e))
		threads = [threading.Thread(target=run, args=(i, by_file if i % 3 else by_api)) for i in range(9)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
		assert not failures, failures[:3]
		# What is still to be carried out and invalidated gets a moment; what is stale for good stays so.
		for _ in range(100):
		    time.sleep(0.05)
		    want = {o["metadata"]["name"]: o["data"]["k"] for o in http("GET")["items"] if o["metadata"]["name"] in names}
		    got = {n[:-5] for n in os.listdir(dir) if n.endswith(".yaml") and n[0] == "s"}
		    if got == set(want):
		        break
		assert got == set(want), (sorted(got), sorted(want))
		for name in names:
		    path = "%s/%s.yaml" % (dir, name)
		    if name not in want:
		        assert not os.path.exists(path), name
		        continue
		    content = open(path).read()
		    assert "k: %s\n" % want[name] in content, name
		    assert os.stat(path).st_size == len(content), (name, os.stat(path).st_size, len(content))
	END
}
