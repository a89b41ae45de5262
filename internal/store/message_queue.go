// The tables of messages that wait to be sent, and of what the pace of an instance depends on.

package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/table"
)

// queuedRow is a message that waits, as its row has it.
type queuedRow struct {
	message   queue.Message
	recipient string
	due       time.Time
}

//nolint:gochecknoglobals // a table, and statements that are made of it
var (
	queuedColumns = table.Of(
		table.Text("id", func(r *queuedRow) *string { return &r.message.ID }),
		table.Text("instance_id", func(r *queuedRow) *string { return &r.message.InstanceID }),
		table.Text("platform_id", func(r *queuedRow) *string { return &r.message.PlatformID }),
		table.Text("recipient", func(r *queuedRow) *string { return &r.recipient }),
		table.Text("type", func(r *queuedRow) *gateway.MessageType { return &r.message.Type }),
		table.Text("text", func(r *queuedRow) *string { return &r.message.Text }),
		table.Text("quoted_id", func(r *queuedRow) *string { return &r.message.QuotedID }),
		table.Bytes("payload", func(r *queuedRow) *[]byte { return &r.message.Payload }),
		table.Custom("menu", func(r *queuedRow) any { return chattable.MenuText(r.message.Menu) }, func(r *queuedRow) any { return (*chattable.MenuColumn)(&r.message.Menu) }),
		table.TextOrNull("client_data", func(r *queuedRow) *string { return &r.message.ClientData }),
		table.Number("file_size", func(r *queuedRow) *int64 { return &r.message.FileSize }),
		table.Moment("due_at", func(r *queuedRow) *time.Time { return &r.due }),
		table.Moment("created_at", func(r *queuedRow) *time.Time { return &r.message.CreatedAt }),
		table.Number("position", func(r *queuedRow) *int64 { return &r.message.Position }),
	)

	// If the key was taken, its record names another message, and nothing is added.
	insertRequestedQueued = queuedColumns.InsertIf("queued_messages", "EXISTS (SELECT 1 FROM idempotency WHERE key_id = "+queuedColumns.Next(1)+
		" AND key = "+queuedColumns.Next(2)+" AND message_id = "+queuedColumns.Parameter("id")+")")
)

const (
	findQueued = "FROM queued_messages WHERE instance_id = $1 AND (id = $2 OR platform_id = $2) LIMIT 1"

	sentSince = "SELECT created_at FROM messages WHERE instance_id = $1 AND created_at > $2 AND from_me AND source = 'api' AND status <> 1" +
		" ORDER BY created_at DESC, id DESC LIMIT $3 + 0"
)

// AddQueued adds a message that waits to be sent and, if record is not nil, its idempotency
// record. If the key of the record is taken, nothing is added, and the error is a
// gateway.Conflict; if the instance is gone, a gateway.NotFound.
func (s *Store) AddQueued(ctx context.Context, message queue.Message, record *gateway.Idempotency) error {
	row := queuedRow{message: message, recipient: message.Head().Chat, due: dueAt(message)}
	var added sql.Result // of the record
	err := s.db.record(ctx, message.InstanceID, func(ctx context.Context, r *recorder) error {
		if record == nil {
			_, err := r.ExecContext(ctx, queuedColumns.Insert("queued_messages"), queuedColumns.Values(&row)...)
			return err
		}
		var err error
		if added, err = addIdempotency(ctx, r, *record, message.ID); err != nil {
			return err
		}
		_, err = r.ExecContext(ctx, insertRequestedQueued, queuedColumns.Values(&row, record.KeyID, record.Key)...)
		return err
	})
	return accepted(err, record, added)
}

// QueuedHeads returns what the queue remembers of each message of instances that waits, in the
// order in which they came.
func (s *Store) QueuedHeads(ctx context.Context, instanceIDs []string) (_ []queue.Head, err error) {
	defer table.Wrap(&err, "queued messages")
	return table.Collect(ctx, s.db.Scanner(), func(row table.Scanner) (head queue.Head, err error) {
		var due time.Time
		err = row.Scan(&head.ID, &head.InstanceID, &head.Chat, &head.FileSize, table.IntoTime(&due), table.IntoTime(&head.CreatedAt), &head.Position, &head.Tried)
		head.DueAt = scheduled(due, head.CreatedAt)
		return head, err
	}, "SELECT id, instance_id, recipient, file_size, due_at, created_at, position, "+
		"EXISTS (SELECT 1 FROM messages WHERE messages.id = queued_messages.id) FROM queued_messages WHERE instance_id IN "+s.db.In(1)+" ORDER BY position, created_at, id", table.Texts(instanceIDs))
}

// AllQueued returns the identifiers of all messages that wait.
func (s *Store) AllQueued(ctx context.Context) (_ []string, err error) {
	defer table.Wrap(&err, "all queued messages")
	return table.Collect(ctx, s.db.Scanner(), table.Value[string], "SELECT id FROM queued_messages")
}

// FindQueued returns the message that waits under an identifier, its own or the platform's,
// and whether there is one.
func (s *Store) FindQueued(ctx context.Context, instanceID, id string) (_ queue.Message, found bool, err error) {
	defer table.Wrap(&err, "find queued message")
	return table.Find(ctx, s.db.Reader(), scanQueued, "SELECT "+queuedColumns.Names+" "+findQueued, instanceID, id)
}

// ListQueued returns a page of an instance's messages that wait, oldest first.
func (s *Store) ListQueued(ctx context.Context, instanceID string, request gateway.PageRequest) (_ gateway.Page[queue.Message], err error) {
	defer table.Wrap(&err, "list queued messages")
	return table.List(ctx, s.db.Scanner(), scanQueued, request, queuedColumns.Names, "FROM queued_messages WHERE instance_id = $1", instanceID)
}

// RemoveQueued removes messages of an instance that wait. Those that are gone are no error.
func (s *Store) RemoveQueued(ctx context.Context, instanceID string, ids ...string) (err error) {
	defer table.Wrap(&err, "remove queued messages")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		_, err := r.ExecContext(ctx, "DELETE FROM queued_messages WHERE instance_id = $1 AND id IN "+s.db.In(2), instanceID, table.Texts(ids))
		return err
	})
}

// SentSince returns when an instance sent its newest messages after a time, those that
// failed left out: oldest first, limit at most.
func (s *Store) SentSince(ctx context.Context, instanceID string, since time.Time, limit int) (_ []time.Time, err error) {
	defer table.Wrap(&err, "messages sent of late")
	return table.Collect(ctx, s.db.Scanner(), table.ScanTime, "SELECT created_at FROM ("+sentSince+") AS newest ORDER BY created_at",
		instanceID, table.Millis(since), limit)
}

// NewChatsSince returns the chats that an instance began after a time, oldest first.
func (s *Store) NewChatsSince(ctx context.Context, instanceID string, since time.Time) (_ []queue.NewChat, err error) {
	defer table.Wrap(&err, "new chats")
	return table.Collect(ctx, s.db.Scanner(), table.Into(func(c *queue.NewChat) []any { return []any{&c.Chat, table.IntoTime(&c.At)} }),
		"SELECT chat, began_at FROM new_chats WHERE instance_id = $1 AND began_at > $2 ORDER BY began_at", instanceID, table.Millis(since))
}

// AddNewChat notes that an instance begins a chat, and forgets those from before a time. A
// chat counts once.
func (s *Store) AddNewChat(ctx context.Context, instanceID string, chat gateway.JID, at, forget time.Time) (err error) {
	defer table.Wrap(&err, "add new chat")
	return s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		if _, err := r.ExecContext(ctx, "DELETE FROM new_chats WHERE instance_id = $1 AND began_at <= $2", instanceID, table.Millis(forget)); err != nil {
			return err
		}
		_, err := r.ExecContext(ctx, "INSERT INTO new_chats (instance_id, chat, began_at) VALUES ($1, $2, $3) ON CONFLICT (instance_id, chat) DO NOTHING",
			instanceID, string(chat), table.Millis(at))
		return err
	})
}

func scanQueued(from table.Scanner) (queue.Message, error) {
	row, err := queuedColumns.Scan(from)
	message := row.message
	if strings.Contains(row.recipient, "@") {
		message.To.Chat = gateway.JID(row.recipient)
	} else {
		message.To.Number = row.recipient
	}
	message.DueAt = scheduled(row.due, message.CreatedAt)
	return message, err
}

// dueAt is when a message is due as its row has it: one that is to be sent at once is due when it was
// created, as nodes of an earlier version write and read it.
func dueAt(message queue.Message) time.Time {
	if message.DueAt.IsZero() {
		return message.CreatedAt
	}
	return message.DueAt
}

// scheduled is the time for which a message is scheduled; zero if it is to be sent at once.
func scheduled(due, created time.Time) time.Time {
	if !due.After(created) {
		return time.Time{}
	}
	return due
}
