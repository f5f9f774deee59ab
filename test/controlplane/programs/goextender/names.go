package main

import (
	"context"
	"errors"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// cluster is where the nodes are that requests name; without a kubeconfig requests have whole nodes.
type cluster struct {
	kubeconfig string
	bind       bool
}

// connect gives where nodes come from, and who binds, which is nobody unless that was asked for. It waits until all nodes
// have been listed, and all pods where it binds.
func (c cluster) connect() (nodeSource, *binder, error) {
	if c.kubeconfig == "" {
		if c.bind {
			return nil, nil, errors.New("-bind needs -kubeconfig")
		}
		return wholeNodes{}, nil, nil
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	// Nothing is held back on this side, and both sides speak protobuf, as kube-scheduler's own client does.
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes()
	synced := []cache.InformerSynced{nodes.Informer().HasSynced}
	var binds *binder
	if c.bind {
		binds = &binder{client}
		synced = append(synced, factory.Core().V1().Pods().Informer().HasSynced)
	}
	factory.Start(context.Background().Done())
	within, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !cache.WaitForCacheSync(within.Done(), synced...) {
		return nil, nil, errors.New("nodes or pods were not listed within a minute")
	}
	return namedNodes{lister: nodes.Lister()}, binds, nil
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
