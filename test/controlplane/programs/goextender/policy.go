package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

const missingLabel = "node(s) didn't have a label that the policy requires"

// policy is what the extender decides by.
type policy struct {
	require map[string][]string
	// priceLabels are the labels that every price names, sorted; prices are kept by their values.
	priceLabels []string
	prices      map[string]float64
}

type policyFile struct {
	Require map[string][]string `json:"require"`
	Prices  []struct {
		Match   map[string]string `json:"match"`
		PerHour float64           `json:"perHour"`
	} `json:"prices"`
}

func loadPolicy(name string) (*policy, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("-policy: %w", err)
	}
	var file policyFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	loaded := &policy{require: file.Require, prices: map[string]float64{}}
	for _, price := range file.Prices {
		labels := make([]string, 0, len(price.Match))
		for label := range price.Match {
			labels = append(labels, label)
		}
		sort.Strings(labels)
		if loaded.priceLabels == nil {
			loaded.priceLabels = labels
		}
		if !slices.Equal(labels, loaded.priceLabels) {
			return nil, errors.New(name + ": every price has to match by the same labels")
		}
		loaded.prices[loaded.priceKey(price.Match)] = price.PerHour
	}
	return loaded, nil
}

func (p *policy) priceKey(labels map[string]string) string {
	values := make([]string, len(p.priceLabels))
	for i, label := range p.priceLabels {
		values[i] = labels[label]
	}
	return strings.Join(values, "\x00")
}

// allows says whether a node has every required label with one of its values.
func (p *policy) allows(node *v1.Node) bool {
	for label, values := range p.require {
		value, ok := node.Labels[label]
		if !ok || len(values) > 0 && !slices.Contains(values, value) {
			return false
		}
	}
	return true
}

// scores ranks nodes by what the pod costs there: the hourly price times the larger share of cpu and memory. The
// cheapest gets 10, the dearest and those without a price 0.
func (p *policy) scores(pod *v1.Pod, nodes []*v1.Node) extenderv1.HostPriorityList {
	requests := podRequests(pod)
	costs := make([]float64, len(nodes))
	lowest, highest := math.Inf(1), math.Inf(-1)
	for i, node := range nodes {
		costs[i] = p.cost(requests, node)
		if !math.IsNaN(costs[i]) {
			lowest, highest = min(lowest, costs[i]), max(highest, costs[i])
		}
	}
	list := make(extenderv1.HostPriorityList, len(nodes))
	for i, node := range nodes {
		list[i] = extenderv1.HostPriority{Host: node.Name, Score: scaled(costs[i], lowest, highest)}
	}
	return list
}

func (p *policy) cost(requests v1.ResourceList, node *v1.Node) float64 {
	price, ok := p.prices[p.priceKey(node.Labels)]
	if !ok {
		return math.NaN()
	}
	cpu := share(requests[v1.ResourceCPU], node.Status.Allocatable[v1.ResourceCPU])
	memory := share(requests[v1.ResourceMemory], node.Status.Allocatable[v1.ResourceMemory])
	return price * max(cpu, memory)
}

func share(part, whole resource.Quantity) float64 {
	if whole.IsZero() {
		return math.NaN()
	}
	return float64(part.MilliValue()) / float64(whole.MilliValue())
}

func scaled(cost, lowest, highest float64) int64 {
	if math.IsNaN(cost) {
		return extenderv1.MinExtenderPriority
	}
	if lowest == highest {
		return extenderv1.MaxExtenderPriority
	}
	return int64(math.Round(float64(extenderv1.MaxExtenderPriority) * (highest - cost) / (highest - lowest)))
}

// podRequests counts 100m and 200Mi for a container that requests nothing, as kube-scheduler's score plugins do.
func podRequests(pod *v1.Pod) v1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		NonMissingContainerRequests: v1.ResourceList{
			v1.ResourceCPU:    resource.MustParse("100m"),
			v1.ResourceMemory: resource.MustParse("200Mi"),
		},
	})
}
