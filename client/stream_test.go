package client

import (
	"io"
	"strings"
	"testing"
)

// Whatever a gateway, or something in its place, sends: reading ends, and an event is
// not larger than the bytes that arrived.
func FuzzEventStream(f *testing.F) {
	f.Add("retry: 1000\n\nid: 1\nevent: presence\ndata: {\"sequence\":1}\n\n: still here\nid: 7\n\n")
	f.Add("data: {\ndata: }\n\nid: x\nretry: -1\n:\n\n")
	f.Add("data: " + strings.Repeat("a", 100))
	f.Fuzz(func(t *testing.T, text string) {
		stream := newEventStream(io.NopCloser(strings.NewReader(text)), EventsParams{MaxEvent: 64}, func() {})
		for range len(text) + 1 {
			event, err := stream.Next()
			if err != nil {
				return
			}
			if len(event.Data) > len(text) {
				t.Fatalf("an event of %d bytes came out of %d", len(event.Data), len(text))
			}
		}
		t.Error("it does not end")
	})
}
