// Package setting keeps the app state of accounts: settings that the devices of an
// account share.
package setting

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// Service keeps the app state of accounts. It is safe for concurrent use.
type Service struct {
	db       *sqlite.DB
	accounts *account.Directory
	now      func() time.Time
}

// Requests lists the request about settings.
func (s *Service) Requests() map[string]account.Handler {
	return map[string]account.Handler{
		"set w:sync:app:state sync": s.iqAppState,
	}
}

var errNoSettings = errors.New("setting: the account has no app state")

// New returns the service.
func New(accounts *account.Directory) *Service {
	return &Service{db: accounts.DB, accounts: accounts, now: accounts.Now}
}

// Key returns the key of an account's app state. It returns false if no device was
// ever linked to the account.
func (s *Service) Key(ctx context.Context, of *account.Account) (key appstate.Key, ok bool, err error) {
	key, _, err = loadAppState(ctx, s.db.Reader(), of)
	if errors.Is(err, errNoSettings) {
		return key, false, nil
	}
	return key, err == nil, err
}

// Ensure creates the app state of an account when its first device is linked. The
// account's name is the first entry.
func (s *Service) Ensure(u *account.Unit, of *account.Account) error {
	key, err := appstate.NewKey(rand.Reader, s.now())
	if err != nil {
		return fmt.Errorf("setting: draw app state key: %w", err)
	}
	encodedKey, err := key.MarshalBinary()
	if err != nil {
		return fmt.Errorf("setting: keep app state key: %w", err)
	}
	var state appstate.State
	if _, err := state.SetPushName(key, of.DisplayName(), s.now()); err != nil {
		return fmt.Errorf("setting: set name: %w", err)
	}
	encoded, err := state.MarshalBinary()
	if err != nil {
		return fmt.Errorf("setting: keep app state: %w", err)
	}
	u.Exec("UPDATE accounts SET app_key = $1, app_state = $2 WHERE number = $3 AND app_key IS NULL",
		encodedKey, encoded, of.Number)
	return nil
}

// loadAppState loads the key and the collections of an account.
func loadAppState(ctx context.Context, q database.RowQuerier, of *account.Account) (key appstate.Key, state *appstate.State, err error) {
	var encodedKey, encoded []byte
	row := q.QueryRowContext(ctx, "SELECT app_key, app_state FROM accounts WHERE number = $1", of.Number)
	if err := row.Scan(&encodedKey, &encoded); err != nil {
		return key, nil, fmt.Errorf("setting: load app state: %w", err)
	}
	if encodedKey == nil {
		return key, nil, errNoSettings
	}
	state = &appstate.State{}
	if err := errors.Join(key.UnmarshalBinary(encodedKey), state.UnmarshalBinary(encoded)); err != nil {
		return key, nil, fmt.Errorf("setting: decode app state: %w", err)
	}
	return key, state, nil
}

func saveAppState(ctx context.Context, tx *sqlite.Tx, of *account.Account, state *appstate.State) error {
	encoded, err := state.MarshalBinary()
	if err != nil {
		return fmt.Errorf("setting: keep app state: %w", err)
	}
	_, err = tx.ExecContext(ctx, "UPDATE accounts SET app_state = $1 WHERE number = $2", encoded, of.Number)
	return err
}

// iqAppState synchronises collections with a client and keeps its changes.
func (s *Service) iqAppState(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "sync")
	owner := c.Device.Account
	var reply waBinary.Node
	var versions map[string]uint64
	var malformed error
	err := s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		versions, malformed = map[string]uint64{}, nil
		_, state, err := loadAppState(ctx, tx, owner)
		if err != nil {
			return err
		}
		var changed []string
		reply, changed, err = state.Sync(request)
		if err != nil {
			malformed = err
			return nil //nolint:nilerr // the client's mistake is not a failure of the database
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
		return nil, fmt.Errorf("setting: synchronise app state: %w", err)
	}
	if malformed != nil {
		return nil, wire.ErrBadRequest
	}
	if err := s.announce(ctx, owner, versions, c.Device); err != nil {
		return nil, err
	}
	return []waBinary.Node{reply}, nil
}

// announce notifies the account's devices of the new versions of collections,
// except the device that made the change.
func (s *Service) announce(ctx context.Context, of *account.Account, versions map[string]uint64, except *account.Device) error {
	if len(versions) == 0 {
		return nil
	}
	var collections []waBinary.Node
	for name, version := range versions {
		collections = append(collections, waBinary.Node{
			Tag: "collection", Attrs: waBinary.Attrs{"name": name, "version": version},
		})
	}
	u := s.accounts.NewUnit()
	for _, linked := range of.Companions() {
		if linked == except {
			continue
		}
		err := u.ToDevice(linked, waBinary.Node{
			Tag:     "notification",
			Attrs:   waBinary.Attrs{"from": types.ServerJID, "type": "server_sync", "id": wire.NewID(), "t": s.now().Unix()},
			Content: collections,
		})
		if err != nil {
			return err
		}
	}
	return u.Commit(ctx)
}

// Rename changes the account's name in its app state.
func (s *Service) Rename(ctx context.Context, of *account.Account, name string) error {
	versions := map[string]uint64{}
	err := s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		clear(versions)
		key, state, err := loadAppState(ctx, tx, of)
		if errors.Is(err, errNoSettings) {
			return nil // no device was ever linked
		}
		if err != nil {
			return err
		}
		collection, err := state.SetPushName(key, name, s.now()) //nolint:contextcheck // it computes, it waits for nothing
		if err != nil {
			return fmt.Errorf("setting: set name: %w", err)
		}
		versions[collection] = state.Version(collection)
		return saveAppState(ctx, tx, of, state)
	})
	if err != nil {
		return err
	}
	return s.announce(ctx, of, versions, nil)
}
