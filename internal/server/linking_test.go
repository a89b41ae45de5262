package server_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sandbox/webclient"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/amount"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/proxyserver"
	"github.com/recado-project/recado/internal/whatsapp"
)

// Of many accounts that ask for a passkey, a hundred in the long run, half are linked by QR code
// and half by pairing code, five at the same time. Each of them sends.
func TestLinksWithPasskeys(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	const atOnce = 5
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := range numbers {
				linkWithPasskey(t, g, fmt.Sprintf("49151%04d0100", i), i%2 == 0)
			}
		})
	}
	for i := range amount.Of(10, 100) {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
}

func linkWithPasskey(t *testing.T, g *testkit.Gateway, number string, byQR bool) {
	t.Helper()
	g.Phones.Update(t, number, map[string]any{"passkey": true})
	instance, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop " + number})
	if err != nil {
		t.Error(err)
		return
	}
	if byQR {
		code, err := g.Client.GetQRCode(t.Context(), instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
		if err != nil {
			t.Error(err)
			return
		}
		g.Phones.Scan(t, number, code.QRCode)
	} else {
		code, err := g.Client.GetPairingCode(t.Context(), instance.InstanceID, client.NewPairingCode{Phone: number})
		if err != nil {
			t.Error(err)
			return
		}
		g.Phones.EnterPairingCode(t, number, code.PairingCode)
	}
	g.AnswerPasskey(t, instance.InstanceID, number)
	g.AwaitStatus(t, instance.InstanceID, gateway.StatusConnected)
	if question := g.AwaitPasskey(t, instance.InstanceID, gateway.PasskeyDone); question.Request != nil || question.Code != "" {
		t.Errorf("a question that is done has %+v", question)
	}
	sent, err := g.Client.SendText(t.Context(), instance.InstanceID, client.Text{To: "5511988887766", Message: "linked " + number})
	if err != nil {
		t.Error(err)
		return
	}
	g.Phones.AwaitMessage(t, "5511988887766", sent.MessageID)
}

// Every way in which a link with a passkey fails says so, and the next code links.
func TestLinkWithPasskeyFailsAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct {
		rule   map[string]any
		fail   func(t *testing.T, g *testkit.Gateway, id string)
		reason string // that the question ends with
	}{
		"nobody answers": {
			rule: map[string]any{"seconds": 1},
			fail: func(t *testing.T, g *testkit.Gateway, id string) {
				t.Helper()
				g.AwaitPasskey(t, id, gateway.PasskeyRequested)
			},
			reason: "nobody answered in time",
		},
		"the signature is wrong": {
			fail: func(t *testing.T, g *testkit.Gateway, id string) {
				t.Helper()
				asked := g.AwaitPasskey(t, id, gateway.PasskeyRequested)
				signed := g.Phones.AnswerPasskey(t, shopNumber, asked.Request, "")
				err := g.Client.AnswerPasskey(t.Context(), id, testkit.Signed(t, changed(t, signed, "signature", "MEUCIQDx")))
				refusedBecause(t, err, http.StatusBadRequest, "the platform refused the passkey's answer")
			},
			reason: "the platform refused the passkey's answer",
		},
		"confirmed only here": {
			rule: map[string]any{"compare": true, "seconds": 2},
			fail: func(t *testing.T, g *testkit.Gateway, id string) {
				t.Helper()
				g.AnswerPasskey(t, id, shopNumber)
				g.AwaitPasskey(t, id, gateway.PasskeyConfirm)
				if err := g.Client.ConfirmPasskey(t.Context(), id); err != nil {
					t.Error(err)
				}
			},
			reason: "the code was not confirmed on the phone in time",
		},
		"confirmed only on the phone": {
			rule: map[string]any{"compare": true, "seconds": 2},
			fail: func(t *testing.T, g *testkit.Gateway, id string) {
				t.Helper()
				g.AnswerPasskey(t, id, shopNumber)
				g.AwaitPasskey(t, id, gateway.PasskeyConfirm)
				g.Phones.Do(t, shopNumber, "passkey/confirm")
			},
			reason: "the code was not confirmed in time",
		},
		"the connection is cut": {
			fail: func(t *testing.T, g *testkit.Gateway, id string) {
				t.Helper()
				g.AwaitPasskey(t, id, gateway.PasskeyRequested)
				g.Phones.Disconnect(t, "")
			},
			reason: "the connection to the platform ended",
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testkit.Start(t, testkit.Options{Platform: whatsapp.Config{ComparePasskeys: true}})
			rule := any(true)
			if test.rule != nil {
				rule = test.rule
			}
			g.Phones.Update(t, shopNumber, map[string]any{"passkey": rule})
			instance, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
			if err != nil {
				t.Fatal(err)
			}
			id := instance.InstanceID
			code, err := g.Client.GetQRCode(t.Context(), id, client.GetQRCodeParams{Format: client.FormatRaw})
			if err != nil {
				t.Fatal(err)
			}
			g.Phones.Scan(t, shopNumber, code.QRCode)
			test.fail(t, g, id)
			if question := g.AwaitPasskey(t, id, gateway.PasskeyFailed); !strings.Contains(question.Reason, test.reason) {
				t.Errorf("the question says %q, not %q", question.Reason, test.reason)
			}
			err = g.Client.ConfirmPasskey(t.Context(), id)
			testkit.Refused(t, err, http.StatusConflict, gateway.CodeNotConnected)

			var next client.QRCode
			testkit.Await(t, "the next code", func() bool {
				if next, err = g.Client.GetQRCode(t.Context(), id, client.GetQRCodeParams{Format: client.FormatRaw}); err != nil {
					t.Fatal(err)
				}
				return next.QRCode != code.QRCode
			})
			g.Phones.Update(t, shopNumber, map[string]any{"passkey": true})
			g.Phones.Scan(t, shopNumber, next.QRCode)
			g.AnswerPasskey(t, id, shopNumber)
			shown := g.AwaitPasskey(t, id, gateway.PasskeyConfirm)
			if len(shown.Code) != 8 || shown.Confirmed {
				t.Errorf("to be confirmed is %+v", shown)
			}
			if err := g.Client.ConfirmPasskey(t.Context(), id); err != nil {
				t.Error(err)
			}
			g.AwaitStatus(t, id, gateway.StatusConnected)
			if err := g.Client.ConfirmPasskey(t.Context(), id); err != nil {
				t.Errorf("confirmed twice: %v", err)
			}
		})
	}
}

// What can be seen to be wrong is refused here, so that the platform's one try is left for
// the right answer.
func TestWrongAnswerOfAPasskeyCanBeGivenAgain(t *testing.T) {
	t.Parallel()
	g := testkit.Start(t, testkit.Options{})
	const other = "5511977770100"
	g.Phones.Update(t, shopNumber, map[string]any{"passkey": true})
	g.Phones.Update(t, other, map[string]any{"passkey": true})
	instance, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	id := instance.InstanceID
	err = g.Client.AnswerPasskey(t.Context(), id, testkit.Signed(t, changed(t, json.RawMessage(
		`{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"AA","authenticatorData":"AA"}}`), "signature", "AA")))
	testkit.Refused(t, err, http.StatusConflict, gateway.CodeNotConnected)
	if question, err := g.Client.GetPasskey(t.Context(), id); err != nil || question.State != string(gateway.PasskeyNone) {
		t.Errorf("nothing is asked, but the question is %+v (%v)", question, err)
	}
	code, err := g.Client.GetQRCode(t.Context(), id, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		t.Fatal(err)
	}
	g.Phones.Scan(t, shopNumber, code.QRCode)
	asked := g.AwaitPasskey(t, id, gateway.PasskeyRequested)
	earlier := strings.Replace(string(asked.Request), `"challenge":"`, `"challenge":"AAAA`, 1)
	for name, test := range cases.Sorted(map[string]struct {
		answer json.RawMessage
		says   string
	}{
		"another page":      {g.Phones.AnswerPasskey(t, shopNumber, asked.Request, "https://evil.example"), "it must be a page of localhost"},
		"another account":   {g.Phones.AnswerPasskey(t, other, asked.Request, ""), "a passkey that the account does not have"},
		"another challenge": {g.Phones.AnswerPasskey(t, shopNumber, json.RawMessage(earlier), ""), "it answers another request"},
		"no assertion":      {changed(t, g.Phones.AnswerPasskey(t, shopNumber, asked.Request, ""), "clientDataJSON", "AA"), "is refused"},
		"another name": {g.Phones.AnswerPasskey(t, shopNumber,
			json.RawMessage(strings.Replace(string(asked.Request), `"rpId":"localhost"`, `"rpId":"evil.example"`, 1)), ""), "for another name"},
	}) {
		refusedBecause(t, g.Client.AnswerPasskey(t.Context(), id, testkit.Signed(t, test.answer)), http.StatusBadRequest, test.says)
		if state := g.AwaitPasskey(t, id, gateway.PasskeyRequested); state.Reason != "" {
			t.Errorf("%s: the question changed to %+v", name, state)
		}
	}
	g.AnswerPasskey(t, id, shopNumber)
	g.AwaitStatus(t, id, gateway.StatusConnected)
}

// changed puts another value into a field of what was signed.
func changed(t *testing.T, assertion json.RawMessage, field, value string) json.RawMessage {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal(assertion, &whole); err != nil {
		t.Fatal(err)
	}
	whole["response"].(map[string]any)[field] = value
	encoded, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func refusedBecause(t *testing.T, err error, status int, says string) {
	t.Helper()
	testkit.Refused(t, err, status, gateway.CodeValidation)
	if err != nil && !strings.Contains(err.Error(), says) {
		t.Errorf("it says %q, not %q", err, says)
	}
}

// newer returns a version some steps newer than that of the client library.
func newer(steps uint32) string {
	version := webclient.Newest()
	version[2] += steps
	return version.String()
}

// The platform refuses the version of many connected instances, fifty in the long run, and cuts them. All are back
// within a minute, without a restart, and a restart keeps what they have found.
func TestOutdatedInstancesComeBack(t *testing.T) {
	t.Parallel()
	options := testkit.Options{DataDir: t.TempDir(), Platform: whatsapp.Config{ // production's own pauses
		ReconnectMin: time.Second, ReconnectMax: time.Minute,
	}}
	g := testkit.Start(t, options)
	fleet := amount.Of(5, 50)
	ids := make([]string, fleet)
	for i := range ids {
		ids[i] = g.Link(t, fmt.Sprintf("55119999%05d", 20_010+2*i))
	}
	g.Phones.Faults(t, map[string]any{"oldestVersion": newer(7), "newestVersion": newer(9)})
	began := time.Now()
	g.Phones.Disconnect(t, "")
	testkit.Await(t, "the refusal", func() bool { return g.Server.ClientVersion().Version == newer(9) })
	for _, id := range ids {
		g.AwaitStatus(t, id, gateway.StatusConnected)
	}
	took := time.Since(began)
	t.Logf("%d of %d instances are back %.1f s after the platform refused their version", fleet, fleet, took.Seconds())
	if took > time.Minute {
		t.Errorf("it took %s", took)
	}
	if version := g.Server.ClientVersion(); version.Source != gateway.VersionLookedUp || !version.RefusedSince.IsZero() || version.Trouble != "" {
		t.Errorf("claimed is %+v", version)
	}
	for _, id := range ids {
		sendText(t, g, id, "back again")
	}
	g.Stop()

	// The sandbox has forgotten its faults and would name the library's version, but nothing
	// is looked up for a day.
	g = testkit.Start(t, options)
	testkit.Await(t, "what was found is read", func() bool { return !g.Server.ClientVersion().LookedUpAt.IsZero() })
	if version := g.Server.ClientVersion(); version.Version != newer(9) || version.Source != gateway.VersionLookedUp {
		t.Errorf("after a restart: %+v", version)
	}
	g.AwaitStatus(t, ids[0], gateway.StatusConnected)
}

// If the page that names the newest version is of no use, instances say why. They come back
// by themselves when it is.
func TestOutdatedInstanceWaitsForANewerVersion(t *testing.T) {
	t.Parallel()
	g, id := testkit.StartLinked(t, testkit.Options{Platform: whatsapp.Config{LookUpPauseMin: 20 * time.Millisecond, LookUpPauseMax: 20 * time.Millisecond}})
	events := followStatuses(t, g, id)
	faults := map[string]any{"oldestVersion": newer(1), "newestVersion": newer(1), "versionPage": "down"}
	g.Phones.Faults(t, faults)
	g.Phones.Disconnect(t, "")
	events.want(t, gateway.StatusConnecting, gateway.StatusError)
	testkit.Await(t, "the reason", func() bool { return g.Server.ClientVersion().Trouble == "the page was answered with status 503" })
	delete(faults, "versionPage")
	g.Phones.Faults(t, faults)
	events.want(t, gateway.StatusConnected)
	sendText(t, g, id, "back again")
}

// An operator's version is claimed whatever the page names, and nothing is looked up.
func TestSetVersionIsNotLookedUp(t *testing.T) {
	t.Parallel()
	set, err := whatsapp.ParseVersion("2.3000.17")
	if err != nil {
		t.Fatal(err)
	}
	g := testkit.Start(t, testkit.Options{Platform: whatsapp.Config{ClientVersion: &set}})
	g.Phones.Faults(t, map[string]any{"oldestVersion": "2.3000.17", "newestVersion": newer(9)})
	id := g.Link(t, shopNumber)
	g.Phones.Faults(t, map[string]any{"oldestVersion": "2.3000.18", "newestVersion": newer(9)})
	g.Phones.Disconnect(t, "")
	g.AwaitStatus(t, id, gateway.StatusError)
	version := g.Server.ClientVersion()
	if version.Version != "2.3000.17" || version.Source != gateway.VersionSet || !version.LookedUpAt.IsZero() || version.RefusedSince.IsZero() {
		t.Errorf("claimed is %+v", version)
	}
}

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
