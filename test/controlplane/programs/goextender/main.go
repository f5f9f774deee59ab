// Command goextender is a scheduler extender as it is written in Go: the official types, encoding/json, net/http. It does
// the work of the plugins NodeLabel (require) and NodeCost, binds pods where it is told to, and is what a benchmark measures Berth against.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
)

func main() {
	log.SetFlags(0)
	address := flag.String("listen", "127.0.0.1:0", "address to listen on")
	cert := flag.String("cert", "", "file with the server's certificate; without it plain HTTP")
	key := flag.String("key", "", "file with the certificate's key")
	policyFile := flag.String("policy", "", "JSON file with require and prices")
	kubeconfig := flag.String("kubeconfig", "", "of the cluster whose nodes are followed; with it requests have names only")
	bind := flag.Bool("bind", false, "also answer bind, and follow pods as whoever binds has to; needs -kubeconfig")
	flag.Parse()
	if err := run(*address, *cert, *key, *policyFile, cluster{*kubeconfig, *bind}); err != nil {
		log.Fatal(err)
	}
}

func run(address, cert, key, policyFile string, in cluster) error {
	if (cert == "") != (key == "") {
		return errors.New("-cert and -key belong together")
	}
	policy, err := loadPolicy(policyFile)
	if err != nil {
		return err
	}
	source, binds, err := in.connect()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	server := &http.Server{Handler: routes(policy, source, binds)}
	if cert == "" {
		return server.Serve(listener)
	}
	return server.ServeTLS(listener, cert, key)
}
