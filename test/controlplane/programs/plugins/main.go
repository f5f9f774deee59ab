// Command plugins lets kube-scheduler's own plugins judge pods and nodes.
//
// Standard input holds one JSON object a line: a pod, nodes, the pods that are on them, and optionally arguments of
// plugins. Pods and nodes are given the API server's defaults first. Standard output gets one line for each: the objects
// with their defaults, what each plugin says of every node, its raw scores, and the scores after normalization over the
// nodes that all plugins keep.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log"
	"os"

	v1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type question struct {
	Pod *v1.Pod `json:"pod"`
	// Pods carry spec.nodeName.
	Pods  []*v1.Pod                  `json:"pods"`
	Nodes []*v1.Node                 `json:"nodes"`
	Args  map[string]json.RawMessage `json:"args"`
}

type answer struct {
	Pod   *v1.Pod    `json:"pod"`
	Pods  []*v1.Pod  `json:"pods"`
	Nodes []*v1.Node `json:"nodes"`
	// Plugins holds a judgement for each plugin by its name.
	Plugins map[string]*judgement `json:"plugins"`
}

type judgement struct {
	// Refusals by node; a node that is kept is not there.
	Refusals map[string]refusal `json:"refusals"`
	// Raw scores by node; null for a plugin that does not score this pod.
	Raw map[string]int64 `json:"raw"`
	// Normalized scores of the nodes that every plugin keeps.
	Normalized map[string]int64 `json:"normalized"`
}

type refusal struct {
	Reasons      []string `json:"reasons"`
	Unresolvable bool     `json:"unresolvable"`
}

func main() {
	log.SetFlags(0)
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	for {
		var asked question
		if err := in.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			log.Fatalf("standard input: %v", err)
		}
		if err := out.Encode(judge(asked)); err != nil {
			log.Fatalf("standard output: %v", err)
		}
	}
}

func judge(asked question) answer {
	ctx := context.Background()
	store(asked)
	infos := nodeInfos(asked)
	given := map[string]*judgement{}
	feasible := infos
	seats := seatsOf(ctx, asked)
	for _, seat := range seats {
		given[seat.name] = seat.filter(ctx, asked.Pod, infos)
		kept := []*framework.NodeInfo{}
		for _, info := range feasible {
			if _, refused := given[seat.name].Refusals[info.Node().Name]; !refused {
				kept = append(kept, info)
			}
		}
		feasible = kept
	}
	for _, seat := range seats {
		seat.score(ctx, asked.Pod, infos, feasible, given[seat.name])
	}
	return answer{asked.Pod, asked.Pods, asked.Nodes, given}
}

// store makes the objects what clients read of the API server: with its defaults, and without empty maps.
func store(asked question) {
	for _, pod := range append([]*v1.Pod{asked.Pod}, asked.Pods...) {
		corev1.SetObjectDefaults_Pod(pod)
		stored := &core.Pod{}
		if err := corev1.Convert_v1_Pod_To_core_Pod(pod, stored, nil); err != nil {
			log.Fatalf("pod %s: %v", pod.Name, err)
		}
		podutil.DefaultPodLevelResources(stored)
		if err := corev1.Convert_core_Pod_To_v1_Pod(stored, pod, nil); err != nil {
			log.Fatalf("pod %s: %v", pod.Name, err)
		}
		data, err := json.Marshal(pod)
		if err != nil {
			log.Fatalf("pod %s: %v", pod.Name, err)
		}
		*pod = v1.Pod{}
		if err := json.Unmarshal(data, pod); err != nil {
			log.Fatalf("pod %s: %v", pod.Name, err)
		}
	}
	for _, node := range asked.Nodes {
		corev1.SetObjectDefaults_Node(node)
	}
}

func nodeInfos(asked question) []*framework.NodeInfo {
	byNode := map[string][]*v1.Pod{}
	for _, pod := range asked.Pods {
		byNode[pod.Spec.NodeName] = append(byNode[pod.Spec.NodeName], pod)
	}
	infos := []*framework.NodeInfo{}
	for _, node := range asked.Nodes {
		info := framework.NewNodeInfo(byNode[node.Name]...)
		info.SetNode(node)
		infos = append(infos, info)
	}
	return infos
}
