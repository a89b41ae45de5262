package pairing

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
)

// link finishes linking with the secret and checks the result.
func link(t *testing.T, c *companion, account *keys.KeyPair, companionIdentity [32]byte, secret []byte) {
	t.Helper()
	signed, details, err := Identity(account, companionIdentity, secret, 99, 4, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	answer := c.succeed(signed)
	if answer.Attrs["type"] != "result" {
		t.Fatalf("the companion refuses: %s", answer)
	}
	sign, _ := answer.GetOptionalChildByTag("pair-device-sign", "device-identity")
	if sign.Attrs["key-index"] != "4" {
		t.Errorf("key index is %v", sign.Attrs["key-index"])
	}
	identity, err := VerifyDeviceSignature(*account.Pub, companionIdentity, details, content(t, &sign))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(identity.GetAccountSignatureKey(), account.Pub[:]) {
		t.Error("the complete identity misses the account's key")
	}
}

func TestLinkByQR(t *testing.T) {
	t.Parallel()
	c := newCompanion(t)
	qr, err := ParseQR(c.codes("2@reference"))
	if err != nil {
		t.Fatal(err)
	}
	if qr.Ref != "2@reference" || qr.NoiseKey != c.conn.ClientKey() || qr.IdentityKey != *c.client.Store.IdentityKey.Pub {
		t.Errorf("the code is read as %+v", qr)
	}
	link(t, c, keys.NewKeyPair(), qr.IdentityKey, qr.AdvSecret)
}

func TestCompanionRefusesAnotherSecret(t *testing.T) {
	t.Parallel()
	c := newCompanion(t)
	qr, err := ParseQR(c.codes("2@reference"))
	if err != nil {
		t.Fatal(err)
	}
	signed, _, err := Identity(keys.NewKeyPair(), qr.IdentityKey, make([]byte, 32), 99, 4, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	answer := c.succeed(signed)
	if child := answer.GetChildByTag("error"); child.Attrs["text"] != "hmac-mismatch" {
		t.Errorf("the companion answers %s", answer)
	}
}

// hello starts linking by code on c. It returns the code that the companion shows,
// and what it has sent.
func hello(t *testing.T, c *companion) (code string, wrapped []byte) {
	t.Helper()
	c.codes("2@reference")
	type result struct {
		code string
		err  error
	}
	shown := make(chan result, 1)
	go func() {
		code, err := c.client.PairPhone(t.Context(), "5511987654321", false, "1", "Chrome (Linux)")
		shown <- result{code, err}
	}()
	request := c.read()
	c.write(waBinary.Node{
		Tag:   "iq",
		Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "result", "id": request.Attrs["id"]},
		Content: []waBinary.Node{{Tag: "link_code_companion_reg", Content: []waBinary.Node{
			{Tag: "link_code_pairing_ref", Content: []byte("reference")},
		}}},
	})
	outcome := await(t, shown)
	if outcome.err != nil {
		t.Fatal(outcome.err)
	}
	return outcome.code, content(t, request, "link_code_companion_reg", "link_code_pairing_wrapped_companion_ephemeral_pub")
}

// exchange passes the phone's hello on and returns the companion's last message.
func exchange(c *companion, phone *PrimaryHello) *waBinary.Node {
	c.write(waBinary.Node{
		Tag:   "notification",
		Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "link_code_companion_reg", "id": "N1", "t": "1"},
		Content: []waBinary.Node{{
			Tag: "link_code_companion_reg", Attrs: waBinary.Attrs{"stage": "primary_hello"},
			Content: []waBinary.Node{
				{Tag: "link_code_pairing_ref", Content: []byte("reference")},
				{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: phone.WrappedEphemeral},
				{Tag: "primary_identity_pub", Content: phone.IdentityKey[:]},
			},
		}},
	})
	for {
		node := c.read()
		if _, ok := node.GetOptionalChildByTag("link_code_companion_reg"); ok {
			c.write(waBinary.Node{Tag: "iq", Attrs: waBinary.Attrs{"from": types.ServerJID, "type": "result", "id": node.Attrs["id"]}})
			return node
		}
	}
}

func TestLinkByCode(t *testing.T) {
	t.Parallel()
	c := newCompanion(t)
	account := keys.NewKeyPair()
	code, wrapped := hello(t, c)
	phone, err := NewPrimaryHello(strings.ToLower(code), wrapped, account)
	if err != nil {
		t.Fatal(err)
	}
	finish := exchange(c, phone)
	bundle := content(t, finish, "link_code_companion_reg", "link_code_pairing_wrapped_key_bundle")
	public := content(t, finish, "link_code_companion_reg", "companion_identity_public")
	if _, _, err := phone.Finish(bundle, account.Pub[:]); !errors.Is(err, ErrCompanion) {
		t.Errorf("with another companion's key: %v, want ErrCompanion", err)
	}
	secret, identity, err := phone.Finish(bundle, public)
	if err != nil {
		t.Fatal(err)
	}
	if identity != *c.client.Store.IdentityKey.Pub {
		t.Error("the companion's identity is another one")
	}
	link(t, c, account, identity, secret)
}

func TestWrongCode(t *testing.T) {
	t.Parallel()
	c := newCompanion(t)
	_, wrapped := hello(t, c)
	phone, err := NewPrimaryHello("AAAA-AAAA", wrapped, keys.NewKeyPair())
	if err != nil {
		t.Fatal(err)
	}
	finish := exchange(c, phone)
	bundle := content(t, finish, "link_code_companion_reg", "link_code_pairing_wrapped_key_bundle")
	public := content(t, finish, "link_code_companion_reg", "companion_identity_public")
	if _, _, err := phone.Finish(bundle, public); !errors.Is(err, ErrWrongCode) {
		t.Errorf("a wrong code: %v, want ErrWrongCode", err)
	}
}

func TestPrimaryHelloRefuses(t *testing.T) {
	t.Parallel()
	account := keys.NewKeyPair()
	for _, code := range []string{"", "ABCD", "ABCD-EFGHI", "ABCD-EFG!", "ÁBCDEFG"} {
		if _, err := NewPrimaryHello(code, make([]byte, 80), account); !errors.Is(err, ErrCode) {
			t.Errorf("code %q: %v, want ErrCode", code, err)
		}
	}
	for _, size := range []int{0, 79, 81} {
		if _, err := NewPrimaryHello("ABCDEFGH", make([]byte, size), account); !errors.Is(err, ErrCompanion) {
			t.Errorf("a wrapped key of %d bytes: %v, want ErrCompanion", size, err)
		}
	}
	phone, err := NewPrimaryHello("ABCDEFGH", make([]byte, 80), account)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 155, 157} {
		if _, _, err := phone.Finish(make([]byte, size), account.Pub[:]); !errors.Is(err, ErrCompanion) {
			t.Errorf("a bundle of %d bytes: %v, want ErrCompanion", size, err)
		}
	}
}
