// The webhooks of accounts.

package webhooktable

import (
	"context"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

const accountColumns = "id, account_id, " + settingsColumns

// SharedDatabase runs the statements of tables that belong to no instance.
type SharedDatabase interface {
	// Exec runs one statement and returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Reader finds a few rows, Scanner may read many.
	Reader() table.Querier
	Scanner() table.Querier
	// In is the set of texts in a parameter that holds a JSON array.
	In(parameter int) string
}

// AccountTable is the table of the webhooks of accounts. It is safe for concurrent use.
type AccountTable struct {
	db    SharedDatabase
	vault *vault.Vault
}

// NewAccountTable makes the table's access to a database that has it.
func NewAccountTable(db SharedDatabase, sealing *vault.Vault) *AccountTable {
	return &AccountTable{db: db, vault: sealing}
}

// SaveAccountWebhook creates or changes a webhook of an account, by its id. An account that does
// not exist is a gateway.NotFound.
func (t *AccountTable) SaveAccountWebhook(ctx context.Context, hook accountwide.Webhook) error {
	settings, err := encode(t.vault, hook.Webhook, accountPlaces(hook.ID))
	if err != nil {
		return fmt.Errorf("store: save a webhook of an account: %w", err)
	}
	_, err = t.db.Exec(ctx, "INSERT INTO account_webhooks ("+accountColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT (id) DO UPDATE SET `+changedSettings,
		append([]any{hook.ID, hook.AccountID}, settings...)...)
	if sqlerror.IsOrphan(err) {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such account")
	}
	if err != nil {
		return fmt.Errorf("store: save a webhook of an account: %w", err)
	}
	return nil
}

// FindAccountWebhook returns a webhook of an account, and whether it is there.
func (t *AccountTable) FindAccountWebhook(ctx context.Context, accountID, id string) (accountwide.Webhook, bool, error) {
	hook, found, err := table.Find(ctx, t.db.Reader(), t.scanAccountWebhook(ctx),
		"SELECT "+accountColumns+" FROM account_webhooks WHERE account_id = $1 AND id = $2", accountID, id)
	if err != nil {
		return hook, false, fmt.Errorf("store: find a webhook of an account: %w", err)
	}
	return hook, found, nil
}

// ListAccountWebhooks returns a page of the webhooks of an account, oldest first.
func (t *AccountTable) ListAccountWebhooks(ctx context.Context, accountID string, request gateway.PageRequest) (gateway.Page[accountwide.Webhook], error) {
	page, err := table.List(ctx, t.db.Reader(), t.scanAccountWebhook(ctx), request, accountColumns, "FROM account_webhooks WHERE account_id = $1", accountID)
	if err != nil {
		return page, fmt.Errorf("store: list the webhooks of an account: %w", err)
	}
	return page, nil
}

// AllAccountWebhooks returns the webhooks of all accounts, oldest first.
func (t *AccountTable) AllAccountWebhooks(ctx context.Context) ([]accountwide.Webhook, error) {
	all, err := table.Collect(ctx, t.db.Reader(), t.scanAccountWebhook(ctx), "SELECT "+accountColumns+" FROM account_webhooks ORDER BY created_at, id")
	if err != nil {
		return nil, fmt.Errorf("store: webhooks of accounts: %w", err)
	}
	return all, nil
}

// DeleteAccountWebhook removes a webhook of an account with all that follow it, and reports
// whether there was one.
func (t *AccountTable) DeleteAccountWebhook(ctx context.Context, accountID, id string) (bool, error) {
	removed, err := t.db.Exec(ctx, "DELETE FROM account_webhooks WHERE account_id = $1 AND id = $2", accountID, id)
	if err != nil {
		return false, fmt.Errorf("store: delete a webhook of an account: %w", err)
	}
	return removed > 0, nil
}

// AccountsOf returns the accounts of instances, by their ids. It leaves out those that do not
// exist.
func (t *AccountTable) AccountsOf(ctx context.Context, instanceIDs []string) (map[string]string, error) {
	set, err := table.Texts(instanceIDs)
	if err != nil {
		return nil, fmt.Errorf("store: accounts of instances: %w", err)
	}
	type owned struct{ id, accountID string }
	found, err := table.Collect(ctx, t.db.Scanner(), func(row table.Scanner) (one owned, err error) {
		err = row.Scan(&one.id, &one.accountID)
		return one, err
	}, "SELECT id, account_id FROM instances WHERE id IN "+t.db.In(1), set)
	if err != nil {
		return nil, fmt.Errorf("store: accounts of instances: %w", err)
	}
	accounts := make(map[string]string, len(found))
	for _, one := range found {
		accounts[one.id] = one.accountID
	}
	return accounts, nil
}

func (t *AccountTable) scanAccountWebhook(ctx context.Context) func(row table.Scanner) (accountwide.Webhook, error) {
	return func(row table.Scanner) (accountwide.Webhook, error) {
		var hook accountwide.Webhook
		var settings settingsRow
		if err := row.Scan(append([]any{&hook.ID, &hook.AccountID}, settings.columns(&hook.Webhook)...)...); err != nil {
			return hook, err
		}
		err := settings.decode(ctx, t.vault, &hook.Webhook, accountPlaces(hook.ID))
		return hook, err
	}
}

func accountPlaces(id string) places {
	return places{vault.AccountWebhookSecret(id), vault.AccountWebhookPrevious(id), vault.AccountWebhookHeaders(id)}
}
