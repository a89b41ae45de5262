package webhook_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/nameserver"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// An answer of a gigabyte is cut off after its beginning, and the event counts
// as delivered. The control reads on.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	const gigabyte, bearable = 1 << 30, 32 << 20
	ended := make(chan int64, 16)
	endpoint := receive(t, func(w http.ResponseWriter, _ *http.Request, _ received) int {
		piece := make([]byte, 64<<10)
		var written int64
		for written < gigabyte {
			n, err := w.Write(piece)
			written += int64(n)
			if err != nil {
				break
			}
		}
		ended <- written
		return 0
	})
	// What the handler has answered itself counts as delivered here.
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	id := r.hooked(endpoint.server.URL)
	r.append(id, "chat", 1, 2, 3)
	for range 3 {
		if written := <-ended; written > bearable {
			t.Errorf("%d MiB were taken of an answer", written>>20)
		}
	}
	eventually(t, "all are delivered", func() bool { return r.health(id).Cursor == 3 })
	if done := r.deliveries(id, webhook.DeliveryDone); len(done) != 3 || len(done[0].Answer) > 1_024 {
		t.Errorf("%d are delivered", len(done))
	}
	response, err := http.Post(endpoint.server.URL, "application/json", strings.NewReader("{}"))
	r.check(err)
	for read := 0; read < 2*bearable; {
		n, err := response.Body.Read(make([]byte, 64<<10))
		r.check(err)
		read += n
	}
	_ = response.Body.Close()
	if written := <-ended; written < 2*bearable {
		t.Errorf("another client reads %d MiB at most, so this proves nothing", written>>20)
	}
}

// An answer whose body comes byte by byte counts by its status; nobody waits for
// the rest. The control waits, for as long as a request may take.
func TestDrippingAnswer(t *testing.T) {
	t.Parallel()
	for name, control := range cases.Sorted(map[string]bool{"given up": false, "control": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dripped atomic.Int64
			endpoint := receive(t, func(w http.ResponseWriter, r *http.Request, _ received) int {
				tick := time.NewTicker(5 * time.Millisecond)
				defer tick.Stop()
				w.WriteHeader(http.StatusOK)
				for {
					select {
					case <-tick.C:
					case <-r.Context().Done():
						return 0
					}
					if _, err := w.Write([]byte("x")); err != nil {
						return 0
					}
					_ = http.NewResponseController(w).Flush()
					dripped.Add(1)
				}
			})
			schedule := quick()
			schedule.BodyTimeout = 20 * time.Millisecond
			if control {
				schedule.BodyTimeout = time.Hour
				schedule.Timeout = 500 * time.Millisecond
			}
			r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule})
			id := r.hooked(endpoint.server.URL)
			r.append(id, "chat", 1)
			eventually(t, "it is delivered", func() bool { return r.health(id).Cursor == 1 })
			done := r.deliveries(id, webhook.DeliveryDone)
			if len(done) != 1 || done[0].Status != http.StatusOK {
				t.Fatalf("the attempts are %+v", done)
			}
			if control && done[0].Duration < 490*time.Millisecond {
				t.Errorf("it took only %s to give up the body", done[0].Duration)
			}
		})
	}
}

// A request that is not answered in time is a failure.
func TestTimeout(t *testing.T) {
	t.Parallel()
	endpoint := receive(t, func(_ http.ResponseWriter, r *http.Request, _ received) int {
		<-r.Context().Done()
		return 0
	})
	schedule := quick()
	schedule.Timeout = 30 * time.Millisecond
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Schedule: schedule})
	id := r.hooked(endpoint.server.URL)
	r.append(id, "chat", 1)
	endpoint.wait("a second try", func(came []received) bool { return len(came) > 1 })
	failed := r.deliveries(id, webhook.DeliveryFailed)
	if len(failed) == 0 || failed[0].Status != 0 || failed[0].Error != "it did not answer in time" {
		t.Errorf("the attempts are %+v", failed)
	}
}

// What the operator denies is not posted to, by whatever name.
func TestDeniedAddressesAreNotDialled(t *testing.T) {
	t.Parallel()
	r := newRig(t, webhook.Config{
		Denied:   []netip.Prefix{netip.MustParsePrefix("203.0.112.0/24")},
		Resolver: nameserver.Resolver(t, map[string]string{"denied.example.": "203.0.112.7"}),
	})
	id := r.hooked("http://denied.example")
	if trial, err := r.service.Test(t.Context(), webhook.First(id)); err != nil || trial.Error != "it has an address that is not allowed" {
		t.Errorf("a test answers %+v (%v)", trial, err)
	}
	if _, err := r.service.Save(t.Context(), id, webhook.Settings{URL: "http://203.0.112.8/"}); err == nil {
		t.Error("a denied address is saved")
	}
}

// A name that stands for a private address is not connected to, whatever it
// stood for when the webhook was saved; nor is an address after a redirect. The
// control allows it, with the same name server.
func TestPrivateAddressesAreNotDialled(t *testing.T) {
	t.Parallel()
	names := map[string]string{
		"loopback.example.": "127.0.0.1", "private.example.": "10.1.2.3", "metadata.example.": "169.254.169.254",
	}
	for name, allowed := range cases.Sorted(map[string]bool{"guarded": false, "control": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections atomic.Int64
			endpoint := receive(t, nil)
			counted := httptest.NewUnstartedServer(endpoint.server.Config.Handler)
			counted.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections.Add(1)
				}
			}
			counted.Start()
			t.Cleanup(counted.Close)
			address, err := url.Parse(counted.URL)
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, webhook.Config{AllowPrivateURLs: allowed, Resolver: nameserver.Resolver(t, names)})
			if allowed {
				id := r.hooked("http://loopback.example:" + address.Port())
				r.append(id, "chat", 1)
				endpoint.waitFor(1)
				return
			}
			for host := range cases.Sorted(names) {
				id := r.hooked("http://" + strings.TrimSuffix(host, ".") + ":" + address.Port())
				r.append(id, "chat", 1)
				eventually(t, "it was tried", func() bool { return r.health(id).Attempts > 2 })
				failed := r.deliveries(id, webhook.DeliveryFailed)
				if failed[0].Error != "it has an address that is not allowed" {
					t.Errorf("%s failed because %s", host, failed[0].Error)
				}
				if trial, err := r.service.Test(t.Context(), webhook.First(id)); err != nil || trial.Status != 0 ||
					trial.Error != "it has an address that is not allowed" {
					t.Errorf("a test of %s answers %+v (%v)", host, trial, err)
				}
			}
			if n := connections.Load(); n != 0 {
				t.Errorf("%d connections were made", n)
			}
		})
	}
}

// Where the endpoint speaks HTTP/2, all requests share a connection.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	const chats, each = 10, 10
	var connections, others atomic.Int64
	endpoint := receive(t, func(_ http.ResponseWriter, r *http.Request, _ received) int {
		if r.ProtoMajor != 2 {
			others.Add(1)
		}
		return http.StatusOK
	})
	server := httptest.NewUnstartedServer(endpoint.server.Config.Handler)
	server.EnableHTTP2 = true
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	r.service.Trust(server.Certificate())
	id := r.hooked(server.URL)
	r.append(id, "first", 1)
	endpoint.waitFor(1)
	r.spread(id, chats, each)
	endpoint.waitFor(1 + chats*each)
	endpoint.drop("first")
	endpoint.wantOrder(chats, each)
	if others.Load() != 0 || connections.Load() != 1 {
		t.Errorf("%d requests were no HTTP/2; %d connections were made", others.Load(), connections.Load())
	}
}

// A certificate that nobody vouches for is refused.
func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // of our refusal
	server.StartTLS()
	t.Cleanup(server.Close)
	r := newRig(t, webhook.Config{AllowPrivateURLs: true})
	trial, err := r.service.Test(t.Context(), webhook.First(r.hooked(server.URL)))
	if err != nil || trial.Error != "its host's certificate can't be verified" {
		t.Errorf("a test answers %+v (%v)", trial, err)
	}
}

// loud is a language that has a word for messages alone, which an endpoint may not know.
type loud struct{}

func (loud) Body(of gateway.Instance, event eventlog.Event, link string, file []byte) (string, []byte, bool) {
	if event.Kind == eventlog.KindPresence {
		return "", nil, false
	}
	return "said", fmt.Appendf(nil, `{"sequence":%d,"type":%q,"instance":%q,"link":%q,"file":%q}`, event.Sequence, event.Kind, of.Name, link, file), true
}

func (loud) TakesFiles() bool { return true }

func (loud) Signs() bool { return true }

func (loud) SetHeaders(header http.Header, _ time.Time, secret string, body []byte) {
	header["X-Loud"] = []string{secret + " " + strconv.Itoa(len(body))}
}

func (loud) Refuses(status int) bool { return status == http.StatusTeapot }

// oneInstance finds every instance.
type oneInstance struct{}

func (oneInstance) GetInstance(_ context.Context, id string) (gateway.Instance, error) {
	return gateway.Instance{ID: id, Name: "Front desk"}, nil
}

// appSecret is what every account has.
type appSecret struct{ *atomic.Value }

func (a appSecret) AppSecret(context.Context, string) (string, time.Time, error) {
	return a.Load().(string), time.Now(), nil
}

// A language may have the files of messages in events. One that is too large, or is not to be had, holds nothing up: the event
// comes without it. The others wait until there is memory for them.
func TestFilesInEvents(t *testing.T) {
	t.Parallel()
	said := make(chan string, 1)
	endpoint := receive(t, func(_ http.ResponseWriter, _ *http.Request, event received) int {
		said <- event.File
		return http.StatusOK
	})
	content := strings.Repeat("a picture ", 100)
	opened := map[string]int{}
	open := func(ctx context.Context, _, messageID string) (io.ReadCloser, int64, error) {
		opened[messageID]++
		switch messageID {
		case "large":
			return io.NopCloser(strings.NewReader(strings.Repeat("x", 8<<20+1))), 8<<20 + 1, nil
		case "short":
			return io.NopCloser(strings.NewReader("x")), 2, nil
		case "hangs":
			<-ctx.Done()
			return nil, 0, ctx.Err()
		case "gone":
			return nil, 0, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "it is gone")
		default:
			return io.NopCloser(strings.NewReader(content)), int64(len(content)), nil
		}
	}
	account := appSecret{&atomic.Value{}}
	account.Store("")
	schedule := quick()
	schedule.FileWait = 20 * time.Millisecond
	r := newRig(t, webhook.Config{
		AllowPrivateURLs: true, Schedule: schedule, Formats: map[string]webhook.Format{"loud": loud{}}, Instances: oneInstance{}, Accounts: account, OpenFile: open,
	})
	id := r.instance()
	r.save(id, webhook.Settings{URL: endpoint.server.URL, Format: new("loud")})
	for n, test := range []struct {
		messageID string
		size      int64 // as the event says
		opened    int
		want      string
	}{
		{"there", 1, 1, base64.StdEncoding.EncodeToString([]byte(content))},
		{"told to be large", 8<<20 + 1, 0, ""},
		{"large", 1, 1, ""},
		{"short", 1, 1, ""},
		{"hangs", 1, 1, ""},
		{"gone", 1, 1, ""},
		{"after these", 1, 1, base64.StdEncoding.EncodeToString([]byte(content))},
	} {
		event := note(t, id, "chat", n+1)
		event.Kind, event.Data = eventlog.KindMessageReceived, fmt.Appendf(nil, `{"id":%q,"media":{"size":%d}}`, test.messageID, test.size)
		r.check(r.log.Append(t.Context(), event))
		if got := <-said; got != test.want || opened[test.messageID] != test.opened {
			t.Errorf("%s: the file is %q, and it was opened %d times", test.messageID, got, opened[test.messageID])
		}
	}
	eventually(t, "the memory is given back", func() bool {
		for _, pool := range r.service.Pools() {
			if pool.Usage().Held != 0 {
				return false
			}
		}
		return len(r.service.Pools()) == 2
	})
}

// A language signs with the secret of the webhook, or with that of the account as it is at the moment.
func TestSecretOfFormat(t *testing.T) {
	t.Parallel()
	signed := make(chan string, 3)
	endpoint := receive(t, func(_ http.ResponseWriter, r *http.Request, _ received) int {
		secret, _, found := strings.Cut(r.Header.Get("X-Loud"), " ")
		if !found {
			secret = "" // the length of the body stands alone
		}
		signed <- secret
		return http.StatusOK
	})
	account := appSecret{&atomic.Value{}}
	account.Store("")
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Formats: map[string]webhook.Format{"loud": loud{}}, Instances: oneInstance{}, Accounts: account})
	id := r.instance()
	r.save(id, webhook.Settings{URL: endpoint.server.URL, Format: new("loud")})
	for n, want := range []string{"", "first", "second"} {
		account.Store(want)
		r.append(id, "chat", n+1)
		if got := <-signed; got != want {
			t.Errorf("signed with %q, want %q", got, want)
		}
	}
	r.save(id, webhook.Settings{URL: endpoint.server.URL, Secret: new("own")})
	r.append(id, "chat", 4)
	if got := <-signed; got != "own" {
		t.Errorf("signed with %q, want the webhook's own", got)
	}
}

// In another language an event that has no word there is passed over, which says nothing about the endpoint,
// and one that the endpoint does not know is given up at once. All others come in order, whatever happens.
func TestFormats(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	down.Store(true)
	endpoint := receive(t, func(_ http.ResponseWriter, r *http.Request, event received) int {
		switch {
		case down.Load():
			return http.StatusBadGateway
		case event.Sequence == 4:
			return http.StatusTeapot
		case r.URL.Path != "/hooks/said" || r.Header.Get("X-Loud") == "" || r.Header.Get("Webhook-Signature") == "":
			t.Errorf("%s with %v", r.URL, r.Header)
		}
		return http.StatusOK
	})
	r := newRig(t, webhook.Config{AllowPrivateURLs: true, Formats: map[string]webhook.Format{"loud": loud{}}, Instances: oneInstance{}})
	id := r.instance()
	saved := r.save(id, webhook.Settings{URL: endpoint.server.URL + "/hooks", Secret: new("a secret of somebody"), Format: new("loud")})
	if got, err := r.service.Get(t.Context(), webhook.First(id)); err != nil || got.Format != "loud" || saved.Format != "loud" {
		t.Errorf("it was saved as %+v (%v)", got, err)
	}
	for n := 1; n <= 6; n++ {
		event := note(t, id, "chat", n)
		if n == 2 || n == 3 {
			event.Kind = eventlog.KindPresence
		}
		r.check(r.log.Append(t.Context(), event))
	}
	eventually(t, "the endpoint fails", func() bool { return r.health(id).Status == backlog.StatusBackoff })
	down.Store(false)
	eventually(t, "all are through", func() bool { return r.health(id).Cursor == 6 })
	var order []int64
	for _, event := range endpoint.got() {
		if n := len(order); n == 0 || order[n-1] != event.Sequence {
			order = append(order, event.Sequence)
		}
	}
	if dead := r.deliveries(id, webhook.DeliveryDeadLetter); !slices.Equal(order, []int64{1, 5, 6}) || len(dead) != 1 || dead[0].Sequence != 4 || dead[0].Status != http.StatusTeapot {
		t.Errorf("posted %v, given up %+v", order, dead)
	}
	if done := r.deliveries(id, webhook.DeliveryDone); len(done) != 3 {
		t.Errorf("%d are delivered", len(done))
	}
	_, err := r.service.Save(t.Context(), id, webhook.Settings{URL: endpoint.server.URL, Format: new("quiet")})
	if refusal, ok := gateway.AsError(err); !ok || len(refusal.Fields) != 1 || refusal.Fields[0].Field != "format" || !strings.HasSuffix(refusal.Fields[0].Message, "recado, loud") {
		t.Errorf("an unknown format: %v", err)
	}
	back, err := r.service.Save(t.Context(), id, webhook.Settings{URL: endpoint.server.URL, Format: new(webhook.FormatRecado)})
	if err != nil || back.Format != "" {
		t.Errorf("back to the own one: %+v (%v)", back, err)
	}
}
