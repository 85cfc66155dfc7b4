# SPDX-License-Identifier: Apache-2.0
# The life of a set of manifests: applied, read back, applied again, compared, deleted.

# applied_whole FILE...: kubectl accepts every object of the files.
applied_whole() {
	local output
	output=$(k apply $(file_options "$@") 2>&1) || {
		echo "$output" >&2
		return 1
	}
	equal "$(grep -v ' created$' <<<"$output" | grep -v '^Warning:' || true)" ""
}

# unchanged_again FILE...: a second apply changes nothing, and kubectl says so.
unchanged_again() {
	local output before
	before=$(revisions "$@")
	output=$(k apply $(file_options "$@") 2>&1) || {
		echo "$output" >&2
		return 1
	}
	equal "$(revisions "$@")" "$before" || return
	equal "$(grep -v ' unchanged$' <<<"$output" | grep -v '^Warning:' | grep -vxFf "$DATA_DIR/configured.txt" || true)" ""
}

# revisions FILE...: the names and resourceVersions of the objects of these files.
revisions() {
	k get $(file_options "$@") -o json |
		jq -r 'if .kind == "List" then .items[] else . end | [.kind, .metadata.name, .metadata.resourceVersion] | join(" ")'
}

# no_difference FILE...: kubectl diff has nothing to say.
no_difference() {
	local output code=0
	output=$(k diff $(file_options "$@") 2>&1) || code=$?
	[ "$code" -eq 0 ] && [ -z "$output" ] && return 0
	printf 'diff ended with %s:\n%s\n' "$code" "$output" >&2
	return 1
}

# sent_comes_back FILE...: what get -o json gives holds all that was sent.
sent_comes_back() {
	k create $(file_options "$@") --dry-run=client --validate=false -o json >"$SERVER_DIR/sent.json"
	k get $(file_options "$@") -o json >"$SERVER_DIR/got.json"
	python3 "$TESTS/lib/subset.py" "$SERVER_DIR/sent.json" "$SERVER_DIR/got.json"
}

# deleted_whole FILE...: kubectl delete removes all; nothing of it is found afterwards.
deleted_whole() {
	local output
	k delete $(file_options "$@") --ignore-not-found >"$SERVER_DIR/deleted" 2>&1 || {
		cat "$SERVER_DIR/deleted" >&2
		return 1
	}
	output=$(k get $(file_options "$@") --ignore-not-found -o name 2>/dev/null)
	equal "$output" ""
}

# whole_life FILE...: all of the above.
whole_life() {
	applied_whole "$@" && sent_comes_back "$@" && unchanged_again "$@" && no_difference "$@" &&
		deleted_whole "$@"
}

file_options() {
	printf -- '-f %s ' "$@"
}

# printed TEXT: a table as tests/data/*.get writes it.
printed() {
	sed -E -e 's/ +/ /g' -e 's/ $//' \
		-e 's/(^| )([0-9]+d)?([0-9]+h)?([0-9]+m)?[0-9]+s( |$)/\1<age>\5/g' \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/<age>/g' \
		-e 's/(^| )[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+( |$)/\1<ip>\2/g' <<<"$1"
}

# prints_as FILE NAMESPACE: kubectl get of each object named in FILE prints what FILE says.
prints_as() {
	local file=$1 namespace=$2 header resource name wanted wrong=0
	while read -r header resource name; do
		wanted=$(awk -v block="$header $resource $name" '
			$0 == block { on = 1; next } /^# / { on = 0 } on' "$file")
		equal "$(printed "$(k get -n "$namespace" "$resource" "$name" 2>&1)")" "$wanted" || wrong=1
	done < <(grep -E '^# [a-z0-9.]+ [^ ]+$' "$file")
	return "$wrong"
}
