// The tables of webhooks: how far they have come.

package store

import (
	"context"
	"database/sql"
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
		ON CONFLICT (instance_id, chat) DO UPDATE SET sequence = excluded.sequence, through = excluded.through,
		event_id = excluded.event_id, kind = excluded.kind, failures = excluded.failures, since = excluded.since,
		next_try_at = excluded.next_try_at, answer_status = excluded.answer_status, error = excluded.error`

	saveDeadLetter = `INSERT INTO webhook_dead_letters
		(instance_id, sequence, event_id, kind, chat, answer_status, error, died_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (instance_id, sequence) DO UPDATE SET
		answer_status = excluded.answer_status, error = excluded.error, died_at = excluded.died_at`

	saveAttempt = `INSERT INTO webhook_attempts
		(instance_id, slot, number, sequence, event_id, kind, chat, attempted_at, duration_ms, answer_status, error, answer)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (instance_id, slot) DO UPDATE SET number = excluded.number, sequence = excluded.sequence,
		event_id = excluded.event_id, kind = excluded.kind, chat = excluded.chat, attempted_at = excluded.attempted_at,
		duration_ms = excluded.duration_ms, answer_status = excluded.answer_status, error = excluded.error,
		answer = excluded.answer`
)

// trimDeadLetters removes the oldest dead letters of a webhook if it has too many.
func trimDeadLetters() string {
	return `DELETE FROM webhook_dead_letters WHERE instance_id = $1 AND sequence <=
		(SELECT sequence FROM webhook_dead_letters WHERE instance_id = $1
		ORDER BY sequence DESC LIMIT 1 OFFSET ` + strconv.Itoa(keptDeadLetters) + ")"
}

// SaveProgress writes the progress of webhooks, each under its own tenure. It skips
// webhooks that are gone. If the tenure of one is over, nothing is written, and the error is
// gateway.ErrTenureOver.
func (s *Store) SaveProgress(ctx context.Context, progress []webhook.Progress) error {
	tenures := make([]gateway.Tenure, 0, len(progress))
	for _, one := range progress {
		if s.fenced && one.Tenure.InstanceID != one.InstanceID {
			return noTenure(one.InstanceID)
		}
		tenures = append(tenures, one.Tenure)
	}
	err := s.db.writeUnder(ctx, tenures, func(ctx context.Context, q table.Querier) error {
		states := make([]sql.Result, len(progress))
		for i, one := range progress {
			var err error
			if states[i], err = writeState(ctx, q, one.InstanceID, one.State); err != nil {
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
		if _, err := q.ExecContext(ctx, "DELETE FROM webhook_dead_letters WHERE instance_id = $1 AND sequence > $2",
			p.InstanceID, *p.RevivedAfter); err != nil {
			return err
		}
	}
	for _, chat := range p.Unblocked {
		if _, err := q.ExecContext(ctx, "DELETE FROM webhook_blocked_chats WHERE instance_id = $1 AND chat = $2",
			p.InstanceID, string(chat)); err != nil {
			return err
		}
	}
	for _, b := range p.Blocked {
		if _, err := q.ExecContext(ctx, saveBlocked, p.InstanceID, string(b.Chat), b.Sequence, b.Through, b.EventID,
			string(b.Kind), b.Failures, table.Millis(b.Since), table.Millis(b.NextTry), b.Status, b.Error); err != nil {
			return err
		}
	}
	for _, d := range p.DeadLetters {
		if _, err := q.ExecContext(ctx, saveDeadLetter, p.InstanceID, d.Sequence, d.EventID, string(d.Kind),
			string(d.Chat), d.Status, d.Error, table.Millis(d.At)); err != nil {
			return err
		}
	}
	if len(p.DeadLetters) > 0 {
		if _, err := q.ExecContext(ctx, trimDeadLetters(), p.InstanceID); err != nil {
			return err
		}
	}
	for _, a := range p.Attempts {
		if _, err := q.ExecContext(ctx, saveAttempt, p.InstanceID, a.Number%keptAttempts, a.Number, a.Sequence, a.EventID,
			string(a.Kind), string(a.Chat), table.Millis(a.At), a.Duration.Milliseconds(), a.Status, a.Error, a.Answer); err != nil {
			return err
		}
	}
	return nil
}
