# SPDX-License-Identifier: Apache-2.0
# What the server says of itself: discovery, OpenAPI, version, health, metrics, reviews.

load ../lib/holdfs

AGGREGATED='application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

setup_file() {
	start_server
}

teardown_file() {
	stop_server
}

@test "discover legacy: versions, groups, resources" {
	http GET /api
	equal "$(json -c '[.kind, .versions]')" '["APIVersions",["v1"]]'
	http GET /apis
	equal "$(json .kind)" APIGroupList
	contains "$(json '[.groups[].name] | join(" ")')" apps
	http GET /apis/apps
	equal "$(json -c '[.kind, .preferredVersion.groupVersion]')" '["APIGroup","apps/v1"]'
	http GET /api/v1
	equal "$(json -c '[.kind, .groupVersion]')" '["APIResourceList","v1"]'
	equal "$(json -c '.resources[] | select(.name == "pods") | [.kind, .namespaced, .singularName, .shortNames]')" \
		'["Pod",true,"pod",["po"]]'
	http GET /apis/apps/v1
	equal "$(json -c '.resources[] | select(.name == "deployments/scale") | [.group, .version, .kind]')" \
		'["autoscaling","v1","Scale"]'
}

@test "every group in /apis resolves, its preferred version is one of its versions" {
	local group version
	http GET /apis
	for group in $(json '.groups[].name'); do
		http GET "/apis/$group"
		done_with 200
		equal "$(json '.preferredVersion.version as $v | [.versions[].version] | index($v) != null')" true
		for version in $(json '.versions[].groupVersion'); do
			http GET "/apis/$version"
			equal "$(json -c '[.kind, .groupVersion]')" "[\"APIResourceList\",\"$version\"]"
		done
	done
}

@test "discover aggregated: both halves in one reply each, with its type" {
	http GET /api -H "Accept: $AGGREGATED"
	equal "$(header content-type)" "$AGGREGATED"
	equal "$(json -c '[.kind, .apiVersion, (.items[0].metadata.name // ""), .items[0].versions[0].version]')" \
		'["APIGroupDiscoveryList","apidiscovery.k8s.io/v2","","v1"]'
	http GET /apis -H "Accept: $AGGREGATED"
	equal "$(json -c '.items[] | select(.metadata.name == "apps") | .versions[0].resources[] | select(.resource == "deployments") | [.responseKind.kind, .scope, .singularResource, .shortNames, .categories, ([.subresources[].subresource] | sort)]')" \
		'["Deployment","Namespaced","deployment",["deploy"],["all"],["scale","status"]]'
}

@test "discover again with ETag: 304" {
	http GET /apis -H "Accept: $AGGREGATED"
	local tag
	tag=$(header etag)
	matches "$tag" '^"[0-9A-F]+"$'
	http GET /apis -H "Accept: $AGGREGATED" -H "If-None-Match: $tag"
	equal "$code" 304
	equal "$body" ""
	http GET /apis -H "Accept: $AGGREGATED" -H 'If-None-Match: "0"'
	equal "$code" 200
}

@test "OpenAPI v3: an index, documents with the paths that kubectl looks for" {
	http GET /openapi/v3
	local url
	url=$(json '.paths["apis/apps/v1"].serverRelativeURL')
	matches "$url" '^/openapi/v3/apis/apps/v1\?hash='
	http GET "$url"
	done_with 200
	equal "$(json '.openapi' | cut -c1)" 3
	equal "$(json -c '[.paths[] | .patch? // empty | select(."x-kubernetes-group-version-kind".kind == "Deployment") | .parameters[]? | select(.name == "fieldValidation") | .in] | unique')" '["query"]'
	equal "$(json '[.components.schemas[] | select(."x-kubernetes-group-version-kind"? // [] | any(.kind == "Deployment"))] | length')" 1
	http GET "/openapi/v3/apis/apps/v1?hash=wrong"
	equal "$code" 301
	equal "$(header location)" "$url"
	http GET /openapi/v3/apis/nowhere/v1
	done_with 404
}

@test "every path of the OpenAPI index is a document" {
	local path
	http GET /openapi/v3
	for path in $(json '.paths[].serverRelativeURL'); do
		http GET "$path"
		done_with 200
		jq -e '.paths | length > 0' "$SERVER_DIR/body" >/dev/null
	done
}

@test "version: numbers that clients parse" {
	http GET /version
	matches "$(json .gitVersion)" '^v1\.[0-9]+\.[0-9]+'
	equal "$(json .major)" 1
	matches "$(json .minor)" '^[0-9]+$'
}

@test "health: ok in plain text, verbose, single checks" {
	local path
	for path in livez readyz healthz; do
		http GET "/$path"
		equal "$code $body" "200 ok"
		equal "$(header content-type)" 'text/plain; charset=utf-8'
		http GET "/$path?verbose"
		contains "$body" "$path check passed"
		contains "$body" '[+]'
	done
	http GET /livez/nowhere
	done_with 404
}

@test "metrics: Prometheus text with the names of an API server" {
	http GET /api/v1/pods
	http GET /metrics
	done_with 200
	matches "$(header content-type)" '^text/plain'
	contains "$body" '# TYPE apiserver_request_total counter'
	contains "$body" 'apiserver_request_duration_seconds_bucket{'
	contains "$body" 'apiserver_current_inflight_requests{'
	contains "$body" 'apiserver_longrunning_requests'
	matches "$(grep '^apiserver_request_total{' <<<"$body" | grep 'resource="pods"' | grep 'verb="LIST"')" ' [1-9][0-9]*$'
	equal "$(grep -vcE '^(#.*|[a-zA-Z_:][a-zA-Z0-9_:]*(\{.*\})? [-+0-9.eEinfNaI]+)$' <<<"$body")" 0
}

@test "reviews: the one admin may do everything" {
	send POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews '{"spec":{"resourceAttributes":{"verb":"delete","resource":"pods"}}}'
	done_with 201
	equal "$(json -c '[.kind, .status.allowed, .spec.resourceAttributes.verb]')" '["SelfSubjectAccessReview",true,"delete"]'
	send POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews '{"spec":{"namespace":"default"}}'
	done_with 201
	equal "$(json -c '[.status.resourceRules[0].verbs, .status.incomplete]')" '[["*"],false]'
	send POST /apis/authentication.k8s.io/v1/selfsubjectreviews '{}'
	done_with 201
	equal "$(json '.status.userInfo.groups | index("system:masters") != null')" true
	http POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews -H 'Content-Type: application/json' \
		-H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io' -d '{"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}'
	[ "$code" = 406 ]
	http GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews
	[ "$code" = 405 ] || [ "$code" = 404 ]
}

@test "replies on loopback: not compressed" {
	http GET /openapi/v3/apis/apps/v1 -H 'Accept-Encoding: gzip'
	done_with 200
	equal "$(header content-encoding)" ""
}

@test "kubectl api-resources: all kinds, kubectl api-versions" {
	local output
	output=$(k api-resources)
	contains "$output" "deployments"
	matches "$output" 'pods +po +v1 +true +Pod'
	matches "$output" 'horizontalpodautoscalers +hpa +autoscaling/v2 +true +HorizontalPodAutoscaler'
	contains "$(k api-versions)" networking.k8s.io/v1
}
