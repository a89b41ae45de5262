// Package webhooktable has the tables of webhooks: what was configured, how far each has
// come, and what became of the events. It seals their secrets. The store embeds it.
package webhooktable

import (
	"context"
	"fmt"
	"slices"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

const (
	webhookColumns = "id, instance_id, place, account_webhook_id, " + settingsColumns
	stateColumns   = "status, reason, cursor, failures, failing_since, next_try_at, attempts"

	blockedColumns = "webhook_id, chat, sequence, through, event_id, kind, failures, since, next_try_at, answer_status, error"

	saveWebhook = "INSERT INTO webhooks (" + webhookColumns + ", " + stateColumns +
		`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
		ON CONFLICT (id) DO UPDATE SET ` + changedSettings

	// Only the place tells which webhook is the first one of its instance.
	findWebhook = "SELECT " + webhookColumns + " FROM webhooks WHERE instance_id = $1 AND CASE WHEN $2 = '' THEN place = instance_id ELSE id = $2 END"
)

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

// placeOf is what the secrets of a webhook are sealed for. It tells the first webhook of an
// instance from the others.
func placeOf(hook webhook.Webhook) string {
	if hook.First {
		return hook.InstanceID
	}
	return hook.ID
}

func placesOf(place string) places {
	return places{vault.WebhookSecret(place), vault.WebhookPrevious(place), vault.WebhookHeaders(place)}
}

// SaveWebhook creates or changes the configuration of a webhook. If state is not nil, or the
// webhook is new, delivery begins anew with state, and no chat is blocked any more. It
// returns a gateway.NotFound if the instance does not exist.
func (t *Tables) SaveWebhook(ctx context.Context, hook webhook.Webhook, state *backlog.State) error {
	place := placeOf(hook)
	settings, err := encode(t.vault, hook, placesOf(place))
	if err != nil {
		return fmt.Errorf("store: save webhook: %w", err)
	}
	var follows any // NULL
	if hook.Account != "" {
		follows = hook.Account
	}
	values := append([]any{hook.ID, hook.InstanceID, place, follows}, settings...)
	err = t.db.WriteUnder(ctx, []gateway.Tenure{gateway.TenureOf(ctx)}, []string{hook.InstanceID}, func(ctx context.Context, q table.Querier) error {
		first := backlog.State{Status: backlog.StatusOK}
		if state != nil {
			first = *state
		}
		if _, err := q.ExecContext(ctx, saveWebhook, append(slices.Clip(values), stateArgs(first)...)...); err != nil {
			return err
		}
		if state == nil {
			return nil
		}
		if _, err := q.ExecContext(ctx, "DELETE FROM webhook_blocked_chats WHERE webhook_id = $1", hook.ID); err != nil {
			return err
		}
		_, err := writeState(ctx, q, hook.ID, *state)
		return err
	})
	if sqlerror.IsOrphan(err) {
		return gateway.Errorf(gateway.NotFound, gateway.CodeInstanceNotFound, "there is no such instance")
	}
	if err != nil {
		return fmt.Errorf("store: save webhook: %w", err)
	}
	return nil
}

// FindWebhook returns the configuration of a webhook, and whether it is there. Without an id
// in the reference it is the first one of its instance.
func (t *Tables) FindWebhook(ctx context.Context, ref webhook.Ref) (webhook.Webhook, bool, error) {
	hook, found, err := table.Find(ctx, t.db.Reader(), t.scanWebhook(ctx), findWebhook, ref.InstanceID, ref.ID)
	if err != nil {
		return webhook.Webhook{}, false, fmt.Errorf("store: find webhook: %w", err)
	}
	return hook, found, nil
}

// ListWebhooks returns a page of the webhooks of an instance, oldest first.
func (t *Tables) ListWebhooks(ctx context.Context, instanceID string, request gateway.PageRequest) (gateway.Page[webhook.Webhook], error) {
	page, err := table.List(ctx, t.db.Reader(), t.scanWebhook(ctx), request, webhookColumns, "FROM webhooks WHERE instance_id = $1", instanceID)
	if err != nil {
		return page, fmt.Errorf("store: list webhooks: %w", err)
	}
	return page, nil
}

// DeleteWebhook removes a webhook with the records of its deliveries, and reports whether
// there was one.
func (t *Tables) DeleteWebhook(ctx context.Context, ref webhook.Ref) (bool, error) {
	removed, err := t.db.ExecOf(ctx, ref.InstanceID, "DELETE FROM webhooks WHERE instance_id = $1 AND id = $2", ref.InstanceID, ref.ID)
	if err != nil {
		return false, fmt.Errorf("store: delete webhook: %w", err)
	}
	return removed > 0, nil
}

// Webhooks returns the webhooks of instances with their states and the newest events of
// the instances, those of an instance oldest first.
func (t *Tables) Webhooks(ctx context.Context, instanceIDs []string) ([]webhook.Saved, error) {
	set, err := table.Texts(instanceIDs)
	if err != nil {
		return nil, fmt.Errorf("store: webhooks: %w", err)
	}
	// This is not one transaction, because only the caller changes these webhooks.
	all, err := table.Collect(ctx, t.db.Scanner(), t.scanSaved(ctx), "SELECT "+webhookColumns+", "+stateColumns+
		", COALESCE((SELECT MAX(sequence) FROM events WHERE events.instance_id = webhooks.instance_id), 0)"+
		" FROM webhooks WHERE instance_id IN "+t.db.In(1)+" ORDER BY instance_id, created_at, id", set)
	if err != nil {
		return nil, fmt.Errorf("store: webhooks: %w", err)
	}
	blocked, err := table.Collect(ctx, t.db.Scanner(), scanBlocked,
		"SELECT "+blockedColumns+" FROM webhook_blocked_chats WHERE webhook_id IN (SELECT id FROM webhooks WHERE instance_id IN "+t.db.In(1)+")", set)
	if err != nil {
		return nil, fmt.Errorf("store: webhooks: %w", err)
	}
	of := map[string][]backlog.BlockedChat{}
	for _, one := range blocked {
		of[one.webhookID] = append(of[one.webhookID], one.BlockedChat)
	}
	for i := range all {
		all[i].Blocked = of[all[i].Webhook.ID]
	}
	return all, nil
}

func stateArgs(state backlog.State) []any {
	return []any{
		string(state.Status), state.Reason, state.Cursor, state.Failures,
		table.Millis(state.FailingSince), table.Millis(state.NextTry), state.Attempts,
	}
}

// affected says how many rows a statement has changed.
type affected interface{ RowsAffected() (int64, error) }

// writeState writes the state of a webhook. The result is no row if it does not exist.
func writeState(ctx context.Context, q table.Querier, id string, state backlog.State) (affected, error) {
	return q.ExecContext(ctx, `UPDATE webhooks SET status = $1, reason = $2, cursor = $3, failures = $4,
		failing_since = $5, next_try_at = $6, attempts = CASE WHEN attempts < $7 THEN $7 ELSE attempts END
		WHERE id = $8`, append(stateArgs(state), id)...)
}

func (t *Tables) scanWebhook(ctx context.Context) func(row table.Scanner) (webhook.Webhook, error) {
	return func(row table.Scanner) (webhook.Webhook, error) { return t.scanWebhookAnd(ctx, row) }
}

// scanWebhookAnd scans the columns of a configuration, and further columns after them.
func (t *Tables) scanWebhookAnd(ctx context.Context, row table.Scanner, others ...any) (webhook.Webhook, error) {
	var hook webhook.Webhook
	var place string
	var follows *string // NULL if it has its own settings
	var settings settingsRow
	columns := append([]any{&hook.ID, &hook.InstanceID, &place, &follows}, settings.columns(&hook)...)
	if err := row.Scan(append(columns, others...)...); err != nil {
		return hook, err
	}
	hook.First = place == hook.InstanceID
	if follows != nil {
		hook.Account = *follows
	}
	err := settings.decode(ctx, t.vault, &hook, placesOf(place))
	return hook, err
}

func (t *Tables) scanSaved(ctx context.Context) func(row table.Scanner) (webhook.Saved, error) {
	return func(row table.Scanner) (webhook.Saved, error) {
		var saved webhook.Saved
		var failingSince, nextTry int64
		state := &saved.State
		var err error
		saved.Webhook, err = t.scanWebhookAnd(ctx, row, &state.Status, &state.Reason, &state.Cursor, &state.Failures,
			&failingSince, &nextTry, &state.Attempts, &saved.Newest)
		state.FailingSince, state.NextTry = table.Time(failingSince), table.Time(nextTry)
		return saved, err
	}
}

type blockedChat struct {
	backlog.BlockedChat

	webhookID string
}

func scanBlocked(row table.Scanner) (blockedChat, error) {
	var b blockedChat
	var since, nextTry int64
	err := row.Scan(&b.webhookID, &b.Chat, &b.Sequence, &b.Through, &b.EventID, &b.Kind, &b.Failures,
		&since, &nextTry, &b.Status, &b.Error)
	b.Since, b.NextTry = table.Time(since), table.Time(nextTry)
	return b, err
}
