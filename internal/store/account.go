// The tables of accounts and of API keys.

package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
)

// codeExists is the code of the error for a name or id that is taken. No operation of the
// API can cause it, but two programs that start at the same time can.
const codeExists = "ALREADY_EXISTS"

// CreateAccount adds an account. If the name or id is taken, it returns a
// gateway.Conflict.
func (s *Store) CreateAccount(ctx context.Context, account gateway.Account) error {
	_, err := s.db.Exec(ctx, "INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)",
		account.ID, account.Name, table.Millis(account.CreatedAt))
	if sqlerror.IsTaken(err) {
		return gateway.Errorf(gateway.Conflict, codeExists, "there is already an account with this name")
	}
	if err != nil {
		return fmt.Errorf("store: create account: %w", err)
	}
	return nil
}

// FindAccount returns the account with the name and whether there is one.
func (s *Store) FindAccount(ctx context.Context, name string) (gateway.Account, bool, error) {
	account, found, err := table.Find(ctx, s.db.Reader(), scanAccount,
		"SELECT id, name, created_at FROM accounts WHERE name = $1", name)
	if err != nil {
		return gateway.Account{}, false, fmt.Errorf("store: find account: %w", err)
	}
	return account, found, nil
}

func scanAccount(row table.Scanner) (gateway.Account, error) {
	var account gateway.Account
	var createdAt int64
	err := row.Scan(&account.ID, &account.Name, &createdAt)
	account.CreatedAt = table.Time(createdAt)
	return account, err
}

const keyColumns = "id, account_id, name, hash, instance_ids, partner, created_at, expires_at, revoked_at, last_used_at"

// maxKeysAtOnce bounds the parameters of one query.
const maxKeysAtOnce = 200

// CreateKey adds an API key. If its id or hash is taken, it returns a gateway.Conflict.
func (s *Store) CreateKey(ctx context.Context, key gateway.Key) error {
	ids, err := table.Texts(key.InstanceIDs)
	if err != nil {
		return fmt.Errorf("store: create key: %w", err)
	}
	_, err = s.db.Exec(ctx, "INSERT INTO api_keys ("+keyColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
		key.ID, key.AccountID, key.Name, key.Hash, ids, key.Partner,
		table.Millis(key.CreatedAt), table.Millis(key.ExpiresAt), table.Millis(key.RevokedAt), table.Millis(key.LastUsedAt))
	if sqlerror.IsTaken(err) {
		return gateway.Errorf(gateway.Conflict, codeExists, "there is already such a key")
	}
	if err != nil {
		return fmt.Errorf("store: create key: %w", err)
	}
	return nil
}

// FindKey returns the key with the hash and whether there is one. It may be
// revoked or expired. It must not be changed, and may lack its last use.
func (s *Store) FindKey(ctx context.Context, hash []byte) (gateway.Key, bool, error) {
	read := func() (gateway.Key, bool, error) {
		return table.Find(ctx, s.db.Reader(), scanKey, "SELECT "+keyColumns+" FROM api_keys WHERE hash = $1", hash)
	}
	if s.caches.keys != nil {
		kept := read
		read = func() (gateway.Key, bool, error) { return s.caches.keys.Find(string(hash), kept) }
	}
	key, found, err := read()
	if err != nil {
		return gateway.Key{}, false, fmt.Errorf("store: find key: %w", err)
	}
	return key, found, nil
}

// GetKey returns a key of the account and whether there is one. It may be revoked
// or expired.
func (s *Store) GetKey(ctx context.Context, accountID, id string) (gateway.Key, bool, error) {
	key, found, err := table.Find(ctx, s.db.Reader(), scanKey,
		"SELECT "+keyColumns+" FROM api_keys WHERE account_id = $1 AND id = $2", accountID, id)
	if err != nil {
		return gateway.Key{}, false, fmt.Errorf("store: get key: %w", err)
	}
	return key, found, nil
}

// RevokedKeys returns those of the keys that were revoked.
func (s *Store) RevokedKeys(ctx context.Context, ids []string) ([]string, error) {
	var revoked []string
	for some := range slices.Chunk(ids, maxKeysAtOnce) {
		args := make([]any, len(some))
		places := make([]string, len(some))
		for i, id := range some {
			args[i], places[i] = id, "$"+strconv.Itoa(i+1)
		}
		found, err := table.Collect(ctx, s.db.Reader(), func(row table.Scanner) (id string, err error) {
			err = row.Scan(&id)
			return id, err
		}, "SELECT id FROM api_keys WHERE revoked_at > 0 AND id IN ("+strings.Join(places, ", ")+")", args...)
		if err != nil {
			return nil, fmt.Errorf("store: find revoked keys: %w", err)
		}
		revoked = append(revoked, found...)
	}
	return revoked, nil
}

// ListKeys returns a page of the account's keys, oldest first, including revoked ones.
func (s *Store) ListKeys(ctx context.Context, accountID string, request gateway.PageRequest) (gateway.Page[gateway.Key], error) {
	page, err := table.List(ctx, s.db.Scanner(), scanKey, request,
		keyColumns, "FROM api_keys WHERE account_id = $1", accountID)
	if err != nil {
		return gateway.Page[gateway.Key]{}, fmt.Errorf("store: list keys: %w", err)
	}
	return page, nil
}

// RevokeKey revokes a key of the account at that time. A key that is revoked already
// keeps its time. It returns a gateway.NotFound if the account has no such key.
func (s *Store) RevokeKey(ctx context.Context, accountID, id string, at time.Time) error {
	done := s.changeKeys()
	changed, err := s.db.Exec(ctx, `UPDATE api_keys SET revoked_at = CASE WHEN revoked_at = 0 THEN $1 ELSE revoked_at END
		WHERE account_id = $2 AND id = $3`, table.Millis(at), accountID, id)
	if err = errors.Join(err, done()); err != nil {
		return fmt.Errorf("store: revoke key: %w", err)
	}
	if changed == 0 {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such API key")
	}
	return nil
}

// TouchKey stores when the key was used. A time before the stored one changes nothing.
func (s *Store) TouchKey(ctx context.Context, id string, at time.Time) error {
	if _, err := s.db.Exec(ctx, "UPDATE api_keys SET last_used_at = $1 WHERE id = $2 AND last_used_at < $1",
		table.Millis(at), id); err != nil {
		return fmt.Errorf("store: touch key: %w", err)
	}
	return nil
}

// changeKeys is called before keys change, and done afterwards: from then on no process
// uses an old one.
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

// damagedID is no instance's. A key whose instances can't be read any more is for that one.
const damagedID = "damaged"

func scanKey(row table.Scanner) (gateway.Key, error) {
	var key gateway.Key
	var ids string
	var createdAt, expiresAt, revokedAt, lastUsedAt int64
	err := row.Scan(&key.ID, &key.AccountID, &key.Name, &key.Hash, &ids, &key.Partner,
		&createdAt, &expiresAt, &revokedAt, &lastUsedAt)
	if err != nil {
		return key, err
	}
	key.CreatedAt, key.ExpiresAt = table.Time(createdAt), table.Time(expiresAt)
	key.RevokedAt, key.LastUsedAt = table.Time(revokedAt), table.Time(lastUsedAt)
	if ids != table.NoTexts { // few keys are restricted, and this runs on each request
		if json.Unmarshal([]byte(ids), &key.InstanceIDs) != nil || len(key.InstanceIDs) == 0 {
			key.InstanceIDs = []string{damagedID} // it stays restricted: to nothing
		}
	}
	return key, nil
}
