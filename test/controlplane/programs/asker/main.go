// Command asker asks an extender to bind, as kube-scheduler does, and writes the event that kube-scheduler writes then.
//
// Each line of standard input is a batch. When all of it is bound and each event is written, or something has failed,
// standard output gets a line that says so.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
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

type batch struct {
	// Parallel is how many binds are under way at a time.
	Parallel int    `json:"parallel"`
	Binds    []bind `json:"binds"`
}

type bind struct {
	Args extenderv1.ExtenderBindingArgs `json:"args"`
	// Event is posted once the pod is bound; absent where nobody tells of it.
	Event json.RawMessage `json:"event"`
}

type outcome struct {
	// Failed says what went wrong first; empty when nothing did.
	Failed string `json:"failed"`
}

// tries is how often a bind is asked for: kube-scheduler tries again, too.
const tries = 5

type asker struct {
	extender, server *http.Client
	url, events      string
	token            string
}

func main() {
	log.SetFlags(0)
	one := asker{token: os.Getenv("ASKER_TOKEN")}
	tls := rest.TLSClientConfig{}
	flag.StringVar(&one.url, "url", "", "where to bind, such as https://127.0.0.1:8443/gpu/bind")
	flag.StringVar(&one.events, "events", "", "where to post events, as the bearer of $ASKER_TOKEN")
	flag.StringVar(&tls.CAFile, "ca", "", "the authority of both servers' certificates")
	flag.StringVar(&tls.CertFile, "cert", "", "the client's certificate, for the extender")
	flag.StringVar(&tls.KeyFile, "key", "", "its key")
	flag.Parse()
	var errs [2]error
	one.extender, errs[0] = clientOf(tls)
	one.server, errs[1] = pooledClient(tls.CAFile)
	if err := errors.Join(errs[:]...); err != nil {
		log.Fatal(err)
	}
	if err := one.serve(); err != nil {
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

// pooledClient speaks HTTP/1.1 over kept connections, as the client does that this program is compared with: HTTP/2
// takes the API server more for each request.
func pooledClient(ca string) (*http.Client, error) {
	config, err := rest.TLSConfigFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAFile: ca}})
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, MaxConnsPerHost: 32, MaxIdleConnsPerHost: 32}}, nil
}

func (one *asker) serve() error {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	for {
		var asked batch
		if err := in.Decode(&asked); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		said := outcome{}
		if err := one.bindAll(asked); err != nil {
			said.Failed = err.Error()
		}
		if err := out.Encode(said); err != nil {
			return err
		}
	}
}

// bindAll ends when every event is written; events do not hold up binds.
func (one *asker) bindAll(asked batch) error {
	queue := make(chan bind, len(asked.Binds))
	for _, each := range asked.Binds {
		queue <- each
	}
	close(queue)
	failures := make(chan error, 2*len(asked.Binds))
	var binding, telling sync.WaitGroup
	for range asked.Parallel {
		binding.Go(func() {
			for each := range queue {
				if err := one.bind(each.Args); err != nil {
					failures <- fmt.Errorf("%s: %w", each.Args.PodName, err)
				} else if each.Event != nil {
					telling.Go(func() {
						if err := one.tell(each.Event); err != nil {
							failures <- fmt.Errorf("event of %s: %w", each.Args.PodName, err)
						}
					})
				}
			}
		})
	}
	binding.Wait()
	telling.Wait()
	close(failures)
	return <-failures
}

func (one *asker) bind(args extenderv1.ExtenderBindingArgs) error {
	body, err := json.Marshal(args)
	if err != nil {
		return err
	}
	for range tries {
		if err = one.ask(body); err == nil {
			return nil
		}
	}
	return err
}

// ask decodes one value of the answer and leaves the rest unread, as send of the same file does.
func (one *asker) ask(body []byte) error {
	response, err := one.extender.Post(one.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	var result extenderv1.ExtenderBindingResult
	if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
		return err
	}
	if result.Error != "" {
		return errors.New(result.Error)
	}
	return nil
}

func (one *asker) tell(event []byte) error {
	request, err := http.NewRequest(http.MethodPost, one.events, bytes.NewReader(event))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+one.token)
	response, err := one.server.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusCreated {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}
