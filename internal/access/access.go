// Package access holds the accounts and their API keys: making, listing,
// revoking and checking them. It knows nothing of HTTP; the API asks it who
// calls, and the command line makes the first key with it.
package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/required"
)

// touchEvery is how exact "last used" is: a write for every request would cost
// more than the request.
const touchEvery = time.Minute

// Store keeps accounts and keys.
type Store interface {
	Accounts
	Keys
	KeyUse
}

// Accounts keeps accounts.
type Accounts interface {
	CreateAccount(ctx context.Context, account gateway.Account) error
	FindAccount(ctx context.Context, name string) (gateway.Account, bool, error)
	// SetAppSecret gives an account its app secret; an empty one takes it away. An account that does not
	// exist is a gateway.NotFound.
	SetAppSecret(ctx context.Context, accountID, secret string, at time.Time) error
	// AppSecret returns the app secret of an account and when it was set; empty: there is none.
	AppSecret(ctx context.Context, accountID string) (secret string, at time.Time, err error)
}

// Keys keeps keys.
type Keys interface {
	CreateKey(ctx context.Context, key gateway.Key) error
	FindKey(ctx context.Context, hash []byte) (gateway.Key, bool, error)
	ListKeys(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[gateway.Key], error)
	RevokeKey(ctx context.Context, accountID, id string, at time.Time) error
	// GetKey returns a key of the account and whether there is one.
	GetKey(ctx context.Context, accountID, id string) (gateway.Key, bool, error)
}

// KeyUse keeps when and how keys were used, and finds keys in use that have ended.
type KeyUse interface {
	TouchKey(ctx context.Context, id string, at time.Time) error
	// NoteSpoken stores which dialects programs with the key have spoken.
	NoteSpoken(ctx context.Context, id string, spoken []gateway.Spoken) error
	// RevokedKeys returns those of the keys that were revoked.
	RevokedKeys(ctx context.Context, ids []string) ([]string, error)
}

// Config is what the service stands on.
type Config struct {
	Store  Store            // required
	Logger *slog.Logger     // nil: nothing is logged
	Now    func() time.Time // nil: the wall clock
}

// Service makes and checks keys. It is safe for concurrent use.
type Service struct {
	store  Store
	logger *slog.Logger
	now    func() time.Time
	random io.Reader

	mu      sync.Mutex
	touched map[string]time.Time
	spoken  map[string]time.Time // when it was last stored that a key speaks a dialect, or was refused an operation of it
	watched map[string]*watched  // by the key's id
}

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("access", config, "Logger", "Now"); err != nil {
		return nil, err
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	return &Service{
		store: config.Store, logger: config.Logger, now: config.Now, random: rand.Reader,
		touched: map[string]time.Time{}, spoken: map[string]time.Time{}, watched: map[string]*watched{},
	}, nil
}

// Authenticate returns the key whose secret is given. Its error is
// Unauthorized for a secret that is missing, mistyped, unknown, revoked or
// expired, without saying which: the caller is a stranger.
func (s *Service) Authenticate(ctx context.Context, secret string) (gateway.Key, error) {
	if secret == "" {
		return gateway.Key{}, unauthorized("the x-api-key header is missing; an API key is made on the dashboard (/keys) or with `recado keys create`")
	}
	if mistyped(secret) {
		return gateway.Key{}, unauthorized("the API key is not valid")
	}
	hash := Hash(secret)
	key, found, err := s.store.FindKey(ctx, hash)
	if err != nil {
		return gateway.Key{}, err
	}
	now := s.now()
	if !found || subtle.ConstantTimeCompare(hash, key.Hash) != 1 || !key.Valid(now) {
		return gateway.Key{}, unauthorized("the API key is not valid")
	}
	if s.mustTouch(key, now) {
		if err := s.store.TouchKey(ctx, key.ID, now); err != nil {
			return gateway.Key{}, err
		}
	}
	return key, nil
}

// EnsureAccount returns the account of that name, making it where there is
// none.
func (s *Service) EnsureAccount(ctx context.Context, name string) (gateway.Account, error) {
	account, found, err := s.store.FindAccount(ctx, name)
	if err != nil || found {
		return account, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return gateway.Account{}, fmt.Errorf("access: choose account id: %w", err)
	}
	account = gateway.Account{ID: id.String(), Name: name, CreatedAt: s.now().UTC()}
	err = s.store.CreateAccount(ctx, account)
	if gateway.KindOf(err) != gateway.Conflict {
		return account, err
	}
	// Another node, which starts at the same time, has just made it.
	made, found, again := s.store.FindAccount(ctx, name)
	if again != nil || !found {
		return gateway.Account{}, errors.Join(err, again)
	}
	return made, nil
}

// KeyParams describe a new key.
type KeyParams struct {
	AccountID   string
	Name        string
	InstanceIDs []string  // empty: every instance of the account
	Partner     bool      // may use the partner interface
	ExpiresAt   time.Time // zero: never
	// Secret is the key itself, for callers that must know it beforehand; empty
	// means a new random one, which is the usual case.
	Secret string
}

// CreateKey makes a key and returns it with its secret, which is kept nowhere.
// Its error is Invalid for a given secret that could be guessed, and Conflict for one
// that is or was a key.
func (s *Service) CreateKey(ctx context.Context, params KeyParams) (gateway.Key, string, error) {
	secret := params.Secret
	if secret == "" {
		var err error
		if secret, err = newSecret(s.random); err != nil {
			return gateway.Key{}, "", err
		}
	} else if err := checkSecret(secret); err != nil {
		return gateway.Key{}, "", err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return gateway.Key{}, "", fmt.Errorf("access: choose key id: %w", err)
	}
	key := gateway.Key{
		ID:          id.String(),
		AccountID:   params.AccountID,
		Name:        params.Name,
		Hash:        Hash(secret),
		InstanceIDs: params.InstanceIDs,
		Partner:     params.Partner,
		CreatedAt:   s.now().UTC(),
		ExpiresAt:   params.ExpiresAt,
	}
	err = s.store.CreateKey(ctx, key)
	if params.Secret != "" && gateway.KindOf(err) == gateway.Conflict {
		// Whose key it is, and whether it still works, is nobody's business.
		err = gateway.Errorf(gateway.Conflict, gateway.CodeKeyValueTaken, "this value can't be an API key of yours: choose another one")
	}
	if err != nil {
		return gateway.Key{}, "", err
	}
	return key, secret, nil
}

// ListKeys returns the keys of an account, oldest first.
func (s *Service) ListKeys(ctx context.Context, accountID string, page gateway.PageRequest) (gateway.Page[gateway.Key], error) {
	return s.store.ListKeys(ctx, accountID, page)
}

// RevokeKey ends a key of the account at once. Its error is NotFound for a key
// that the account does not have.
func (s *Service) RevokeKey(ctx context.Context, accountID, id string) error {
	if err := s.store.RevokeKey(ctx, accountID, id, s.now()); err != nil {
		return err
	}
	s.end(id)
	return nil
}

// Hash is how a secret is kept: SHA-256 is enough, as a key is not a password
// but 32 random bytes. One of somebody's own choosing is as hard to guess as they have made it.
func Hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func (s *Service) mustTouch(key gateway.Key, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.touched[key.ID]
	if key.LastUsedAt.After(last) {
		last = key.LastUsedAt
	}
	if now.Sub(last) < touchEvery {
		return false
	}
	s.touched[key.ID] = now
	return true
}

// maxSpoken bounds how much is remembered of what was stored last.
const maxSpoken = 100_000

// Spoke stores that a program with the key whose secret is given has spoken a dialect, and which operation was refused to it as one
// that this gateway can't carry out: its name is empty where none was. What is the same within a minute is stored once. A
// secret that is no key's is nobody's: nothing is stored.
func (s *Service) Spoke(ctx context.Context, secret, dialect string, refused gateway.RefusedOperation) error {
	key, found, err := s.store.FindKey(ctx, Hash(secret))
	if err != nil || !found {
		return err
	}
	now := s.now().UTC()
	if !s.mustNote(key.ID+" "+dialect+" "+refused.Operation, now) {
		return nil
	}
	// The key that was found may lack what others have stored since.
	if key, found, err = s.store.GetKey(ctx, key.AccountID, key.ID); err != nil || !found {
		return err
	}
	return s.store.NoteSpoken(ctx, key.ID, key.Spoke(dialect, now.Truncate(touchEvery), refused))
}

func (s *Service) mustNote(what string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.spoken[what]) < touchEvery {
		return false
	}
	if len(s.spoken) >= maxSpoken {
		clear(s.spoken)
	}
	s.spoken[what] = now
	return true
}

func unauthorized(message string) *gateway.Error {
	return gateway.Errorf(gateway.Unauthorized, gateway.CodeUnauthorized, "%s", message)
}
