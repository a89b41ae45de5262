// The tables of webhooks: how far they have come, and what became of the events.

package webhooktable

import (
	"context"
	"strconv"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/webhook"
	"github.com/recado-project/recado/internal/webhook/backlog"
)

// maxAttempts is how many attempts of a webhook are stored, maxDeadLetters how many dead letters.
const (
	maxAttempts    = 100
	maxDeadLetters = 1_000
)

//nolint:gochecknoglobals // tables, and statements that are made of them
var (
	blockedColumns = table.Of(
		table.Text("chat", func(b *backlog.BlockedChat) *gateway.JID { return &b.Chat }),
		table.Number("sequence", func(b *backlog.BlockedChat) *int64 { return &b.Sequence }),
		table.Number("through", func(b *backlog.BlockedChat) *int64 { return &b.Through }),
		table.Text("event_id", func(b *backlog.BlockedChat) *string { return &b.EventID }),
		table.Text("kind", func(b *backlog.BlockedChat) *eventlog.Kind { return &b.Kind }),
		table.Number("failures", func(b *backlog.BlockedChat) *int { return &b.Failures }),
		table.Moment("since", func(b *backlog.BlockedChat) *time.Time { return &b.Since }),
		table.Moment("next_try_at", func(b *backlog.BlockedChat) *time.Time { return &b.NextTry }),
		table.Number("answer_status", func(b *backlog.BlockedChat) *int { return &b.Status }),
		table.Text("error", func(b *backlog.BlockedChat) *string { return &b.Error }),
	)
	saveBlocked = blockedColumns.Insert("webhook_blocked_chats", "webhook_id") +
		" ON CONFLICT (webhook_id, chat) DO UPDATE SET " + blockedColumns.Without("chat").Excluded()

	deadLetterColumns = table.Of(
		table.Number("sequence", func(d *backlog.DeadLetter) *int64 { return &d.Sequence }),
		table.Text("event_id", func(d *backlog.DeadLetter) *string { return &d.EventID }),
		table.Text("kind", func(d *backlog.DeadLetter) *eventlog.Kind { return &d.Kind }),
		table.Text("chat", func(d *backlog.DeadLetter) *gateway.JID { return &d.Chat }),
		table.Number("answer_status", func(d *backlog.DeadLetter) *int { return &d.Status }),
		table.Text("error", func(d *backlog.DeadLetter) *string { return &d.Error }),
		table.Moment("died_at", func(d *backlog.DeadLetter) *time.Time { return &d.At }),
	)
	saveDeadLetter = deadLetterColumns.Insert("webhook_dead_letters", "webhook_id") +
		" ON CONFLICT (webhook_id, sequence) DO UPDATE SET " + deadLetterColumns.Only("answer_status", "error", "died_at").Excluded()

	// The oldest dead letters are removed if there are too many.
	trimDeadLetters = "DELETE FROM webhook_dead_letters WHERE webhook_id = $1 AND sequence <= (SELECT sequence FROM webhook_dead_letters" +
		" WHERE webhook_id = $1 ORDER BY sequence DESC LIMIT 1 OFFSET " + strconv.Itoa(maxDeadLetters) + ")"

	attemptColumns = table.Of(
		table.Number("number", func(a *webhook.Attempt) *int64 { return &a.Number }),
		table.Number("sequence", func(a *webhook.Attempt) *int64 { return &a.Sequence }),
		table.Text("event_id", func(a *webhook.Attempt) *string { return &a.EventID }),
		table.Text("kind", func(a *webhook.Attempt) *eventlog.Kind { return &a.Kind }),
		table.Text("chat", func(a *webhook.Attempt) *gateway.JID { return &a.Chat }),
		table.Moment("attempted_at", func(a *webhook.Attempt) *time.Time { return &a.At }),
		table.Span("duration_ms", time.Millisecond, func(a *webhook.Attempt) *time.Duration { return &a.Duration }),
		table.Number("answer_status", func(a *webhook.Attempt) *int { return &a.Status }),
		table.Text("error", func(a *webhook.Attempt) *string { return &a.Error }),
		table.Text("answer", func(a *webhook.Attempt) *string { return &a.Answer }),
	)
	saveAttempt = attemptColumns.Insert("webhook_attempts", "webhook_id", "slot") +
		" ON CONFLICT (webhook_id, slot) DO UPDATE SET " + attemptColumns.Excluded()
)

// SaveProgress writes the progress of webhooks, each under its own tenure. It skips
// webhooks that are gone. If the tenure of one is over, nothing is written, and the error is
// gateway.ErrTenureOver.
func (t *Tables) SaveProgress(ctx context.Context, progress []webhook.Progress) (err error) {
	defer table.Wrap(&err, "save progress of webhooks")
	tenures, instanceIDs := make([]gateway.Tenure, 0, len(progress)), make([]string, 0, len(progress))
	for _, one := range progress {
		tenures, instanceIDs = append(tenures, one.Tenure), append(instanceIDs, one.InstanceID)
	}
	return t.db.WriteUnder(ctx, tenures, instanceIDs, func(ctx context.Context, q table.Querier) error {
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
	for _, blocked := range p.Blocked {
		if _, err := q.ExecContext(ctx, saveBlocked, blockedColumns.Values(&blocked, p.ID)...); err != nil {
			return err
		}
	}
	for _, dead := range p.DeadLetters {
		if _, err := q.ExecContext(ctx, saveDeadLetter, deadLetterColumns.Values(&dead, p.ID)...); err != nil {
			return err
		}
	}
	if len(p.DeadLetters) > 0 {
		if _, err := q.ExecContext(ctx, trimDeadLetters, p.ID); err != nil {
			return err
		}
	}
	for _, attempt := range p.Attempts {
		if _, err := q.ExecContext(ctx, saveAttempt, attemptColumns.Values(&attempt, p.ID, attempt.Number%maxAttempts)...); err != nil {
			return err
		}
	}
	return nil
}

const (
	countDeliveries = `SELECT (SELECT count(*) FROM webhook_blocked_chats WHERE webhook_id = $1)
		+ (SELECT count(*) FROM webhook_dead_letters WHERE webhook_id = $1)
		+ (SELECT count(*) FROM webhook_attempts WHERE webhook_id = $1)`

	// A limit that is a bare parameter makes SQLite plan anew each time.
	listDeliveries = `SELECT part, sequence, event_id, kind, chat, at, answer_status, error, duration_ms, answer, failures, next_try_at
		FROM (SELECT 1 AS part, since AS rank, sequence, event_id, kind, chat, since AS at, answer_status, error,
			0 AS duration_ms, '' AS answer, failures, next_try_at FROM webhook_blocked_chats WHERE webhook_id = $1
		UNION ALL SELECT 2, died_at, sequence, event_id, kind, chat, died_at, answer_status, error,
			0, '', 0, 0 FROM webhook_dead_letters WHERE webhook_id = $1
		UNION ALL SELECT 3, number, sequence, event_id, kind, chat, attempted_at, answer_status, error,
			duration_ms, answer, 0, 0 FROM webhook_attempts WHERE webhook_id = $1) AS deliveries
		ORDER BY part, rank DESC, sequence DESC LIMIT $2 + 0 OFFSET $3`
)

// ListDeliveries returns a page of the deliveries of a webhook: the blocked
// chats, the dead letters or the recent attempts, newest first.
func (t *Tables) ListDeliveries(
	ctx context.Context, ref webhook.Ref, request gateway.PageRequest,
) (page gateway.Page[webhook.Delivery], err error) {
	defer table.Wrap(&err, "list deliveries")
	page.Items, err = table.Collect(ctx, t.db.Scanner(), scanDelivery, listDeliveries, ref.ID, request.Limit, request.Offset())
	if err == nil {
		err = t.db.Scanner().QueryRowContext(ctx, countDeliveries, ref.ID).Scan(&page.Total)
	}
	return page, err
}

func scanDelivery(row table.Scanner) (webhook.Delivery, error) {
	var d webhook.Delivery
	var part int
	var duration int64
	err := row.Scan(&part, &d.Sequence, &d.EventID, &d.Kind, &d.Chat, table.IntoTime(&d.At), &d.Status, &d.Error,
		&duration, &d.Answer, &d.Failures, table.IntoTime(&d.NextTry))
	switch {
	case part == 1:
		d.State = webhook.DeliveryBlocked
	case part == 2:
		d.State = webhook.DeliveryDeadLetter
	case d.Error == "":
		d.State = webhook.DeliveryDone
	default:
		d.State = webhook.DeliveryFailed
	}
	d.Duration = time.Duration(duration) * time.Millisecond
	return d, err
}

// DeleteDeadLetter removes the dead letter of an event. One that is not there is no error.
func (t *Tables) DeleteDeadLetter(ctx context.Context, ref webhook.Ref, sequence int64) (err error) {
	defer table.Wrap(&err, "delete dead letter")
	_, err = t.db.ExecOf(ctx, ref.InstanceID, "DELETE FROM webhook_dead_letters WHERE webhook_id = $1 AND sequence = $2", ref.ID, sequence)
	return err
}
