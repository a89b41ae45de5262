// The tables of messages that wait to be sent, and of what the pace of an instance depends on.

package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	queuedColumns = "id, instance_id, platform_id, recipient, type, text, quoted_id, payload, file_size, due_at, created_at, position"

	insertQueued = "INSERT INTO queued_messages (" + queuedColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"

	// If the key was taken, its record names another message, and nothing is added.
	insertRequestedQueued = "INSERT INTO queued_messages (" + queuedColumns + ") SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 " +
		"WHERE EXISTS (SELECT 1 FROM idempotency WHERE key_id = $13 AND key = $14 AND message_id = $1)"

	findQueued = "SELECT " + queuedColumns + " FROM queued_messages WHERE instance_id = $1 AND (id = $2 OR platform_id = $2) LIMIT 1"

	sentSince = "SELECT created_at FROM messages WHERE instance_id = $1 AND created_at > $2 AND from_me AND source = 'api' AND status <> 1" +
		" ORDER BY created_at DESC, id DESC LIMIT $3 + 0"
)

// AddQueued adds a message that waits to be sent and, if record is not nil, its idempotency
// record. If the key of the record is taken, nothing is added, and the error is a
// gateway.Conflict; if the instance is gone, a gateway.NotFound.
func (s *Store) AddQueued(ctx context.Context, message queue.Message, record *gateway.Idempotency) error {
	values := []any{
		message.ID, message.InstanceID, message.PlatformID, message.Head().Chat, string(message.Type), message.Text, message.QuotedID,
		table.NotNull(message.Payload), message.FileSize, table.Millis(dueAt(message)), table.Millis(message.CreatedAt), message.Position,
	}
	var added sql.Result // of the record
	err := s.db.record(ctx, message.InstanceID, func(ctx context.Context, r *recorder) error {
		if record == nil {
			_, err := r.ExecContext(ctx, insertQueued, values...)
			return err
		}
		var err error
		if added, err = addIdempotency(ctx, r, *record, message.ID); err != nil {
			return err
		}
		_, err = r.ExecContext(ctx, insertRequestedQueued, append(values, record.KeyID, record.Key)...)
		return err
	})
	taken := false
	if err == nil && record != nil {
		var rows int64
		rows, err = added.RowsAffected()
		taken = rows == 0
	}
	return accepted(err, taken)
}

// QueuedHeads returns what the queue remembers of each message of instances that waits, in the
// order in which they came.
func (s *Store) QueuedHeads(ctx context.Context, instanceIDs []string) ([]queue.Head, error) {
	set, err := table.Texts(instanceIDs)
	if err != nil {
		return nil, fmt.Errorf("store: queued messages: %w", err)
	}
	heads, err := table.Collect(ctx, s.db.Scanner(), func(row table.Scanner) (queue.Head, error) {
		var head queue.Head
		var due, created int64
		err := row.Scan(&head.ID, &head.InstanceID, &head.Chat, &head.FileSize, &due, &created, &head.Position, &head.Tried)
		head.DueAt, head.CreatedAt = scheduled(due, created), table.Time(created)
		return head, err
	}, "SELECT id, instance_id, recipient, file_size, due_at, created_at, position, "+
		"EXISTS (SELECT 1 FROM messages WHERE messages.id = queued_messages.id) FROM queued_messages WHERE instance_id IN "+s.db.In(1)+" ORDER BY position, created_at, id", set)
	if err != nil {
		return nil, fmt.Errorf("store: queued messages: %w", err)
	}
	return heads, nil
}

// AllQueued returns the identifiers of all messages that wait.
func (s *Store) AllQueued(ctx context.Context) ([]string, error) {
	ids, err := table.Collect(ctx, s.db.Scanner(), table.ScanText, "SELECT id FROM queued_messages")
	if err != nil {
		return nil, fmt.Errorf("store: all queued messages: %w", err)
	}
	return ids, nil
}

// FindQueued returns the message that waits under an identifier, its own or the platform's,
// and whether there is one.
func (s *Store) FindQueued(ctx context.Context, instanceID, id string) (queue.Message, bool, error) {
	message, found, err := table.Find(ctx, s.db.Reader(), scanQueued, findQueued, instanceID, id)
	if err != nil {
		return queue.Message{}, false, fmt.Errorf("store: find queued message: %w", err)
	}
	return message, found, nil
}

// ListQueued returns a page of an instance's messages that wait, oldest first.
func (s *Store) ListQueued(ctx context.Context, instanceID string, request gateway.PageRequest) (gateway.Page[queue.Message], error) {
	page, err := table.List(ctx, s.db.Scanner(), scanQueued, request, queuedColumns, "FROM queued_messages WHERE instance_id = $1", instanceID)
	if err != nil {
		return page, fmt.Errorf("store: list queued messages: %w", err)
	}
	return page, nil
}

// RemoveQueued removes messages of an instance that wait. Those that are gone are no error.
func (s *Store) RemoveQueued(ctx context.Context, instanceID string, ids ...string) error {
	set, err := table.Texts(ids)
	if err == nil {
		err = s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
			_, err := r.ExecContext(ctx, s.db.removeQueued(), instanceID, set)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("store: remove queued messages: %w", err)
	}
	return nil
}

func (d dialect) removeQueued() string {
	return "DELETE FROM queued_messages WHERE instance_id = $1 AND id IN " + d.In(2)
}

// SentSince returns when an instance sent its newest messages after a time, those that
// failed left out: oldest first, limit at most.
func (s *Store) SentSince(ctx context.Context, instanceID string, since time.Time, limit int) ([]time.Time, error) {
	times, err := table.Collect(ctx, s.db.Scanner(), scanTime, "SELECT created_at FROM ("+sentSince+") AS newest ORDER BY created_at",
		instanceID, table.Millis(since), limit)
	if err != nil {
		return nil, fmt.Errorf("store: messages sent of late: %w", err)
	}
	return times, nil
}

// NewChatsSince returns the chats that an instance began after a time, oldest first.
func (s *Store) NewChatsSince(ctx context.Context, instanceID string, since time.Time) ([]queue.NewChat, error) {
	chats, err := table.Collect(ctx, s.db.Scanner(), func(row table.Scanner) (queue.NewChat, error) {
		var begun queue.NewChat
		var at int64
		err := row.Scan(&begun.Chat, &at)
		begun.At = table.Time(at)
		return begun, err
	},
		"SELECT chat, began_at FROM new_chats WHERE instance_id = $1 AND began_at > $2 ORDER BY began_at", instanceID, table.Millis(since))
	if err != nil {
		return nil, fmt.Errorf("store: new chats: %w", err)
	}
	return chats, nil
}

// AddNewChat notes that an instance begins a chat, and forgets those from before a time. A
// chat counts once.
func (s *Store) AddNewChat(ctx context.Context, instanceID string, chat gateway.JID, at, forget time.Time) error {
	err := s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		if _, err := r.ExecContext(ctx, "DELETE FROM new_chats WHERE instance_id = $1 AND began_at <= $2", instanceID, table.Millis(forget)); err != nil {
			return err
		}
		_, err := r.ExecContext(ctx, "INSERT INTO new_chats (instance_id, chat, began_at) VALUES ($1, $2, $3) ON CONFLICT (instance_id, chat) DO NOTHING",
			instanceID, string(chat), table.Millis(at))
		return err
	})
	if err != nil {
		return fmt.Errorf("store: add new chat: %w", err)
	}
	return nil
}

func scanTime(row table.Scanner) (time.Time, error) {
	var at int64
	err := row.Scan(&at)
	return table.Time(at), err
}

func scanQueued(row table.Scanner) (queue.Message, error) {
	var message queue.Message
	var recipient string
	var due, createdAt int64
	err := row.Scan(&message.ID, &message.InstanceID, &message.PlatformID, &recipient, &message.Type, &message.Text, &message.QuotedID,
		&message.Payload, &message.FileSize, &due, &createdAt, &message.Position)
	if strings.Contains(recipient, "@") {
		message.To.Chat = gateway.JID(recipient)
	} else {
		message.To.Number = recipient
	}
	message.DueAt, message.CreatedAt = scheduled(due, createdAt), table.Time(createdAt)
	return message, err
}

// dueAt is how a message that is to be sent at once is kept: due when it was created. So nodes of
// an earlier version read it, and what they have written is read.
func dueAt(message queue.Message) time.Time {
	if message.DueAt.IsZero() {
		return message.CreatedAt
	}
	return message.DueAt
}

// scheduled is the time for which a message is scheduled; zero if it is to be sent at once.
func scheduled(due, created int64) time.Time {
	if due <= created {
		return time.Time{}
	}
	return table.Time(due)
}
