// Command oracle is a scheduler extender that knows beforehand how requests look, and parses nothing: it finds nodes by
// the text with which kube-scheduler begins each, drops those with a given text in them, and answers with the request's
// own bytes. No extender that reads its requests can be faster, so it shows what whole nodes cost kube-scheduler itself.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
)

var (
	itemsStart = []byte(`,"Nodes":{"metadata":{},"items":[`)
	itemsEnd   = []byte(`]},"NodeNames":`)
	nodeStart  = []byte(`{"metadata":{"name":"`)
)

func main() {
	log.SetFlags(0)
	address := flag.String("listen", "127.0.0.1:0", "address to listen on")
	cert := flag.String("cert", "", "file with the server's certificate")
	key := flag.String("key", "", "file with the certificate's key")
	drop := flag.String("drop", "", "nodes with this text in them do not pass")
	flag.Parse()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	server := &http.Server{Handler: routes([]byte(*drop))}
	log.Fatal(server.ServeTLS(listener, *cert, *key))
}

func routes(drop []byte) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /filter", func(w http.ResponseWriter, r *http.Request) {
		items, err := readItems(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, []byte(`{"Nodes":{"metadata":{},"items":[`), keep(items, drop),
			[]byte(`]},"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""}`))
	})
	mux.HandleFunc("POST /prioritize", func(w http.ResponseWriter, r *http.Request) {
		if _, err := readItems(r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer(w, []byte("[]"))
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, []byte(`"ok"`)) })
	return mux
}

// readItems gives the text between the brackets of the request's nodes.
func readItems(r *http.Request) ([]byte, error) {
	body := make([]byte, max(r.ContentLength, 0))
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return nil, err
	}
	start, end := bytes.Index(body, itemsStart), bytes.LastIndex(body, itemsEnd)
	if start < 0 || end < start {
		return nil, fmt.Errorf("not a request of kube-scheduler with whole nodes")
	}
	return body[start+len(itemsStart) : end], nil
}

// keep gives the nodes without the text, as they stand in the request.
func keep(items, drop []byte) []byte {
	kept := make([]byte, 0, len(items))
	for len(items) > 0 {
		next := bytes.Index(items[1:], nodeStart) + 1
		if next == 0 {
			next = len(items) + 1
		}
		node := items[:next-1]
		if len(drop) == 0 || !bytes.Contains(node, drop) {
			if len(kept) > 0 {
				kept = append(kept, ',')
			}
			kept = append(kept, node...)
		}
		items = items[min(next, len(items)):]
	}
	return kept
}

func answer(w http.ResponseWriter, parts ...[]byte) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	for _, part := range parts {
		w.Write(part)
	}
}
