package main

import (
	"encoding/json"
	"errors"
	"net/http"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// nodeSource finds the nodes that a request is about.
type nodeSource interface {
	// nodes gives one node for each that the request names, in its order.
	nodes(args *extenderv1.ExtenderArgs) ([]*v1.Node, error)
	// keep puts the nodes that passed into an answer, in the form that the request has.
	keep(result *extenderv1.ExtenderFilterResult, nodes []*v1.Node)
}

// wholeNodes takes the nodes from the request itself (nodeCacheCapable: false).
type wholeNodes struct{}

func (wholeNodes) nodes(args *extenderv1.ExtenderArgs) ([]*v1.Node, error) {
	if args.Nodes == nil {
		return nil, errors.New("no Nodes in the request: set nodeCacheCapable to false")
	}
	nodes := make([]*v1.Node, len(args.Nodes.Items))
	for i := range args.Nodes.Items {
		nodes[i] = &args.Nodes.Items[i]
	}
	return nodes, nil
}

func (wholeNodes) keep(result *extenderv1.ExtenderFilterResult, nodes []*v1.Node) {
	result.Nodes = &v1.NodeList{Items: make([]v1.Node, 0, len(nodes))}
	for _, node := range nodes {
		result.Nodes.Items = append(result.Nodes.Items, *node)
	}
}

func routes(policy *policy, source nodeSource, binds *binder) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /filter", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, func(args *extenderv1.ExtenderArgs) (any, error) { return filter(policy, source, args) })
	})
	mux.HandleFunc("POST /prioritize", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, func(args *extenderv1.ExtenderArgs) (any, error) { return prioritize(policy, source, args) })
	})
	if binds != nil {
		mux.HandleFunc("POST /bind", binds.bind)
	}
	mux.HandleFunc("GET /usage", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, readUsage()) })
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, "ok") })
	return mux
}

func answer(w http.ResponseWriter, r *http.Request, decide func(*extenderv1.ExtenderArgs) (any, error)) {
	var args extenderv1.ExtenderArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil || args.Pod == nil {
		http.Error(w, "not ExtenderArgs", http.StatusBadRequest)
		return
	}
	result, err := decide(&args)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	writeJSON(w, result)
}

func filter(policy *policy, source nodeSource, args *extenderv1.ExtenderArgs) (any, error) {
	nodes, err := source.nodes(args)
	if err != nil {
		return nil, err
	}
	result := extenderv1.ExtenderFilterResult{FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{}}
	kept := make([]*v1.Node, 0, len(nodes))
	for _, node := range nodes {
		if policy.allows(node) {
			kept = append(kept, node)
		} else {
			result.FailedAndUnresolvableNodes[node.Name] = missingLabel
		}
	}
	source.keep(&result, kept)
	return result, nil
}

func prioritize(policy *policy, source nodeSource, args *extenderv1.ExtenderArgs) (any, error) {
	nodes, err := source.nodes(args)
	if err != nil {
		return nil, err
	}
	return policy.scores(args.Pod, nodes), nil
}

func writeJSON(w http.ResponseWriter, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(text)
}
