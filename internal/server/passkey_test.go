package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/testkit/amount"
	"github.com/recado-project/recado/internal/testkit/cases"
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
