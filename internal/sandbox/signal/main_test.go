package signal

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"os"
	"testing"

	"github.com/recado-project/recado/internal/signallog"
)

func TestMain(m *testing.M) {
	signallog.Quiet()
	os.Exit(m.Run())
}

var errBroken = errors.New("the disk is full")

// faulty is a Store that can be made to fail, and that counts its calls.
type faulty struct {
	*memory

	loads, applies error
	batches        int
}

func (f *faulty) Load(ctx context.Context, kind Kind, key string) ([]byte, error) {
	if f.loads != nil {
		return nil, f.loads
	}
	return f.memory.Load(ctx, kind, key)
}

func (f *faulty) Apply(ctx context.Context, changes []Change) error {
	if f.applies != nil {
		return f.applies
	}
	f.batches++
	return f.memory.Apply(ctx, changes)
}

// snapshot returns a copy of what is stored.
func (f *faulty) snapshot() map[recordName][]byte { return maps.Clone(f.records) }

// peer is a device under test with its address.
type peer struct {
	*Device

	tb    testing.TB
	addr  Address
	store *faulty
}

func newPeer(tb testing.TB, user string, device uint32) *peer {
	tb.Helper()
	keys, err := NewKeys(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	store := &faulty{memory: newMemory()}
	return &peer{Device: NewDevice(keys, store), tb: tb, addr: Address{user, device}, store: store}
}

// restart replaces the device by one that has only the stored records.
func (p *peer) restart() {
	p.tb.Helper()
	raw, err := p.keys.MarshalBinary()
	if err != nil {
		p.tb.Fatal(err)
	}
	var keys Keys
	if err := keys.UnmarshalBinary(raw); err != nil {
		p.tb.Fatal(err)
	}
	p.Device = NewDevice(keys, p.store)
}

// start starts a session with other from a new bundle of other's.
func (p *peer) start(other *peer) {
	p.tb.Helper()
	bundle, err := other.Bundle(p.tb.Context())
	if err != nil {
		p.tb.Fatal(err)
	}
	if err := p.StartSession(p.tb.Context(), other.addr, bundle); err != nil {
		p.tb.Fatal(err)
	}
}

// sealed is a ciphertext that was not delivered yet.
type sealed struct {
	from *peer
	kind string
	data []byte
	text string
}

// send encrypts text for other and checks that it is of kind.
func (p *peer) send(other *peer, kind, text string) sealed {
	p.tb.Helper()
	got, data, err := p.Encrypt(p.tb.Context(), other.addr, Pad([]byte(text)))
	if err != nil {
		p.tb.Fatalf("encrypt %q: %v", text, err)
	}
	if got != kind {
		p.tb.Errorf("%q is a %s, want a %s", text, got, kind)
	}
	return sealed{p, got, data, text}
}

// take decrypts a message that must be readable.
func (p *peer) take(message sealed) {
	p.tb.Helper()
	padded, err := p.Decrypt(p.tb.Context(), message.from.addr, message.kind, message.data)
	if err != nil {
		p.tb.Fatalf("decrypt %q: %v", message.text, err)
	}
	if plain, err := Unpad(padded); err != nil || string(plain) != message.text {
		p.tb.Errorf("%q is read as %q, %v", message.text, plain, err)
	}
}

// refuse checks that decrypting a message fails with this error and changes
// nothing.
func (p *peer) refuse(message sealed, want error) {
	p.tb.Helper()
	before := p.store.snapshot()
	_, err := p.Decrypt(p.tb.Context(), message.from.addr, message.kind, message.data)
	if !errors.Is(err, want) {
		p.tb.Errorf("decrypt %q: %v, want %v", message.text, err, want)
	}
	if !maps.EqualFunc(before, p.store.snapshot(), bytes.Equal) {
		p.tb.Errorf("%q has left a trace", message.text)
	}
}
