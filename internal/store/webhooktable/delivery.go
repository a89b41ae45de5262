// The tables of webhooks: what became of the events.

package webhooktable

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/webhook"
)

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
