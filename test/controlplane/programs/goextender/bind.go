package main

import (
	"context"
	"encoding/json"
	"net/http"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// binder posts Bindings as kube-scheduler's DefaultBinder does.
type binder struct {
	client kubernetes.Interface
}

// bind answers as kube-scheduler expects it: 200, with what went wrong in the body.
func (b binder) bind(w http.ResponseWriter, r *http.Request) {
	var args extenderv1.ExtenderBindingArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil || args.PodName == "" || args.Node == "" {
		http.Error(w, "not ExtenderBindingArgs", http.StatusBadRequest)
		return
	}
	binding := &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   args.PodNamespace,
			Name:        args.PodName,
			UID:         args.PodUID,
			Annotations: map[string]string{"berth.dev/policy": "default@0123456789ab"},
		},
		Target: v1.ObjectReference{Kind: "Node", Name: args.Node},
	}
	result := extenderv1.ExtenderBindingResult{}
	pods := b.client.CoreV1().Pods(args.PodNamespace)
	if err := pods.Bind(context.WithoutCancel(r.Context()), binding, metav1.CreateOptions{}); err != nil {
		result.Error = err.Error()
	}
	writeJSON(w, result)
}
