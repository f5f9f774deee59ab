package main

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// namedNodes takes only names from the request (nodeCacheCapable: true) and the nodes from an informer.
type namedNodes struct {
	lister corelisters.NodeLister
}

// watchNodes follows the nodes of a cluster and waits until all have been listed.
func watchNodes(kubeconfig string) (namedNodes, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return namedNodes{}, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return namedNodes{}, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes()
	informer := nodes.Informer()
	factory.Start(context.Background().Done())
	within, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !cache.WaitForCacheSync(within.Done(), informer.HasSynced) {
		return namedNodes{}, errors.New("the nodes were not listed within a minute")
	}
	return namedNodes{lister: nodes.Lister()}, nil
}

func (n namedNodes) nodes(args *extenderv1.ExtenderArgs) ([]*v1.Node, error) {
	if args.NodeNames == nil {
		return nil, errors.New("no NodeNames in the request: set nodeCacheCapable to true")
	}
	nodes := make([]*v1.Node, len(*args.NodeNames))
	for i, name := range *args.NodeNames {
		node, err := n.lister.Get(name)
		if err != nil {
			return nil, err
		}
		nodes[i] = node
	}
	return nodes, nil
}

func (namedNodes) keep(result *extenderv1.ExtenderFilterResult, nodes []*v1.Node) {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Name
	}
	result.NodeNames = &names
}
