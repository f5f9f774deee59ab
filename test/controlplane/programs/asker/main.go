// Command asker asks an extender to bind, as kube-scheduler does.
//
// Standard input holds one JSON object a line: a number and the arguments of a bind. As soon as one is answered,
// standard output gets a line with its number and what the extender said: nothing, if it has bound.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

type question struct {
	ID   int                            `json:"id"`
	Args extenderv1.ExtenderBindingArgs `json:"args"`
}

type answer struct {
	ID   int    `json:"id"`
	Said string `json:"said"`
}

func main() {
	log.SetFlags(0)
	url := flag.String("url", "", "where to bind, such as https://127.0.0.1:8443/gpu/bind")
	tls := rest.TLSClientConfig{}
	flag.StringVar(&tls.CAFile, "ca", "", "the authority of the server's certificate")
	flag.StringVar(&tls.CertFile, "cert", "", "the client's certificate")
	flag.StringVar(&tls.KeyFile, "key", "", "its key")
	flag.Parse()
	client, err := clientOf(tls)
	if err != nil {
		log.Fatal(err)
	}
	if err := askAll(client, *url); err != nil {
		log.Fatalf("standard input: %v", err)
	}
}

// clientOf makes the client that makeTransport of pkg/scheduler/extender.go of k8s.io/kubernetes v1.37.2 makes.
func clientOf(tls rest.TLSClientConfig) (*http.Client, error) {
	config, err := rest.TLSConfigFor(&rest.Config{TLSClientConfig: tls})
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: utilnet.SetTransportDefaults(&http.Transport{TLSClientConfig: config})}, nil
}

func askAll(client *http.Client, url string) error {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	var lock sync.Mutex
	for {
		var asked question
		if err := in.Decode(&asked); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		go func() {
			said := ask(client, url, asked.Args)
			lock.Lock()
			defer lock.Unlock()
			if err := out.Encode(answer{ID: asked.ID, Said: said}); err != nil {
				log.Fatalf("standard output: %v", err)
			}
		}()
	}
}

// ask decodes one value of the answer and leaves the rest unread, as send of the same file does.
func ask(client *http.Client, url string, args extenderv1.ExtenderBindingArgs) string {
	body, err := json.Marshal(args)
	if err != nil {
		return err.Error()
	}
	response, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Sprintf("status %d", response.StatusCode)
	}
	var result extenderv1.ExtenderBindingResult
	if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
		return err.Error()
	}
	return result.Error
}
