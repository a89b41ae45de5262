package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
)

// secretWord is the password of every proxy here; nothing that is shown may have it.
const secretWord = "s3nh4-do-proxy"

// heard keeps what the program says: its log, and all its answers.
type heard struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.Write(p)
}

// RoundTrip keeps the answer.
func (h *heard) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	_, _ = h.Write(body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

// events keeps the events of an instance, and returns the reasons of its statuses.
func (h *heard) events(t *testing.T, g *testkit.Gateway, id string) (reasons []string) {
	t.Helper()
	if _, err := g.Client.SendText(t.Context(), id, client.Text{To: "5511988880600", Message: "the last"}); err != nil {
		t.Fatal(err)
	}
	stream, err := g.Client.Events(t.Context(), id, client.EventsParams{After: new(int64)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	for {
		event, err := stream.Next()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = h.Write(event.Data)
		if event.Type == client.TypeInstanceStatus {
			var status client.InstanceStatusEvent
			if err := json.Unmarshal(event.Data, &status); err == nil && status.Reason != nil {
				reasons = append(reasons, *status.Reason)
			}
		}
		if bytes.Contains(event.Data, []byte("the last")) {
			return reasons
		}
	}
}

func (h *heard) wantNoSecret(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if strings.Contains(h.said.String(), secretWord) {
		t.Errorf("the password of the proxy was said: %s", h.said.String())
	}
	if !strings.Contains(h.said.String(), ":***@") {
		t.Error("the proxy was shown nowhere, so that nothing was tried")
	}
}

func startHeard(t *testing.T, options testkit.Options) (*testkit.Gateway, *heard) {
	t.Helper()
	h := &heard{}
	options.Log = h
	g := testkit.Start(t, options)
	return g, h
}

// An instance links, sends, receives and fetches a file through its proxy alone. With the
// proxy dead it says why and connects to nobody; without a proxy of its own it comes back.
func TestInstanceByProxy(t *testing.T) {
	t.Parallel()
	for kind, start := range cases.Sorted(map[string]func(testing.TB, proxyserver.Options) *proxyserver.Proxy{
		"SOCKS": proxyserver.SOCKS, "HTTP": proxyserver.HTTP,
	}) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			const own, peer = "5511999990600", "5511988880600"
			g, said := startHeard(t, testkit.Options{})
			c := g.Client.WithHTTPClient(&http.Client{Transport: said})
			proxy := start(t, proxyserver.Options{User: "ana", Password: secretWord})
			masked := strings.Replace(proxy.URL(), secretWord, "***", 1)

			made, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
			if err != nil {
				t.Fatal(err)
			}
			id := made.InstanceID
			label := client.DeviceChange{Name: client.Set("Recepção"), Kind: client.Set("firefox")}
			set, err := c.ChangeInstance(t.Context(), id, client.InstanceChange{Name: new("loja"), Proxy: client.Set(proxy.URL()), Device: client.Set(label)})
			if err != nil {
				t.Fatal(err)
			}
			if set.Name != "loja" || set.Proxy != masked || set.Device.Name != "Recepção" || set.Device.Kind != "firefox" || set.ProxyProblem != "" {
				t.Errorf("it was set to %+v", set)
			}
			checked := len(proxy.Asked())
			g.Scan(t, id, own)
			linked := len(proxy.Asked())
			if linked < checked+2 {
				t.Errorf("linking made %d connections through the proxy", linked-checked)
			}
			if devices := g.Phones.Get(t, own).LinkedDevices; len(devices) != 1 || devices[0].Name != "Recepção" || devices[0].Kind != "FIREFOX" {
				t.Errorf("the phone lists %+v", devices)
			}

			sent, err := c.SendText(t.Context(), id, client.Text{To: peer, Message: "Oi!"})
			if err != nil {
				t.Fatal(err)
			}
			g.Phones.AwaitMessage(t, peer, sent.MessageID)
			before := proxy.Carried()
			document := client.Document{To: peer, Document: "data:text/plain;base64," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("nota fiscal "), 20_000)), FileName: "nota.txt"}
			file, err := c.SendDocument(t.Context(), id, document)
			if err != nil {
				t.Fatal(err)
			}
			g.Phones.AwaitMessage(t, peer, file.MessageID)
			if link, err := c.GetMediaDownloadLink(t.Context(), id, file.MessageID); err != nil || link.URL == "" {
				t.Errorf("the file can't be fetched: %v", err)
			}
			if asked := len(proxy.Asked()); asked == linked {
				t.Error("no file went through the proxy")
			}

			// The masked URL changes nothing: not even the connection.
			if again, err := c.ChangeInstance(t.Context(), id, client.InstanceChange{Proxy: client.Set(masked)}); err != nil || again.Proxy != masked || again.Status != client.StatusConnected {
				t.Errorf("the masked URL: %+v, %v", again, err)
			}

			proxy.Close()
			through := len(proxy.Asked())
			if proxy.Carried() < before+2*240_000 {
				t.Errorf("%d bytes went through the proxy, with a file up and down", proxy.Carried()-before)
			}
			testkit.Await(t, "the proxy's failure", func() bool {
				return g.Instance(t, id).ProxyProblem == client.ReasonProxyUnreachable
			})
			if _, err := c.SendText(t.Context(), id, client.Text{To: peer, Message: "?"}); err == nil {
				t.Error("a message was sent past the proxy")
			}
			if now := g.Instance(t, id); now.Status != client.StatusConnecting || now.Proxy != masked || len(proxy.Asked()) != through {
				t.Errorf("with the proxy dead it is %+v", now)
			}
			// null removes it.
			removed, err := c.ChangeInstance(t.Context(), id, client.InstanceChange{Proxy: client.Null[string]()})
			if err != nil || removed.Proxy != "" || removed.ProxyProblem != "" {
				t.Errorf("removed: %+v, %v", removed, err)
			}
			g.AwaitStatus(t, id, gateway.StatusConnected)
			if _, err := c.SendText(t.Context(), id, client.Text{To: peer, Message: "De volta"}); err != nil {
				t.Error(err)
			}
			reasons := said.events(t, g, id)
			if !slices.Contains(reasons, client.ReasonProxyUnreachable) {
				t.Errorf("the events of its status have the reasons %v", reasons)
			}
			said.wantNoSecret(t)
		})
	}
}

// A proxy at a private address is refused unless the operator allows it, and gets no
// connection.
func TestProxyAtAPrivateAddress(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{RefusePrivateURLs: true})
	made, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	proxy := proxyserver.SOCKS(t, proxyserver.Options{})
	_, err = g.Client.ChangeInstance(t.Context(), made.InstanceID, client.InstanceChange{Proxy: client.Set(proxy.URL())})
	testkit.Refused(t, err, http.StatusBadRequest, client.CodeValidationError)
	if asked := proxy.Asked(); len(asked) != 0 {
		t.Errorf("it was asked for %v", asked)
	}
}
