package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/amount"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// streamed is the API on a real address, for answers that do not end by themselves.
type streamed struct {
	*fixture

	t       *testing.T
	baseURL string
	client  *client.Client
	id      string
}

func newStreamed(t *testing.T, changes ...func(*api.Config)) *streamed {
	t.Helper()
	s := &streamed{fixture: newFixture(t, func(c *api.Config) {
		c.Now, c.StreamPause = time.Now, 50*time.Millisecond
		for _, change := range changes {
			change(c)
		}
	}), t: t}
	s.id = s.newInstance(t)
	server := httptest.NewServer(s.handler)
	t.Cleanup(server.Close)
	t.Cleanup(func() { http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	s.baseURL, s.client = server.URL, client.New(server.URL, s.key)
	return s
}

// append appends an event of the data's kind.
func (s *streamed) append(data eventlog.Data) {
	s.t.Helper()
	event, err := eventlog.NewEvent(s.id, "", "", now(), data)
	if err == nil {
		err = s.events.Append(s.t.Context(), event)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *streamed) open(after *int64, types ...string) *client.EventStream {
	s.t.Helper()
	stream, err := s.client.Events(s.t.Context(), s.id, client.EventsParams{After: after, Types: types})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = stream.Close() })
	return stream
}

// want reads the next events of a stream and checks their numbers.
func (s *streamed) want(stream *client.EventStream, sequences ...int64) {
	s.t.Helper()
	for _, want := range sequences {
		event, err := stream.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		if event.Sequence != want || event.InstanceID != s.id || event.ID == "" {
			s.t.Fatalf("got %+v, want %d", event, want)
		}
	}
}

// noted records how much of the log is read at a time.
type noted struct {
	api.Events
	most *atomic.Int64
}

// ReadFollowed reads, and records the bytes.
func (s noted) ReadFollowed(ctx context.Context, by *eventlog.Follower, after int64, maxEvents, maxBytes int) ([]eventlog.Event, error) {
	events, err := s.Events.ReadFollowed(ctx, by, after, maxEvents, maxBytes)
	size := int64(0)
	for _, event := range events {
		size += int64(len(event.Data))
	}
	s.most.Store(max(s.most.Load(), size))
	return events, err
}

// However large events are, few of them are held at a time, and the reader gets all.
func TestStreamReadsByBytes(t *testing.T) {
	t.Parallel()
	const events, each, most = 30, 100 << 10, 400 << 10
	var read atomic.Int64
	s := newStreamed(t, func(c *api.Config) { c.Events = noted{c.Events, &read} })
	var want []int64
	for n := range events {
		s.append(eventlog.WebhookTest{Message: strings.Repeat("x", each)})
		want = append(want, int64(n+1))
	}
	s.want(s.open(new(int64(0))), want...)
	if read.Load() > most {
		t.Errorf("%d bytes were held at a time", read.Load())
	}
}

// A stream ends at once with its key, not only at the next check.
func TestStreamEndsAtOnceWithItsKey(t *testing.T) {
	t.Parallel()
	s := newStreamed(t, func(c *api.Config) { c.StreamPause = time.Hour })
	key, secret, err := s.access.CreateKey(t.Context(), access.KeyParams{AccountID: s.account.ID})
	if err != nil {
		t.Fatal(err)
	}
	s.client = client.New(s.baseURL, secret)
	stream := s.open(new(int64(0)))
	s.append(eventlog.WebhookTest{})
	s.want(stream, 1)
	if err := s.access.RevokeKey(t.Context(), key.AccountID, key.ID); err != nil {
		t.Fatal(err)
	}
	s.append(eventlog.WebhookTest{})
	if event, err := stream.Next(); err == nil {
		t.Errorf("it went on with %+v", event)
	}
}

// A stream ends with the key that opened it, and with its instance.
func TestStreamEndsWithItsKeyAndItsInstance(t *testing.T) {
	t.Parallel()
	for name, end := range cases.Sorted(map[string]func(s *streamed, key gateway.Key) error{
		"revoked": func(s *streamed, key gateway.Key) error {
			return s.access.RevokeKey(t.Context(), key.AccountID, key.ID)
		},
		"deleted": func(s *streamed, _ gateway.Key) error { return s.instances.Delete(t.Context(), s.id) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreamed(t)
			key, secret, err := s.access.CreateKey(t.Context(), access.KeyParams{AccountID: s.account.ID})
			if err != nil {
				t.Fatal(err)
			}
			s.client = client.New(s.baseURL, secret)
			stream := s.open(new(int64(0)))
			s.append(eventlog.WebhookTest{})
			s.want(stream, 1)
			if err := end(s, key); err != nil {
				t.Fatal(err)
			}
			if event, err := stream.Next(); err == nil {
				t.Errorf("it went on with %+v", event)
			}
		})
	}
}

func TestStreamGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	s := newStreamed(t)
	s.append(eventlog.WebhookTest{})
	fresh := s.open(nil)
	s.append(eventlog.CallReceived{CallID: "one"})
	s.append(eventlog.WebhookTest{})
	s.want(fresh, 2, 3)
	s.want(s.open(new(int64(0))), 1, 2, 3)
	s.want(s.open(new(int64(2))), 3)
	calls := s.open(new(int64(0)), "call.received", "presence")
	s.append(eventlog.CallReceived{CallID: "two"})
	s.want(calls, 2, 4)
}

// A reader that is cut off again and again while events are appended, and comes back
// with the last number it has, gets every event once. A reader without a position
// that is cut off before its first event continues from where it began.
func TestStreamSaysWhereItBegins(t *testing.T) {
	t.Parallel()
	s := newStreamed(t, func(c *api.Config) { c.StreamPause = time.Hour })
	s.append(eventlog.WebhookTest{Message: "before"})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.baseURL+"/api/instances/"+s.id+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Api-Key", s.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer closeBody(t, response)
	head := make([]byte, len("retry: 1000\nid: 1\n\n"))
	if _, err := io.ReadFull(response.Body, head); err != nil || string(head) != "retry: 1000\nid: 1\n\n" {
		t.Errorf("it begins with %q, %v", head, err)
	}
}

// A stream is cut again and again, a thousand times in the long run, and every number comes once.
func TestStreamHasNoHoles(t *testing.T) {
	t.Parallel()
	const each = 2
	cuts := amount.Of(30, 1_000)
	s := newStreamed(t)
	written := make(chan error, 1)
	go func() {
		for n := range cuts * each {
			event, err := eventlog.NewEvent(s.id, "", "", now(), eventlog.WebhookTest{Message: fmt.Sprint(n)})
			if err == nil {
				err = s.events.Append(t.Context(), event)
			}
			if err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	last := int64(0)
	for range cuts {
		stream, err := s.client.Events(t.Context(), s.id, client.EventsParams{After: &last})
		if err != nil {
			t.Fatal(err)
		}
		for range each {
			event, err := stream.Next()
			if err != nil {
				t.Fatal(err)
			}
			if event.Sequence != last+1 {
				t.Fatalf("%d came after %d", event.Sequence, last)
			}
			last = event.Sequence
		}
		if err := stream.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

func TestStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	s := newStreamed(t)
	stream := s.open(nil)
	s.stop()
	if _, err := stream.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("it ended with %v", err)
	}
}

func TestStreamRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.Events = expired{c.Events} })
	path := "/api/instances/" + f.newInstance(t) + "/events"
	for name, c := range cases.Sorted(map[string]struct {
		path, last string
		status     int
		code       string
		says       string
	}{
		"no number":         {path, "yesterday", http.StatusBadRequest, gateway.CodeValidation, "Last-Event-ID must be"},
		"before the first":  {path, "-1", http.StatusBadRequest, gateway.CodeValidation, "Last-Event-ID must be"},
		"never happened":    {path, "21", http.StatusBadRequest, gateway.CodeValidation, "the newest event, which is 20"},
		"no such type":      {path + "?types=presence,message", "", http.StatusBadRequest, gateway.CodeValidation, `"message"`},
		"no longer kept":    {path, "8", http.StatusGone, gateway.CodeEventsExpired, "the oldest that is kept is 10"},
		"nobody's instance": {"/api/instances/019aa1f4-5b0c-7e43-9d1f-6a1f2f6f3b11/events", "", http.StatusNotFound, gateway.CodeInstanceNotFound, ""},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request{path: c.path, key: f.key, header: http.Header{}}
			if c.last != "" {
				r.header.Set("Last-Event-Id", c.last)
			}
			if body := wantRefusal(t, r, f.do(t, r), c.status, c.code); !strings.Contains(body.Message, c.says) {
				t.Errorf("it says %q", body.Message)
			}
		})
	}
}

// expired is a log from which the first nine events were removed.
type expired struct{ api.Events }

func (expired) Bounds(context.Context, string) (oldest, newest int64, err error) { return 10, 20, nil }

// A HEAD request is answered at once: it asks for the headers alone.
func TestStreamHead(t *testing.T) {
	t.Parallel()
	s := newStreamed(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, s.baseURL+"/api/instances/"+s.id+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Api-Key", s.key)
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if got.StatusCode != http.StatusOK || got.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("answered %d, %v", got.StatusCode, got.Header)
	}
}

// wantClientRefusal checks the refusal that a client got.
func wantClientRefusal(t *testing.T, err error, status int, code string) {
	t.Helper()
	refusal, ok := errors.AsType[*client.Error](err)
	if !ok || refusal.StatusCode != status || refusal.Code != code {
		t.Fatalf("answered %v, want %d %s", err, status, code)
	}
}
