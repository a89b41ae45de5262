// The table of idempotency keys.

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

// FindIdempotency returns the record and whether there is one.
func (s *Store) FindIdempotency(ctx context.Context, keyID, key string) (gateway.Idempotency, bool, error) {
	record, found, err := table.Find(ctx, s.db.Reader(), scanIdempotency,
		`SELECT key_id, key, request_hash, instance_id, message_id, failure, created_at FROM idempotency
		WHERE key_id = $1 AND key = $2`, keyID, key)
	if err != nil {
		return gateway.Idempotency{}, false, fmt.Errorf("store: find idempotency record: %w", err)
	}
	return record, found, nil
}

// FailIdempotency stores the error that the request of a record was refused with, so that
// a repeat gets the same answer. A record that is gone is no error.
func (s *Store) FailIdempotency(ctx context.Context, keyID, key string, failure *gateway.Error) error {
	encoded, err := json.Marshal(refusal{
		Kind: failure.Kind, Code: failure.Code, Message: failure.Message,
		Fields: failure.Fields, RetryAfterMs: failure.RetryAfter.Milliseconds(),
	})
	if err != nil {
		return fmt.Errorf("store: fail idempotency record: %w", err)
	}
	if _, err := s.db.ExecHere(ctx, "UPDATE idempotency SET failure = $1 WHERE key_id = $2 AND key = $3",
		string(encoded), keyID, key); err != nil {
		return fmt.Errorf("store: fail idempotency record: %w", err)
	}
	return nil
}

// DeleteIdempotency removes the records from before a time and returns how many there
// were. It uses several transactions, so those before an error remain done.
func (s *Store) DeleteIdempotency(ctx context.Context, before time.Time) (int64, error) {
	removed, err := s.deleteInSlices(ctx, `DELETE FROM idempotency WHERE (key_id, key) IN
		(SELECT key_id, key FROM idempotency WHERE created_at < $1 ORDER BY created_at LIMIT $2 + 0)`, table.Millis(before))
	if err != nil {
		return removed, fmt.Errorf("store: delete idempotency records: %w", err)
	}
	return removed, nil
}

// ForgetIdempotency removes a record from before a time, so that its key can be used
// again. A record that is gone is no error.
func (s *Store) ForgetIdempotency(ctx context.Context, keyID, key string, before time.Time) error {
	_, err := s.db.ExecHere(ctx, "DELETE FROM idempotency WHERE key_id = $1 AND key = $2 AND created_at <= $3", keyID, key, table.Millis(before))
	if err != nil {
		return fmt.Errorf("store: forget idempotency record: %w", err)
	}
	return nil
}

// addIdempotency adds the record of a message. The result is no row if its key is taken.
func addIdempotency(ctx context.Context, q table.Querier, record gateway.Idempotency, messageID string) (sql.Result, error) {
	return q.ExecContext(ctx, `INSERT INTO idempotency
		(key_id, key, request_hash, instance_id, message_id, failure, created_at) VALUES ($1, $2, $3, $4, $5, '', $6)
		ON CONFLICT (key_id, key) DO NOTHING`,
		record.KeyID, record.Key, table.NotNull(record.RequestHash), record.InstanceID, messageID, table.Millis(record.CreatedAt))
}

func scanIdempotency(row table.Scanner) (gateway.Idempotency, error) {
	var record gateway.Idempotency
	var failure string
	var createdAt int64
	err := row.Scan(&record.KeyID, &record.Key, &record.RequestHash, &record.InstanceID, &record.MessageID, &failure, &createdAt)
	if err != nil {
		return record, err
	}
	record.CreatedAt = table.Time(createdAt)
	if failure == "" {
		return record, nil
	}
	var read refusal
	err = json.Unmarshal([]byte(failure), &read)
	record.Failure = &gateway.Error{
		Kind: read.Kind, Code: read.Code, Message: read.Message,
		Fields: read.Fields, RetryAfter: time.Duration(read.RetryAfterMs) * time.Millisecond,
	}
	return record, err
}

// refusal is the error of a record as its column holds it.
type refusal struct {
	Kind         gateway.Kind         `json:"kind"`
	Code         string               `json:"code"`
	Message      string               `json:"message"`
	Fields       []gateway.FieldError `json:"fields,omitempty"`
	RetryAfterMs int64                `json:"retryAfterMs,omitempty"`
}
