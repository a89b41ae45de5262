package signal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestConversation(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "100000000000001_1", 0), newPeer(t, "5511987654321", 7)
	phone.start(companion)
	companion.take(phone.send(companion, PreKeyMessage, "first"))
	companion.take(phone.send(companion, PreKeyMessage, "second, before any answer"))
	phone.take(companion.send(phone, Message, "answer"))
	for i := range 5 {
		phone.restart()
		companion.take(phone.send(companion, Message, fmt.Sprint("out ", i)))
		companion.restart()
		phone.take(companion.send(phone, Message, fmt.Sprint("back ", i)))
	}
}

func TestBundleWithoutOneTimeKey(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	bundle, err := companion.Bundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bundle.PreKey = nil
	if err := phone.StartSession(t.Context(), companion.addr, bundle); err != nil {
		t.Fatal(err)
	}
	companion.take(phone.send(companion, PreKeyMessage, "hello"))
	phone.take(companion.send(phone, Message, "hello yourself"))
}

func TestOneTimeKeyServesOnce(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	phone.start(companion)
	first := phone.send(companion, PreKeyMessage, "first")
	companion.take(first)
	if err := companion.DropSession(t.Context(), phone.addr); err != nil {
		t.Fatal(err)
	}
	companion.refuse(first, ErrUndecryptable)
}

func TestOutOfOrder(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	phone.start(companion)
	var messages []sealed
	for i := range 10 {
		messages = append(messages, phone.send(companion, PreKeyMessage, fmt.Sprint("message ", i)))
	}
	for _, message := range slices.Backward(messages) {
		companion.take(message)
	}
	for _, message := range messages {
		companion.refuse(message, ErrDuplicate)
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	phone.start(companion)
	first := phone.send(companion, PreKeyMessage, "first")
	companion.take(first)
	companion.refuse(first, ErrDuplicate)
	answer := companion.send(phone, Message, "answer")
	phone.take(answer)
	phone.restart()
	phone.refuse(answer, ErrDuplicate)
	companion.take(phone.send(companion, Message, "still in step"))
}

func TestLostSession(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	phone.start(companion)
	companion.take(phone.send(companion, PreKeyMessage, "first"))
	phone.take(companion.send(phone, Message, "answer"))

	if err := companion.DropSession(t.Context(), phone.addr); err != nil {
		t.Fatal(err)
	}
	lost := phone.send(companion, Message, "lost")
	companion.refuse(lost, ErrUndecryptable)
	companion.refuse(lost, ErrNoSession)

	phone.start(companion)
	companion.take(phone.send(companion, PreKeyMessage, "again"))
	phone.take(companion.send(phone, Message, "found"))
}

// A client that fetches keys again may start a second session. Messages that are
// under way in the old session must still be decrypted, without harm to the new
// one.
func TestSessionBesideSession(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	companion.start(phone)
	phone.take(companion.send(phone, PreKeyMessage, "first"))
	companion.take(phone.send(companion, Message, "answer"))

	early, late := companion.send(phone, Message, "old, early"), companion.send(phone, Message, "old, late")
	for i := range 2 * maxArchived {
		companion.start(phone)
		phone.take(companion.send(phone, PreKeyMessage, fmt.Sprint("new ", i)))
		if i == 2 {
			phone.take(early)
			phone.take(companion.send(phone, PreKeyMessage, "after the early one"))
			phone.take(late)
			phone.refuse(early, ErrDuplicate)
			phone.take(companion.send(phone, PreKeyMessage, "after the late one"))
		}
	}
	companion.take(phone.send(companion, Message, "in the newest"))
	phone.take(companion.send(phone, Message, "in the newest as well"))
}

func TestBothStartAtOnce(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	phone.start(companion)
	companion.start(phone)
	out, back := phone.send(companion, PreKeyMessage, "out"), companion.send(phone, PreKeyMessage, "back")
	phone.take(back)
	companion.take(out)
	for i := range 4 {
		out := phone.send(companion, Message, fmt.Sprint("out ", i))
		back := companion.send(phone, Message, fmt.Sprint("back ", i))
		phone.take(back)
		companion.take(out)
	}
}

func TestNewIdentityIsAccepted(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	companion.start(phone)
	phone.take(companion.send(phone, PreKeyMessage, "first"))
	again := newPeer(t, "2_1", 7)
	again.start(phone)
	phone.take(again.send(phone, PreKeyMessage, "from a new installation"))
	again.take(phone.send(again, Message, "welcome back"))
}

func TestBundlesAreBounded(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	phone.start(companion)
	early := phone.send(companion, PreKeyMessage, "with the first key")
	ids := map[uint32]bool{}
	for range maxPreKeys + 5 {
		bundle, err := companion.Bundle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ids[bundle.PreKey.ID] = true
	}
	if len(ids) != maxPreKeys+5 {
		t.Errorf("%d different keys were minted", len(ids))
	}
	if got := len(companion.store.records); got != maxPreKeys+1 {
		t.Errorf("%d records are kept", got)
	}
	companion.refuse(early, ErrUndecryptable)
}

func TestStoreFailures(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	phone.start(companion)
	message := phone.send(companion, PreKeyMessage, "first")

	companion.store.loads = errBroken
	companion.refuse(message, errBroken)
	if _, err := companion.HasSession(t.Context(), phone.addr); !errors.Is(err, errBroken) {
		t.Errorf("has session: %v", err)
	}
	if _, err := companion.Bundle(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("bundle: %v", err)
	}
	companion.store.loads = nil
	companion.store.applies = errBroken
	companion.refuse(message, errBroken)
	companion.store.applies = nil

	companion.store.batches = 0
	companion.take(message)
	if companion.store.batches != 1 {
		t.Errorf("one decryption made %d batches", companion.store.batches)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	if _, _, err := phone.Encrypt(t.Context(), companion.addr, []byte("x")); !errors.Is(err, ErrNoSession) {
		t.Errorf("encrypt without a session: %v", err)
	}
	bundle, err := companion.Bundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bundle.Signature[0]++
	if err := phone.StartSession(t.Context(), companion.addr, bundle); !errors.Is(err, ErrInvalidBundle) {
		t.Errorf("a forged bundle: %v", err)
	}
	if has, err := phone.HasSession(t.Context(), companion.addr); has || err != nil {
		t.Errorf("has session: %v, %v", has, err)
	}
	phone.start(companion)
	if has, err := phone.HasSession(t.Context(), companion.addr); !has || err != nil {
		t.Errorf("has session: %v, %v", has, err)
	}
	message := phone.send(companion, PreKeyMessage, "first")
	for name, change := range cases.Sorted(map[string]func(*sealed){
		"of another kind":    func(m *sealed) { m.kind = Message },
		"of an unknown kind": func(m *sealed) { m.kind = "skmsg" },
		"cut short":          func(m *sealed) { m.data = m.data[:len(m.data)/2] },
		"empty":              func(m *sealed) { m.data = nil },
		"damaged":            func(m *sealed) { m.data[len(m.data)-20]++ },
	}) {
		bad := message
		bad.data = slices.Clone(message.data)
		bad.text = name
		change(&bad)
		companion.refuse(bad, ErrUndecryptable)
	}
	companion.take(message)
}

func TestEncryptLeavesThePlaintextsSurroundings(t *testing.T) {
	t.Parallel()
	phone, companion := newPeer(t, "1_1", 0), newPeer(t, "2_1", 7)
	phone.start(companion)
	buffer := []byte("plaintext and what follows")
	if _, _, err := phone.Encrypt(t.Context(), companion.addr, buffer[:9]); err != nil {
		t.Fatal(err)
	}
	if string(buffer) != "plaintext and what follows" {
		t.Errorf("the buffer is now %q", buffer)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	source := bytes.Repeat([]byte{0xa5}, 68)
	keys, err := NewKeys(bytes.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := keys.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again Keys
	if err := again.UnmarshalBinary(raw); err != nil {
		t.Fatal(err)
	}
	if again.RegistrationID != keys.RegistrationID || *again.Identity.Pub != *keys.Identity.Pub ||
		*again.SignedPreKey.Pub != *keys.SignedPreKey.Pub || *again.SignedPreKey.Signature != *keys.SignedPreKey.Signature ||
		again.SignedPreKey.KeyID != keys.SignedPreKey.KeyID {
		t.Error("the keys have changed")
	}
	if _, err := NewKeys(bytes.NewReader(source[:67])); err == nil {
		t.Error("keys from too little randomness")
	}
	for _, bad := range [][]byte{nil, raw[:len(raw)-1], append(slices.Clone(raw), 0), append([]byte{9}, raw[1:]...)} {
		if err := again.UnmarshalBinary(bad); !errors.Is(err, errKeys) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
	if _, err := (Keys{}).MarshalBinary(); !errors.Is(err, errKeys) {
		t.Errorf("no keys at all: %v", err)
	}
}

func TestPadding(t *testing.T) {
	t.Parallel()
	buffer := []byte("text, more text")
	for range 100 {
		padded := Pad(buffer[:4])
		if added := len(padded) - 4; added < 1 || added > 15 {
			t.Fatalf("%d bytes were added", added)
		}
		if plain, err := Unpad(padded); err != nil || string(plain) != "text" {
			t.Fatalf("unpadded: %q, %v", plain, err)
		}
	}
	if string(buffer) != "text, more text" {
		t.Errorf("the argument is now %q", buffer)
	}
	for _, bad := range []string{"", "a", "text\x00", "text\x02", "text\x03\x02\x02\x03", "\x02"} {
		if _, err := Unpad([]byte(bad)); !errors.Is(err, errPadding) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzDecrypt(f *testing.F) {
	phone, companion := newPeer(f, "1_1", 0), newPeer(f, "2_1", 7)
	phone.start(companion)
	first := phone.send(companion, PreKeyMessage, "first")
	companion.take(first)
	phone.take(companion.send(phone, Message, "answer"))
	next := phone.send(companion, Message, "next")
	next.data[len(next.data)-1]++
	unread := newPeer(f, "3_1", 0)
	f.Add(true, first.data)
	f.Add(false, next.data)
	f.Add(true, []byte{0x33})
	f.Add(true, []byte("3\x12\x00\x1a\x00\x22\x00"))
	f.Add(false, []byte("3\x0a\x00\x22\x0012345678"))
	f.Fuzz(func(t *testing.T, preKey bool, data []byte) {
		kind := Message
		if preKey {
			kind = PreKeyMessage
		}
		for _, receiver := range []*peer{companion, unread} {
			_, err := receiver.Decrypt(t.Context(), phone.addr, kind, data)
			if !errors.Is(err, ErrUndecryptable) && !errors.Is(err, ErrDuplicate) {
				t.Fatalf("garbage: %v", err)
			}
		}
	})
}
