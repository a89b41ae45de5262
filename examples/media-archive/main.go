// Saves every file that comes in to a folder, named by its hash and its own name: what is sent twice is kept once.
//
//	go run ./examples/media-archive FOLDER
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/recado-project/recado/client"
)

func main() {
	if len(os.Args) != 2 {
		check(errors.New("usage: media-archive FOLDER"))
	}
	ctx := context.Background()
	folder, err := os.OpenRoot(os.Args[1]) // no name of a file leads out of it
	check(err)
	gateway := client.New(os.Getenv("RECADO_URL"), os.Getenv("RECADO_API_KEY"))
	instances, err := gateway.ListInstances(ctx, client.ListInstancesParams{}, 1, 1)
	check(err)
	instance := instances.Data[0].InstanceID
	for event, err := range gateway.Follow(ctx, instance, client.FollowOptions{Types: []string{client.TypeMessageReceived}}) {
		check(err)
		data, err := event.Decode()
		check(err)
		if message, ok := data.(client.MessageReceivedEvent); ok && message.Media != nil {
			link, err := gateway.GetMediaDownloadLink(ctx, instance, message.MessageID)
			var content []byte
			if err == nil {
				content, err = download(ctx, link.URL)
			}
			if err != nil { // it is gone, or too large; the next one may not be
				fmt.Fprintln(os.Stderr, message.MessageID, err)
				continue
			}
			name := fmt.Sprintf("%x-%s", sha256.Sum256(content), filepath.Base(link.FileName))
			check(folder.WriteFile(name, content, 0o600))
			fmt.Println(name)
		}
	}
}

// download reads a file of 100 MiB at most.
func download(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(http.MaxBytesReader(nil, response.Body, 100<<20))
}

// check ends the program, which whatever runs it starts again.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
