# SPDX-License-Identifier: Apache-2.0
# Tests that run once for each kubectl at hand.

# new_namespace: for one test with the kubectl that K names; sets N, and kn works in it. Call it first
# in the loop `for K in $(versions)`.
new_namespace() {
	echo "--- kubectl $K"
	N=t$BATS_TEST_NUMBER-${K//./-}
	k create namespace "$N"
}

kn() {
	k -n "$N" "$@"
}

# deployment NAME: a Deployment of two containers, applied.
deployment() {
	kn apply -f - <<-EOF
		apiVersion: apps/v1
		kind: Deployment
		metadata:
		  name: $1
		  labels: {app: $1}
		spec:
		  replicas: 2
		  selector:
		    matchLabels: {app: $1}
		  template:
		    metadata:
		      labels: {app: $1}
		    spec:
		      containers:
		        - {name: a, image: "a:1", ports: [{containerPort: 8080}]}
		        - {name: b, image: "b:1"}
	EOF
}

# field RESOURCE NAME FILTER: jq over an object.
field() {
	kn get "$1" "$2" -o json | jq -c "$3"
}
