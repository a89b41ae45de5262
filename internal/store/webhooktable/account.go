// The webhooks of accounts.

package webhooktable

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/webhook/accountwide"
)

type accountRow struct {
	settings  settingsRow
	accountID string
}

//nolint:gochecknoglobals // a table, and a statement that is made of it
var (
	accountColumns = table.Of(
		table.Text("id", func(r *accountRow) *string { return &r.settings.hook.ID }),
		table.Text("account_id", func(r *accountRow) *string { return &r.accountID }),
	).And(table.Part(settingsColumns, func(r *accountRow) *settingsRow { return &r.settings })...)

	saveAccountWebhook = accountColumns.Insert("account_webhooks") + " ON CONFLICT (id) DO UPDATE SET " + changedSettings
)

// SharedDatabase runs the statements of tables that belong to no instance.
type SharedDatabase interface {
	table.Database

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
	row := accountRow{accountID: hook.AccountID}
	var err error
	if row.settings, err = encode(t.vault, hook.Webhook, vault.AccountWebhook(hook.ID)); err == nil {
		_, err = t.db.Exec(ctx, saveAccountWebhook, accountColumns.Values(&row)...)
	}
	if sqlerror.IsOrphan(err) {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such account")
	}
	table.Wrap(&err, "save a webhook of an account")
	return err
}

// FindAccountWebhook returns a webhook of an account, and whether it is there.
func (t *AccountTable) FindAccountWebhook(ctx context.Context, accountID, id string) (_ accountwide.Webhook, found bool, err error) {
	defer table.Wrap(&err, "find a webhook of an account")
	return table.Find(ctx, t.db.Reader(), t.scan(ctx), "SELECT "+accountColumns.Names+" FROM account_webhooks WHERE account_id = $1 AND id = $2", accountID, id)
}

// ListAccountWebhooks returns a page of the webhooks of an account, oldest first.
func (t *AccountTable) ListAccountWebhooks(ctx context.Context, accountID string, request gateway.PageRequest) (_ gateway.Page[accountwide.Webhook], err error) {
	defer table.Wrap(&err, "list the webhooks of an account")
	return table.List(ctx, t.db.Reader(), t.scan(ctx), request, accountColumns.Names, "FROM account_webhooks WHERE account_id = $1", accountID)
}

// AllAccountWebhooks returns the webhooks of all accounts, oldest first.
func (t *AccountTable) AllAccountWebhooks(ctx context.Context) (_ []accountwide.Webhook, err error) {
	defer table.Wrap(&err, "webhooks of accounts")
	return table.Collect(ctx, t.db.Reader(), t.scan(ctx), "SELECT "+accountColumns.Names+" FROM account_webhooks ORDER BY created_at, id")
}

// DeleteAccountWebhook removes a webhook of an account with all that follow it, and reports
// whether there was one.
func (t *AccountTable) DeleteAccountWebhook(ctx context.Context, accountID, id string) (_ bool, err error) {
	defer table.Wrap(&err, "delete a webhook of an account")
	removed, err := t.db.Exec(ctx, "DELETE FROM account_webhooks WHERE account_id = $1 AND id = $2", accountID, id)
	return removed > 0, err
}

// AccountsOf returns the accounts of instances, by their ids. It leaves out those that do not
// exist.
func (t *AccountTable) AccountsOf(ctx context.Context, instanceIDs []string) (accounts map[string]string, err error) {
	defer table.Wrap(&err, "accounts of instances")
	accounts = make(map[string]string, len(instanceIDs))
	err = table.Each(ctx, t.db.Scanner(), func(row table.Scanner) error {
		var id, accountID string
		err := row.Scan(&id, &accountID)
		accounts[id] = accountID
		return err
	}, "SELECT id, account_id FROM instances WHERE id IN "+t.db.In(1), table.Texts(instanceIDs))
	return accounts, err
}

func (t *AccountTable) scan(ctx context.Context) func(from table.Scanner) (accountwide.Webhook, error) {
	return func(from table.Scanner) (accountwide.Webhook, error) {
		row, err := accountColumns.Scan(from)
		if err != nil {
			return accountwide.Webhook{}, err
		}
		hook, err := row.settings.decode(ctx, t.vault, vault.AccountWebhook(row.settings.hook.ID))
		return accountwide.Webhook{Webhook: hook, AccountID: row.accountID}, err
	}
}
