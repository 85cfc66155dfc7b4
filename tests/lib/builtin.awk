# SPDX-License-Identifier: Apache-2.0
# Keeps the documents of a YAML stream whose kinds are built in: no custom resource definitions, no
# custom resources.

function flush() {
	if (version ~ /^(v1|(apps|autoscaling|batch|policy)\/v[12]|[a-z.]*\.k8s\.io\/v1)$/ &&
	    kind != "CustomResourceDefinition")
		printf "---\n%s", text
	text = version = kind = ""
}

/^---/ { flush(); next }
/^apiVersion:/ { version = $2; gsub(/"/, "", version) }
/^kind:/ { kind = $2; gsub(/"/, "", kind) }
{ text = text $0 "\n" }
END { flush() }
