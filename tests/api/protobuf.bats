# SPDX-License-Identifier: Apache-2.0
# Requests that kubectl 1.32 and newer send as protobuf.

load ../lib/holdfs

setup_file() {
	start_server
	export K=1.35
	k create namespace pb
}

teardown_file() {
	stop_server
}

kn() {
	k -n pb "$@"
}

@test "create namespace: stored" {
	k create namespace other
	equal "$(k get namespace other -o 'jsonpath={.status.phase}')" Active
}

@test "create deployment: replicas, image, port" {
	kn create deployment web --image=nginx:1.27 --replicas=3 --port=8080
	equal "$(kn get deployment web -o json | jq -c '[.spec.replicas, .spec.selector.matchLabels, .spec.template.spec.containers[0].image, .spec.template.spec.containers[0].ports[0].containerPort]')" \
		'[3,{"app":"web"},"nginx:1.27",8080]'
}

@test "create configmap: data and binary data" {
	printf '\377\376\000' >"$BATS_TEST_TMPDIR/binary"
	kn create configmap c --from-literal=a=b --from-literal='text=ä "quoted" \n' --from-file="$BATS_TEST_TMPDIR/binary"
	equal "$(kn get configmap c -o json | jq -cS '[.data, .binaryData]')" \
		'[{"a":"b","text":"ä \"quoted\" \\n"},{"binary":"//4A"}]'
}

@test "create secret: generic, tls, docker-registry" {
	kn create secret generic s --from-literal=password=hunter2
	equal "$(kn get secret s -o json | jq -c '[.type, .data]')" '["Opaque",{"password":"aHVudGVyMg=="}]'
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$BATS_TEST_TMPDIR/k" \
		-out "$BATS_TEST_TMPDIR/c" -days 1 -subj /CN=x 2>/dev/null
	kn create secret tls t --cert="$BATS_TEST_TMPDIR/c" --key="$BATS_TEST_TMPDIR/k"
	equal "$(kn get secret t -o 'jsonpath={.type}')" kubernetes.io/tls
	kn create secret docker-registry d --docker-username=u --docker-password=p --docker-server=registry.example
	equal "$(kn get secret d -o 'jsonpath={.type}')" kubernetes.io/dockerconfigjson
}

@test "create serviceaccount, role, rolebinding, clusterrole, clusterrolebinding" {
	kn create serviceaccount sa
	kn create role r --verb=get,list --resource=pods,deployments.apps --resource-name=web
	equal "$(kn get role r -o json | jq -c '[.rules[] | [.apiGroups, .resources, .verbs, .resourceNames]]')" \
		'[[[""],["pods"],["get","list"],["web"]],[["apps"],["deployments"],["get","list"],["web"]]]'
	kn create rolebinding rb --role=r --serviceaccount=pb:sa
	equal "$(kn get rolebinding rb -o json | jq -c '[.roleRef.name, .subjects[0].name]')" '["r","sa"]'
	k create clusterrole cr --verb=get --non-resource-url=/metrics
	k create clusterrolebinding crb --clusterrole=cr --group=ops
	equal "$(k get clusterrolebinding crb -o json | jq -r '.subjects[0].name')" ops
}

@test "create job, cronjob" {
	kn create job j --image=busybox -- sh -c 'echo hi'
	equal "$(kn get job j -o json | jq -c '.spec.template.spec.containers[0].command')" '["sh","-c","echo hi"]'
	kn create cronjob cj --image=busybox --schedule='*/5 * * * *' -- date
	equal "$(kn get cronjob cj -o 'jsonpath={.spec.schedule}')" '*/5 * * * *'
	kn create job from-cj --from=cronjob/cj
	equal "$(kn get job from-cj -o json | jq -r '.metadata.ownerReferences[0].kind')" CronJob
}

@test "create service: clusterip, nodeport, loadbalancer, externalname" {
	kn create service clusterip svc --tcp=80:8080
	equal "$(kn get service svc -o json | jq -c '[.spec.ports[0] | .port, .targetPort]')" '[80,8080]'
	kn create service nodeport np --tcp=80:http --node-port=30123
	equal "$(kn get service np -o json | jq -c '[.spec.ports[0] | .nodePort, .targetPort]')" '[30123,"http"]'
	kn create service loadbalancer lb --tcp=443
	kn create service externalname en --external-name=example.com
	equal "$(kn get service en -o 'jsonpath={.spec.externalName}')" example.com
}

@test "create ingress, quota, poddisruptionbudget, priorityclass" {
	kn create ingress i --rule='shop.example/path*=svc:80,tls=t'
	equal "$(kn get ingress i -o json | jq -c '.spec.rules[0] | [.host, .http.paths[0].path, .http.paths[0].pathType, .http.paths[0].backend.service.port.number]')" \
		'["shop.example","/path","Prefix",80]'
	kn create quota q --hard=cpu=1,memory=1G,pods=2
	equal "$(kn get quota q -o json | jq -cS .spec.hard)" '{"cpu":"1","memory":"1G","pods":"2"}'
	kn create poddisruptionbudget p --selector=app=web --min-available=50%
	equal "$(kn get pdb p -o json | jq -c .spec.minAvailable)" '"50%"'
	k create priorityclass pc --value=-5 --description=low
	equal "$(k get priorityclass pc -o json | jq -c .value)" -5
}

@test "autoscale: an autoscaler on the deployment" {
	kn create deployment scaled --image=i
	kn autoscale deployment scaled --min=2 --max=5 --cpu=70% || kn autoscale deployment scaled --min=2 --max=5 --cpu-percent=70
	equal "$(kn get hpa scaled -o json | jq -c '[.spec.minReplicas, .spec.maxReplicas, .spec.metrics[0].resource.target.averageUtilization]')" '[2,5,70]'
}

@test "auth can-i, can-i --list, whoami: the admin" {
	equal "$(k auth can-i delete pods)" yes
	matches "$(k auth can-i --list)" '\*\.\* +\[\] +\[\] +\[\*\]'
	contains "$(k auth whoami)" system:masters
}

@test "create twice: AlreadyExists" {
	kn create configmap twice --from-literal=a=b
	run kn create configmap twice --from-literal=a=b
	equal "$status" 1
	contains "$output" 'configmaps "twice" already exists'
}

@test "create as dry run on the server: nothing kept" {
	kn create configmap dry --from-literal=a=b --dry-run=server
	gone /api/v1/namespaces/pb/configmaps/dry
}
