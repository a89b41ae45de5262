// Command generate writes the documents and the API's reference as a website of files, with a front page for
// people who have never heard of the project.
//
//	go run ./internal/sitegen docs/openapi.yaml site
//
// The pages are those of internal/dashboard/docpages, without what needs a gateway: the search, and sending
// requests. It follows the links of each page, writes what they lead to, and makes them relative, so that the
// site works below any address and from a folder. A link that leads nowhere is an error.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate DOCUMENT FOLDER")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := generate(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1) //nolint:gocritic // there is nothing to clean up
	}
}
