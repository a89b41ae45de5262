package forward_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/node/forward"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is some nodes and who they believe to work for the instance.
type cluster struct {
	t  *testing.T
	id string // of the instance

	mu      sync.Mutex
	owner   gateway.Owner
	lookups int
}

// member is a node of a cluster with its handler.
type member struct {
	cluster *cluster
	id      string
	server  *httptest.Server
	epoch   atomic.Int64 // of the tenure that it has; 0: it has none
	leaving chan struct{}
	stop    chan struct{}
	next    http.HandlerFunc
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return &cluster{t: t, id: uuid.NewString()}
}

// FindOwner returns who works for the instance (forward.Owners).
func (c *cluster) FindOwner(_ context.Context, instanceID string) (gateway.Owner, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lookups++
	return c.owner, instanceID == c.id, nil
}

// give makes everybody believe that a member works for the instance.
func (c *cluster) give(m *member, epoch int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owner = gateway.Owner{
		Tenure: gateway.Tenure{InstanceID: c.id, Node: m.id, Epoch: epoch}, Address: m.server.URL, Lease: 10 * time.Second,
	}
}

func (c *cluster) add(secret string, other ...string) *member {
	c.t.Helper()
	m := &member{cluster: c, id: uuid.NewString(), leaving: make(chan struct{}), stop: make(chan struct{})}
	m.next = func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("From", r.RemoteAddr)
		_, _ = io.WriteString(w, m.id+" "+r.Method+" "+r.URL.RequestURI()+" "+r.Host+" "+string(body))
	}
	forwarder, err := forward.New(forward.Config{
		Node: m, Owners: c, Secret: secret, OtherSecret: strings.Join(other, ""), Stopping: m.stop, Logger: slog.New(slog.DiscardHandler),
		Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.next(w, r) }),
		Refuse: func(w http.ResponseWriter, _ *http.Request, err *gateway.Error) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, err.Code, map[gateway.Kind]int{gateway.Unavailable: http.StatusServiceUnavailable, gateway.PlatformTimeout: http.StatusGatewayTimeout}[err.Kind])
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	m.server = httptest.NewServer(forwarder)
	c.t.Cleanup(func() {
		m.server.CloseClientConnections()
		m.server.Close()
		_ = forwarder.Close()
	})
	return m
}

// ID is the node's (forward.Node).
func (m *member) ID() string { return m.id }

// Enter lets a request in if the member works for the instance (forward.Node).
func (m *member) Enter(ctx context.Context, instanceID string) (context.Context, forward.Left, bool) {
	epoch := m.epoch.Load()
	if instanceID != m.cluster.id || epoch == 0 {
		return ctx, forward.Left{}, false
	}
	held := gateway.WithTenure(ctx, gateway.Tenure{InstanceID: instanceID, Node: m.id, Epoch: epoch})
	return held, forward.Left{Done: func() {}, Leaving: m.leaving, Gone: m.leaving}, true
}

func (c *cluster) do(method, url, body string, header ...string) (status int, text string, answer http.Header) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Host = "messages.example.org"
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return response.StatusCode, string(content), response.Header
}

// The owner gets what the client has sent, and the client what the owner has answered. What
// needs no owner, and what is for no instance, is answered where it arrives.
func TestForward(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	one, two := c.add("secret"), c.add("secret")
	two.epoch.Store(7)
	c.give(two, 7)
	for path, at := range cases.Sorted(map[string]*member{
		"/api/message/" + c.id + "/text?a=b%20c":         two,
		"/api/instances/" + c.id + "/qr":                 two,
		"/api/partner/instances/" + c.id + "/stop":       two,
		"/instances/" + c.id:                             two,
		"/api/instances/" + c.id:                         one,
		"/api/instances":                                 one,
		"/api/instances/" + uuid.NewString() + "/qr":     one, // there is no such instance
		"/api/instances/no-identifier/qr":                one,
		"/media/" + c.id + "/x?until=1":                  one,
		"/api/instances/" + strings.ToUpper(c.id) + "/x": one,
	}) {
		method, body := http.MethodPost, strings.Repeat("body ", 50_000)
		if at == one {
			method, body = http.MethodGet, ""
		}
		status, text, _ := c.do(method, one.server.URL+path, body)
		if want := at.id + " " + method + " " + path + " messages.example.org " + body; status != http.StatusOK || text != want {
			t.Errorf("%s is answered %d %.200s", path, status, text)
		}
	}
}

// A node that does not work for the instance any more says so before it has read the body. The
// first one looks again, once, and refuses if that does not help.
func TestMisdirected(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	one, two, three := c.add("secret"), c.add("secret"), c.add("secret")
	url, body := one.server.URL+"/api/message/"+c.id+"/text", strings.Repeat("x", 1<<20)
	three.epoch.Store(2)
	c.give(two, 1)
	if status, text, header := c.do(http.MethodPost, url, body); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("while nobody has it the answer is %d %s", status, text)
	}
	// What is remembered is wrong from now on.
	c.give(three, 2)
	if status, text, _ := c.do(http.MethodPost, url, body); status != http.StatusOK || !strings.HasPrefix(text, three.id) || !strings.HasSuffix(text, body) {
		t.Errorf("after the move the answer is %d %.100s", status, text)
	}
	three.epoch.Store(3) // it has lost the instance and got it again
	if status, _, _ := c.do(http.MethodPost, url, body); status != http.StatusServiceUnavailable {
		t.Errorf("under an old epoch the answer is %d", status)
	}
}

// What an owner may have carried out before it was gone is not called harmless to repeat, unless
// it is.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	one, two := c.add("secret"), c.add("secret")
	two.epoch.Store(1)
	c.give(two, 1)
	two.next = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	message, other := "/api/message/"+c.id+"/text", "/api/instances/"+c.id+"/groups"
	for _, test := range []struct {
		method, path, key string
		want              int
	}{
		{http.MethodPost, message, "", http.StatusGatewayTimeout},
		{http.MethodPost, message, "a key", http.StatusServiceUnavailable},
		{http.MethodPost, other, "a key", http.StatusGatewayTimeout}, // which nobody looks at there
		{http.MethodPatch, other, "", http.StatusGatewayTimeout},
		{http.MethodPut, other, "", http.StatusServiceUnavailable},
		{http.MethodDelete, other, "", http.StatusServiceUnavailable},
	} {
		if status, text, _ := c.do(test.method, one.server.URL+test.path, "x", "Idempotency-Key", test.key); status != test.want {
			t.Errorf("%s %s with the key %q is answered %d %s, want %d", test.method, test.path, test.key, status, text, test.want)
		}
	}
}

// A secret is changed on one node after the other: those that don't disagree about it recognise
// each other at each step.
func TestSecretIsChanged(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	path := "/api/message/" + c.id + "/text"
	var ticket, seen string
	spy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ticket = r.Header.Get("Recado-Forwarded") }))
	defer spy.Close()
	steps := [][]string{{"old"}, {"old", "new"}, {"new", "old"}, {"new"}}
	for n, here := range steps {
		for m, there := range steps {
			from, to := c.add(here[0], here[1:]...), c.add(there[0], there[1:]...)
			to.epoch.Store(7)
			to.next = func(_ http.ResponseWriter, r *http.Request) { seen = r.RemoteAddr }
			c.give(to, 7)
			c.mu.Lock()
			c.owner.Address = spy.URL
			c.mu.Unlock()
			c.do(http.MethodPost, from.server.URL+path, "")
			c.do(http.MethodPost, to.server.URL+path, "", "Recado-Forwarded", ticket)
			recognised := seen == strings.Fields(ticket)[1]
			disagree := (gateway.Node{Secrets: here}).Disagrees(gateway.Node{Secrets: there})
			if neighbours := max(n-m, m-n) <= 1; neighbours && !recognised || neighbours != (disagree == "") {
				t.Errorf("%v passes on to %v: recognised %t, they disagree about %q", here, there, recognised, disagree)
			}
		}
	}
}

// Who does not know the secret is a client like any other, whatever its headers say; and the
// client's own address goes with a request that was passed on.
func TestTickets(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	one, two, stranger := c.add("secret"), c.add("secret"), c.add("another secret")
	two.epoch.Store(7)
	c.give(two, 7)
	path := "/api/message/" + c.id + "/text"
	var ticket, seen string
	two.next = func(_ http.ResponseWriter, r *http.Request) {
		seen = r.RemoteAddr + " " + r.Header.Get("Recado-Forwarded")
	}
	spy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ticket = r.Header.Get("Recado-Forwarded") }))
	defer spy.Close()

	// One passes a request on to whoever listens at the address of two.
	c.mu.Lock()
	c.owner.Address = spy.URL
	c.mu.Unlock()
	c.do(http.MethodPost, one.server.URL+path, "")
	c.give(two, 7)
	if ticket == "" || strings.Contains(ticket, "secret") {
		t.Fatalf("the ticket is %q", ticket)
	}
	client := strings.Fields(ticket)[1]
	for name, test := range cases.Sorted(map[string]struct{ path, ticket, want string }{
		"as it was signed":    {path, ticket, client + " "},
		"for another path":    {path + "?a", ticket, ""},
		"another client":      {path, strings.Replace(ticket, client, "10.0.0.1:1", 1), ""},
		"another epoch":       {path, "8" + ticket[1:], ""},
		"without a signature": {path, "7 10.0.0.1:1 ", ""},
		"nonsense":            {path, "x", ""},
	}) {
		seen = ""
		if status, _, _ := c.do(http.MethodPost, two.server.URL+test.path, "", "Recado-Forwarded", test.ticket); status != http.StatusOK {
			t.Errorf("%s: answered %d", name, status)
		}
		if test.want != "" && seen != test.want || test.want == "" && (!strings.HasPrefix(seen, "127.0.0.1:") || !strings.HasSuffix(seen, " ") || seen == client+" ") {
			t.Errorf("%s: the owner sees %q", name, seen)
		}
	}
	stranger.epoch.Store(0)
	two.epoch.Store(0)
	one.epoch.Store(7)
	c.give(one, 7)
	if status, _, _ := c.do(http.MethodPost, stranger.server.URL+path, ""); status != http.StatusOK {
		t.Errorf("a request by way of a stranger is answered %d", status)
	}
}

// A stream comes through piece by piece, ends when its instance moves, and does not keep the
// node that passes it on from stopping.
func TestStreams(t *testing.T) {
	t.Parallel()
	for name, end := range cases.Sorted(map[string]func(one, two *member){
		"the instance moves": func(_, two *member) { close(two.leaving) },
		"the node stops":     func(one, _ *member) { close(one.stop) },
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			one, two := c.add("secret"), c.add("secret")
			two.epoch.Store(7)
			c.give(two, 7)
			two.next = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "first")
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, one.server.URL+"/api/instances/"+c.id+"/events", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			piece := make([]byte, 5)
			if _, err := io.ReadFull(response.Body, piece); err != nil || string(piece) != "first" {
				t.Fatalf("the first piece is %q (%v)", piece, err)
			}
			end(one, two)
			_, _ = io.ReadAll(response.Body) // until its end
		})
	}
}
