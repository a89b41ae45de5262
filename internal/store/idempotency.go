// The table of idempotency keys.

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

//nolint:gochecknoglobals // a table that never changes
var idempotencyColumns = table.Of(
	table.Text("key_id", func(i *gateway.Idempotency) *string { return &i.KeyID }),
	table.Text("key", func(i *gateway.Idempotency) *string { return &i.Key }),
	table.Bytes("request_hash", func(i *gateway.Idempotency) *[]byte { return &i.RequestHash }),
	table.Text("instance_id", func(i *gateway.Idempotency) *string { return &i.InstanceID }),
	table.Text("message_id", func(i *gateway.Idempotency) *string { return &i.MessageID }),
	table.Custom("failure", func(*gateway.Idempotency) any { return "" }, func(i *gateway.Idempotency) any { return refused{&i.Failure} }),
	table.Moment("created_at", func(i *gateway.Idempotency) *time.Time { return &i.CreatedAt }),
)

// FindIdempotency returns the record and whether there is one.
func (s *Store) FindIdempotency(ctx context.Context, keyID, key string) (_ gateway.Idempotency, found bool, err error) {
	defer table.Wrap(&err, "find idempotency record")
	return idempotencyColumns.Find(ctx, s.db.Reader(), "FROM idempotency WHERE key_id = $1 AND key = $2", keyID, key)
}

// FailIdempotency stores the error that the request of a record was refused with, so that
// a repeat gets the same answer. A record that is gone is no error.
func (s *Store) FailIdempotency(ctx context.Context, keyID, key string, failure *gateway.Error) (err error) {
	defer table.Wrap(&err, "fail idempotency record")
	encoded, err := json.Marshal(refusal{
		Kind: failure.Kind, Code: failure.Code, Message: failure.Message,
		Fields: failure.Fields, RetryAfterMs: failure.RetryAfter.Milliseconds(),
	})
	if err == nil {
		_, err = s.db.ExecHere(ctx, "UPDATE idempotency SET failure = $1 WHERE key_id = $2 AND key = $3", string(encoded), keyID, key)
	}
	return err
}

// DeleteIdempotency removes the records from before a time and returns how many there
// were. It uses several transactions, so those before an error remain done.
func (s *Store) DeleteIdempotency(ctx context.Context, before time.Time) (_ int64, err error) {
	defer table.Wrap(&err, "delete idempotency records")
	return s.deleteInSlices(ctx, `DELETE FROM idempotency WHERE (key_id, key) IN
		(SELECT key_id, key FROM idempotency WHERE created_at < $1 ORDER BY created_at LIMIT $2 + 0)`, table.Millis(before))
}

// ForgetIdempotency removes a record from before a time, so that its key can be used
// again. A record that is gone is no error.
func (s *Store) ForgetIdempotency(ctx context.Context, keyID, key string, before time.Time) (err error) {
	defer table.Wrap(&err, "forget idempotency record")
	_, err = s.db.ExecHere(ctx, "DELETE FROM idempotency WHERE key_id = $1 AND key = $2 AND created_at <= $3", keyID, key, table.Millis(before))
	return err
}

// addIdempotency adds the record of a message. The result is no row if its key is taken.
func addIdempotency(ctx context.Context, q table.Querier, record gateway.Idempotency, messageID string) (sql.Result, error) {
	record.MessageID = messageID
	return q.ExecContext(ctx, idempotencyColumns.Insert("idempotency")+" ON CONFLICT (key_id, key) DO NOTHING", idempotencyColumns.Values(&record)...)
}

// refused is the error that the request of a record was refused with.
type refused struct{ failure **gateway.Error }

// Scan reads the column, which is empty if there is none.
func (r refused) Scan(source any) error {
	encoded, err := table.Stored(source)
	if err != nil || len(encoded) == 0 {
		return err
	}
	var read refusal
	err = json.Unmarshal(encoded, &read)
	*r.failure = &gateway.Error{
		Kind: read.Kind, Code: read.Code, Message: read.Message,
		Fields: read.Fields, RetryAfter: time.Duration(read.RetryAfterMs) * time.Millisecond,
	}
	return err
}

// refusal is the error of a record as its column holds it.
type refusal struct {
	Kind         gateway.Kind         `json:"kind"`
	Code         string               `json:"code"`
	Message      string               `json:"message"`
	Fields       []gateway.FieldError `json:"fields,omitempty"`
	RetryAfterMs int64                `json:"retryAfterMs,omitempty"`
}
