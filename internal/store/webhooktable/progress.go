// The tables of webhooks: how far they have come.

package webhooktable

import (
	"context"
	"fmt"
	"strconv"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/webhook"
)

const (
	// keptAttempts is how many attempts of a webhook are kept, and
	// keptDeadLetters how many dead letters.
	keptAttempts    = 100
	keptDeadLetters = 1_000

	saveBlocked = "INSERT INTO webhook_blocked_chats (" + blockedColumns +
		`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (webhook_id, chat) DO UPDATE SET sequence = excluded.sequence, through = excluded.through,
		event_id = excluded.event_id, kind = excluded.kind, failures = excluded.failures, since = excluded.since,
		next_try_at = excluded.next_try_at, answer_status = excluded.answer_status, error = excluded.error`

	saveDeadLetter = `INSERT INTO webhook_dead_letters
		(webhook_id, sequence, event_id, kind, chat, answer_status, error, died_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (webhook_id, sequence) DO UPDATE SET
		answer_status = excluded.answer_status, error = excluded.error, died_at = excluded.died_at`

	saveAttempt = `INSERT INTO webhook_attempts
		(webhook_id, slot, number, sequence, event_id, kind, chat, attempted_at, duration_ms, answer_status, error, answer)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (webhook_id, slot) DO UPDATE SET number = excluded.number, sequence = excluded.sequence,
		event_id = excluded.event_id, kind = excluded.kind, chat = excluded.chat, attempted_at = excluded.attempted_at,
		duration_ms = excluded.duration_ms, answer_status = excluded.answer_status, error = excluded.error,
		answer = excluded.answer`
)

// trimDeadLetters removes the oldest dead letters of a webhook if it has too many.
func trimDeadLetters() string {
	return `DELETE FROM webhook_dead_letters WHERE webhook_id = $1 AND sequence <=
		(SELECT sequence FROM webhook_dead_letters WHERE webhook_id = $1
		ORDER BY sequence DESC LIMIT 1 OFFSET ` + strconv.Itoa(keptDeadLetters) + ")"
}

// SaveProgress writes the progress of webhooks, each under its own tenure. It skips
// webhooks that are gone. If the tenure of one is over, nothing is written, and the error is
// gateway.ErrTenureOver.
func (t *Tables) SaveProgress(ctx context.Context, progress []webhook.Progress) error {
	tenures, instanceIDs := make([]gateway.Tenure, 0, len(progress)), make([]string, 0, len(progress))
	for _, one := range progress {
		tenures, instanceIDs = append(tenures, one.Tenure), append(instanceIDs, one.InstanceID)
	}
	err := t.db.WriteUnder(ctx, tenures, instanceIDs, func(ctx context.Context, q table.Querier) error {
		states := make([]affected, len(progress))
		for i, one := range progress {
			var err error
			if states[i], err = writeState(ctx, q, one.ID, one.State); err != nil {
				return err
			}
		}
		for i, one := range progress {
			there, err := states[i].RowsAffected()
			if err == nil && there > 0 {
				err = saveProgress(ctx, q, one)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store: save progress of webhooks: %w", err)
	}
	return nil
}

// saveProgress writes the progress of a webhook that exists, without its state.
func saveProgress(ctx context.Context, q table.Querier, p webhook.Progress) error {
	if p.RevivedAfter != nil {
		if _, err := q.ExecContext(ctx, "DELETE FROM webhook_dead_letters WHERE webhook_id = $1 AND sequence > $2",
			p.ID, *p.RevivedAfter); err != nil {
			return err
		}
	}
	for _, chat := range p.Unblocked {
		if _, err := q.ExecContext(ctx, "DELETE FROM webhook_blocked_chats WHERE webhook_id = $1 AND chat = $2",
			p.ID, string(chat)); err != nil {
			return err
		}
	}
	for _, b := range p.Blocked {
		if _, err := q.ExecContext(ctx, saveBlocked, p.ID, string(b.Chat), b.Sequence, b.Through, b.EventID,
			string(b.Kind), b.Failures, table.Millis(b.Since), table.Millis(b.NextTry), b.Status, b.Error); err != nil {
			return err
		}
	}
	for _, d := range p.DeadLetters {
		if _, err := q.ExecContext(ctx, saveDeadLetter, p.ID, d.Sequence, d.EventID, string(d.Kind),
			string(d.Chat), d.Status, d.Error, table.Millis(d.At)); err != nil {
			return err
		}
	}
	if len(p.DeadLetters) > 0 {
		if _, err := q.ExecContext(ctx, trimDeadLetters(), p.ID); err != nil {
			return err
		}
	}
	for _, a := range p.Attempts {
		if _, err := q.ExecContext(ctx, saveAttempt, p.ID, a.Number%keptAttempts, a.Number, a.Sequence, a.EventID,
			string(a.Kind), string(a.Chat), table.Millis(a.At), a.Duration.Milliseconds(), a.Status, a.Error, a.Answer); err != nil {
			return err
		}
	}
	return nil
}
