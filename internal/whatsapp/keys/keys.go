// Package keys keeps the keys of linked devices for the connector. It puts a cache, a
// guard against failures of the database and some repairs between whatsmeow and the
// tables that whatsmeow keeps its keys in.
package keys

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
)

// Load loads the keys that device names, or makes new ones where it is empty or its
// keys are gone. sync makes what was written safe from a loss of power; it is called
// after writes that must not be lost.
func Load(
	ctx context.Context, container *sqlstore.Container, device string, sync func(context.Context) error,
) (*store.Device, error) {
	if device == "" {
		return container.NewDevice(), nil
	}
	jid, err := types.ParseJID(device)
	if err != nil {
		return nil, fmt.Errorf("keys: load: %w", err)
	}
	loaded, err := container.GetDevice(ctx, jid)
	if err != nil {
		return nil, fmt.Errorf("keys: load: %w", err)
	}
	if loaded == nil {
		return container.NewDevice(), nil
	}
	loaded.Container = ownKeys{container}
	return loaded, putCache(loaded, sync)
}

// Observer is called about the keys of one session.
type Observer struct {
	// PairsLearnt is called with pairs of number and LID that became known, with
	// locks held: it must only note them.
	PairsLearnt func(pairs []store.LIDMapping)
	// DatabaseFailed is called when the database failed while something was received.
	DatabaseFailed func()
}

// Observe prepares keys for the use by a session, whose observer is called about them.
func Observe(keys *store.Device, observer Observer) {
	if keys.ID != nil {
		keys.LIDs = &lidStore{LIDStore: keys.LIDs, learnt: observer.PairsLearnt}
		keys.Contacts = &contactStore{ContactStore: keys.Contacts}
	}
	if c, ok := keys.Sessions.(*cache); ok {
		c.guard.failed.Store(&observer.DatabaseFailed)
	}
}

// Send calls send, which encrypts a message with the session's keys and sends it, and
// calls it again where another message has moved a Signal session on meanwhile: then
// nothing was sent. The last call keeps the sessions for itself, so that it can't happen to it.
func Send(ctx context.Context, send func(ctx context.Context) error) error {
	var err error
	for try := range sendTries {
		sendCtx, done := withSending(ctx, try == sendTries-1)
		err = send(sendCtx)
		done()
		if !errors.Is(err, errSessionMoved) {
			return err
		}
	}
	return err
}

// ownKeys keeps whatsmeow from deleting keys by itself: it would empty the device
// while its own goroutines still read it. The owner of a session removes the keys
// when nothing reads them any more.
type ownKeys struct {
	*sqlstore.Container
}

// ErrStay is what whatsmeow gets where it wants to delete keys.
var ErrStay = errors.New("keys: the session's owner removes the keys")

// DeleteDevice deletes nothing.
func (ownKeys) DeleteDevice(context.Context, *store.Device) error { return ErrStay }
