// The tables of accounts and of API keys.

package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
)

// CreateAccount adds an account. If the name or id is taken, it returns a
// gateway.Conflict.
func (s *Store) CreateAccount(ctx context.Context, account gateway.Account) error {
	_, err := s.db.Exec(ctx, accountColumns.Insert("accounts"), accountColumns.Values(&account)...)
	return table.Added(err, "there is already an account with this name", "create account")
}

// FindAccount returns the account with the name and whether there is one.
func (s *Store) FindAccount(ctx context.Context, name string) (_ gateway.Account, found bool, err error) {
	defer table.Wrap(&err, "find account")
	return accountColumns.Find(ctx, s.db.Reader(), "FROM accounts WHERE name = $1", name)
}

// SetAppSecret gives an account its app secret, or takes it away where it is empty. Its error is a
// gateway.NotFound for an account that does not exist.
func (s *Store) SetAppSecret(ctx context.Context, accountID, secret string, at time.Time) error {
	sealed, generation := s.vault.SealText(vault.AppSecret(accountID), secret)
	changed, err := s.db.Exec(ctx, "UPDATE accounts SET app_secret = $1, app_secret_seal = $2, app_secret_at = $3 WHERE id = $4",
		sealed, generation, table.Millis(at), accountID)
	none := gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such account")
	return table.Changed(changed, err, none, "set an app secret")
}

// AppSecret returns the app secret of an account and when it was set; it is empty where there is none.
func (s *Store) AppSecret(ctx context.Context, accountID string) (_ string, at time.Time, err error) {
	defer table.Wrap(&err, "find an app secret")
	found, _, err := appSecretColumns.Find(ctx, s.db.Reader(), "FROM accounts WHERE id = $1", accountID)
	if err != nil || found.stored == "" {
		return "", time.Time{}, err
	}
	secret, err := s.vault.OpenText(ctx, vault.AppSecret(accountID), found.stored, found.generation)
	return secret, found.at, err
}

// appSecretRow is the app secret of an account, as its row has it.
type appSecretRow struct {
	stored     string
	generation int64
	at         time.Time
}

//nolint:gochecknoglobals // tables that never change
var (
	appSecretColumns = table.Of(
		table.Text("app_secret", func(r *appSecretRow) *string { return &r.stored }),
		table.Number("app_secret_seal", func(r *appSecretRow) *int64 { return &r.generation }),
		table.Moment("app_secret_at", func(r *appSecretRow) *time.Time { return &r.at }),
	)

	accountColumns = table.Of(
		table.Text("id", func(a *gateway.Account) *string { return &a.ID }),
		table.Text("name", func(a *gateway.Account) *string { return &a.Name }),
		table.Moment("created_at", func(a *gateway.Account) *time.Time { return &a.CreatedAt }),
	)

	keyColumns = table.Of(
		table.Text("id", func(k *gateway.Key) *string { return &k.ID }),
		table.Text("account_id", func(k *gateway.Key) *string { return &k.AccountID }),
		table.Text("name", func(k *gateway.Key) *string { return &k.Name }),
		table.Bytes("hash", func(k *gateway.Key) *[]byte { return &k.Hash }),
		table.Custom("instance_ids", func(k *gateway.Key) any { return table.Texts(k.InstanceIDs) }, func(k *gateway.Key) any { return (*restriction)(&k.InstanceIDs) }),
		table.Flag("partner", func(k *gateway.Key) *bool { return &k.Partner }),
		table.Moment("created_at", func(k *gateway.Key) *time.Time { return &k.CreatedAt }),
		table.Moment("expires_at", func(k *gateway.Key) *time.Time { return &k.ExpiresAt }),
		table.Moment("revoked_at", func(k *gateway.Key) *time.Time { return &k.RevokedAt }),
		table.Moment("last_used_at", func(k *gateway.Key) *time.Time { return &k.LastUsedAt }),
		table.JSON("spoken", func(k *gateway.Key) *[]gateway.Spoken { return &k.Spoken }),
	)
)

// CreateKey adds an API key. If its id or hash is taken, it returns a gateway.Conflict.
func (s *Store) CreateKey(ctx context.Context, key gateway.Key) error {
	_, err := s.db.Exec(ctx, keyColumns.Insert("api_keys"), keyColumns.Values(&key)...)
	return table.Added(err, "there is already such a key", "create key")
}

// FindKey returns the key with the hash and whether there is one. It may be
// revoked or expired. It must not be changed, and may lack its last use.
func (s *Store) FindKey(ctx context.Context, hash []byte) (_ gateway.Key, found bool, err error) {
	defer table.Wrap(&err, "find key")
	read := func() (gateway.Key, bool, error) {
		return keyColumns.Find(ctx, s.db.Reader(), "FROM api_keys WHERE hash = $1", hash)
	}
	if s.caches.keys == nil {
		return read()
	}
	return s.caches.keys.Find(string(hash), read)
}

// GetKey returns a key of the account and whether there is one. It may be revoked
// or expired.
func (s *Store) GetKey(ctx context.Context, accountID, id string) (_ gateway.Key, found bool, err error) {
	defer table.Wrap(&err, "get key")
	return keyColumns.Find(ctx, s.db.Reader(), "FROM api_keys WHERE account_id = $1 AND id = $2", accountID, id)
}

// RevokedKeys returns those of the keys that were revoked.
func (s *Store) RevokedKeys(ctx context.Context, ids []string) (_ []string, err error) {
	defer table.Wrap(&err, "find revoked keys")
	return table.Collect(ctx, s.db.Reader(), table.Value[string], "SELECT id FROM api_keys WHERE revoked_at > 0 AND id IN "+s.db.In(1), table.Texts(ids))
}

// ListKeys returns a page of the account's keys, oldest first, including revoked ones.
func (s *Store) ListKeys(ctx context.Context, accountID string, request gateway.PageRequest) (_ gateway.Page[gateway.Key], err error) {
	defer table.Wrap(&err, "list keys")
	return keyColumns.List(ctx, s.db.Scanner(), request, "FROM api_keys WHERE account_id = $1", accountID)
}

// RevokeKey revokes a key of the account at that time. A key that is revoked already
// keeps its time. It returns a gateway.NotFound if the account has no such key.
func (s *Store) RevokeKey(ctx context.Context, accountID, id string, at time.Time) error {
	done := s.changeKeys()
	changed, err := s.db.Exec(ctx, `UPDATE api_keys SET revoked_at = CASE WHEN revoked_at = 0 THEN $1 ELSE revoked_at END
		WHERE account_id = $2 AND id = $3`, table.Millis(at), accountID, id)
	none := gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such API key")
	return table.Changed(changed, errors.Join(err, done()), none, "revoke key")
}

// TouchKey stores when the key was used. A time before the stored one changes nothing.
func (s *Store) TouchKey(ctx context.Context, id string, at time.Time) (err error) {
	defer table.Wrap(&err, "touch key")
	_, err = s.db.Exec(ctx, "UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND last_used_at < $1",
		table.Millis(at), id)
	return err
}

// NoteSpoken stores which dialects programs with the key have spoken. Nothing happens if there is no such key.
func (s *Store) NoteSpoken(ctx context.Context, id string, spoken []gateway.Spoken) (err error) {
	defer table.Wrap(&err, "note a dialect")
	_, err = s.db.Exec(ctx, "UPDATE api_keys SET spoken = $1 WHERE id = $2", table.Encoded(spoken), id)
	return err
}

// changeKeys is called before keys change, and done afterwards: from then on no process uses a stale
// one.
func (s *Store) changeKeys() (done func() error) {
	if s.caches.keys == nil {
		return func() error { return nil }
	}
	changed := s.caches.keys.Change()
	return func() error {
		changed()
		return s.caches.keysMark.Tell()
	}
}

// damagedID belongs to no instance. A key whose instances can't be read is restricted to it.
const damagedID = "damaged"

// restriction is the instances that a key is for; nil for all of them.
type restriction []string

// Scan reads the column. Few keys are restricted, and this runs on each request.
func (r *restriction) Scan(source any) error {
	stored, err := table.Stored(source)
	if *r = nil; err != nil || string(stored) == table.NoTexts {
		return err
	}
	if json.Unmarshal(stored, r) != nil || len(*r) == 0 {
		*r = restriction{damagedID} // it stays restricted: to nothing
	}
	return nil
}
