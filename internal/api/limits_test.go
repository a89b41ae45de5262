package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// always are limits that do not change.
func always(limits api.Limits) func() api.Limits { return func() api.Limits { return limits } }

// A limit that changes while the program runs counts from the next request on.
func TestLimitsChange(t *testing.T) {
	t.Parallel()
	var limits atomic.Pointer[api.Limits]
	limits.Store(&api.Limits{})
	f := newFixture(t, func(c *api.Config) { c.Limits = func() api.Limits { return *limits.Load() } })
	list := request{path: "/api/instances", key: f.key}
	create := request{method: post, path: "/api/partner/instances", key: f.partner, body: `{"name":"a"}`}
	for n, step := range []struct {
		limits api.Limits
		r      request
		status int
		limit  string
	}{
		{api.Limits{}, list, http.StatusOK, ""},
		{api.Limits{PerKey: 2}, list, http.StatusOK, "2"},
		{api.Limits{PerKey: 2}, list, http.StatusOK, "2"},
		{api.Limits{PerKey: 2}, list, http.StatusTooManyRequests, "2"},
		{api.Limits{}, list, http.StatusOK, ""},
		{api.Limits{PerKey: 1}, list, http.StatusTooManyRequests, "1"},
		{api.Limits{}, create, http.StatusCreated, ""},
		{api.Limits{Instances: 1}, create, http.StatusConflict, ""},
		{api.Limits{Instances: 2}, create, http.StatusCreated, ""},
	} {
		limits.Store(&step.limits)
		got := f.do(t, step.r)
		if got.Code != step.status || got.Header().Get("Ratelimit-Limit") != step.limit {
			t.Errorf("step %d: answered %d, limit %q; want %d, %q", n, got.Code, got.Header().Get("Ratelimit-Limit"), step.status, step.limit)
		}
	}
}

func TestRequestsAreLimitedByKeyAndInstance(t *testing.T) {
	t.Parallel()
	later := &atomic.Int64{}
	f := newFixture(t, func(c *api.Config) {
		c.Limits = always(api.Limits{PerKey: 6, PerInstance: 4})
		c.Now = func() time.Time { return now().Add(time.Duration(later.Load())) }
	})
	id := f.newInstance(t)
	other := f.newKey(t, access.KeyParams{AccountID: f.account.ID, Name: "other"})
	list := request{path: "/api/instances", key: f.key}
	about := request{method: post, path: "/api/instances/" + id + "/logout", key: f.key}
	for _, step := range []struct {
		name      string
		r         request
		key       string
		after     time.Duration
		status    int
		retry     string
		limit     string
		remaining string
		reset     string
	}{
		{"the first", list, f.key, 0, 200, "", "6", "5", "10"},
		{"the instance's is closer", about, f.key, 0, 200, "", "4", "3", "15"},
		{"", about, f.key, 0, 200, "", "4", "2", "30"},
		{"", about, f.key, 0, 200, "", "4", "1", "45"},
		{"another key, the same instance", about, other, 0, 200, "", "4", "0", "60"},
		{"one too many about it", about, other, 0, 429, "15", "4", "0", "60"},
		{"the key has others", list, f.key, 0, 200, "", "6", "1", "50"},
		{"its last", list, f.key, 0, 200, "", "6", "0", "60"},
		{"one too many of the key", list, f.key, 0, 429, "10", "6", "0", "60"},
		{"before its time", list, f.key, 4 * time.Second, 429, "6", "6", "0", "56"},
		{"when Retry-After said", list, f.key, 6 * time.Second, 200, "", "6", "0", "60"},
	} {
		later.Add(int64(step.after))
		step.r.key = step.key
		got := f.do(t, step.r)
		if got.Code != step.status || got.Header().Get("Retry-After") != step.retry {
			t.Fatalf("%s: answered %d, Retry-After %q; want %d, %q", step.name, got.Code, got.Header().Get("Retry-After"), step.status, step.retry)
		}
		if got.Code == http.StatusTooManyRequests && !strings.Contains(got.Body.String(), `"error":"RATE_LIMITED"`) {
			t.Errorf("%s: %s", step.name, got.Body)
		}
		for name, want := range cases.Sorted(map[string]string{"Ratelimit-Limit": step.limit, "Ratelimit-Remaining": step.remaining, "Ratelimit-Reset": step.reset}) {
			if value := got.Header().Get(name); value != want {
				t.Errorf("%s: %s is %q, want %q", step.name, name, value, want)
			}
		}
	}
	if got := f.do(t, request{path: "/api/instances", key: "wrong"}); got.Code != http.StatusUnauthorized || got.Header().Get("Ratelimit-Limit") != "" {
		t.Errorf("a stranger is answered %d, %v", got.Code, got.Header())
	}
}

func TestNoLimitIsToldWhereThereIsNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for range 50 {
		got := f.do(t, request{path: "/api/instances", key: f.key})
		if got.Code != http.StatusOK || got.Header().Get("Ratelimit-Limit") != "" {
			t.Fatalf("answered %d, %v", got.Code, got.Header())
		}
	}
}

func TestStreamsOfAKeyAreLimited(t *testing.T) {
	t.Parallel()
	s := newStreamed(t, func(c *api.Config) { c.Limits = always(api.Limits{Streams: 2}) })
	first := s.open(nil)
	s.open(nil)
	_, err := s.client.Events(t.Context(), s.id, client.EventsParams{})
	wantClientRefusal(t, err, http.StatusTooManyRequests, gateway.CodeRateLimited)
	another := s.client
	s.client = client.New(s.baseURL, s.partner)
	s.open(nil)
	s.client = another
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for { // until the gateway has noticed
		stream, err := s.client.Events(t.Context(), s.id, client.EventsParams{})
		if err == nil {
			t.Cleanup(func() { _ = stream.Close() })
			return
		}
		wantClientRefusal(t, err, http.StatusTooManyRequests, gateway.CodeRateLimited)
	}
}

func TestInstancesOfAnAccountAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.Limits = always(api.Limits{Instances: 3}) })
	r := request{method: post, path: "/api/partner/instances", key: f.partner, body: `{"name":"a"}`}
	var created, refused atomic.Int64
	var wg sync.WaitGroup
	for range 10 { // at the same time
		wg.Go(func() {
			switch f.do(t, r).Code {
			case http.StatusCreated:
				created.Add(1)
			case http.StatusConflict:
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	if created.Load() != 3 || refused.Load() != 7 {
		t.Errorf("%d were created, %d refused", created.Load(), refused.Load())
	}
	wantRefusal(t, r, f.do(t, r), http.StatusConflict, gateway.CodeInstanceLimit)
	stranger, err := f.access.EnsureAccount(t.Context(), "stranger")
	if err != nil {
		t.Fatal(err)
	}
	r.key = f.newKey(t, access.KeyParams{AccountID: stranger.ID, Partner: true})
	if got := f.do(t, r); got.Code != http.StatusCreated {
		t.Errorf("another account is answered %d", got.Code)
	}
}

// Requests in progress are bounded as bodies are: whoever has many of them shuts no other account out.
func TestRequestsInProgressAreShared(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) {
		c.Messages, c.Limits = &outcome{result: sentResult()}, always(api.Limits{Requests: 8})
	})
	path := "/api/message/" + f.newInstance(t) + "/document"
	blue, err := f.access.EnsureAccount(t.Context(), "blue")
	if err != nil {
		t.Fatal(err)
	}
	stranger := f.newKey(t, access.KeyParams{AccountID: blue.ID})
	var finish []func() *httptest.ResponseRecorder
	for range 4 {
		finish = append(finish, held(t, f, path, f.key, document(9)))
	}
	list := request{path: "/api/instances", key: f.key}
	if body := wantRefusal(t, list, f.do(t, list), http.StatusServiceUnavailable, gateway.CodeUnavailable); !strings.HasPrefix(body.Message, "this API key has as many requests in progress") {
		t.Errorf("it says %q", body.Message)
	}
	if list.key = stranger; f.do(t, list).Code != http.StatusOK {
		t.Error("another account is refused as well")
	}
	for _, done := range finish {
		if got := done(); got.Code != http.StatusCreated {
			t.Errorf("answered %d %s", got.Code, got.Body)
		}
	}
	if list.key = f.key; f.do(t, list).Code != http.StatusOK {
		t.Error("what was answered has made no room")
	}
}
