/* SPDX-License-Identifier: Apache-2.0 */
/* Table cells: every kind's row, ages filled in when sent, any input survived. */
#include <stdlib.h>

#include "store/base/cleanup.h"
#include "store/kind/cells.h"
#include "store/kind/cells_rules.h"
#include "tests/unit/tap.h"

#define NOW_TEXT "2026-01-02T04:00:00Z"

/* JSON here is written with ' for ". */
#define META "'metadata':{'name':'n','creationTimestamp':'2026-01-02T03:00:00Z'}"
#define DELETED "'metadata':{'name':'n','creationTimestamp':'2026-01-02T03:00:00Z','deletionTimestamp':'2026-01-02T03:59:00Z'}"
#define CONTAINERS "'containers':[{'name':'a','image':'i:1'},{'name':'b','image':'j'}],'initContainers':[{'name':'x','image':'y'}]"
#define TEMPLATE "'template':{'spec':{" CONTAINERS "}}"
#define RUNNING "'ready':true,'restartCount':0,'state':{'running':{}}"

struct row {
	const char *version, *kind, *object, *cells;
};

static const struct row rows[] = {
	/* core */
	{"v1", "Namespace", META ",'status':{'phase':'Active'}", "['n','Active','60m']"},
	{"v1", "Namespace", "'metadata':{'name':'n'}", "['n','','<unknown>']"},
	{"v1", "Namespace", "'metadata':{'name':'n','creationTimestamp':'0001-01-01T00:00:00Z'}", "['n','','<unknown>']"},
	{"v1", "Namespace", "'metadata':{'name':'n','creationTimestamp':'2026-01-02T04:00:01Z'}", "['n','','0s']"},
	{"v1", "Namespace", "'metadata':{'name':'n','creationTimestamp':'2026-01-02T04:00:09Z'}", "['n','','<invalid>']"},
	{"v1", "Namespace", "'metadata':{'name':'a\\u0022\\\\\\n','creationTimestamp':'2026-01-02T03:00:00Z'}", "['a\\\"\\\\\\n','','60m']"},
	{"v1", "Secret", META ",'type':'Opaque','data':{'a':'','b':''}", "['n','Opaque',2,'60m']"},
	{"v1", "ServiceAccount", META, "['n','60m']"},
	{"v1", "ConfigMap", META ",'data':{'a':'1'},'binaryData':{'b':'','c':''}", "['n',3,'60m']"},
	{"v1", "LimitRange", META, "['n','2026-01-02T03:00:00Z']"},
	{"v1", "LimitRange", "'metadata':{'name':'n'}", "['n','0001-01-01T00:00:00Z']"},
	{"v1", "ResourceQuota", META ",'status':{'hard':{'pods':'10','cpu':'2','limits.cpu':'4','limits.memory':'1Gi'},"
	 "'used':{'cpu':'500m','limits.cpu':'0'}}",
	 "['n','cpu: 500m/2, pods: 0/10','limits.cpu: 0/4, limits.memory: 0/1Gi','60m']"},
	{"v1", "ComponentStatus", "'metadata':{'name':'n'},'conditions':[{'type':'Healthy','status':'True','message':'ok'}]",
	 "['n','Healthy','ok','']"},
	{"v1", "ComponentStatus", "'metadata':{'name':'n'},'conditions':[{'type':'Healthy','status':'False','error':'no'}]",
	 "['n','Unhealthy','','no']"},
	{"v1", "ComponentStatus", "'metadata':{'name':'n'}", "['n','Unknown','','']"},
	{"v1", "Node", "'metadata':{'name':'n','creationTimestamp':'2026-01-02T03:00:00Z','labels':{'kubernetes.io/role':'z',"
	 "'node-role.kubernetes.io/worker':'','node-role.kubernetes.io/':'','node-role.kubernetes.io/control-plane':'x'}},"
	 "'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'False'},{'type':'Ready','status':'True'}],"
	 "'addresses':[{'type':'Hostname','address':'h'},{'type':'InternalIP','address':'10.0.0.1'},{'type':'InternalIP','address':'::1'}],"
	 "'nodeInfo':{'kubeletVersion':'v1.36.0','osImage':'Debian','kernelVersion':'6.1','architecture':'amd64',"
	 "'containerRuntimeVersion':'containerd://2'}}",
	 "['n','Ready,SchedulingDisabled','control-plane,worker,z','60m','v1.36.0','10.0.0.1','<none>','Debian','6.1 (amd64)','containerd://2']"},
	{"v1", "Node", META, "['n','Unknown','<none>','60m','','<none>','<none>','<unknown>','<unknown>','<unknown>']"},
	{"v1", "Node", META ",'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}",
	 "['n','NotReady','<none>','60m','','<none>','<none>','<unknown>','<unknown>','<unknown>']"},

	/* events */
	{"v1", "Event", "'metadata':{'name':'n'},'type':'Normal','reason':'R','involvedObject':{'kind':'ReplicaSet','name':'web','fieldPath':'f'},"
	 "'source':{'component':'c','host':'h'},'message':' \\n hi\\u00a0 ','firstTimestamp':'2026-01-02T03:00:00Z',"
	 "'lastTimestamp':'2026-01-02T03:59:00Z','count':7",
	 "['60s','Normal','R','replicaset/web','f','c, h','hi','60m',7,'n']"},
	{"v1", "Event", "'metadata':{'name':'n'},'involvedObject':{'kind':'Node'},'reportingComponent':'c','reportingInstance':'i',"
	 "'eventTime':'2026-01-02T03:50:00.123456Z','series':{'count':3,'lastObservedTime':'2026-01-02T03:59:59.5Z'},'count':9",
	 "['1s','','','node','','c, i','','10m',3,'n']"},
	{"v1", "Event", "'metadata':{'name':'n'},'firstTimestamp':null,'source':{'component':'c'}",
	 "['<unknown>','','','','','c','','<unknown>',1,'n']"},
	{"v1", "Event", "'metadata':{'name':'n'},'firstTimestamp':'2026-01-02T03:00:00Z'", "['60m','','','','','','','60m',1,'n']"},
	{"events.k8s.io/v1", "Event", "'metadata':{'name':'n'},'type':'Warning','reason':'R','regarding':{'kind':'Pod','name':'p','fieldPath':'f'},"
	 "'note':'hi','reportingController':'c','reportingInstance':'i','deprecatedFirstTimestamp':'2026-01-02T03:00:00Z',"
	 "'deprecatedLastTimestamp':'2026-01-02T03:30:00Z','deprecatedCount':2",
	 "['30m','Warning','R','pod/p','f','c, i','hi','60m',2,'n']"},

	/* pods */
	{"v1", "Pod", META ",'spec':{'containers':[{'name':'a'}],'nodeName':'n1'},'status':{'phase':'Running','podIPs':[{'ip':'10.1.0.1'}],"
	 "'containerStatuses':[{" RUNNING "}]}",
	 "['n','1/1','Running','0','60m','10.1.0.1','n1','<none>','<none>']"},
	{"v1", "Pod", META ",'spec':{'containers':[{'name':'a'},{'name':'b'}]},'status':{'phase':'Running','containerStatuses':["
	 "{'restartCount':2,'state':{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':{'terminated':{'finishedAt':'2026-01-02T03:55:00Z'}}},"
	 "{'restartCount':1,'state':{'terminated':{'exitCode':1,'reason':'Error'}},'lastState':{'terminated':{'finishedAt':'2026-01-02T03:00:00Z'}}}]}",
	 "['n','0/2','CrashLoopBackOff','3 (5m ago)','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'status':{'phase':'Running','containerStatuses':[{'state':{'terminated':{'exitCode':137,'signal':9}}}]}",
	 "['n','0/0','Signal:9','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'status':{'phase':'Running','containerStatuses':[{'state':{'terminated':{'exitCode':3}}}]}",
	 "['n','0/0','ExitCode:3','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}],'containerStatuses':["
	 "{'state':{'terminated':{'exitCode':0,'reason':'Completed'}}},{" RUNNING "}]}",
	 "['n','1/0','Running','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'status':{'phase':'Running','containerStatuses':["
	 "{'state':{'terminated':{'exitCode':0,'reason':'Completed'}}},{" RUNNING "}]}",
	 "['n','1/0','NotReady','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'status':{'phase':'Running','containerStatuses':["
	 "{'state':{'terminated':{'exitCode':0,'reason':'Completed'}}},{'state':{'terminated':{'exitCode':1,'reason':'Error'}}}]}",
	 "['n','0/0','Error','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'spec':{'readinessGates':[{'conditionType':'g'},{'conditionType':'h'},{'conditionType':'i'}]},'status':{'phase':'Pending',"
	 "'nominatedNodeName':'nn','conditions':[{'type':'i','status':'False'},{'type':'i','status':'True'},{'type':'g','status':'True'},"
	 "{'type':'PodScheduled','status':'False','reason':'SchedulingGated'}]}",
	 "['n','0/0','SchedulingGated','0','60m','<none>','<none>','nn','1/3']"},
	{"v1", "Pod", META ",'spec':{" CONTAINERS "},'status':{'phase':'Pending','initContainerStatuses':[{'name':'x','restartCount':4,"
	 "'state':{'terminated':{'exitCode':2}},'lastState':{'terminated':{'finishedAt':'2026-01-02T03:58:00Z'}}}]}",
	 "['n','0/2','Init:ExitCode:2','4 (2m ago)','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'spec':{" CONTAINERS "},'status':{'phase':'Pending','initContainerStatuses':[{'name':'x','state':{'terminated':{'exitCode':2,'signal':15}}}]}",
	 "['n','0/2','Init:Signal:15','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'spec':{" CONTAINERS "},'status':{'phase':'Pending','initContainerStatuses':[{'name':'x','state':{'waiting':{'reason':'ErrImagePull'}}}]}",
	 "['n','0/2','Init:ErrImagePull','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", META ",'spec':{" CONTAINERS "},'status':{'phase':'Pending','initContainerStatuses':[{'name':'x','state':{'waiting':{'reason':'PodInitializing'}}}]}",
	 "['n','0/2','Init:0/1','0','60m','<none>','<none>','<none>','<none>']"},
	/* after Initialized the containers count again, whatever the init containers do */
	{"v1", "Pod", META ",'spec':{" CONTAINERS "},'status':{'phase':'Running','conditions':[{'type':'Initialized','status':'True'}],"
	 "'initContainerStatuses':[{'name':'x','restartCount':3,'state':{'running':{}}}],'containerStatuses':[{" RUNNING "},"
	 "{'restartCount':2,'state':{'waiting':{'reason':'ImagePullBackOff'}}}]}",
	 "['n','1/2','ImagePullBackOff','2','60m','<none>','<none>','<none>','<none>']"},
	/* a sidecar counts as a container once it runs */
	{"v1", "Pod", META ",'spec':{'containers':[{'name':'a'}],'initContainers':[{'name':'s','restartPolicy':'Always'},{'name':'i'}]},"
	 "'status':{'phase':'Running','initContainerStatuses':[{'name':'s','ready':true,'started':true,'restartCount':1,'state':{'running':{}}},"
	 "{'name':'i','restartCount':5,'state':{'terminated':{'exitCode':0}}}],'containerStatuses':[{" RUNNING "}]}",
	 "['n','2/2','Running','1','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", DELETED ",'status':{'phase':'Running'}", "['n','0/0','Terminating','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", DELETED ",'status':{'phase':'Running','reason':'NodeLost'}", "['n','0/0','Unknown','0','60m','<none>','<none>','<none>','<none>']"},
	{"v1", "Pod", DELETED ",'status':{'phase':'Failed','reason':'Evicted'}",
	 "['n','0/0','Evicted','0','60m','<none>','<none>','<none>','<none>'],'conditions':[{'type':'Completed','status':'True','reason':'Failed','message':'The pod failed.'}]"},
	{"v1", "Pod", META ",'status':{'phase':'Succeeded','containerStatuses':[{'state':{'terminated':{'exitCode':0,'reason':'Completed'}}}]}",
	 "['n','0/0','Completed','0','60m','<none>','<none>','<none>','<none>'],'conditions':[{'type':'Completed','status':'True','reason':'Succeeded',"
	 "'message':'The pod has completed successfully.'}]"},
	{"v1", "PodTemplate", META ",'template':{'metadata':{'labels':{'a':'1','a-b':'2'}},'spec':{" CONTAINERS "}}",
	 "['n','a,b','i:1,j','a-b=2,a=1']"},

	/* workloads */
	{"v1", "ReplicationController", META ",'spec':{'replicas':3,'selector':{'a':'1'}," TEMPLATE "},'status':{'replicas':2,'readyReplicas':1}",
	 "['n',3,2,1,'60m','a,b','i:1,j','a=1']"},
	{"apps/v1", "ReplicaSet", META ",'spec':{'replicas':3,'selector':{'matchLabels':{'a':'1'},'matchExpressions':["
	 "{'key':'z','operator':'In','values':['y','x']},{'key':'b','operator':'DoesNotExist'},{'key':'c','operator':'Exists'},"
	 "{'key':'d','operator':'NotIn','values':['v']}]}," TEMPLATE "}",
	 "['n',3,0,0,'60m','a,b','i:1,j','a=1,!b,c,d notin (v),z in (x,y)']"},
	{"apps/v1", "ReplicaSet", META ",'spec':{'selector':{}}", "['n',0,0,0,'60m','','','<none>']"},
	{"apps/v1", "ReplicaSet", META ",'spec':{'selector':{'matchExpressions':[{'key':'a','operator':'Exists','values':['b']}]}}",
	 "['n',0,0,0,'60m','','','<error>']"},
	{"apps/v1", "Deployment", META ",'spec':{'replicas':3,'selector':{'matchLabels':{'a':'1'}}," TEMPLATE "},"
	 "'status':{'readyReplicas':2,'updatedReplicas':1,'availableReplicas':2}", "['n','2/3',1,2,'60m','a,b','i:1,j','a=1']"},
	{"apps/v1", "Deployment", META ",'spec':{'replicas':1}", "['n','0/1',0,0,'60m','','','']"},
	{"apps/v1", "Deployment", META ",'spec':{'selector':{'matchExpressions':[{'key':'a','operator':'In'}]}}", "['n','0/0',0,0,'60m','','','<invalid>']"},
	{"apps/v1", "DaemonSet", META ",'spec':{'selector':{'matchLabels':{'a':'1'}},'template':{'spec':{'nodeSelector':{'k':'v'}," CONTAINERS "}}},"
	 "'status':{'desiredNumberScheduled':5,'currentNumberScheduled':4,'numberReady':3,'updatedNumberScheduled':2,'numberAvailable':1}",
	 "['n',5,4,3,2,1,'k=v','60m','a,b','i:1,j','a=1']"},
	{"apps/v1", "StatefulSet", META ",'spec':{'replicas':3," TEMPLATE "},'status':{'readyReplicas':2}", "['n','2/3','60m','a,b','i:1,j']"},
	{"apps/v1", "ControllerRevision", "'metadata':{'name':'n','creationTimestamp':'2026-01-02T03:00:00Z','ownerReferences':["
	 "{'apiVersion':'v1','kind':'Pod','name':'p'},{'apiVersion':'apps/v1','kind':'StatefulSet','name':'web','controller':true}]},'revision':4",
	 "['n','statefulset.apps/web',4,'60m']"},
	{"apps/v1", "ControllerRevision", "'metadata':{'name':'n','ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','controller':true}]}",
	 "['n','pod/p',0,'<unknown>']"},
	{"apps/v1", "ControllerRevision", META, "['n','<none>',0,'60m']"},
	{"batch/v1", "Job", META ",'spec':{'completions':3,'selector':{'matchLabels':{'a':'1'}}," TEMPLATE "},'status':{'succeeded':3,"
	 "'startTime':'2026-01-02T03:00:00Z','completionTime':'2026-01-02T03:02:05Z','conditions':[{'type':'SuccessCriteriaMet','status':'True'},"
	 "{'type':'Complete','status':'True'}]}",
	 "['n','Complete','3/3','2m5s','60m','a,b','i:1,j','a=1']"},
	{"batch/v1", "Job", DELETED ",'spec':{'parallelism':4},'status':{'startTime':'2026-01-02T03:50:00Z','conditions':[{'type':'Suspended','status':'True'}]}",
	 "['n','Terminating','0/1 of 4','10m','60m','','','<none>']"},
	{"batch/v1", "Job", META ",'spec':{'parallelism':1},'status':{'conditions':[{'type':'Failed','status':'False'},{'type':'Failed','status':'True'}]}",
	 "['n','Running','0/1','','60m','','','<none>']"},
	{"batch/v1", "CronJob", META ",'spec':{'schedule':'* * * * *','suspend':false,'jobTemplate':{'spec':{" TEMPLATE "}}},"
	 "'status':{'active':[{},{}],'lastScheduleTime':'2026-01-02T03:59:30Z'}",
	 "['n','* * * * *','<none>','False',2,'30s','60m','a,b','i:1,j','<none>']"},
	{"batch/v1", "CronJob", META ",'spec':{'timeZone':'Etc/UTC','suspend':true}", "['n','','Etc/UTC','True',0,'<none>','60m','','','<none>']"},
	{"batch/v1", "CronJob", META, "['n','','<none>','<unset>',0,'<none>','60m','','','<none>']"},
	{"autoscaling/v2", "HorizontalPodAutoscaler", META ",'spec':{'scaleTargetRef':{'kind':'Deployment','name':'web'},'minReplicas':2,'maxReplicas':5,'metrics':["
	 "{'type':'Resource','resource':{'name':'cpu','target':{'averageUtilization':80}}},"
	 "{'type':'External','external':{'target':{'averageValue':'10'}}},{'type':'Pods'}]},"
	 "'status':{'currentReplicas':3,'currentMetrics':[{'type':'Resource','resource':{'current':{'averageUtilization':50}}},"
	 "{'type':'External','external':{'current':{'averageValue':'5'}}}]}",
	 "['n','Deployment/web','cpu: 50%/80%, 5/10 (avg) + 1 more...','2',5,3,'60m']"},
	{"autoscaling/v2", "HorizontalPodAutoscaler", META ",'spec':{'metrics':[{'type':'ContainerResource','containerResource':{'name':'memory','target':{'averageValue':'1Gi'}}},"
	 "{'type':'Resource','resource':{'name':'cpu','target':{}}}]}", "['n','','memory: <unknown>/1Gi, cpu: <unknown>/<auto>','<unset>',0,0,'60m']"},
	{"autoscaling/v2", "HorizontalPodAutoscaler", META ",'spec':{'metrics':[{'type':'Object','object':{'target':{'value':'2k'}}},"
	 "{'type':'Pods','pods':{'target':{'averageValue':'100m'}}}]},'status':{'currentMetrics':[{'object':{'current':{'value':'1'}}}]}",
	 "['n','','1/2k, <unknown>/100m','<unset>',0,0,'60m']"},
	{"autoscaling/v2", "HorizontalPodAutoscaler", META ",'spec':{'metrics':[{'type':'Odd'}]}", "['n','','<unknown type>','<unset>',0,0,'60m']"},
	{"autoscaling/v2", "HorizontalPodAutoscaler", META, "['n','','<none>','<unset>',0,0,'60m']"},
	{"autoscaling/v1", "HorizontalPodAutoscaler", META ",'spec':{'scaleTargetRef':{'kind':'D','name':'w'},'maxReplicas':1,"
	 "'targetCPUUtilizationPercentage':60},'status':{'currentCPUUtilizationPercentage':7}", "['n','D/w','cpu: 7%/60%','<unset>',1,0,'60m']"},
	{"policy/v1", "PodDisruptionBudget", META ",'spec':{'minAvailable':'50%'},'status':{'disruptionsAllowed':1}", "['n','50%','N/A',1,'60m']"},
	{"policy/v1", "PodDisruptionBudget", META ",'spec':{'maxUnavailable':0}", "['n','N/A','0',0,'60m']"},

	/* network */
	{"v1", "Service", META ",'spec':{'type':'ClusterIP','clusterIPs':['10.0.0.1','fd00::1'],'externalIPs':['1.1.1.1','2.2.2.2'],"
	 "'ports':[{'port':80,'protocol':'TCP'},{'port':53,'nodePort':30053,'protocol':'UDP'}],'selector':{'a':'1'}}",
	 "['n','ClusterIP','10.0.0.1','1.1.1.1,2.2.2.2','80/TCP,53:30053/UDP','60m','a=1']"},
	{"v1", "Service", META ",'spec':{'type':'LoadBalancer','clusterIPs':['None']}", "['n','LoadBalancer','None','<pending>','<none>','60m','<none>']"},
	{"v1", "Service", META ",'spec':{'type':'LoadBalancer','externalIPs':['0.0.0.1']},'status':{'loadBalancer':{'ingress':[{'hostname':'z'},{'ip':'9.9.9.9','hostname':'q'},{'ip':'9.9.9.9'}]}}",
	 "['n','LoadBalancer','<none>','9.9.9.9,z,0.0.0.1','<none>','60m','<none>']"},
	{"v1", "Service", META ",'spec':{'type':'ExternalName','externalName':'a.b'}", "['n','ExternalName','<none>','a.b','<none>','60m','<none>']"},
	{"v1", "Service", META ",'spec':{'type':'NodePort'}", "['n','NodePort','<none>','<none>','<none>','60m','<none>']"},
	{"v1", "Service", META, "['n','','<none>','<unknown>','<none>','60m','<none>']"},
	{"v1", "Endpoints", META ",'subsets':[{'addresses':[{'ip':'1.1.1.1'},{'ip':'fd::1'}],'ports':[{'port':80},{'port':81}]},"
	 "{'addresses':[{'ip':'fd::2'}]},{'notReadyAddresses':[{'ip':'3.3.3.3'}]}]",
	 "['n','1.1.1.1:80,[fd::1]:80,1.1.1.1:81 + 2 more...','60m']"},
	{"v1", "Endpoints", META ",'subsets':[{'addresses':[{'ip':'fd::2'}]}]", "['n','fd::2','60m']"},
	{"v1", "Endpoints", META, "['n','<none>','60m']"},
	{"discovery.k8s.io/v1", "EndpointSlice", META ",'addressType':'IPv4','ports':[{'port':80,'name':'x'},{'name':'y'},{},{}],"
	 "'endpoints':[{'addresses':['1','2']},{'addresses':['3','4']},{'addresses':['5']}]",
	 "['n','IPv4','80,y,* + 1 more...','1,2,3 + 2 more...','60m']"},
	{"discovery.k8s.io/v1", "EndpointSlice", META ",'ports':[{'name':''}]", "['n','','<unset>','<unset>','60m']"},
	{"networking.k8s.io/v1", "Ingress", META ",'spec':{'ingressClassName':'c','tls':[{}],'rules':[{'host':'a'},{},{'host':'b'},{'host':'c'},{}]},"
	 "'status':{'loadBalancer':{'ingress':[{'ip':'2'},{'ip':'1'}]}}", "['n','c','a,b,c + 2 more...','1,2','80, 443','60m']"},
	{"networking.k8s.io/v1", "Ingress", META ",'spec':{'rules':[{}]}", "['n','<none>','*','','80','60m']"},
	{"networking.k8s.io/v1", "Ingress", META ",'spec':{'rules':[{},{},{},{},{'host':'x'}]}", "['n','<none>','x','','80','60m']"},
	{"networking.k8s.io/v1", "IngressClass", "'metadata':{'name':'n','annotations':{'ingressclass.kubernetes.io/is-default-class':'true'}},"
	 "'spec':{'controller':'x/y','parameters':{'apiGroup':'g','kind':'K','name':'p'}}", "['n (default)','x/y','K.g/p','<unknown>']"},
	{"networking.k8s.io/v1", "IngressClass", META, "['n','','<none>','60m']"},
	{"networking.k8s.io/v1", "NetworkPolicy", META ",'spec':{'podSelector':{}}", "['n','<none>','60m']"},
	{"networking.k8s.io/v1", "ServiceCIDR", META ",'spec':{'cidrs':['10.0.0.0/8','fd::/64']}", "['n','10.0.0.0/8,fd::/64','60m']"},
	{"networking.k8s.io/v1", "IPAddress", META ",'spec':{'parentRef':{'resource':'services','namespace':'ns','name':'s'}}", "['n','services/ns/s','60m']"},
	{"networking.k8s.io/v1", "IPAddress", META ",'spec':{'parentRef':{'group':'G','resource':'R','name':'s'}}", "['n','r.g/s','60m']"},
	{"networking.k8s.io/v1", "IPAddress", META, "['n','<none>','60m']"},

	/* storage */
	{"v1", "PersistentVolume", META ",'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteMany','ReadWriteOnce','ReadWriteOnce','Odd'],"
	 "'persistentVolumeReclaimPolicy':'Retain','claimRef':{'namespace':'ns','name':'c'},'storageClassName':'sc','volumeMode':'Block'},'status':{'phase':'Bound','reason':'r'}",
	 "['n','1Gi','RWO,RWX','Retain','Bound','ns/c','sc','<unset>','r','60m','Block']"},
	{"v1", "PersistentVolume", META ",'spec':{'capacity':{'storage':'1024Mi'}}", "['n','1Gi','','','','','','<unset>','','60m','<unset>']"},
	{"v1", "PersistentVolume", DELETED ",'status':{'phase':'Bound'}", "['n','0','','','Terminating','','','<unset>','','60m','<unset>']"},
	{"v1", "PersistentVolumeClaim", META ",'spec':{'volumeName':'v','storageClassName':'sc'},'status':{'phase':'Bound','capacity':{'storage':'5Gi'},'accessModes':['ReadOnlyMany']}",
	 "['n','Bound','v','5Gi','ROX','sc','<unset>','60m','<unset>']"},
	{"v1", "PersistentVolumeClaim", "'metadata':{'name':'n','annotations':{'volume.beta.kubernetes.io/storage-class':''}},'spec':{'storageClassName':'sc'},"
	 "'status':{'capacity':{'storage':'5Gi'},'accessModes':['ReadOnlyMany']}", "['n','','','','','','<unset>','<unknown>','<unset>']"},
	{"storage.k8s.io/v1", "StorageClass", "'metadata':{'name':'n','annotations':{'storageclass.beta.kubernetes.io/is-default-class':'true'}},'provisioner':'p',"
	 "'allowVolumeExpansion':true", "['n (default)','p','Delete','Immediate',true,'<unknown>']"},
	{"storage.k8s.io/v1", "StorageClass", META ",'reclaimPolicy':'Retain','volumeBindingMode':'W'", "['n','','Retain','W',false,'60m']"},
	{"storage.k8s.io/v1", "VolumeAttributesClass", META ",'driverName':'d'", "['n','d','60m']"},
	{"storage.k8s.io/v1", "VolumeAttachment", META ",'spec':{'attacher':'a','nodeName':'x','source':{'persistentVolumeName':'pv'}},'status':{'attached':true}",
	 "['n','a','pv','x',true,'60m']"},
	{"storage.k8s.io/v1", "CSINode", META ",'spec':{'drivers':[{},{}]}", "['n',2,'60m']"},
	{"storage.k8s.io/v1", "CSIDriver", META, "['n',true,false,false,'<unset>',false,'<none>','60m']"},
	{"storage.k8s.io/v1", "CSIDriver", META ",'spec':{'attachRequired':false,'podInfoOnMount':true,'storageCapacity':true,'tokenRequests':[{'audience':'a'},{'audience':''}],"
	 "'requiresRepublish':true,'volumeLifecycleModes':['Persistent','Ephemeral']}", "['n',false,true,true,'a,',true,'Persistent,Ephemeral','60m']"},
	{"storage.k8s.io/v1", "CSIStorageCapacity", META, "['n','2026-01-02T03:00:00Z']"},

	/* access and policy */
	{"rbac.authorization.k8s.io/v1", "Role", META, "['n','2026-01-02T03:00:00Z']"},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", META, "['n','2026-01-02T03:00:00Z']"},
	{"rbac.authorization.k8s.io/v1", "RoleBinding", META ",'roleRef':{'kind':'Role','name':'r'},'subjects':[{'kind':'User','name':'u'},{'kind':'User','name':'w'},"
	 "{'kind':'Group','name':'g'},{'kind':'ServiceAccount','namespace':'ns','name':'s'}]", "['n','Role/r','60m','u, w','g','ns/s']"},
	{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", META ",'roleRef':{'kind':'ClusterRole','name':'r'}", "['n','ClusterRole/r','60m','','','']"},
	{"certificates.k8s.io/v1", "CertificateSigningRequest", META ",'spec':{'signerName':'s/x','username':'u','expirationSeconds':86400},"
	 "'status':{'conditions':[{'type':'Approved','status':'True'},{'type':'Failed'}],'certificate':'Zm9v'}", "['n','60m','s/x','u','24h','Approved,Failed,Issued']"},
	{"certificates.k8s.io/v1", "CertificateSigningRequest", META ",'status':{'conditions':[{'type':'Approved'},{'type':'Denied'}]}", "['n','60m','<none>','','<none>','Denied']"},
	{"certificates.k8s.io/v1", "CertificateSigningRequest", META, "['n','60m','<none>','','<none>','Pending']"},
	{"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", META ",'webhooks':[{}]", "['n',1,'60m']"},
	{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", META, "['n',0,'60m']"},
	{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", META ",'spec':{'validations':[{},{}],'paramKind':{'apiVersion':'v1','kind':'ConfigMap'}}", "['n',2,'v1/ConfigMap','60m']"},
	{"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", META ",'spec':{'mutations':[{}]}", "['n',1,'<unset>','60m']"},
	{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", META ",'spec':{'policyName':'p','paramRef':{'name':'x','namespace':'ns'}}", "['n','p','ns/x','60m']"},
	{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", META ",'spec':{'paramRef':{'selector':{'matchLabels':{'b':'2','a':'1'},"
	 "'matchExpressions':[{'key':'k','operator':'In','values':['v','w']}]}}}",
	 "['n','','&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[v w],},},}','60m']"},
	{"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", META ",'spec':{'policyName':'p','paramRef':{'name':'x'}}", "['n','p','*/x','60m']"},
	{"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", META, "['n','','<unset>','60m']"},
	{"flowcontrol.apiserver.k8s.io/v1", "FlowSchema", META ",'spec':{'priorityLevelConfiguration':{'name':'p'},'matchingPrecedence':100,'distinguisherMethod':{'type':'ByUser'}},"
	 "'status':{'conditions':[{'type':'Dangling','status':'False'}]}", "['n','p',100,'ByUser','60m','False']"},
	{"flowcontrol.apiserver.k8s.io/v1", "FlowSchema", META, "['n','',0,'<none>','60m','?']"},
	{"flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", META ",'spec':{'type':'Limited','limited':{'nominalConcurrencyShares':0,'limitResponse':{'queuing':{'queues':64,'handSize':8,'queueLengthLimit':50}}}}",
	 "['n','Limited',0,64,8,50,'60m']"},
	{"flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", META ",'spec':{'type':'Exempt'}", "['n','Exempt','<none>','<none>','<none>','<none>','60m']"},

	/* others */
	{"coordination.k8s.io/v1", "Lease", META ",'spec':{'holderIdentity':'h'}", "['n','h','60m']"},
	{"scheduling.k8s.io/v1", "PriorityClass", META ",'value':-7,'globalDefault':true,'preemptionPolicy':'Never'", "['n',-7,true,'60m','Never']"},
	{"node.k8s.io/v1", "RuntimeClass", META ",'handler':'h'", "['n','h','60m']"},
	{"resource.k8s.io/v1", "DeviceClass", META, "['n','60m']"},
	{"resource.k8s.io/v1", "ResourceClaim", META, "['n','pending','60m']"},
	{"resource.k8s.io/v1", "ResourceClaim", META ",'status':{'allocation':{},'reservedFor':[{}]}", "['n','allocated,reserved','60m']"},
	{"resource.k8s.io/v1", "ResourceClaim", DELETED ",'status':{'allocation':{}}", "['n','deleted,allocated','60m']"},
	{"resource.k8s.io/v1", "ResourceClaim", DELETED, "['n','deleted','60m']"},
	{"resource.k8s.io/v1", "ResourceClaimTemplate", META, "['n','60m']"},
	{"resource.k8s.io/v1", "ResourceSlice", META ",'spec':{'nodeName':'x','driver':'d','pool':{'name':'p'}}", "['n','x','d','p','60m']"},
	{"apiextensions.k8s.io/v1", "CustomResourceDefinition", META, "['n','2026-01-02T03:00:00Z']"},
	{"apiregistration.k8s.io/v1", "APIService", META ",'spec':{'service':{'namespace':'ns','name':'s'}},'status':{'conditions':[{'type':'Available','status':'False','reason':'Gone'}]}",
	 "['n','ns/s','False (Gone)','60m']"},
	{"apiregistration.k8s.io/v1", "APIService", META ",'status':{'conditions':[{'type':'Available','status':'True','reason':'Local'}]}", "['n','Local','True','60m']"},
	{"apiregistration.k8s.io/v1", "APIService", META, "['n','Local','Unknown','60m']"},
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static int64_t now_time(void)
{
	int64_t now = 0;

	time_parse(STR(NOW_TEXT), &now);
	return now;
}

/* The test's JSON with real quotes. */
static struct str json(struct arena *a, const char *before, const char *text, const char *after)
{
	struct str s = arena_printf(a, "%s%s%s", before, text, after);

	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] == '\'')
			((char *)s.ptr)[i] = '"';
	return s;
}

static struct tree *object_of(struct arena *a, const struct row *r)
{
	struct tree *t = NULL;
	struct status st = {0};

	return tree_parse(a, json(a, "{", r->object, "}"), &t, NULL, &st) < 0 ? NULL : t;
}

/* The cells as sent at `now`; false when rendering failed. */
static bool rendered(struct arena *a, const struct kind *k, const struct tree *object, int64_t now, struct buf *out)
{
	_cleanup_(buf_done) struct buf block = {0};

	if (!cells_render(a, k, object, &block))
		return false;
	cells_write(buf_str(&block), now, out);
	return !out->failed;
}

/* Are these n cells, with conditions behind them or not? The cells of an IPAddress are one more than its columns. */
static bool is_row(struct arena *a, const struct kind *k, struct str cells)
{
	struct tree *t;
	struct status st = {0};
	size_t n = k->ncolumns + (size_t)str_is(k->kind, "IPAddress");
	struct str text = arena_printf(a, "{\"cells\":%.*s}", STR_ARG(cells));

	if (tree_parse(a, text, &t, NULL, &st) < 0)
		return false;
	struct tree *array = tree_getz(t, "cells");
	return tree_is(array, TREE_ARRAY) && array->len == n;
}

static void test_row(const struct row *r)
{
	_cleanup_(arena_done) struct arena a = {0};
	_cleanup_(buf_done) struct buf out = {0};
	const struct kind *k = kinds_by_gvk(kinds_builtin(), str_of(r->version), str_of(r->kind));

	arena_init(&a, 0);
	struct tree *object = object_of(&a, r);
	struct str want = json(&a, "", r->cells, "");
	bool good = k && object && rendered(&a, k, object, now_time(), &out) && str_eq(buf_str(&out), want);
	if (!ok(good && is_row(&a, k, want), "%s %s: %s", r->version, r->kind, r->cells))
		printf("# got %.*s\n", STR_ARG(buf_str(&out)));
}

/* Every kind whose objects are kept is tried above. */
static void test_all_kinds(void)
{
	size_t count;
	const struct kind *const *all = kinds_all(kinds_builtin(), &count);

	for (size_t i = 0; i < count; i++) {
		bool found = !kind_is(all[i], KIND_STORED);
		for (size_t j = 0; j < ROWS && !found; j++)
			found = str_is(all[i]->api_version, rows[j].version) && str_is(all[i]->kind, rows[j].kind);
		ok(found, "%.*s %.*s: tried or not stored", STR_ARG(all[i]->api_version), STR_ARG(all[i]->kind));
	}
}

static void test_time_passes(void)
{
	static const struct row r = {"batch/v1", "CronJob",
		"'metadata':{'name':'n','creationTimestamp':'2026-01-02T03:00:00Z'},'status':{'lastScheduleTime':'2026-01-02T03:59:00Z'}", NULL};
	_cleanup_(arena_done) struct arena a = {0};
	_cleanup_(buf_done) struct buf block = {0}, out = {0};
	const struct kind *k = kinds_by_gvk(kinds_builtin(), str_of(r.version), str_of(r.kind));

	arena_init(&a, 0);
	buf_adds(&block, "kept");
	ok(cells_render(&a, k, object_of(&a, &r), &block) && str_starts(buf_str(&block), STR("kept")), "render: adds to the buffer");
	struct str cells = str_skip(buf_str(&block), 4);
	buf_adds(&out, "kept");
	cells_write(cells, now_time(), &out);
	cells_write(cells, now_time() + 3600, &out);
	ok(str_eq(buf_str(&out), json(&a, "", "kept['n','','<none>','<unset>',0,'60s','60m','','','<none>']"
				       "['n','','<none>','<unset>',0,'61m','120m','','','<none>']", "")),
	   "one block sent twice: ages of its moment, other text alike");
	buf_clear(&out);
	cells_write(cells, INT64_MIN, &out);
	cells_write(cells, INT64_MAX, &out);
	ok(!out.failed, "write: any now");
}

/* A damaged block gives something bounded, never reads outside itself. */
static void test_damaged_blocks(void)
{
	_cleanup_(arena_done) struct arena a = {0};
	_cleanup_(buf_done) struct buf block = {0};
	const struct kind *k = kinds_by_gvk(kinds_builtin(), STR("v1"), STR("Event"));

	arena_init(&a, 0);
	struct tree *object = object_of(&a, &(struct row){.object = "'metadata':{},'firstTimestamp':'2026-01-02T03:00:00Z'"});
	ok(cells_render(&a, k, object, &block), "render an event");
	bool bounded = true;
	for (size_t len = 0; len <= block.len; len++) {
		for (size_t at = 0; at < (len < 32 ? len : 32) || at == 0; at++) {
			_cleanup_(buf_done) struct buf out = {0};
			_cleanup_free_ char *copy = malloc(len + 1);
			memcpy(copy, block.ptr, len);
			if (at < len)
				copy[at] = (char)(copy[at] ^ 0x83);
			cells_write(str_n(copy, len), 0, &out);
			bounded &= !out.failed && out.len <= len + 33000 * 24;
		}
	}
	ok(bounded, "write: cut and damaged blocks");
	_cleanup_(buf_done) struct buf out = {0};
	cells_write((struct str){0}, 0, &out);
	ok(str_is(buf_str(&out), "[]"), "write: an empty block gives an empty row");
}

/* Replaces some values by others: deterministic, from *seed. */
static void mutate(struct arena *a, struct tree *t, uint32_t *seed)
{
	static const char *const odd[] = {
		"null", "true", "0", "-9223372036854775808", "1e999", "\"\"", "\"x\\u0000y\"", "[]", "{}", "[null,[{}],\"a\"]",
		"{\"type\":\"Ready\",\"status\":1}", "\"2026-99-99T00:00:00Z\"", "9223372036854775807", "\"1Ki\"",
	};
	uint32_t n = tree_is(t, TREE_ARRAY) || tree_is(t, TREE_OBJECT) ? t->len : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct tree **slot = t->type == TREE_ARRAY ? &t->items[i] : &t->members[i].value;
		struct status st = {0};
		*seed = *seed * 1664525u + 1013904223u;
		if ((*seed >> 24) < 60)
			tree_parse(a, str_of(odd[(*seed >> 8) % (sizeof(odd) / sizeof(*odd))]), slot, NULL, &st);
		mutate(a, *slot, seed);
	}
}

static void test_odd_objects(void)
{
	uint32_t seed = 1;
	bool good = true;

	for (size_t i = 0; i < ROWS * 40; i++) {
		_cleanup_(arena_done) struct arena a = {0};
		_cleanup_(buf_done) struct buf out = {0};
		const struct row *r = &rows[i % ROWS];
		const struct kind *k = kinds_by_gvk(kinds_builtin(), str_of(r->version), str_of(r->kind));
		arena_init(&a, 0);
		struct tree *object = object_of(&a, r);
		mutate(&a, object, &seed);
		bool fine = rendered(&a, k, object, now_time(), &out) && is_row(&a, k, buf_str(&out));
		if (!fine)
			printf("# %s %s: %.*s\n", r->version, r->kind, STR_ARG(buf_str(&out)));
		good &= fine;
	}
	ok(good, "render: wrong types anywhere still give a whole row");
}

static void test_no_object(void)
{
	size_t count;
	const struct kind *const *all = kinds_all(kinds_builtin(), &count);
	bool good = true;

	for (size_t i = 0; i < count; i++) {
		_cleanup_(arena_done) struct arena a = {0};
		_cleanup_(buf_done) struct buf out = {0};
		arena_init(&a, 0);
		good &= rendered(&a, all[i], tree_object(&a), now_time(), &out) && is_row(&a, all[i], buf_str(&out));
		buf_clear(&out);
		good &= rendered(&a, all[i], tree_null(&a), now_time(), &out) && is_row(&a, all[i], buf_str(&out));
	}
	ok(good, "render: an empty object gives a whole row for every kind");
}

/* Small ceilings: the row is either refused or right. */
static void test_out_of_memory(void)
{
	size_t refused = 0;
	bool good = true;

	for (size_t i = 0; i < ROWS; i++) {
		_cleanup_(arena_done) struct arena a = {0}, tiny = {0};
		_cleanup_(buf_done) struct buf out = {0};
		const struct kind *k = kinds_by_gvk(kinds_builtin(), str_of(rows[i].version), str_of(rows[i].kind));
		arena_init(&a, 0);
		arena_init(&tiny, 1);
		if (!rendered(&tiny, k, object_of(&a, &rows[i]), now_time(), &out))
			refused++;
		else
			good &= str_eq(buf_str(&out), json(&a, "", rows[i].cells, ""));
	}
	ok(good && refused > 10, "render: no memory is a refusal, never a wrong row");
}

/* Counts multiply here; nothing may take time in proportion. */
static void test_large_objects(void)
{
	enum { MANY = 60000 };
	_cleanup_(arena_done) struct arena a = {0};
	_cleanup_(buf_done) struct buf text = {0}, out = {0};
	struct tree *object = NULL;
	struct status st = {0};

	arena_init(&a, 0);
	buf_adds(&text, "{\"subsets\":[{\"addresses\":[");
	for (int i = 0; i < MANY; i++)
		buf_adds(&text, i ? ",{\"ip\":\"1\"}" : "{\"ip\":\"1\"}");
	buf_adds(&text, "],\"ports\":[");
	for (int i = 0; i < MANY; i++)
		buf_adds(&text, i ? ",{}" : "{}");
	buf_adds(&text, "]}]}");
	bool good = tree_parse(&a, buf_str(&text), &object, NULL, &st) == 0 &&
		    rendered(&a, kinds_by_gvk(kinds_builtin(), STR("v1"), STR("Endpoints")), object, 0, &out);
	ok(good && str_eq(buf_str(&out), json(&a, "", "['','1:0,1:0,1:0 + 3599999997 more...','<unknown>']", "")),
	   "render: 60000 addresses times 60000 ports");
}

int main(void)
{
	for (size_t i = 0; i < ROWS; i++)
		test_row(&rows[i]);
	test_all_kinds();
	test_time_passes();
	test_damaged_blocks();
	test_odd_objects();
	test_no_object();
	test_out_of_memory();
	test_large_objects();
	return tap_done();
}
