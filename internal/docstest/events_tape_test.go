package docstest_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/testkit"
)

// tape holds the events that the stream of an instance has sent so far. It is for
// one goroutine.
type tape struct {
	lines  *bufio.Scanner
	hangUp context.CancelFunc
	events []tapedEvent
}

type tapedEvent struct {
	envelope string
	kind     eventlog.Kind
	data     map[string]any
}

// newTape begins with the first event of the instance.
func newTape(t *testing.T, g *testkit.Gateway, instanceID string) *tape {
	t.Helper()
	account, err := g.Server.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := g.Server.Access().CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "tape"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.BaseURL+"/api/instances/"+instanceID+"/events", http.NoBody)
	if err != nil {
		hangUp()
		t.Fatal(err)
	}
	request.Header.Set("x-api-key", key)
	request.Header.Set("Last-Event-ID", "0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		hangUp()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		hangUp()
		_ = response.Body.Close()
	})
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the stream is answered %s", response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	return &tape{lines: lines, hangUp: hangUp}
}

// await waits for an event and returns its envelope, the first one that is
// wanted.
func (r *tape) await(t *testing.T, kind eventlog.Kind, what string, wanted func(data map[string]any) bool) string {
	t.Helper()
	const patience = 2 * time.Minute // a busy machine is no failure
	deadline := time.AfterFunc(patience, r.hangUp)
	defer deadline.Stop()
	for i := 0; ; i++ {
		if i == len(r.events) && !r.read(t) {
			told := make([]string, 0, len(r.events))
			for _, event := range r.events {
				told = append(told, event.envelope)
			}
			t.Fatalf("no %s was told of %q; the stream ended with %v; told was:\n%s", kind, what, r.lines.Err(), strings.Join(told, "\n"))
		}
		if event := r.events[i]; event.kind == kind && wanted(event.data) {
			return event.envelope
		}
	}
}

// read takes the next event from the stream; false where it has ended.
func (r *tape) read(t *testing.T) bool {
	t.Helper()
	for r.lines.Scan() {
		envelope, ok := strings.CutPrefix(r.lines.Text(), "data: ")
		if !ok {
			continue // the envelope holds the id and the type as well
		}
		value, err := parse(envelope)
		if err != nil {
			t.Fatal(err)
		}
		object, _ := value.(map[string]any)
		kind, _ := object["type"].(string)
		data, _ := object["data"].(map[string]any)
		r.events = append(r.events, tapedEvent{envelope, eventlog.Kind(kind), data})
		return true
	}
	return false
}
