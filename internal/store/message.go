// The table of messages: how they are added and found.

package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	messageColumns = "id, instance_id, platform_id, chat_jid, chat_lid, chat_name, sender_jid, sender_lid, sender_name, " +
		"from_me, source, type, text, quoted_id, status, status_at, sent_at, payload, wire_key, created_at, edited_at, deleted_at"

	insertMessage = "INSERT INTO messages (" + messageColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, " +
		"$10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)"

	// Messages with one wire key have one platform identifier, so they are found by the
	// index of those. Writes of one instance come one after another, and only this one adds
	// messages with a wire key.
	insertNewMessage = "INSERT INTO messages (" + messageColumns + ") SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, " +
		"$10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22 " +
		"WHERE NOT EXISTS (SELECT 1 FROM messages WHERE instance_id = $2 AND platform_id = $3 AND wire_key = $19)"

	// If the key was taken, its record names another message, and nothing is added.
	insertRequestedMessage = "INSERT INTO messages (" + messageColumns + ") SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, " +
		"$10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22 " +
		"WHERE EXISTS (SELECT 1 FROM idempotency WHERE key_id = $23 AND key = $24 AND message_id = $1)"

	// The inner queries have no ORDER BY: with it SQLite prefers the index of the
	// order, and reads every message of the instance.
	findMessages = "SELECT " + messageColumns + " FROM messages WHERE id IN (" +
		"SELECT id FROM messages WHERE instance_id = $1 AND platform_id = $2 UNION ALL " +
		"SELECT id FROM messages WHERE id = $2 AND instance_id = $1) ORDER BY created_at, id LIMIT 10"

	beforePosition = " FROM messages WHERE instance_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC"

	// It leaves out the text and the payload, because of which SQLite would read long rows
	// from several pages.
	newestMessages = "SELECT id, chat_jid, chat_lid, chat_name, sender_name, from_me, created_at" + beforePosition + " LIMIT $4 + 0"

	newestOfChat = "SELECT " + messageColumns + " FROM messages WHERE id IN (SELECT id FROM (" +
		"SELECT id, chat_jid, chat_lid, created_at" + beforePosition + " LIMIT $4 + 0) AS newest" +
		" WHERE chat_jid IN ($5, $6) OR chat_lid IN ($5, $6) ORDER BY created_at DESC, id DESC LIMIT $7 + 0)" +
		" ORDER BY created_at DESC, id DESC"

	// The newest of a chat is near the end of the order in most cases.
	chatKnown = "SELECT id FROM messages WHERE instance_id = $1 AND (chat_jid IN ($2, $3) OR chat_lid IN ($2, $3))" +
		" AND (status > 1 OR NOT from_me) ORDER BY created_at DESC, id DESC LIMIT 1"

	// What did not reach the platform does not count, nor does what is from before the link.
	countTraffic = "SELECT created_at / 3600000 * 3600000, SUM(CASE WHEN from_me THEN 0 ELSE 1 END), SUM(CASE WHEN from_me THEN 1 ELSE 0 END)" +
		" FROM messages WHERE instance_id = $1 AND created_at >= $2 AND created_at < $3 AND status > 1" +
		" AND (source = 'api' OR wire_key IS NOT NULL) GROUP BY 1 ORDER BY 1"

	// The same do not count here. A group is no correspondence with one person.
	listCorrespondence = "SELECT chat_jid, chat_lid, SUM(CASE WHEN from_me AND status > 1 THEN 1 ELSE 0 END)," +
		" COALESCE(MIN(CASE WHEN from_me AND status > 1 THEN sent_at END), 0), COALESCE(MAX(CASE WHEN from_me THEN 0 ELSE sent_at END), 0)" +
		" FROM messages WHERE instance_id = $1 AND created_at >= $2 AND (source = 'api' OR wire_key IS NOT NULL)" +
		" AND chat_jid NOT LIKE '%@g.us' GROUP BY chat_jid, chat_lid"

	endOfWindow = "SELECT created_at, id" + beforePosition + " LIMIT 1 OFFSET $4"
)

// AddMessage adds a message with the events that it causes, and reports whether
// it is new. If a message with the same wire key and platform identifier exists, that one
// stays as it is, and nothing is added. The changes of keys that the context has
// (gateway.WithDeviceKeys) are written in any case. It returns a gateway.NotFound if the
// instance is gone.
func (s *Store) AddMessage(ctx context.Context, message gateway.Message, events ...eventlog.Event) (added bool, err error) {
	changes := gateway.DeviceKeysOf(ctx)
	var result sql.Result
	err = s.record(ctx, message.InstanceID, func(ctx context.Context, r *recorder) error {
		if changes != nil {
			if err := s.WriteDeviceKeysIn(ctx, r, changes); err != nil {
				return err
			}
			r.committed = changes.Written
		}
		r.recent.Touched(message.PlatformID)
		var err error
		if result, err = r.ExecContext(ctx, insertNewMessage, messageValues(message)...); err != nil {
			return err
		}
		return r.appendWith(ctx, message.ID, result, events...)
	})
	if sqlerror.IsOrphan(err) {
		return false, instanceNotFound()
	}
	if err != nil {
		return false, fmt.Errorf("store: add message: %w", err)
	}
	changed, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("store: add message: %w", err)
	}
	return changed > 0, nil
}

// AddHistory adds messages from before an instance was linked. A message whose platform
// identifier is known stays as it is. It returns a gateway.NotFound if the instance is
// gone.
func (s *Store) AddHistory(ctx context.Context, instanceID string, messages []gateway.Message) error {
	err := s.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		for _, message := range messages {
			var known int
			if err := r.QueryRowContext(ctx, "SELECT count(*) FROM messages WHERE instance_id = $1 AND platform_id = $2",
				instanceID, message.PlatformID).Scan(&known); err != nil {
				return err
			}
			if known > 0 {
				continue // so it has no namesake, and what is remembered stays right
			}
			if _, err := r.ExecContext(ctx, insertMessage, messageValues(message)...); err != nil {
				return err
			}
		}
		return nil
	})
	if sqlerror.IsOrphan(err) {
		return instanceNotFound()
	}
	if err != nil {
		return fmt.Errorf("store: add history: %w", err)
	}
	return nil
}

// AcceptMessage begins to add a message that is about to be sent and, if record is not
// nil, its idempotency record. No message of the instance has its platform identifier,
// because that is random. It shares the commit with whatever else the send writes
// before it leaves. kept waits for that commit; it may be called more than once. If the
// key of the record is taken, nothing is added, and kept returns a gateway.Conflict; if
// the instance is gone, a gateway.NotFound.
func (s *Store) AcceptMessage(ctx context.Context, message gateway.Message, record *gateway.Idempotency) (kept func() error) {
	var added sql.Result // of the record
	pending := s.beginRecord(ctx, message.InstanceID, func(ctx context.Context, r *recorder) error {
		if record == nil {
			r.recent.Wrote(asRead(message))
			_, err := r.ExecContext(ctx, insertMessage, messageValues(message)...)
			return err
		}
		var err error
		if added, err = addIdempotency(ctx, r, *record, message.ID); err != nil {
			return err
		}
		// Asked before the commit, the result would cost a round trip.
		r.recent.WroteIf(asRead(message), func() bool {
			rows, err := added.RowsAffected()
			return err == nil && rows > 0
		})
		_, err = r.ExecContext(ctx, insertRequestedMessage, append(messageValues(message), record.KeyID, record.Key)...)
		return err
	})
	return func() error {
		err := pending.Wait()
		taken := false
		if err == nil && record != nil {
			var rows int64
			rows, err = added.RowsAffected()
			taken = rows == 0
		}
		return accepted(err, taken)
	}
}

// accepted is the answer to a message that was to be added. taken says that the key of its
// idempotency record was.
func accepted(err error, taken bool) error {
	switch {
	case sqlerror.IsOrphan(err):
		return instanceNotFound()
	case err != nil:
		return fmt.Errorf("store: accept message: %w", err)
	case taken:
		return gateway.Errorf(gateway.Conflict, gateway.CodeIdempotencyConflict,
			"another request with this Idempotency-Key came first")
	}
	return nil
}

// FindMessages returns the messages of the instance whose platform identifier or internal
// identifier is id: oldest first, ten at most. The platform's identifiers are unique in a
// chat, and hardly ever occur in two chats.
func (s *Store) FindMessages(ctx context.Context, instanceID, id string) ([]gateway.Message, error) {
	messages, err := table.Collect(ctx, s.db.reader(), scanMessage, findMessages, instanceID, id)
	if err != nil {
		return nil, fmt.Errorf("store: find messages: %w", err)
	}
	return messages, nil
}

// ListMessages returns a page of the instance's messages, oldest first: of one
// chat, given by either of its addresses, or of all chats if chat is empty.
func (s *Store) ListMessages(
	ctx context.Context, instanceID string, chat gateway.JID, request gateway.PageRequest,
) (gateway.Page[gateway.Message], error) {
	from, args := "FROM messages WHERE instance_id = $1", []any{instanceID}
	if chat != "" {
		from += " AND (chat_jid = $2 OR chat_lid = $2)"
		args = append(args, string(chat))
	}
	page, err := table.List(ctx, s.db.scanner(), scanMessage, request, messageColumns, from, args...)
	if err != nil {
		return page, fmt.Errorf("store: list messages: %w", err)
	}
	return page, nil
}

// NewestMessages returns the messages of an instance that were stored before a position,
// newest first, limit at most. They have their identifiers, the chat, the sender's name, and
// when they were stored; the rest is not read.
func (s *Store) NewestMessages(
	ctx context.Context, instanceID string, before gateway.Position, limit int,
) ([]gateway.Message, error) {
	at, id := positionValues(before)
	messages, err := table.Collect(ctx, s.db.scanner(), scanMessageHead, newestMessages, instanceID, at, id, limit)
	if err != nil {
		return nil, fmt.Errorf("store: newest messages: %w", err)
	}
	return messages, nil
}

// NewestOfChat looks through the messages of an instance that were stored before a
// position, window at most, and returns those of the chat, which is known by either of its
// addresses: newest first, limit at most. If it returns fewer, end is the position where
// the search can go on; the zero position if there are no more messages.
func (s *Store) NewestOfChat(
	ctx context.Context, instanceID string, chat gateway.Party, before gateway.Position, window, limit int,
) (messages []gateway.Message, end gateway.Position, err error) {
	at, id := positionValues(before)
	messages, err = table.Collect(ctx, s.db.scanner(), scanMessage, newestOfChat,
		instanceID, at, id, window, string(chat.Address()), string(chat.Key()), limit)
	if err != nil {
		return nil, end, fmt.Errorf("store: newest messages of a chat: %w", err)
	}
	if len(messages) == limit {
		return messages, end, nil
	}
	end, _, err = table.Find(ctx, s.db.scanner(), scanPosition, endOfWindow, instanceID, at, id, window-1)
	if err != nil {
		return nil, end, fmt.Errorf("store: end of the newest messages: %w", err)
	}
	return messages, end, nil
}

// ChatKnown reports whether the instance has a message of the chat, which is known by
// either of its addresses: one that was received, or one that the platform has taken. It
// may read every message of the instance.
func (s *Store) ChatKnown(ctx context.Context, instanceID string, chat gateway.Party) (bool, error) {
	_, known, err := table.Find(ctx, s.db.scanner(), table.ScanText, chatKnown, instanceID, string(chat.Address()), string(chat.Key()))
	if err != nil {
		return false, fmt.Errorf("store: look for a chat: %w", err)
	}
	return known, nil
}

// MessagesByID returns the messages of the instance with the internal identifiers, oldest
// first.
func (s *Store) MessagesByID(ctx context.Context, instanceID string, ids []string) ([]gateway.Message, error) {
	set, err := texts(ids)
	if err != nil {
		return nil, fmt.Errorf("store: messages by their ids: %w", err)
	}
	messages, err := table.Collect(ctx, s.db.reader(), scanMessage, s.dialect.messagesByID(), instanceID, set)
	if err != nil {
		return nil, fmt.Errorf("store: messages by their ids: %w", err)
	}
	return messages, nil
}

// messagesByID compares an expression with the instance. With the column SQLite would read
// the index of the instance whole.
func (d dialect) messagesByID() string {
	return "SELECT " + messageColumns + " FROM messages WHERE instance_id || '' = $1 AND id IN " + d.in() + " ORDER BY created_at, id"
}

// CountTraffic counts the messages of an instance that it received and sent from one time
// until another, in each hour in which there are any, in order. Messages from before the link
// do not count, nor do those that are on their way or have failed.
func (s *Store) CountTraffic(ctx context.Context, instanceID string, from, until time.Time) ([]gateway.Traffic, error) {
	traffic, err := table.Collect(ctx, s.db.scanner(), func(row table.Scanner) (gateway.Traffic, error) {
		var t gateway.Traffic
		var hour int64
		err := row.Scan(&hour, &t.Received, &t.Sent)
		t.Hour = table.Time(hour)
		return t, err
	}, countTraffic, instanceID, table.Millis(from), table.Millis(until))
	if err != nil {
		return nil, fmt.Errorf("store: count messages: %w", err)
	}
	return traffic, nil
}

// ListCorrespondence sums up the messages of an instance with people that were stored since
// a time, one entry for each pair of addresses. It does not count what CountTraffic does not.
func (s *Store) ListCorrespondence(ctx context.Context, instanceID string, since time.Time) ([]gateway.Correspondence, error) {
	all, err := table.Collect(ctx, s.db.scanner(), func(row table.Scanner) (gateway.Correspondence, error) {
		var c gateway.Correspondence
		var written, received int64
		err := row.Scan(&c.Chat.JID, &c.Chat.LID, &c.Written, &written, &received)
		c.FirstWritten, c.LastReceived = table.Time(written), table.Time(received)
		return c, err
	}, listCorrespondence, instanceID, table.Millis(since))
	if err != nil {
		return nil, fmt.Errorf("store: list correspondence: %w", err)
	}
	return all, nil
}

// positionValues are a position as the columns of messages hold it.
func positionValues(p gateway.Position) (at int64, id string) {
	if p == (gateway.Position{}) {
		return math.MaxInt64, ""
	}
	return table.Millis(p.At), p.ID
}

func scanPosition(row table.Scanner) (gateway.Position, error) {
	var position gateway.Position
	var at int64
	err := row.Scan(&at, &position.ID)
	position.At = table.Time(at)
	return position, err
}

func scanMessageHead(row table.Scanner) (gateway.Message, error) {
	var head gateway.Message
	var createdAt int64
	err := row.Scan(&head.ID, &head.Chat.JID, &head.Chat.LID, &head.Chat.Name, &head.Sender.Name, &head.FromMe, &createdAt)
	head.CreatedAt = table.Time(createdAt)
	return head, err
}

// asRead returns a message as it will be read again.
func asRead(message gateway.Message) gateway.Message {
	message.Details, message.Payload = gateway.Details{}, table.OrNil(message.Payload)
	for _, at := range []*time.Time{&message.StatusAt, &message.SentAt, &message.CreatedAt, &message.EditedAt, &message.DeletedAt} {
		*at = table.Time(table.Millis(*at))
	}
	return message
}

func messageValues(message gateway.Message) []any {
	var wireKey any
	if message.WireKey != "" {
		wireKey = message.WireKey
	}
	return []any{
		message.ID, message.InstanceID, message.PlatformID,
		string(message.Chat.JID), string(message.Chat.LID), message.Chat.Name,
		string(message.Sender.JID), string(message.Sender.LID), message.Sender.Name,
		message.FromMe, string(message.Source), string(message.Type), message.Text, message.QuotedID,
		int64(message.Status), table.Millis(message.StatusAt), table.Millis(message.SentAt), table.NotNull(message.Payload), wireKey,
		table.Millis(message.CreatedAt), table.Millis(message.EditedAt), table.Millis(message.DeletedAt),
	}
}

func scanMessage(row table.Scanner) (gateway.Message, error) {
	var message gateway.Message
	var wireKey *string
	var statusAt, sentAt, createdAt, editedAt, deletedAt int64
	err := row.Scan(&message.ID, &message.InstanceID, &message.PlatformID,
		&message.Chat.JID, &message.Chat.LID, &message.Chat.Name,
		&message.Sender.JID, &message.Sender.LID, &message.Sender.Name,
		&message.FromMe, &message.Source, &message.Type, &message.Text, &message.QuotedID,
		&message.Status, &statusAt, &sentAt, &message.Payload, &wireKey, &createdAt, &editedAt, &deletedAt)
	if wireKey != nil {
		message.WireKey = *wireKey
	}
	message.Payload = table.OrNil(message.Payload)
	message.StatusAt, message.SentAt, message.CreatedAt = table.Time(statusAt), table.Time(sentAt), table.Time(createdAt)
	message.EditedAt, message.DeletedAt = table.Time(editedAt), table.Time(deletedAt)
	return message, err
}
