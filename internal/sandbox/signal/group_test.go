package signal

import (
	"errors"
	"fmt"
	"testing"
)

const group = "120363000000000000@g.us"

func distribute(tb testing.TB, from *peer, to ...*peer) []byte {
	tb.Helper()
	distribution, err := from.Distribution(tb.Context(), group, from.addr)
	if err != nil {
		tb.Fatal(err)
	}
	for _, member := range to {
		if err := member.ProcessDistribution(tb.Context(), group, from.addr, distribution); err != nil {
			tb.Fatal(err)
		}
	}
	return distribution
}

func say(tb testing.TB, from *peer, text string) sealed {
	tb.Helper()
	data, err := from.GroupEncrypt(tb.Context(), group, from.addr, Pad([]byte(text)))
	if err != nil {
		tb.Fatal(err)
	}
	return sealed{from: from, data: data, text: text}
}

func receive(tb testing.TB, member *peer, message sealed) {
	tb.Helper()
	padded, err := member.GroupDecrypt(tb.Context(), group, message.from.addr, message.data)
	if err != nil {
		tb.Fatalf("%q: %v", message.text, err)
	}
	if plain, err := Unpad(padded); err != nil || string(plain) != message.text {
		tb.Errorf("%q is read as %q, %v", message.text, plain, err)
	}
}

func mishear(tb testing.TB, member *peer, message sealed, want error) {
	tb.Helper()
	if _, err := member.GroupDecrypt(tb.Context(), group, message.from.addr, message.data); !errors.Is(err, want) {
		tb.Errorf("%q: %v, want %v", message.text, err, want)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	ana, bia, caio := newPeer(t, "1_1", 0), newPeer(t, "2_1", 0), newPeer(t, "3_1", 5)
	distribute(t, ana, bia)
	distribute(t, bia, ana)
	for i := range 3 {
		message := say(t, ana, fmt.Sprint("ana ", i))
		receive(t, bia, message)
		mishear(t, bia, message, ErrDuplicate)
		mishear(t, caio, message, ErrNoSession)
		mishear(t, caio, message, ErrUndecryptable)
		receive(t, ana, say(t, bia, fmt.Sprint("bia ", i)))
		ana.restart()
		bia.restart()
	}
	distribute(t, ana, caio)
	receive(t, caio, say(t, ana, "caio has joined"))
}

func TestGroupOutOfOrder(t *testing.T) {
	t.Parallel()
	ana, bia := newPeer(t, "1_1", 0), newPeer(t, "2_1", 0)
	distribute(t, ana, bia)
	first, second, third := say(t, ana, "first"), say(t, ana, "second"), say(t, ana, "third")
	receive(t, bia, third)
	receive(t, bia, first)
	mishear(t, bia, third, ErrDuplicate)
	receive(t, bia, second)
	mishear(t, bia, first, ErrDuplicate)
}

// whatsmeow distributes its key again with every message. A repeated key must not
// make a message readable twice, and must not lose one that is still to come.
func TestGroupDistributionRepeated(t *testing.T) {
	t.Parallel()
	ana, bia := newPeer(t, "1_1", 0), newPeer(t, "2_1", 0)
	early := distribute(t, ana, bia)
	first := say(t, ana, "first")
	late, err := ana.Distribution(t.Context(), group, ana.addr)
	if err != nil {
		t.Fatal(err)
	}
	second := say(t, ana, "second")

	if err := bia.ProcessDistribution(t.Context(), group, ana.addr, late); err != nil {
		t.Fatal(err)
	}
	receive(t, bia, first)
	receive(t, bia, second)
	if err := bia.ProcessDistribution(t.Context(), group, ana.addr, early); err != nil {
		t.Fatal(err)
	}
	mishear(t, bia, first, ErrDuplicate)
	mishear(t, bia, second, ErrDuplicate)
	receive(t, bia, say(t, ana, "third"))
}

func TestGroupNewKey(t *testing.T) {
	t.Parallel()
	ana, bia := newPeer(t, "1_1", 0), newPeer(t, "2_1", 0)
	distribute(t, ana, bia)
	before := say(t, ana, "before")
	if err := ana.DropSenderKey(t.Context(), group, ana.addr); err != nil {
		t.Fatal(err)
	}
	if _, err := ana.GroupEncrypt(t.Context(), group, ana.addr, []byte("x")); !errors.Is(err, ErrNoSession) {
		t.Errorf("without a key: %v", err)
	}
	distribution, err := ana.Distribution(t.Context(), group, ana.addr)
	if err != nil {
		t.Fatal(err)
	}
	after := say(t, ana, "after")
	mishear(t, bia, after, ErrUndecryptable)
	if err := bia.ProcessDistribution(t.Context(), group, ana.addr, distribution); err != nil {
		t.Fatal(err)
	}
	receive(t, bia, after)
	receive(t, bia, before)
}

func TestGroupStoreFailures(t *testing.T) {
	t.Parallel()
	ana, bia := newPeer(t, "1_1", 0), newPeer(t, "2_1", 0)
	distribution := distribute(t, ana, bia)
	message := say(t, ana, "hello")
	bia.store.loads = errBroken
	mishear(t, bia, message, errBroken)
	if err := bia.ProcessDistribution(t.Context(), group, ana.addr, distribution); !errors.Is(err, errBroken) {
		t.Errorf("process: %v", err)
	}
	if _, err := bia.Distribution(t.Context(), group, bia.addr); !errors.Is(err, errBroken) {
		t.Errorf("distribution: %v", err)
	}
	bia.store.loads = nil
	receive(t, bia, message)
}

func FuzzGroup(f *testing.F) {
	ana, bia := newPeer(f, "1_1", 0), newPeer(f, "2_1", 0)
	distribution := distribute(f, ana, bia)
	message := say(f, ana, "hello")
	message.data[len(message.data)-1]++
	f.Add(distribution, message.data)
	f.Add([]byte("3"), []byte("3"))
	f.Add([]byte("3\x1a\x00\x22\x00"), []byte("3\x1a\x00"))
	f.Fuzz(func(t *testing.T, distribution, ciphertext []byte) {
		carla := newPeer(t, "3_1", 0)
		if err := carla.ProcessDistribution(t.Context(), group, ana.addr, distribution); err != nil && !errors.Is(err, ErrUndecryptable) {
			t.Fatalf("distribution: %v", err)
		}
		for _, member := range []*peer{bia, carla} {
			_, err := member.GroupDecrypt(t.Context(), group, ana.addr, ciphertext)
			if err != nil && !errors.Is(err, ErrUndecryptable) && !errors.Is(err, ErrDuplicate) {
				t.Fatalf("ciphertext: %v", err)
			}
		}
	})
}
