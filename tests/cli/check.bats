# SPDX-License-Identifier: Apache-2.0
# `holdfs check`: silent and 0 on a sound store, a list of faults and 1 on a damaged one.

load ../lib/holdfs

setup() {
	start_server
	send POST /api/v1/namespaces/default/configmaps '{"metadata":{"name":"victim","labels":{"color":"cerulean"}},"data":{"k":"needle-in-the-store"}}'
	done_with 201
	send POST /api/v1/namespaces/default/pods '{"metadata":{"name":"p"},"spec":{"nodeName":"node-magenta","containers":[{"name":"c","image":"i"}]}}'
	done_with 201
	end_server
}

# overwrite OLD NEW [COUNT]: the same number of bytes in the store's file, first COUNT places (all).
overwrite() {
	python3 - "$DATA" "$@" <<-'EOF'
		import glob, sys
		root, old, new = sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode()
		assert len(old) == len(new)
		changed = 0
		for path in glob.glob(root + "/**/*.mdb", recursive=True):
		    with open(path, "r+b") as file:
		        data = file.read()
		        changed += data.count(old)
		        file.seek(0)
		        file.write(data.replace(old, new))
		assert changed, "not found in the store"
	EOF
}

check() {
	"$HOLDFS" check --data "$DATA"
}

@test "sound store: exit 0, nothing on stdout" {
	run --separate-stderr check
	equal "$status" 0
	equal "$output" ""
}

@test "running server: check works beside it" {
	serve
	run --separate-stderr check
	equal "$status" 0
	equal "$output" ""
	stop_server
}

@test "broken JSON in a record: found, the object named" {
	overwrite '"needle-in-the-store"' '"needle-in-the-store]'
	run --separate-stderr check
	equal "$status" 1
	contains "$output" victim
}

@test "label in the object that the index does not have: found" {
	overwrite '"color":"cerulean"' '"color":"cerulian"'
	run --separate-stderr check
	equal "$status" 1
	contains "$output" victim
}

@test "name in the object that is not its key: found" {
	overwrite '"name":"victim"' '"name":"victor"'
	run --separate-stderr check
	equal "$status" 1
	contains "$output" victim
}

@test "file cut short: exit 1, no crash" {
	local file
	file=$(find "$DATA" -name '*.mdb' ! -name 'lock.mdb' | head -n 1)
	truncate -s 12288 "$file"
	run timeout 20 "$HOLDFS" check --data "$DATA"
	[ "$status" -ge 1 ] && [ "$status" -lt 99 ]
	[ -n "$output" ]
}

@test "file full of noise: exit 1, no crash" {
	local file
	file=$(find "$DATA" -name '*.mdb' ! -name 'lock.mdb' | head -n 1)
	head -c 65536 /dev/zero | tr '\0' '\377' >"$file"
	run timeout 20 "$HOLDFS" check --data "$DATA"
	[ "$status" -ge 1 ] && [ "$status" -lt 99 ]
	run timeout 20 "$HOLDFS" serve --data "$DATA" --listen 127.0.0.1:0
	equal "$status" 1
	[ -n "$output" ]
}

@test "no store: exit 1, none made" {
	run "$HOLDFS" check --data "$SERVER_DIR/nowhere"
	equal "$status" 1
	[ ! -e "$SERVER_DIR/nowhere" ]
}
