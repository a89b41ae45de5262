package platform

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sqlite"
)

var errNoSettings = errors.New("platform: the account has no app state")

// ensureAppState gives an account, when its first device is linked, a key and
// the collections that its devices share; its own name is the first entry.
func (s *Server) ensureAppState(u *unit, of *account) error {
	key, err := appstate.NewKey(rand.Reader, s.now())
	if err != nil {
		return fmt.Errorf("platform: draw app state key: %w", err)
	}
	encodedKey, err := key.MarshalBinary()
	if err != nil {
		return fmt.Errorf("platform: keep app state key: %w", err)
	}
	var state appstate.State
	if _, err := state.SetPushName(key, of.displayName(), s.now()); err != nil {
		return fmt.Errorf("platform: set name: %w", err)
	}
	encoded, err := state.MarshalBinary()
	if err != nil {
		return fmt.Errorf("platform: keep app state: %w", err)
	}
	u.exec("UPDATE accounts SET app_key = $1, app_state = $2 WHERE number = $3 AND app_key IS NULL",
		encodedKey, encoded, of.number)
	return nil
}

// loadAppState reads an account's key and collections.
func loadAppState(ctx context.Context, q rowQuerier, of *account) (key appstate.Key, state *appstate.State, err error) {
	var encodedKey, encoded []byte
	row := q.QueryRowContext(ctx, "SELECT app_key, app_state FROM accounts WHERE number = $1", of.number)
	if err := row.Scan(&encodedKey, &encoded); err != nil {
		return key, nil, fmt.Errorf("platform: load app state: %w", err)
	}
	if encodedKey == nil {
		return key, nil, errNoSettings
	}
	state = &appstate.State{}
	if err := errors.Join(key.UnmarshalBinary(encodedKey), state.UnmarshalBinary(encoded)); err != nil {
		return key, nil, fmt.Errorf("platform: decode app state: %w", err)
	}
	return key, state, nil
}

func saveAppState(ctx context.Context, tx *sqlite.Tx, of *account, state *appstate.State) error {
	encoded, err := state.MarshalBinary()
	if err != nil {
		return fmt.Errorf("platform: keep app state: %w", err)
	}
	_, err = tx.ExecContext(ctx, "UPDATE accounts SET app_state = $1 WHERE number = $2", encoded, of.number)
	return err
}

// iqAppState answers a client that synchronises collections, and keeps what it
// brings.
func iqAppState(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := child(iq, "sync")
	owner := c.device.account
	var reply waBinary.Node
	var versions map[string]uint64
	var malformed error
	err := c.s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		versions, malformed = map[string]uint64{}, nil
		_, state, err := loadAppState(ctx, tx, owner)
		if err != nil {
			return err
		}
		var changed []string
		reply, changed, err = state.Sync(request)
		if err != nil {
			malformed = err
			return nil //nolint:nilerr // the client's mistake is no failure of the database
		}
		if len(changed) == 0 {
			return nil
		}
		for _, collection := range changed {
			versions[collection] = state.Version(collection)
		}
		return saveAppState(ctx, tx, owner, state)
	})
	if err != nil {
		return nil, fmt.Errorf("platform: synchronise app state: %w", err)
	}
	if malformed != nil {
		return nil, errBadRequest
	}
	if err := c.s.announceSettings(ctx, owner, versions, c.device); err != nil {
		return nil, err
	}
	return []waBinary.Node{reply}, nil
}

// announceSettings tells the account's devices, but for the one that brought
// the change, which collections have new versions.
func (s *Server) announceSettings(ctx context.Context, of *account, versions map[string]uint64, except *device) error {
	if len(versions) == 0 {
		return nil
	}
	var collections []waBinary.Node
	for name, version := range versions {
		collections = append(collections, waBinary.Node{
			Tag: "collection", Attrs: waBinary.Attrs{"name": name, "version": version},
		})
	}
	u := s.newUnit()
	for _, linked := range of.companions() {
		if linked == except {
			continue
		}
		err := u.toDevice(linked, waBinary.Node{
			Tag:     "notification",
			Attrs:   waBinary.Attrs{"from": types.ServerJID, "type": "server_sync", "id": newID(), "t": s.now().Unix()},
			Content: collections,
		})
		if err != nil {
			return err
		}
	}
	return u.commit(ctx)
}

// renameSetting changes the account's own name in its app state.
func (s *Server) renameSetting(ctx context.Context, of *account, name string) error {
	versions := map[string]uint64{}
	err := s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		clear(versions)
		key, state, err := loadAppState(ctx, tx, of)
		if errors.Is(err, errNoSettings) {
			return nil // it was never linked
		}
		if err != nil {
			return err
		}
		collection, err := state.SetPushName(key, name, s.now()) //nolint:contextcheck // it computes, it waits for nothing
		if err != nil {
			return fmt.Errorf("platform: set name: %w", err)
		}
		versions[collection] = state.Version(collection)
		return saveAppState(ctx, tx, of, state)
	})
	if err != nil {
		return err
	}
	return s.announceSettings(ctx, of, versions, nil)
}

// welcome has the phone send a new device, once, what it needs: the key of the
// app state, and the end of the history.
func (s *Server) welcome(ctx context.Context, linked *device) error {
	if linked.bootstrapped.Swap(true) {
		return nil
	}
	u := s.newUnit()
	u.exec("UPDATE devices SET bootstrapped = 1 WHERE number = $1 AND device = $2", linked.account.number, linked.id)
	if err := u.toPhone(linked.account, waBinary.Node{
		Tag: stanzaWelcome, Attrs: waBinary.Attrs{"device": int(linked.id)},
	}); err != nil {
		return err
	}
	if err := u.commit(ctx); err != nil {
		linked.bootstrapped.Store(false)
		return err
	}
	return nil
}

// welcome greets a new device.
func (p *phone) welcome(ctx context.Context, n waBinary.Node) error {
	linked := p.companion(uint16(attrInt(n, "device"))) //nolint:gosec // written by Server.welcome
	if linked == nil {
		return nil
	}
	if err := p.shareAppStateKey(ctx, linked); err != nil {
		return err
	}
	bootstrap, err := p.handOver(ctx)
	if err != nil {
		return err
	}
	names, err := appstate.PushNames([]appstate.PushName{{JID: p.pn().String(), Name: p.displayName()}})
	if err != nil {
		return fmt.Errorf("platform: build history: %w", err)
	}
	recent, err := appstate.Recent()
	if err != nil {
		return fmt.Errorf("platform: build history: %w", err)
	}
	for _, message := range []*waE2E.Message{bootstrap, names, recent} {
		if err := p.sendPeer(ctx, linked, message); err != nil {
			return err
		}
	}
	return nil
}

// shareAppStateKey sends a linked device the key of the app state.
func (p *phone) shareAppStateKey(ctx context.Context, to *device) error {
	key, _, err := loadAppState(ctx, p.s.db.Reader(), p.account)
	if errors.Is(err, errNoSettings) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.sendPeer(ctx, to, appstate.KeyShareMessage(key))
}

// sendPeer sends a message that is meant for a linked device itself.
func (p *phone) sendPeer(ctx context.Context, to *device, message *waE2E.Message) error {
	return p.encryptFor(ctx, to, phoneMessage{
		id: newMessageID(), chat: chat{person: p.account}, at: p.s.now().Unix(), message: message, peer: true,
	}, 0)
}
