// The table of accounts.

package store

import (
	"context"
	"fmt"

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
	_, err := s.db.exec(ctx, "INSERT INTO accounts (id, name, created_at) VALUES ($1, $2, $3)",
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
	account, found, err := table.Find(ctx, s.db.reader(), scanAccount,
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
