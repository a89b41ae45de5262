package user_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/user"
)

const origin = "https://recado.example.org"

// device is a simulated authenticator with one passkey.
type device struct {
	t      *testing.T
	host   string // that the passkey is for
	key    *ecdsa.PrivateKey
	id     []byte
	handle []byte
	count  uint32
	flags  byte
}

// The flags of an answer: somebody was there, and was known to the device.
const (
	present  = 0x01
	verified = 0x04
	attested = 0x40
)

func newDevice(t *testing.T, host string) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d := &device{t: t, host: host, key: key, id: make([]byte, 16), flags: present | verified}
	_, _ = rand.Read(d.id)
	return d
}

func base64url(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (d *device) json(value any) []byte {
	d.t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		d.t.Fatal(err)
	}
	return content
}

func (d *device) cbor(value any) []byte {
	d.t.Helper()
	content, err := webauthncbor.Marshal(value)
	if err != nil {
		d.t.Fatal(err)
	}
	return content
}

// authData is what the device signs about itself.
func (d *device) authData(flags byte) []byte {
	host := sha256.Sum256([]byte(d.host))
	d.count++
	return binary.BigEndian.AppendUint32(append(host[:], flags), d.count)
}

func (d *device) clientData(kind, challenge, origin string) []byte {
	return d.json(map[string]any{"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false})
}

// options are those parts of a question that the device reads.
type options struct {
	PublicKey struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
		RP struct {
			ID string `json:"id"`
		} `json:"rp"`
		RPID string `json:"rpId"`
	} `json:"publicKey"`
}

func (d *device) read(question user.Question) options {
	d.t.Helper()
	var o options
	if err := json.Unmarshal(question.Options, &o); err != nil {
		d.t.Fatal(err)
	}
	return o
}

// register answers the question for a new passkey.
func (d *device) register(question user.Question, origin string) []byte {
	d.t.Helper()
	o := d.read(question)
	handle, err := base64.RawURLEncoding.DecodeString(o.PublicKey.User.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	d.handle = handle
	public, err := d.key.PublicKey.Bytes()
	if err != nil {
		d.t.Fatal(err)
	}
	data := append(d.authData(d.flags|attested), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(d.id)))
	data = append(data, d.id...)
	data = append(data, d.cbor(map[int]any{1: 2, 3: -7, -1: 1, -2: public[1:33], -3: public[33:]})...)
	object := d.cbor(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": data})
	return d.json(map[string]any{
		"id": base64url(d.id), "rawId": base64url(d.id), "type": "public-key",
		"response": map[string]any{
			"clientDataJSON":    base64url(d.clientData("webauthn.create", o.PublicKey.Challenge, origin)),
			"attestationObject": base64url(object),
		},
	})
}

// sign answers the question of a sign-in.
func (d *device) sign(question user.Question, origin string) []byte {
	d.t.Helper()
	client := d.clientData("webauthn.get", d.read(question).PublicKey.Challenge, origin)
	data := d.authData(d.flags)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, digest[:])
	if err != nil {
		d.t.Fatal(err)
	}
	return d.json(map[string]any{
		"id": base64url(d.id), "rawId": base64url(d.id), "type": "public-key",
		"response": map[string]any{
			"clientDataJSON": base64url(client), "authenticatorData": base64url(data),
			"signature": base64url(signature), "userHandle": base64url(d.handle),
		},
	})
}

// addPasskey registers a passkey of the actor.
func (r *rig) addPasskey(actor user.Actor, name string) *device {
	r.t.Helper()
	d := newDevice(r.t, "recado.example.org")
	question, err := r.AskForPasskey(r.t.Context(), actor, origin)
	r.check(err)
	r.check(r.AddPasskey(r.t.Context(), actor, origin, question.Challenge, d.register(question, origin), name))
	return d
}

func (r *rig) signInWith(d *device, origin string) (gateway.User, error) {
	r.t.Helper()
	question, err := r.AskForAnyPasskey(origin, home)
	r.check(err)
	return r.SignInWithPasskey(r.t.Context(), origin, question.Challenge, d.sign(question, origin), home)
}

func TestPasskeySignsIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, bia := r.add("ana", gateway.RoleOwner), r.add("bia", gateway.RoleViewer)
	laptop, phone := r.addPasskey(ana, " lap\u202etop\n"), r.addPasskey(bia, "")
	for range 2 {
		if got, err := r.signInWith(laptop, origin); err != nil || got.ID != ana.UserID {
			t.Errorf("signed in is %+v (%v)", got, err)
		}
	}
	if got, err := r.signInWith(phone, origin); err != nil || got.ID != bia.UserID {
		t.Errorf("signed in is %+v (%v)", got, err)
	}
	passkeys, err := r.ListPasskeys(t.Context(), ana)
	if err != nil || len(passkeys) != 1 || passkeys[0].Name != "laptop" || passkeys[0].LastUsedAt.IsZero() {
		t.Errorf("listed %+v (%v)", passkeys, err)
	}
	wantKind(t, r.RemovePasskey(t.Context(), bia, laptop.id), gateway.NotFound, gateway.CodeNotFound)
	r.check(r.RemovePasskey(t.Context(), ana, laptop.id))
	_, err = r.signInWith(laptop, origin)
	wantKind(t, err, gateway.Unauthorized, user.CodePasskey)
	r.check(r.Delete(t.Context(), ana, bia.UserID))
	_, err = r.signInWith(phone, origin)
	wantKind(t, err, gateway.Unauthorized, user.CodePasskey)
}

// What a passkey must not do.
func TestPasskeyRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.add("ana", gateway.RoleOwner)
	for name, try := range cases.Sorted(map[string]func(d *device) error{
		"another page's answer": func(d *device) error {
			question, err := r.AskForAnyPasskey(origin, home)
			r.check(err)
			_, err = r.SignInWithPasskey(t.Context(), origin, question.Challenge, d.sign(question, "https://evil.example.org"), home)
			return err
		},
		"an answer to another question": func(d *device) error {
			question, err := r.AskForAnyPasskey(origin, home)
			r.check(err)
			other, err := r.AskForAnyPasskey(origin, home)
			r.check(err)
			_, err = r.SignInWithPasskey(t.Context(), origin, other.Challenge, d.sign(question, origin), home)
			return err
		},
		"another host": func(d *device) error {
			_, err := r.signInWith(d, "https://other.example.org")
			return err
		},
		"another key": func(d *device) error {
			d.key = newDevice(t, d.host).key
			_, err := r.signInWith(d, origin)
			return err
		},
		"nobody was known to the device": func(d *device) error {
			d.flags = present
			_, err := r.signInWith(d, origin)
			return err
		},
		"a copy that counts less": func(d *device) error {
			if _, err := r.signInWith(d, origin); err != nil {
				t.Fatal(err)
			}
			d.count = 0
			_, err := r.signInWith(d, origin)
			return err
		},
		"nonsense": func(*device) error {
			question, err := r.AskForAnyPasskey(origin, home)
			r.check(err)
			_, err = r.SignInWithPasskey(t.Context(), origin, question.Challenge, []byte(`{"id":1}`), home)
			return err
		},
		"a user that is none": func(d *device) error {
			d.handle = []byte("root")
			_, err := r.signInWith(d, origin)
			return err
		},
	}) {
		t.Log(name)
		wantKind(t, try(r.addPasskey(ana, name)), gateway.Unauthorized, user.CodePasskey)
	}
	_, err := r.SignInWithPasskey(t.Context(), origin, nil, nil, home)
	wantKind(t, err, gateway.Invalid, user.CodePasskey)
	for range 20 {
		_, err = r.AskForAnyPasskey(origin, home)
	}
	wantKind(t, err, gateway.RateLimited, user.CodeTooManyTries)
}

// A passkey is made for the one who asked, at an address where browsers have passkeys.
func TestPasskeyIsMadeForWhoAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, bia := r.add("ana", gateway.RoleOwner), r.add("bia", gateway.RoleOwner)
	d := newDevice(t, "recado.example.org")
	question, err := r.AskForPasskey(t.Context(), ana, origin)
	r.check(err)
	answer := d.register(question, origin)
	wantKind(t, r.AddPasskey(t.Context(), bia, origin, question.Challenge, answer, "x"), gateway.Invalid, user.CodePasskey)
	wantKind(t, r.AddPasskey(t.Context(), ana, "https://evil.example.org", question.Challenge, answer, "x"), gateway.Invalid, user.CodePasskey)
	wantKind(t, r.AddPasskey(t.Context(), ana, origin, nil, answer, "x"), gateway.Invalid, user.CodePasskey)
	wantKind(t, r.AddPasskey(t.Context(), ana, origin, question.Challenge, []byte("{}"), "x"), gateway.Invalid, user.CodePasskey)
	r.check(r.AddPasskey(t.Context(), ana, origin, question.Challenge, answer, "x"))
	for range 19 {
		r.addPasskey(ana, "more")
	}
	_, err = r.AskForPasskey(t.Context(), ana, origin)
	wantKind(t, err, gateway.Conflict, user.CodePasskey)
	for origin, works := range cases.Sorted(map[string]bool{
		"https://recado.example.org": true, "https://recado.example.org:8443": true, "http://localhost:8080": true,
		"http://recado.example.org": false, "http://127.0.0.1:8080": false, "https://[::1]": false, "https://": false, "%": false, "": false,
	}) {
		if user.PasskeysWorkAt(origin) != works {
			t.Errorf("%s: %t", origin, !works)
		}
	}
}
