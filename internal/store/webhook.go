// The tables of webhooks: their configuration and state.

package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

const (
	webhookColumns = "instance_id, id, url, secret, secret_seal, previous_secret, previous_secret_seal, previous_secret_until, active, created_at, updated_at"
	stateColumns   = "status, reason, cursor, failures, failing_since, next_try_at, attempts"

	blockedColumns = "instance_id, chat, sequence, through, event_id, kind, failures, since, next_try_at, answer_status, error"
)

// SaveWebhook creates or changes the configuration of an instance's webhook.
// If state is not nil, or the webhook is new, delivery begins anew with state, and no
// chat is blocked any more. It returns a gateway.NotFound if the instance does not exist.
func (s *Store) SaveWebhook(ctx context.Context, hook webhook.Webhook, state *backlog.State) error {
	secret, secretSeal := s.vault.SealText(vault.WebhookSecret(hook.InstanceID), string(hook.Secret))
	previous, previousSeal := s.vault.SealText(vault.WebhookPrevious(hook.InstanceID), string(hook.PreviousSecret))
	err := s.writeOf(ctx, hook.InstanceID, func(ctx context.Context, q table.Querier) error {
		first := backlog.State{Status: backlog.StatusOK}
		if state != nil {
			first = *state
		}
		if _, err := q.ExecContext(ctx, "INSERT INTO webhooks ("+webhookColumns+", "+stateColumns+
			`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
			ON CONFLICT (instance_id) DO UPDATE SET url = excluded.url, secret = excluded.secret,
			secret_seal = excluded.secret_seal, previous_secret = excluded.previous_secret,
			previous_secret_seal = excluded.previous_secret_seal, previous_secret_until = excluded.previous_secret_until,
			active = excluded.active, updated_at = excluded.updated_at`,
			append([]any{
				hook.InstanceID, hook.ID, hook.URL, secret, secretSeal, previous, previousSeal,
				table.Millis(hook.PreviousSecretUntil), hook.Active,
				table.Millis(hook.CreatedAt), table.Millis(hook.UpdatedAt),
			}, stateArgs(first)...)...); err != nil {
			return err
		}
		if state == nil {
			return nil
		}
		if _, err := q.ExecContext(ctx, "DELETE FROM webhook_blocked_chats WHERE instance_id = $1", hook.InstanceID); err != nil {
			return err
		}
		_, err := writeState(ctx, q, hook.InstanceID, *state)
		return err
	})
	if sqlerror.IsOrphan(err) {
		return instanceNotFound()
	}
	if err != nil {
		return fmt.Errorf("store: save webhook: %w", err)
	}
	return nil
}

// FindWebhook returns the configuration of an instance's webhook, and whether there is
// one.
func (s *Store) FindWebhook(ctx context.Context, instanceID string) (webhook.Webhook, bool, error) {
	hook, found, err := table.Find(ctx, s.db.reader(), s.scanWebhook(ctx),
		"SELECT "+webhookColumns+" FROM webhooks WHERE instance_id = $1", instanceID)
	if err != nil {
		return webhook.Webhook{}, false, fmt.Errorf("store: find webhook: %w", err)
	}
	return hook, found, nil
}

// DeleteWebhook removes the webhook of an instance with the records of its deliveries,
// and reports whether there was one.
func (s *Store) DeleteWebhook(ctx context.Context, instanceID string) (bool, error) {
	removed, err := s.execOf(ctx, instanceID, "DELETE FROM webhooks WHERE instance_id = $1", instanceID)
	if err != nil {
		return false, fmt.Errorf("store: delete webhook: %w", err)
	}
	return removed > 0, nil
}

// Webhooks returns the webhooks of instances with their states and the newest events of
// the instances.
func (s *Store) Webhooks(ctx context.Context, instanceIDs []string) ([]webhook.Saved, error) {
	set, err := texts(instanceIDs)
	if err != nil {
		return nil, fmt.Errorf("store: webhooks: %w", err)
	}
	// This is not one transaction, because only the caller changes these webhooks.
	all, err := table.Collect(ctx, s.db.scanner(), s.scanSaved(ctx), "SELECT "+webhookColumns+", "+stateColumns+
		", COALESCE((SELECT MAX(sequence) FROM events WHERE events.instance_id = webhooks.instance_id), 0)"+
		" FROM webhooks WHERE instance_id IN "+s.dialect.inFirst(), set)
	if err != nil {
		return nil, fmt.Errorf("store: webhooks: %w", err)
	}
	blocked, err := table.Collect(ctx, s.db.scanner(), scanBlocked,
		"SELECT "+blockedColumns+" FROM webhook_blocked_chats WHERE instance_id IN "+s.dialect.inFirst(), set)
	if err != nil {
		return nil, fmt.Errorf("store: webhooks: %w", err)
	}
	of := map[string][]backlog.BlockedChat{}
	for _, one := range blocked {
		of[one.instanceID] = append(of[one.instanceID], one.BlockedChat)
	}
	for i := range all {
		all[i].Blocked = of[all[i].Webhook.InstanceID]
	}
	return all, nil
}

func stateArgs(state backlog.State) []any {
	return []any{
		string(state.Status), state.Reason, state.Cursor, state.Failures,
		table.Millis(state.FailingSince), table.Millis(state.NextTry), state.Attempts,
	}
}

// writeState writes the state of a webhook. The result is no row if it does not exist.
func writeState(ctx context.Context, q table.Querier, instanceID string, state backlog.State) (sql.Result, error) {
	return q.ExecContext(ctx, `UPDATE webhooks SET status = $1, reason = $2, cursor = $3, failures = $4,
		failing_since = $5, next_try_at = $6, attempts = CASE WHEN attempts < $7 THEN $7 ELSE attempts END
		WHERE instance_id = $8`, append(stateArgs(state), instanceID)...)
}

func (s *Store) scanWebhook(ctx context.Context) func(row table.Scanner) (webhook.Webhook, error) {
	return func(row table.Scanner) (webhook.Webhook, error) { return s.scanWebhookAnd(ctx, row) }
}

// scanWebhookAnd scans the columns of a configuration, and further columns after them.
func (s *Store) scanWebhookAnd(ctx context.Context, row table.Scanner, others ...any) (webhook.Webhook, error) {
	var hook webhook.Webhook
	var secret, previous string
	var until, createdAt, updatedAt, secretSeal, previousSeal int64
	err := row.Scan(append([]any{
		&hook.InstanceID, &hook.ID, &hook.URL, &secret, &secretSeal, &previous, &previousSeal, &until, &hook.Active, &createdAt, &updatedAt,
	}, others...)...)
	if err != nil {
		return hook, err
	}
	secret, err = s.vault.OpenText(ctx, vault.WebhookSecret(hook.InstanceID), secret, secretSeal)
	if err == nil {
		previous, err = s.vault.OpenText(ctx, vault.WebhookPrevious(hook.InstanceID), previous, previousSeal)
	}
	hook.Secret, hook.PreviousSecret = webhook.Secret(secret), webhook.Secret(previous)
	hook.PreviousSecretUntil, hook.CreatedAt, hook.UpdatedAt = table.Time(until), table.Time(createdAt), table.Time(updatedAt)
	return hook, err
}

func (s *Store) scanSaved(ctx context.Context) func(row table.Scanner) (webhook.Saved, error) {
	return func(row table.Scanner) (webhook.Saved, error) {
		var saved webhook.Saved
		var failingSince, nextTry int64
		state := &saved.State
		var err error
		saved.Webhook, err = s.scanWebhookAnd(ctx, row, &state.Status, &state.Reason, &state.Cursor, &state.Failures,
			&failingSince, &nextTry, &state.Attempts, &saved.Newest)
		state.FailingSince, state.NextTry = table.Time(failingSince), table.Time(nextTry)
		return saved, err
	}
}

type blockedChat struct {
	backlog.BlockedChat

	instanceID string
}

func scanBlocked(row table.Scanner) (blockedChat, error) {
	var b blockedChat
	var since, nextTry int64
	err := row.Scan(&b.instanceID, &b.Chat, &b.Sequence, &b.Through, &b.EventID, &b.Kind, &b.Failures,
		&since, &nextTry, &b.Status, &b.Error)
	b.Since, b.NextTry = table.Time(since), table.Time(nextTry)
	return b, err
}
