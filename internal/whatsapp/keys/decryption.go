// Messages between their decryption and the moment when they are kept.

package keys

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// kindReceived are the contents of messages that were decrypted and not kept, while the
// sessions that the decryption has changed had to be written. Nearly always there are none.
const kindReceived = "received"

// receivedAge is how long the content of such a message is kept: the platform delivers a
// message for 14 days.
const receivedAge = 14 * 24 * time.Hour

// maxReceived and maxReceivedBytes bound what is remembered of such messages. whatsmeow
// drops a message that it can't parse, and does not say so: anybody may send those.
const (
	maxReceived      = 4096
	maxReceivedBytes = 16 << 20
)

// decryption is one decryption that is under way. What it changes counts for nobody else
// until it has succeeded.
type decryption struct {
	of      *rows
	changed map[rowName]change
	message *received
}

type decryptionKey struct{}

// decryption returns the decryption with these rows that ctx belongs to; nil if there is
// none.
func (r *rows) decryption(ctx context.Context) *decryption {
	if d, ok := ctx.Value(decryptionKey{}).(*decryption); ok && d.of == r {
		return d
	}
	return nil
}

// received is a message that was decrypted. Its fields are guarded by the lock of the rows.
type received struct {
	hash    [32]byte
	content []byte
	sentAt  time.Time
	at      time.Time
	number  uint64 // in the order of decryption

	inHand bool // whatsmeow is about to pass it on, or did so in vain
	saved  bool // the content is in the database
	kept   bool // the message is: its keys are written
}

func (m *received) name() rowName { return rowName{kindReceived, hex.EncodeToString(m.hash[:])} }

// encode writes a message: both times in seconds, and the content.
func (m *received) encode() []byte {
	encoded := binary.BigEndian.AppendUint64(nil, uint64(m.sentAt.Unix())) //nolint:gosec // it is read back as it was
	encoded = binary.BigEndian.AppendUint64(encoded, uint64(m.at.Unix()))  //nolint:gosec // as above
	return append(encoded, m.content...)
}

// readReceived reads a message that encode has written.
func readReceived(name string, encoded []byte) (*received, error) {
	hash, err := hex.DecodeString(name)
	if err != nil || len(hash) != 32 || len(encoded) < 16 {
		return nil, errors.Join(fmt.Errorf("keys: the row %q of a message is not one", name), err)
	}
	return &received{
		hash:    [32]byte(hash),
		sentAt:  time.Unix(int64(binary.BigEndian.Uint64(encoded)), 0),     //nolint:gosec // encode wrote it
		at:      time.Unix(int64(binary.BigEndian.Uint64(encoded[8:])), 0), //nolint:gosec // as above
		content: encoded[16:],
		saved:   true,
	}, nil
}

// loadReceived reads the messages whose content a crash has left behind.
func (r *rows) loadReceived(ctx context.Context) error {
	found, err := r.list(ctx, kindReceived, "")
	if err != nil {
		return err
	}
	for _, row := range found {
		message, err := readReceived(row.Name, row.Value)
		if err != nil {
			return err
		}
		r.received[message.hash] = message
	}
	return nil
}

// Keeping returns a context for the call that keeps the message which was decrypted last:
// the keys that the decryption has changed are written in the same transaction.
//
// If another message was decrypted before and is not kept yet, it returns ctx as it is,
// because it is not certain which one the call keeps; then the keys are written after the
// call, before the platform gets the acknowledgement.
func Keeping(ctx context.Context, device *store.Device) context.Context {
	k, ok := device.EventBuffer.(*deviceKeys)
	if !ok {
		return ctx
	}
	k.rows.mu.Lock()
	defer k.rows.mu.Unlock()
	var inHand []*received
	for _, message := range k.rows.received {
		if message.inHand {
			inHand = append(inHand, message)
		}
	}
	if len(inHand) != 1 || inHand[0].kept {
		return ctx
	}
	return gateway.WithDeviceKeys(ctx, &writing{rows: k.rows, kept: inHand[0]})
}

// DoDecryptionTxn decrypts while nothing is encrypted. What fn changes counts once it has
// succeeded, and is written together with the message, or before the next send.
func (k *deviceKeys) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	k.ratchet.Lock()
	defer k.ratchet.Unlock()
	d := &decryption{of: k.rows, changed: map[rowName]change{}}
	if err := fn(context.WithValue(ctx, decryptionKey{}, d)); err != nil {
		return err
	}
	return k.rows.note(ctx, k.adopt(d))
}

// adopt makes what a decryption has changed count for everybody.
func (k *deviceKeys) adopt(d *decryption) error {
	k.rows.mu.Lock()
	defer k.rows.mu.Unlock()
	if k.rows.closed {
		return errClosed
	}
	for key, row := range d.changed {
		k.rows.set(key, row)
		if key.kind == kindSession {
			k.moved(nil, key.name)
		}
	}
	if d.message != nil {
		k.rows.remember(d.message)
	}
	return nil
}

// remember notes a message that was decrypted, and forgets the oldest if there are too
// many. The caller holds the lock.
func (r *rows) remember(message *received) {
	message.number = r.changes
	r.received[message.hash] = message
	for {
		size, oldest := 0, message
		for _, other := range r.received {
			size += len(other.content)
			if other.number < oldest.number {
				oldest = other
			}
		}
		if len(r.received) <= maxReceived && size <= maxReceivedBytes || oldest == message {
			return
		}
		delete(r.received, oldest.hash)
		if oldest.saved {
			r.set(oldest.name(), change{})
		}
	}
}

// GetBufferedEvent returns the content of a message that was decrypted before and not
// kept; nil if there is none.
func (k *deviceKeys) GetBufferedEvent(_ context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	k.rows.mu.Lock()
	defer k.rows.mu.Unlock()
	message, ok := k.rows.received[hash]
	if !ok {
		return nil, nil //nolint:nilnil // whatsmeow's way to say so
	}
	event := &store.BufferedEvent{Plaintext: message.content, InsertTime: message.at, ServerTime: message.sentAt}
	if message.kept {
		event.Plaintext = nil // it was kept, and its acknowledgement lost
	}
	message.inHand = true
	return event, nil
}

// PutBufferedEvent remembers the content of a message until the message is kept.
func (k *deviceKeys) PutBufferedEvent(ctx context.Context, hash [32]byte, content []byte, sentAt time.Time) error {
	d := k.rows.decryption(ctx)
	if d == nil {
		return errors.New("keys: a message was decrypted outside of a decryption")
	}
	d.message = &received{hash: hash, content: content, sentAt: sentAt, at: k.now(), inHand: true}
	return nil
}

// ClearBufferedEventPlaintext forgets the content of a message that was kept. If the keys
// that its decryption has changed were not written together with it, they are now: the
// platform gets the acknowledgement next, and does not deliver the message again.
func (k *deviceKeys) ClearBufferedEventPlaintext(ctx context.Context, hash [32]byte) error {
	k.rows.mu.Lock()
	message, ok := k.rows.received[hash]
	written := ok && message.kept
	k.rows.mu.Unlock()
	if !ok {
		return nil
	}
	if !written {
		if err := k.rows.flush(ctx, message); err != nil {
			return err // the connection was given up: nothing is acknowledged on it
		}
	}
	k.rows.mu.Lock()
	defer k.rows.mu.Unlock()
	delete(k.rows.received, hash)
	if message.saved { // a send has written it at the same time
		k.rows.set(message.name(), change{})
	}
	return nil
}

// DeleteOldBufferedHashes forgets messages that the platform does not deliver any more.
func (k *deviceKeys) DeleteOldBufferedHashes(ctx context.Context) error {
	before := k.now().Add(-receivedAge)
	k.rows.mu.Lock()
	for hash, message := range k.rows.received {
		if message.at.Before(before) {
			delete(k.rows.received, hash)
			if message.saved {
				k.rows.set(message.name(), change{})
			}
		}
	}
	k.rows.mu.Unlock()
	return k.rows.save(ctx)
}

// errNotStored is the error for a message that was sent, which a recipient can't decrypt. The connector finds it
// among the gateway's messages, so whatsmeow is not asked to keep it a second time.
var errNotStored = errors.New("keys: sent messages are not kept here")

// GetOutgoingEvent finds nothing: see session.sentMessage in package whatsapp.
func (*deviceKeys) GetOutgoingEvent(context.Context, types.JID, types.JID, types.MessageID) (string, []byte, error) {
	return "", nil, errNotStored
}

// AddOutgoingEvent keeps nothing.
func (*deviceKeys) AddOutgoingEvent(context.Context, types.JID, types.MessageID, string, []byte) error {
	return nil
}

// DeleteOldOutgoingEvents has nothing to delete.
func (*deviceKeys) DeleteOldOutgoingEvents(context.Context) error { return nil }
