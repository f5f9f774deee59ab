package main

import (
	"context"
	"encoding/json"
	"log"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
)

type factory func(context.Context, runtime.Object, fwk.Handle, feature.Features) (fwk.Plugin, error)

// In the order of kube-scheduler's default profile.
var factories = []struct {
	name string
	make factory
	// takesArgs: whether there is a kind <name>Args.
	takesArgs bool
}{
	{nodename.Name, nodename.New, false},
	{nodeunschedulable.Name, nodeunschedulable.New, false},
	{tainttoleration.Name, tainttoleration.New, false},
	{nodeaffinity.Name, nodeaffinity.New, true},
	{nodeports.Name, nodeports.New, false},
	{noderesources.Name, noderesources.NewFit, true},
	{noderesources.BalancedAllocationName, noderesources.NewBalancedAllocation, true},
}

// seat is one plugin for one pod.
type seat struct {
	name   string
	plugin fwk.Plugin
	state  fwk.CycleState
}

func seatsOf(ctx context.Context, asked question) []seat {
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	seats := []seat{}
	for _, each := range factories {
		var args runtime.Object
		if each.takesArgs {
			args = readArgs(each.name, asked.Args[each.name])
		}
		plugin, err := each.make(ctx, args, handle{}, features)
		if err != nil {
			log.Fatalf("%s: %v", each.name, err)
		}
		seats = append(seats, seat{each.name, plugin, framework.NewCycleState()})
	}
	return seats
}

// readArgs decodes arguments as kube-scheduler's configuration file has them, with their defaults.
func readArgs(name string, raw json.RawMessage) runtime.Object {
	fields := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &fields); err != nil {
			log.Fatalf("arguments of %s: %v", name, err)
		}
	}
	fields["apiVersion"] = "kubescheduler.config.k8s.io/v1"
	fields["kind"] = name + "Args"
	data, err := json.Marshal(fields)
	if err != nil {
		log.Fatalf("arguments of %s: %v", name, err)
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if err != nil {
		log.Fatalf("arguments of %s: %v", name, err)
	}
	return object
}

func (s seat) filter(ctx context.Context, pod *v1.Pod, infos []*framework.NodeInfo) *judgement {
	given := &judgement{Refusals: map[string]refusal{}}
	var listed *fwk.PreFilterResult
	skipped := false
	if plugin, ok := s.plugin.(fwk.PreFilterPlugin); ok {
		result, status := plugin.PreFilter(ctx, s.state, pod, nodeList(infos))
		if status.IsRejected() {
			for _, info := range infos {
				given.Refusals[info.Node().Name] = refusalOf(status)
			}
			return given
		}
		skipped = status.IsSkip()
		listed = result
	}
	plugin, ok := s.plugin.(fwk.FilterPlugin)
	if !ok || skipped {
		return given
	}
	for _, info := range infos {
		name := info.Node().Name
		if status := plugin.Filter(ctx, s.state, pod, info); !status.IsSuccess() {
			given.Refusals[name] = refusalOf(status)
		} else if !listed.AllNodes() && !listed.NodeNames.Has(name) {
			log.Fatalf("%s keeps node %s, which its own list leaves out", s.name, name)
		}
	}
	return given
}

func refusalOf(status *fwk.Status) refusal {
	return refusal{status.Reasons(), status.Code() == fwk.UnschedulableAndUnresolvable}
}

// score scores all nodes, and normalizes those that every plugin keeps.
func (s seat) score(ctx context.Context, pod *v1.Pod, infos, feasible []*framework.NodeInfo, given *judgement) {
	plugin, ok := s.plugin.(fwk.ScorePlugin)
	if !ok {
		return
	}
	if before, ok := s.plugin.(fwk.PreScorePlugin); ok {
		if status := before.PreScore(ctx, s.state, pod, nodeList(feasible)); status.IsSkip() {
			return
		} else if !status.IsSuccess() {
			log.Fatalf("%s does not score: %v", s.name, status.AsError())
		}
	}
	given.Raw = map[string]int64{}
	given.Normalized = map[string]int64{}
	for _, info := range infos {
		score, status := plugin.Score(ctx, s.state, pod, info)
		if !status.IsSuccess() {
			log.Fatalf("%s does not score: %v", s.name, status.AsError())
		}
		given.Raw[info.Node().Name] = score
	}
	scores := fwk.NodeScoreList{}
	for _, info := range feasible {
		scores = append(scores, fwk.NodeScore{Name: info.Node().Name, Score: given.Raw[info.Node().Name]})
	}
	if extensions := plugin.ScoreExtensions(); extensions != nil {
		if status := extensions.NormalizeScore(ctx, s.state, pod, scores); !status.IsSuccess() {
			log.Fatalf("%s does not normalize: %v", s.name, status.AsError())
		}
	}
	for _, score := range scores {
		given.Normalized[score.Name] = score.Score
	}
}

func nodeList(infos []*framework.NodeInfo) []fwk.NodeInfo {
	list := []fwk.NodeInfo{}
	for _, info := range infos {
		list = append(list, info)
	}
	return list
}

// handle is a cluster without device classes: all that the plugins here ask of it.
type handle struct{ fwk.Handle }

func (handle) SharedDRAManager() fwk.SharedDRAManager { return noDevices{} }

type noDevices struct{ fwk.SharedDRAManager }

func (noDevices) DeviceClassResolver() fwk.DeviceClassResolver { return noClasses{} }

type noClasses struct{}

func (noClasses) GetDeviceClass(v1.ResourceName) *resourceapi.DeviceClass { return nil }
