# SPDX-License-Identifier: Apache-2.0
# helm 3 and 4: a chart made here is installed, upgraded, rolled back, listed, uninstalled.

load ../lib/holdfs

setup_file() {
	start_server
}

teardown_file() {
	stop_server
}

setup() {
	CHART=$BATS_TEST_TMPDIR/chart
	mkdir -p "$CHART/templates"
	cat >"$CHART/Chart.yaml" <<-'EOF'
		apiVersion: v2
		name: pond
		version: 0.1.0
		appVersion: "1"
	EOF
	printf 'replicas: 1\nimage: registry.example/pond:1\n' >"$CHART/values.yaml"
	cat >"$CHART/templates/all.yaml" <<-'EOF'
		apiVersion: v1
		kind: ConfigMap
		metadata:
		  name: {{ .Release.Name }}
		  labels: {release: {{ .Release.Name }}}
		data:
		  replicas: "{{ .Values.replicas }}"
		---
		apiVersion: apps/v1
		kind: Deployment
		metadata:
		  name: {{ .Release.Name }}
		spec:
		  replicas: {{ .Values.replicas }}
		  selector:
		    matchLabels: {app: {{ .Release.Name }}}
		  template:
		    metadata:
		      labels: {app: {{ .Release.Name }}}
		    spec:
		      containers:
		        - name: pond
		          image: {{ .Values.image | quote }}
		---
		apiVersion: v1
		kind: Service
		metadata:
		  name: {{ .Release.Name }}
		spec:
		  selector: {app: {{ .Release.Name }}}
		  ports:
		    - port: 80
		{{- if .Values.extra }}
		---
		apiVersion: v1
		kind: Secret
		metadata:
		  name: {{ .Release.Name }}-extra
		stringData:
		  a: b
		{{- end }}
	EOF
}

# life OPTION...: with the helm that HELM names; the options are those of commands that write.
life() {
	local n=$HELM
	h install pond "$CHART" -n "$n" --create-namespace "$@"
	equal "$(k get deployment,service,configmap -n "$n" -l '!nothing' -o name | grep /pond)" \
		$'deployment.apps/pond\nservice/pond\nconfigmap/pond'
	equal "$(h list -n "$n" -o json | jq -c '.[0] | [.name, .revision, .status]')" '["pond","1","deployed"]'
	contains "$(cat "$MNT/namespaces/$n/deployments.apps/pond.yaml")" registry.example/pond:1

	h upgrade pond "$CHART" -n "$n" --set replicas=3,image=registry.example/pond:2,extra=true "$@"
	equal "$(k get deployment pond -n "$n" -o json | jq -c '[.spec.replicas, .spec.template.spec.containers[0].image]')" \
		'[3,"registry.example/pond:2"]'
	k get secret pond-extra -n "$n"

	h rollback pond 1 -n "$n" "$@"
	equal "$(k get deployment pond -n "$n" -o json | jq -c '[.spec.replicas, .spec.template.spec.containers[0].image]')" \
		'[1,"registry.example/pond:1"]'
	equal "$(k get secret pond-extra -n "$n" --ignore-not-found)" ""
	equal "$(h history pond -n "$n" -o json | jq -c '[.[].revision]')" '[1,2,3]'
	contains "$(h status pond -n "$n")" "STATUS: deployed"
	equal "$(h get values pond -n "$n" --revision 2 -o json | jq -c .replicas)" 3

	h uninstall pond -n "$n"
	equal "$(h list -n "$n" -o json | jq -c .)" '[]'
	equal "$(k get deployment,service,secret -n "$n" --ignore-not-found -o name)" ""
}

@test "helm 3: install, list, upgrade, rollback, history, uninstall" {
	export HELM=helm3
	life
}

@test "helm 4, client side: install, list, upgrade, rollback, history, uninstall" {
	export HELM=helm4
	life --server-side=false
}

@test "helm 3: upgrade --install, --atomic refusal leaves the old release" {
	export HELM=helm3
	h upgrade --install again "$CHART"
	h upgrade --install again "$CHART" --set replicas=2
	run h upgrade again "$CHART" --set replicas=-1
	[ "$status" -ne 0 ]
	contains "$output" spec.replicas
	equal "$(k get deployment again -o 'jsonpath={.spec.replicas}')" 2
	h uninstall again
}
