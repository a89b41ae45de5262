// Package webhooktable has the tables of webhooks: what was configured, how far each has
// come, and what became of the events. It seals their secrets.
package webhooktable

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// webhookRow is a webhook with its state, as its row has it.
type webhookRow struct {
	settings settingsRow
	cell     string // see cellOf
	state    backlog.State
}

//nolint:gochecknoglobals // tables, and statements that are made of them
var (
	webhookColumns = table.Of(
		table.Text("id", func(r *webhookRow) *string { return &r.settings.hook.ID }),
		table.Text("instance_id", func(r *webhookRow) *string { return &r.settings.hook.InstanceID }),
		table.Text("place", func(r *webhookRow) *string { return &r.cell }),
		table.TextOrNull("account_webhook_id", func(r *webhookRow) *string { return &r.settings.hook.Account }),
	).And(table.Part(settingsColumns, func(r *webhookRow) *settingsRow { return &r.settings })...)

	stateColumns = table.Of(
		table.Text("status", func(s *backlog.State) *backlog.Status { return &s.Status }),
		table.Text("reason", func(s *backlog.State) *string { return &s.Reason }),
		table.Number("cursor", func(s *backlog.State) *int64 { return &s.Cursor }),
		table.Number("failures", func(s *backlog.State) *int { return &s.Failures }),
		table.Moment("failing_since", func(s *backlog.State) *time.Time { return &s.FailingSince }),
		table.Moment("next_try_at", func(s *backlog.State) *time.Time { return &s.NextTry }),
		table.Number("attempts", func(s *backlog.State) *int64 { return &s.Attempts }),
	)

	allColumns = webhookColumns.And(table.Part(stateColumns, func(r *webhookRow) *backlog.State { return &r.state })...)

	saveWebhook = allColumns.Insert("webhooks") + " ON CONFLICT (id) DO UPDATE SET " + changedSettings

	saveState = "UPDATE webhooks SET " + stateColumns.Without("attempts").Assignments() + ", attempts = CASE WHEN attempts < " +
		stateColumns.Parameter("attempts") + " THEN " + stateColumns.Parameter("attempts") + " ELSE attempts END WHERE id = " + stateColumns.Next(1)
)

// Only the cell tells which webhook is the first one of its instance.
const findWebhook = " FROM webhooks WHERE instance_id = $1 AND CASE WHEN $2 = '' THEN place = instance_id ELSE id = $2 END"

// Database runs the statements of these tables.
type Database interface {
	// WriteUnder runs fn in one write transaction, which may run again. It fails with
	// gateway.ErrTenureOver unless all tenures last until the commit, and for an instance
	// that it needs a tenure of and has none.
	WriteUnder(ctx context.Context, tenures []gateway.Tenure, instanceIDs []string, fn func(ctx context.Context, q table.Querier) error) error
	// ExecOf runs one statement for an instance and returns how many rows it changed.
	ExecOf(ctx context.Context, instanceID, query string, args ...any) (int64, error)
	// Reader finds a few rows, Scanner may read many.
	Reader() table.Querier
	Scanner() table.Querier
	// In is the set of texts in a parameter that holds a JSON array.
	In(parameter int) string
}

// Tables are the tables in one database. They are safe for concurrent use.
type Tables struct {
	db    Database
	vault *vault.Vault
}

// New makes the tables' access to a database that has them.
func New(db Database, sealing *vault.Vault) *Tables { return &Tables{db: db, vault: sealing} }

// cellOf is what the secrets of a webhook are sealed for. It tells the first webhook of an
// instance from the others.
func cellOf(hook webhook.Webhook) string {
	if hook.First {
		return hook.InstanceID
	}
	return hook.ID
}

// SaveWebhook creates or changes the configuration of a webhook. If state is not nil, or the
// webhook is new, delivery begins anew with state, and no chat is blocked any more. It
// returns a gateway.NotFound if the instance does not exist.
func (t *Tables) SaveWebhook(ctx context.Context, hook webhook.Webhook, state *backlog.State) error {
	row := webhookRow{cell: cellOf(hook), state: backlog.State{Status: backlog.StatusOK}}
	if state != nil {
		row.state = *state
	}
	var err error
	if row.settings, err = encode(t.vault, hook, vault.Webhook(row.cell)); err == nil {
		err = t.db.WriteUnder(ctx, []gateway.Tenure{gateway.TenureOf(ctx)}, []string{hook.InstanceID}, func(ctx context.Context, q table.Querier) error {
			if _, err := q.ExecContext(ctx, saveWebhook, allColumns.Values(&row)...); err != nil || state == nil {
				return err
			}
			if _, err := q.ExecContext(ctx, "DELETE FROM webhook_blocked_chats WHERE webhook_id = $1", hook.ID); err != nil {
				return err
			}
			_, err := writeState(ctx, q, hook.ID, *state)
			return err
		})
	}
	if sqlerror.IsOrphan(err) {
		return gateway.Errorf(gateway.NotFound, gateway.CodeInstanceNotFound, "there is no such instance")
	}
	table.Wrap(&err, "save webhook")
	return err
}

// FindWebhook returns the configuration of a webhook, and whether it is there. Without an id
// in the reference it is the first one of its instance.
func (t *Tables) FindWebhook(ctx context.Context, ref webhook.Ref) (_ webhook.Webhook, found bool, err error) {
	defer table.Wrap(&err, "find webhook")
	return table.Find(ctx, t.db.Reader(), t.scanWebhook(ctx), "SELECT "+webhookColumns.Names+findWebhook, ref.InstanceID, ref.ID)
}

// ListWebhooks returns a page of the webhooks of an instance, oldest first.
func (t *Tables) ListWebhooks(ctx context.Context, instanceID string, request gateway.PageRequest) (_ gateway.Page[webhook.Webhook], err error) {
	defer table.Wrap(&err, "list webhooks")
	return table.List(ctx, t.db.Reader(), t.scanWebhook(ctx), request, webhookColumns.Names, "FROM webhooks WHERE instance_id = $1", instanceID)
}

// DeleteWebhook removes a webhook with the records of its deliveries, and reports whether
// there was one.
func (t *Tables) DeleteWebhook(ctx context.Context, ref webhook.Ref) (_ bool, err error) {
	defer table.Wrap(&err, "delete webhook")
	removed, err := t.db.ExecOf(ctx, ref.InstanceID, "DELETE FROM webhooks WHERE instance_id = $1 AND id = $2", ref.InstanceID, ref.ID)
	return removed > 0, err
}

// Webhooks returns the webhooks of instances with their states and the newest events of
// the instances, those of an instance oldest first.
func (t *Tables) Webhooks(ctx context.Context, instanceIDs []string) (all []webhook.Saved, err error) {
	defer table.Wrap(&err, "webhooks")
	set := table.Texts(instanceIDs)
	// This is not one transaction, because only the caller changes these webhooks.
	all, err = table.Collect(ctx, t.db.Scanner(), func(from table.Scanner) (saved webhook.Saved, err error) {
		var row webhookRow
		if err = from.Scan(allColumns.Fields(&row, &saved.Newest)...); err == nil {
			saved.State = row.state
			saved.Webhook, err = t.decode(ctx, &row)
		}
		return saved, err
	}, "SELECT "+allColumns.Names+", COALESCE((SELECT MAX(sequence) FROM events WHERE events.instance_id = webhooks.instance_id), 0)"+
		" FROM webhooks WHERE instance_id IN "+t.db.In(1)+" ORDER BY instance_id, created_at, id", set)
	if err != nil {
		return nil, err
	}
	of := map[string][]backlog.BlockedChat{}
	err = table.Each(ctx, t.db.Scanner(), func(from table.Scanner) error {
		var id string
		var chat backlog.BlockedChat
		err := from.Scan(blockedColumns.Fields(&chat, &id)...)
		of[id] = append(of[id], chat)
		return err
	}, "SELECT "+blockedColumns.Names+", webhook_id FROM webhook_blocked_chats WHERE webhook_id IN (SELECT id FROM webhooks WHERE instance_id IN "+t.db.In(1)+")", set)
	for i := range all {
		all[i].Blocked = of[all[i].Webhook.ID]
	}
	return all, err
}

// affected says how many rows a statement has changed.
type affected interface{ RowsAffected() (int64, error) }

// writeState writes the state of a webhook. The result is no row if it does not exist.
func writeState(ctx context.Context, q table.Querier, id string, state backlog.State) (affected, error) {
	return q.ExecContext(ctx, saveState, stateColumns.Values(&state, id)...)
}

func (t *Tables) scanWebhook(ctx context.Context) func(from table.Scanner) (webhook.Webhook, error) {
	return func(from table.Scanner) (webhook.Webhook, error) {
		var row webhookRow
		if err := from.Scan(webhookColumns.Fields(&row)...); err != nil {
			return webhook.Webhook{}, err
		}
		return t.decode(ctx, &row)
	}
}

func (t *Tables) decode(ctx context.Context, row *webhookRow) (webhook.Webhook, error) {
	hook, err := row.settings.decode(ctx, t.vault, vault.Webhook(row.cell))
	hook.First = row.cell == hook.InstanceID
	return hook, err
}
