package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// events writes the messages of a stream.
func events(sequences ...int) string {
	var text strings.Builder
	for _, sequence := range sequences {
		fmt.Fprintf(&text, "id: %d\nevent: presence\ndata: {\"type\":\"presence\",\"sequence\":%d}\n\n", sequence, sequence)
	}
	return text.String()
}

// streaming answers each request for a stream with the next script, and records where
// the reader wanted to continue. After the last script it refuses.
type streaming struct {
	*httptest.Server

	mu      sync.Mutex
	scripts []func(w http.ResponseWriter, r *http.Request)
	asked   []string
}

func text(content string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "retry: 0\n\n"+content) // the client has its own eyes
	}
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"statusCode":%d,"message":"m","error":"C%d"}`, code, code) // as above
	}
}

// silent accepts a request, and sends nothing until the reader has gone.
func silent(content string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		text(content)(w, r)
		_ = http.NewResponseController(w).Flush() // as above
		<-r.Context().Done()
	}
}

func newStreaming(t *testing.T, scripts ...func(http.ResponseWriter, *http.Request)) *streaming {
	t.Helper()
	s := &streaming{scripts: append(scripts, status(http.StatusUnauthorized))}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Header.Get("Last-Event-ID"))
		script := s.scripts[0]
		if len(s.scripts) > 1 {
			s.scripts = s.scripts[1:]
		}
		s.mu.Unlock()
		script(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// follow reads to the end and returns the sequences and the error.
func (s *streaming) follow(ctx context.Context, options client.FollowOptions) (sequences []int64, err error) {
	for event, err := range client.New(s.URL, "key").Follow(ctx, instance, options) {
		if err != nil {
			return sequences, err
		}
		sequences = append(sequences, event.Sequence)
	}
	return sequences, nil
}

// Wherever a stream ends, Follow continues after the last event it has seen.
func TestFollowGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	whole := events(9)
	for name, test := range cases.Sorted(map[string]struct {
		first string
		want  string // where the second request goes on
	}{
		"after an event":                          {events(8, 9), "9"},
		"after what was filtered out":             {events(8) + ": still here\nid: 15\n\n", "15"},
		"in front of an event that was cut":       {events(8) + whole[:len(whole)-1], "8"},
		"in front of a position that was cut":     {events(8) + "id: 9\n", "8"},
		"where it began, when there was no event": {": still here\n\n", "7"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreaming(t, text(test.first), text(events(20)))
			got, err := s.follow(t.Context(), client.FollowOptions{After: new(int64(7))})
			if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.StatusCode != http.StatusUnauthorized {
				t.Errorf("ended with %v", err)
			}
			if len(got) == 0 || got[len(got)-1] != 20 || s.asked[1] != test.want {
				t.Errorf("got %v, went on after %v; want %s", got, s.asked, test.want)
			}
		})
	}
}

// Follow returns the errors that reconnecting would not fix.
func TestFollowEnds(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 401, 403, 404, 410} {
		s := newStreaming(t, text(events(1)), status(code))
		_, err := s.follow(t.Context(), client.FollowOptions{})
		if refusal, ok := errors.AsType[*client.Error](err); !ok || refusal.StatusCode != code || len(s.asked) != 2 {
			t.Errorf("%d: ended with %v after %v", code, err, s.asked)
		}
	}
	broken := newStreaming(t, text("data: <html>\n\n"))
	if _, err := broken.follow(t.Context(), client.FollowOptions{}); err == nil || len(broken.asked) != 1 {
		t.Errorf("no JSON: ended with %v after %v", err, broken.asked)
	}
	for _, err := range client.New("127.0.0.1:80", "key").Follow(t.Context(), instance, client.FollowOptions{}) {
		if err == nil {
			t.Error("followed what has no address")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := broken.follow(ctx, client.FollowOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: ended with %v", err)
	}
}

// Follow waits and reconnects after passing failures: a gateway that starts, a proxy
// in front of it, a connection on which nothing arrives.
func TestFollowComesBack(t *testing.T) {
	t.Parallel()
	s := newStreaming(t, status(http.StatusServiceUnavailable), silent(events(3)), silent(""), text(events(4)))
	var causes []error
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	got, err := s.follow(ctx, client.FollowOptions{
		Silence:      time.Second,
		Reconnecting: func(cause error, _ time.Duration) { causes = append(causes, cause) },
	})
	if len(got) != 2 || got[0] != 3 || got[1] != 4 || err == nil || len(causes) != 4 {
		t.Fatalf("got %v (%v) after %v", got, err, causes)
	}
	if !strings.Contains(causes[1].Error(), "dead") || !strings.Contains(causes[2].Error(), "dead") {
		t.Errorf("came back because of %v", causes)
	}
	if fmt.Sprint(s.asked) != "[  3 3 4]" {
		t.Errorf("went on after %q", s.asked)
	}
}

// An event of many megabytes is read like any other, up to the bound.
func TestFollowBoundsEvents(t *testing.T) {
	t.Parallel()
	large := `data: {"sequence":5,"data":"` + strings.Repeat("a", 3<<20) + "\"}\n\n"
	got, _ := newStreaming(t, text(large)).follow(t.Context(), client.FollowOptions{})
	if len(got) != 1 || got[0] != 5 {
		t.Errorf("got %v", got)
	}
	s := newStreaming(t, text(large))
	if got, err := s.follow(t.Context(), client.FollowOptions{MaxEvent: 1 << 20}); !errors.Is(err, client.ErrEventTooLarge) || len(got) != 0 || len(s.asked) != 1 {
		t.Errorf("got %v (%v) after %v", got, err, s.asked)
	}
}
