// Package sink is an endpoint for webhooks, which keeps what it is given. Only tests import it.
package sink

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit/await"
)

// Delivered is one request to a sink.
type Delivered struct {
	Event client.Event

	Header http.Header
	Body   []byte
	Status int // of the sink's answer
}

// Sink is an endpoint for webhooks. It is safe for concurrent use.
type Sink struct {
	URL string

	tb     testing.TB
	server *httptest.Server

	mu        sync.Mutex
	answer    func(Delivered) int
	delivered []Delivered
	changed   chan struct{} // closed and replaced at each delivery
}

// New starts a sink that accepts every delivery, and stops it when the test ends.
func New(tb testing.TB) *Sink {
	tb.Helper()
	s := &Sink{tb: tb, changed: make(chan struct{}), answer: func(Delivered) int { return http.StatusNoContent }}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.server.URL
	tb.Cleanup(s.server.Close)
	return s
}

// Answer makes the sink answer deliveries with the status that answer returns.
func (s *Sink) Answer(answer func(Delivered) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *Sink) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the gateway was killed, or gave up
	}
	d := Delivered{Header: r.Header.Clone(), Body: body}
	if err := json.Unmarshal(body, &d.Event); err != nil {
		s.tb.Errorf("a delivery is not an event: %v", err)
	}
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	d.Status = answer(d)
	s.mu.Lock()
	s.delivered = append(s.delivered, d)
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	w.WriteHeader(d.Status)
}

// Delivered returns the deliveries that the sink has accepted, in the order of arrival.
func (s *Sink) Delivered() []Delivered {
	s.mu.Lock()
	defer s.mu.Unlock()
	var taken []Delivered
	for _, d := range s.delivered {
		if d.Status < http.StatusMultipleChoices {
			taken = append(taken, d)
		}
	}
	return taken
}

// Await waits until the accepted deliveries are as wanted, and returns them.
func (s *Sink) Await(what string, wanted func(taken []Delivered) bool) []Delivered {
	s.tb.Helper()
	deadline := time.NewTimer(await.Patience)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		taken := s.Delivered()
		if wanted(taken) {
			return taken
		}
		select {
		case <-changed:
		case <-deadline.C:
			s.tb.Fatalf("waited in vain for %s; %d were delivered", what, len(taken))
		}
	}
}

// AwaitType waits for an event of the type that wanted accepts, and returns the
// first one; a nil wanted accepts every one.
func (s *Sink) AwaitType(kind string, wanted func(Delivered) bool) Delivered {
	s.tb.Helper()
	var found Delivered
	s.Await(kind, func(taken []Delivered) bool {
		n := slices.IndexFunc(taken, func(d Delivered) bool { return d.Event.Type == kind && (wanted == nil || wanted(d)) })
		if n >= 0 {
			found = taken[n]
		}
		return n >= 0
	})
	return found
}
