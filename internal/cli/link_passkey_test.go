package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/cli"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit"
	"github.com/recado-project/recado/internal/whatsapp"
)

// The command leads through the link of an account that asks for a passkey: what was
// pasted wrong can be pasted again, and the code is compared.
func TestLinkLeadsThroughAPasskey(t *testing.T) {
	t.Parallel()
	const number = "5511999990200"
	g := testkit.Start(t, testkit.Options{Platform: whatsapp.Config{ComparePasskeys: true}})
	g.Phones.Update(t, number, map[string]any{"passkey": map[string]any{"compare": true}})
	instance, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := g.Client.GetQRCode(t.Context(), instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		t.Fatal(err)
	}
	typed, keyboard := io.Pipe()
	var said heard
	ended := make(chan int, 1)
	ctx, interrupt := context.WithCancel(t.Context())
	t.Cleanup(func() {
		interrupt()
		_ = keyboard.Close()
	})
	key := partnerKey(t, g)
	go func() {
		ended <- cli.Run(ctx, []string{"qr", "shop", "--api-key", key, "--url", g.BaseURL}, typed, &said, &said)
	}()
	says := func(text string) {
		t.Helper()
		testkit.Await(t, "the words "+text, func() bool { return said.contains(text) })
	}
	press := func(line string) {
		t.Helper()
		if _, err := io.WriteString(keyboard, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	says("Link a device. Code 1")
	g.Phones.Scan(t, number, code.QRCode)
	says("parseRequestOptionsFromJSON({")
	says("Open a page of localhost")
	press("hello")
	says("this is not what the browser has copied")
	asked := g.AwaitPasskey(t, instance.InstanceID, gateway.PasskeyRequested)
	press(string(g.Phones.AnswerPasskey(t, number, asked.Request, "https://evil.example")))
	says("it must be a page of localhost")
	press(string(g.Phones.AnswerPasskey(t, number, asked.Request, "")))
	shown := g.AwaitPasskey(t, instance.InstanceID, gateway.PasskeyConfirm)
	says("If it is " + shown.Code + ",")
	g.Phones.Do(t, number, "passkey/confirm")
	press("")
	says("Linked to " + number)
	if status := <-ended; status != 0 {
		t.Errorf("it ended with %d", status)
	}
}

// With --json the question is printed for programs.
func TestLinkPrintsAPasskeyForPrograms(t *testing.T) {
	t.Parallel()
	const number = "5511999990200"
	g := testkit.Start(t, testkit.Options{})
	g.Phones.Update(t, number, map[string]any{"passkey": true})
	instance, err := g.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := g.Client.GetQRCode(t.Context(), instance.InstanceID, client.GetQRCodeParams{Format: client.FormatRaw})
	if err != nil {
		t.Fatal(err)
	}
	var said heard
	ended := make(chan int, 1)
	key := partnerKey(t, g)
	go func() {
		ended <- cli.Run(t.Context(), []string{"qr", "shop", "--json", "--api-key", key, "--url", g.BaseURL},
			strings.NewReader(""), &said, io.Discard)
	}()
	testkit.Await(t, "the code", func() bool { return said.contains(`"attempt":1`) })
	g.Phones.Scan(t, number, code.QRCode)
	testkit.Await(t, "the question", func() bool { return said.contains(`"state":"requested"`) })
	g.AnswerPasskey(t, instance.InstanceID, number)
	if status := <-ended; status != 0 {
		t.Errorf("it ended with %d", status)
	}
	for line := range strings.Lines(said.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("printed is %s", line)
		}
	}
}

func partnerKey(t *testing.T, g *testkit.Gateway) string {
	t.Helper()
	account, err := g.Server.Access().EnsureAccount(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	_, key, err := g.Server.Access().CreateKey(t.Context(), access.KeyParams{AccountID: account.ID, Name: "cli", Partner: true})
	if err != nil {
		t.Fatal(err)
	}
	return key
}
