// Package setting keeps the app state of accounts: settings that the devices of an
// account share.
package setting

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	wmstate "go.mau.fi/whatsmeow/appstate"
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
	config Config
	db     *sqlite.DB
	now    func() time.Time
}

// Config is what a Service needs.
type Config struct {
	Accounts *account.Directory

	// Actions are what a phone does when something is set that is more than a setting:
	// when a chat is deleted, say. They are named by the first part of the index.
	Actions map[string]Action
	Logger  *slog.Logger
}

// Action changes what the phone of an account has, in the transaction that sets the
// setting. It may run twice. The mutation may come from a client, so it may say anything.
type Action func(ctx context.Context, tx *sqlite.Tx, of *account.Account, mutation appstate.Mutation) error

// Requests lists the request about settings.
func (s *Service) Requests() map[string]account.Handler {
	return map[string]account.Handler{
		"set w:sync:app:state sync": s.iqAppState,
	}
}

var errNoSettings = errors.New("setting: the account has no app state")

// New returns the service.
func New(config Config) *Service {
	return &Service{config: config, db: config.Accounts.DB, now: config.Accounts.Now}
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

// Ensure creates the app state of an account when its first device is linked, unless the
// phone has set something before. The account's name is the first entry.
func (s *Service) Ensure(u *account.Unit, of *account.Account) error {
	key, state, err := s.newAppState(of)
	if err != nil {
		return err
	}
	u.Write(func(ctx context.Context, tx *sqlite.Tx) error { return insertAppState(ctx, tx, of, key, state) })
	return nil
}

// newAppState draws a key, and makes the state whose only entry is the account's name.
func (s *Service) newAppState(of *account.Account) (key appstate.Key, state *appstate.State, err error) {
	if key, err = appstate.NewKey(rand.Reader, s.now()); err != nil {
		return key, nil, fmt.Errorf("setting: draw app state key: %w", err)
	}
	state = &appstate.State{}
	if _, err := state.SetPushName(key, of.DisplayName(), s.now()); err != nil {
		return key, nil, fmt.Errorf("setting: set name: %w", err)
	}
	return key, state, nil
}

// insertAppState keeps the first state of an account, unless there is one.
func insertAppState(ctx context.Context, tx *sqlite.Tx, of *account.Account, key appstate.Key, state *appstate.State) error {
	encodedKey, err := key.MarshalBinary()
	if err != nil {
		return fmt.Errorf("setting: keep app state key: %w", err)
	}
	encoded, err := state.MarshalBinary()
	if err != nil {
		return fmt.Errorf("setting: keep app state: %w", err)
	}
	_, err = tx.ExecContext(ctx, "UPDATE accounts SET app_key = $1, app_state = $2 WHERE number = $3 AND app_key IS NULL",
		encodedKey, encoded, of.Number)
	return err
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
		key, state, err := loadAppState(ctx, tx, owner)
		if err != nil {
			return err
		}
		var changes []appstate.Change
		reply, changes, err = state.Sync(key, request) //nolint:contextcheck // it computes, it waits for nothing
		if err != nil {
			malformed = err
			return nil //nolint:nilerr // the client's mistake is not a failure of the database
		}
		if len(changes) == 0 {
			return nil
		}
		for _, change := range changes {
			versions[change.Collection] = state.Version(change.Collection)
			if change.Unreadable != nil {
				s.config.Logger.LogAttrs(ctx, slog.LevelWarn, "a phone can't read what its linked device has set",
					slog.String("collection", change.Collection), slog.Any("error", change.Unreadable))
			}
			if err := s.apply(ctx, tx, owner, change.Mutations); err != nil {
				return err
			}
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
	u := s.config.Accounts.NewUnit()
	u.Ring(of.Number)
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
	_, linked, err := s.Key(ctx, of)
	if err != nil || !linked { // it becomes the first entry when a device is linked
		return err
	}
	return s.Set(ctx, of, wmstate.BuildSettingPushName(name))
}

// Set sets something on an account's phone: a patch that whatsmeow's package appstate
// builds, or that is made in the same way. The linked devices are notified, and those that
// are linked later get it too. The error is appstate.ErrFull after some thousand changes of
// a collection.
func (s *Service) Set(ctx context.Context, of *account.Account, info wmstate.PatchInfo) error {
	newKey, newState, err := s.newAppState(of) //nolint:contextcheck // it computes, it waits for nothing
	if err != nil {
		return err
	}
	var version uint64
	err = s.db.Write(ctx, func(ctx context.Context, tx *sqlite.Tx) error {
		if err := insertAppState(ctx, tx, of, newKey, newState); err != nil {
			return err
		}
		key, state, err := loadAppState(ctx, tx, of)
		if err != nil {
			return err
		}
		change, err := state.Append(key, info, s.now()) //nolint:contextcheck // it computes, it waits for nothing
		if err != nil {
			return fmt.Errorf("setting: set %s: %w", info.Type, err)
		}
		version = state.Version(change.Collection)
		if err := s.apply(ctx, tx, of, change.Mutations); err != nil {
			return err
		}
		return saveAppState(ctx, tx, of, state)
	})
	if err != nil {
		return err
	}
	return s.announce(ctx, of, map[string]uint64{string(info.Type): version}, nil)
}
