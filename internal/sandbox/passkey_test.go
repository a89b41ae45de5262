package sandbox_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// needPasskey makes a phone ask for a passkey.
func (w *world) needPasskey(number string, rule any) {
	w.tb.Helper()
	w.do(http.MethodPut, "/phones/"+number, map[string]any{"passkey": rule}, nil)
}

// sign lets the phone's own passkey sign a request.
func (w *world) sign(number string, request *types.WebAuthnPublicKey, origin string) *types.WebAuthnResponse {
	w.tb.Helper()
	var assertion types.WebAuthnResponse
	w.do(http.MethodPost, "/phones/"+number+"/passkey/assert", map[string]any{"request": request, "origin": origin}, &assertion)
	return &assertion
}

// passkeyState waits until the phone's question for a passkey is in a state.
func (w *world) passkeyState(number string, want link.PasskeyState) link.PasskeyView {
	w.tb.Helper()
	var view link.PasskeyView
	w.until("passkey "+string(want), func() bool {
		w.do(http.MethodGet, "/phones/"+number+"/passkey", nil, &view)
		return view.State == want
	}, func() any { return view })
	return view
}

// currentCode is the code of a client with the secret that it has now, which a question for
// a passkey changes.
func (c *client) currentCode(shown string) string {
	parts := strings.Split(shown, ",")
	parts[3] = base64.StdEncoding.EncodeToString(c.Store.AdvSecretKey)
	return strings.Join(parts, ",")
}

func TestPasskeyOpensALink(t *testing.T) {
	t.Parallel()
	for name, byCode := range cases.Sorted(map[string]bool{"by QR code": false, "by pairing code": true}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.needPasskey(gateway, true)
			c := w.newClient()
			c.connect()
			codes := expect[*events.QR](c, nil)
			if byCode {
				code, err := c.PairPhone(context.Background(), gateway, true, whatsmeow.PairClientChrome, "Chrome (Linux)")
				if err != nil {
					t.Fatal(err)
				}
				w.do(http.MethodPost, "/phones/"+gateway+"/pairing-code", map[string]string{"code": code}, nil)
			} else {
				w.do(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": codes.Codes[0]}, nil)
			}
			asked := expect[*events.PairPasskeyRequest](c, nil)
			w.passkeyState(gateway, link.PasskeyRequested)
			if err := c.SendPasskeyResponse(t.Context(), w.sign(gateway, asked.PublicKey, "")); err != nil {
				t.Fatal(err)
			}
			shown := expect[*events.PairPasskeyConfirmation](c, nil)
			view := w.passkeyState(gateway, link.PasskeyConfirm)
			if !shown.SkipHandoffUX || strings.ReplaceAll(shown.Code, "-", "") != view.Code {
				t.Errorf("the client shows %+v, the phone %+v", shown, view)
			}
			if err := c.SendPasskeyConfirmation(t.Context()); err != nil {
				t.Fatal(err)
			}
			expect[*events.Connected](c, nil)
			w.passkeyState(gateway, link.PasskeyDone)
			id := c.text(friend, "linked with a passkey")
			c.receipt(id, "read")
		})
	}
}

// What a device answers counts only if it is right; after a wrong answer the next code can
// be scanned.
func TestWrongPasskeyLinksNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.needPasskey(gateway, true)
	w.needPasskey(friend, true)
	c := w.newClient()
	c.connect()
	codes := expect[*events.QR](c, nil).Codes
	for i, test := range []struct {
		says   string
		origin string
		whose  string
		change func(*types.WebAuthnResponse)
	}{
		{says: "on the page", origin: "https://evil.example", whose: gateway},
		{says: "not owned by the user", whose: friend},
		{says: "signature", whose: gateway, change: func(a *types.WebAuthnResponse) { a.Response.Signature[9] ^= 1 }},
		{says: "challenge", whose: gateway, change: func(a *types.WebAuthnResponse) {
			a.Response.ClientDataJSON = []byte(strings.Replace(string(a.Response.ClientDataJSON), `"challenge":"`, `"challenge":"AAAA`, 1))
		}},
	} {
		c.forget()
		w.do(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": c.currentCode(codes[i])}, nil)
		asked := expect[*events.PairPasskeyRequest](c, nil)
		assertion := w.sign(test.whose, asked.PublicKey, test.origin)
		if test.change != nil {
			test.change(assertion)
		}
		if err := c.SendPasskeyResponse(t.Context(), assertion); err == nil || !strings.Contains(err.Error(), "401") {
			t.Errorf("%d: answered %v", i, err)
		}
		if view := w.passkeyState(gateway, link.PasskeyFailed); !strings.Contains(view.Reason, test.says) {
			t.Errorf("%d: the phone says %q, not %q", i, view.Reason, test.says)
		}
	}
	c.forget()
	w.do(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": c.currentCode(codes[4])}, nil)
	asked := expect[*events.PairPasskeyRequest](c, nil)
	if err := c.SendPasskeyResponse(t.Context(), w.sign(gateway, asked.PublicKey, "http://localhost:8080")); err != nil {
		t.Fatal(err)
	}
	expect[*events.PairPasskeyConfirmation](c, nil)
	if err := c.SendPasskeyConfirmation(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect[*events.Connected](c, nil)
}

// A phone that compares codes links only what was confirmed on both sides, in time.
func TestPasskeyIsConfirmedOnBothSides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.needPasskey(gateway, map[string]any{"compare": true, "seconds": 2})
	c := w.newClient()
	c.connect()
	codes := expect[*events.QR](c, nil).Codes
	scan := func(i int) {
		c.forget()
		w.do(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": c.currentCode(codes[i])}, nil)
	}
	answer := func() {
		asked := expect[*events.PairPasskeyRequest](c, nil)
		if err := c.SendPasskeyResponse(t.Context(), w.sign(gateway, asked.PublicKey, "")); err != nil {
			t.Fatal(err)
		}
		expect[*events.PairPasskeyConfirmation](c, nil)
		w.passkeyState(gateway, link.PasskeyConfirm)
	}
	scan(0) // and nobody answers
	expect[*events.PairPasskeyRequest](c, nil)
	if status := w.call(http.MethodPost, "/phones/"+gateway+"/passkey/confirm", nil, nil); status != http.StatusConflict {
		t.Errorf("confirmed without a code: %d", status)
	}
	if view := w.passkeyState(gateway, link.PasskeyFailed); !strings.Contains(view.Reason, "in time") {
		t.Errorf("the phone says %q", view.Reason)
	}
	scan(1) // and only the client confirms
	answer()
	if err := c.SendPasskeyConfirmation(t.Context()); err != nil {
		t.Fatal(err)
	}
	if view := w.passkeyState(gateway, link.PasskeyFailed); !strings.Contains(view.Reason, "both sides") {
		t.Errorf("the phone says %q", view.Reason)
	}
	scan(2) // and only the phone confirms
	answer()
	w.do(http.MethodPost, "/phones/"+gateway+"/passkey/confirm", nil, nil)
	if view := w.passkeyState(gateway, link.PasskeyConfirm); !view.Confirmed || view.Code == "" {
		t.Errorf("confirmed on the phone, it shows %+v", view)
	}
	w.passkeyState(gateway, link.PasskeyFailed)
	scan(3) // and the phone shows another code
	answer()
	w.do(http.MethodPost, "/phones/"+gateway+"/passkey/refuse", nil, nil)
	if view := w.passkeyState(gateway, link.PasskeyFailed); !strings.Contains(view.Reason, "not the same") {
		t.Errorf("the phone says %q", view.Reason)
	}
	if err := c.SendPasskeyConfirmation(t.Context()); err == nil {
		t.Error("the client's confirmation is taken all the same")
	}
	scan(4)
	answer()
	w.do(http.MethodPost, "/phones/"+gateway+"/passkey/confirm", nil, nil)
	if err := c.SendPasskeyConfirmation(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect[*events.Connected](c, nil)
}

func TestWrongPasskeyRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, rule := range cases.Sorted(map[string]any{
		"too long": map[string]any{"seconds": 601}, "negative": map[string]any{"seconds": -1},
		"unknown": map[string]any{"minutes": 1}, "no rule": "yes",
	}) {
		if status := w.call(http.MethodPut, "/phones/"+gateway, map[string]any{"passkey": rule}, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, status)
		}
	}
	for name, body := range cases.Sorted(map[string]any{
		"no request": map[string]any{}, "no WebAuthn": map[string]any{"request": map[string]any{"a": 1}},
		"a text": map[string]any{"request": "x"},
	}) {
		if status := w.call(http.MethodPost, "/phones/"+gateway+"/passkey/assert", body, nil); status != http.StatusBadRequest {
			t.Errorf("assert %s: %d", name, status)
		}
	}
	w.needPasskey(gateway, true)
	w.down()
	w.start()
	var phone struct{ Passkey bool }
	w.do(http.MethodGet, "/phones/"+gateway, nil, &phone)
	if !phone.Passkey {
		t.Error("the rule is gone after a restart")
	}
	var options json.RawMessage
	w.do(http.MethodPost, "/phones/"+gateway+"/passkey/options", map[string]any{"origin": "http://localhost:1"}, &options)
	if status := w.call(http.MethodPost, "/phones/"+gateway+"/passkey/credentials",
		map[string]any{"origin": "http://localhost:1", "credential": map[string]any{}}, nil); status != http.StatusBadRequest {
		t.Errorf("an empty credential: %d", status)
	}
}

// A passkey that a browser has made for the phone is one of those that may answer.
func TestPasskeyOfABrowserIsAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.needPasskey(gateway, true)
	const origin = "http://localhost:8080"
	var options struct {
		Challenge string
		RP        struct{ ID string }
	}
	w.do(http.MethodPost, "/phones/"+gateway+"/passkey/options", map[string]any{"origin": origin}, &options)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	id, host := []byte("made in a browser"), sha256.Sum256([]byte(options.RP.ID))
	data := append(host[:], 0x45)            // present, verified, with a new passkey
	data = append(data, make([]byte, 20)...) // the counter and the kind of authenticator
	data = binary.BigEndian.AppendUint16(data, uint16(len(id)))
	data = append(append(data, id...), asCBOR(t, map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})...)
	client, err := json.Marshal(map[string]any{"type": "webauthn.create", "challenge": options.Challenge, "origin": origin})
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	answer := map[string]any{"origin": origin, "credential": map[string]any{
		"id": text(id), "rawId": text(id), "type": "public-key", "response": map[string]any{
			"clientDataJSON":    text(client),
			"attestationObject": text(asCBOR(t, map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})),
		},
	}}
	w.do(http.MethodPost, "/phones/"+gateway+"/passkey/credentials", answer, nil)
	if status := w.call(http.MethodPost, "/phones/"+gateway+"/passkey/credentials", answer, nil); status != http.StatusBadRequest {
		t.Errorf("the same credential twice: %d", status)
	}
	c := w.newClient()
	c.connect()
	w.do(http.MethodPost, "/phones/"+gateway+"/scan", map[string]string{"qrCode": expect[*events.QR](c, nil).Codes[0]}, nil)
	asked := expect[*events.PairPasskeyRequest](c, nil)
	var list struct {
		Data []struct {
			ID  string
			Own bool
		}
	}
	w.do(http.MethodGet, "/phones/"+gateway+"/passkey/credentials", nil, &list)
	if len(list.Data) != 2 || list.Data[0].Own == list.Data[1].Own || list.Data[0].ID != text(id) && list.Data[1].ID != text(id) {
		t.Errorf("the phone's passkeys are %+v", list.Data)
	}
	if !slices.ContainsFunc(asked.PublicKey.AllowCredentials, func(allowed types.AllowedCredential) bool { return bytes.Equal(allowed.ID, id) }) {
		t.Errorf("allowed are %v", asked.PublicKey.AllowCredentials)
	}
}

func asCBOR(t *testing.T, value any) []byte {
	t.Helper()
	content, err := webauthncbor.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
