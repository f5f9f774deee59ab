// Command answers reads an extender's answers as kube-scheduler reads them and says what it understood.
//
// Standard input holds one JSON object a line: the verb, the raw answer, and optionally the raw request, to which the
// nodes that came back are compared. Standard output gets one line for each.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log"
	"os"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

type question struct {
	Verb    string `json:"verb"`
	Body    string `json:"body"`
	Request string `json:"request"`
}

type understood struct {
	DecodeError string        `json:"decodeError,omitempty"`
	Filter      *filterAnswer `json:"filter,omitempty"`
	Scores      []hostScore   `json:"scores,omitzero"`
}

// filterAnswer keeps apart what is absent (null) and what is empty, as kube-scheduler does.
type filterAnswer struct {
	Nodes                      []string                  `json:"nodes"`
	ChangedNodes               []string                  `json:"changedNodes"`
	NodeNames                  []string                  `json:"nodeNames"`
	FailedNodes                extenderv1.FailedNodesMap `json:"failedNodes"`
	FailedAndUnresolvableNodes extenderv1.FailedNodesMap `json:"failedAndUnresolvableNodes"`
	Error                      string                    `json:"error"`
}

type hostScore struct {
	Host  string `json:"host"`
	Score int64  `json:"score"`
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
		if err := out.Encode(understand(asked)); err != nil {
			log.Fatalf("standard output: %v", err)
		}
	}
}

func understand(asked question) understood {
	switch asked.Verb {
	case "filter":
		return understandFilter(asked)
	case "prioritize":
		return understandPrioritize(asked)
	}
	log.Fatalf("verb %q: want filter or prioritize", asked.Verb)
	return understood{}
}

// decode is what pkg/scheduler/extender.go of k8s.io/kubernetes v1.37.2 does with a body: one value, the rest unread.
func decode(body string, into any) error {
	return json.NewDecoder(strings.NewReader(body)).Decode(into)
}

func understandFilter(asked question) understood {
	var result extenderv1.ExtenderFilterResult
	if err := decode(asked.Body, &result); err != nil {
		return understood{DecodeError: err.Error()}
	}
	answer := &filterAnswer{
		FailedNodes:                result.FailedNodes,
		FailedAndUnresolvableNodes: result.FailedAndUnresolvableNodes,
		Error:                      result.Error,
	}
	if result.NodeNames != nil {
		answer.NodeNames = append([]string{}, *result.NodeNames...)
	}
	if result.Nodes != nil {
		sent := nodesOf(asked.Request)
		answer.Nodes, answer.ChangedNodes = []string{}, []string{}
		for _, node := range result.Nodes.Items {
			answer.Nodes = append(answer.Nodes, node.Name)
			original, known := sent[node.Name]
			if asked.Request != "" && (!known || !equality.Semantic.DeepEqual(original, node)) {
				answer.ChangedNodes = append(answer.ChangedNodes, node.Name)
			}
		}
	}
	return understood{Filter: answer}
}

func nodesOf(request string) map[string]v1.Node {
	nodes := map[string]v1.Node{}
	if request == "" {
		return nodes
	}
	var args extenderv1.ExtenderArgs
	if err := decode(request, &args); err != nil {
		log.Fatalf("request: %v", err)
	}
	if args.Nodes != nil {
		for _, node := range args.Nodes.Items {
			nodes[node.Name] = node
		}
	}
	return nodes
}

func understandPrioritize(asked question) understood {
	var result extenderv1.HostPriorityList
	if err := decode(asked.Body, &result); err != nil {
		return understood{DecodeError: err.Error()}
	}
	scores := []hostScore{}
	for _, entry := range result {
		scores = append(scores, hostScore{Host: entry.Host, Score: entry.Score})
	}
	return understood{Scores: scores}
}
