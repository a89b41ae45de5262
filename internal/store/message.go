// The table of messages: how they are added and found.

package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/table"
)

//nolint:gochecknoglobals // statements that are made of the columns once
var (
	insertMessage = added.Insert("messages", "chat_id")

	// Messages with one wire key have one platform identifier, so they are found by the
	// index of those. Writes of one instance come one after another, and only this one adds
	// messages with a wire key.
	insertNewMessage = added.InsertIf("messages", "NOT EXISTS (SELECT 1 FROM messages WHERE instance_id = "+added.Parameter("instance_id")+
		" AND platform_id = "+added.Parameter("platform_id")+" AND wire_key = "+added.Parameter("wire_key")+")", "chat_id")

	// If the key was taken, its record names another message, and nothing is added.
	insertRequestedMessage = added.InsertIf("messages", "EXISTS (SELECT 1 FROM idempotency WHERE key_id = "+added.Next(2)+
		" AND key = "+added.Next(3)+" AND message_id = "+added.Parameter("id")+")", "chat_id")

	added = chattable.AddedColumns
)

// The identifiers of messages are in the order in which these were stored.
const (
	addDueRead = "INSERT INTO due_reads (message_id, instance_id) SELECT id, instance_id FROM messages WHERE id = $1"

	dueReads = "FROM messages WHERE id IN (SELECT message_id FROM due_reads WHERE instance_id = $1 ORDER BY message_id LIMIT $2 + 0) ORDER BY id"
)

const (
	// The inner queries have no ORDER BY: with it SQLite prefers the index of the
	// order, and reads every message of the instance.
	findMessages = "FROM messages WHERE id IN (" +
		"SELECT id FROM messages WHERE instance_id = $1 AND platform_id = $2 UNION ALL " +
		"SELECT id FROM messages WHERE id = $2 AND instance_id = $1) ORDER BY created_at, id LIMIT 10"

	// The newest of a chat is near the end of the order in most cases.
	chatKnown = "SELECT id FROM messages WHERE instance_id = $1 AND (chat_jid IN ($2, $3) OR chat_lid IN ($2, $3))" +
		" AND (status > 1 OR NOT from_me) ORDER BY created_at DESC, id DESC LIMIT 1"

	// What did not reach the platform does not count, nor does what is from before the link.
	countTraffic = "SELECT created_at / 3600000 * 3600000, SUM(CASE WHEN from_me THEN 0 ELSE 1 END), SUM(CASE WHEN from_me THEN 1 ELSE 0 END)" +
		" FROM messages WHERE instance_id = $1 AND created_at >= $2 AND created_at < $3 AND status > 1" +
		" AND (source = 'api' OR wire_key IS NOT NULL) GROUP BY 1 ORDER BY 1"

	// The same do not count here. A group is no correspondence with one person, nor are status posts.
	listCorrespondence = "SELECT chat_jid, chat_lid, SUM(CASE WHEN from_me AND status > 1 THEN 1 ELSE 0 END)," +
		" COALESCE(MIN(CASE WHEN from_me AND status > 1 THEN sent_at END), 0), COALESCE(MAX(CASE WHEN from_me THEN 0 ELSE sent_at END), 0)" +
		" FROM messages WHERE instance_id = $1 AND created_at >= $2 AND (source = 'api' OR wire_key IS NOT NULL)" +
		" AND chat_jid NOT LIKE '%@g.us' AND chat_jid <> '" + string(gateway.StatusChat) + "' GROUP BY chat_jid, chat_lid"
)

// AddMessage adds a message with the events that it causes, and reports whether
// it is new. If a message with the same wire key and platform identifier exists, that one
// stays as it is, and nothing is added. The changes of keys that the context has
// (gateway.WithDeviceKeys) are written in any case. A new one with ReadDue is in DueReads. It returns a gateway.NotFound if the
// instance is gone.
func (s *Store) AddMessage(ctx context.Context, message gateway.Message, events ...eventlog.Event) (added bool, err error) {
	return s.addArrived(ctx, message, func(context.Context, *recorder) (string, []eventlog.Event, error) { return "", events, nil })
}

// AddText is AddMessage for a text of somebody else. If the menu that is open in its chat has no answer of its author
// yet, report is asked whether the text is one: it returns the event that says so, and false if it is none. An error of
// report is one of the transaction.
func (s *Store) AddText(
	ctx context.Context, message gateway.Message, event eventlog.Event, report func(poll gateway.Message) (eventlog.Event, bool, error),
) (added bool, err error) {
	return s.addArrived(ctx, message, func(ctx context.Context, r *recorder) (answered string, events []eventlog.Event, err error) {
		events = []eventlog.Event{event}
		menu, err := r.chats.OpenMenu(ctx, r, message.Chat)
		if err != nil || menu == "" {
			return "", events, err
		}
		poll, found, err := chattable.MessageColumns.Find(ctx, r, messageByID, menu)
		if err != nil || !found || !poll.Menu.Exists() {
			return "", events, err
		}
		if done, err := hasAnswered(ctx, r, menu, message.Sender); err != nil || done {
			return "", events, err
		}
		answer, ok, err := report(poll)
		if err != nil || !ok {
			return "", events, err
		}
		return menu, []eventlog.Event{answer}, nil
	})
}

// addArrived adds a message that has arrived. report returns its events, and the internal identifier of the menu that
// it answers; empty for none.
func (s *Store) addArrived(
	ctx context.Context, message gateway.Message, report func(ctx context.Context, r *recorder) (menu string, events []eventlog.Event, err error),
) (added bool, err error) {
	changes := gateway.DeviceKeysOf(ctx)
	var result sql.Result
	err = s.db.record(ctx, message.InstanceID, func(ctx context.Context, r *recorder) error {
		if changes != nil {
			if err := s.Devices.writeDeviceKeysIn(ctx, r, message.InstanceID, changes); err != nil {
				return err
			}
			r.committed = changes.Written
		}
		r.recent.Touched(message.PlatformID)
		menu, events, err := report(ctx, r)
		if err != nil {
			return err
		}
		if result, err = r.addMessage(ctx, insertNewMessage, message); err != nil {
			return err
		}
		if menu != "" {
			if err := addAnswer(ctx, r, menu, message.Sender, message.ID); err != nil {
				return err
			}
		}
		if message.ReadDue {
			if _, err := r.ExecContext(ctx, addDueRead, message.ID); err != nil {
				return err
			}
		}
		return r.appendWith(ctx, message.ID, result, events...)
	})
	if err != nil {
		return false, ofInstance(err, "add message")
	}
	changed, err := result.RowsAffected()
	table.Wrap(&err, "add message")
	return changed > 0, err
}

// DueReads returns messages of an instance that were added with ReadDue and are not in any call of EndDueReads yet,
// oldest first, limit at most.
func (s *Store) DueReads(ctx context.Context, instanceID string, limit int) (_ []gateway.Message, err error) {
	defer table.Wrap(&err, "messages whose senders are to be told that they were read")
	return chattable.MessageColumns.Collect(ctx, s.db.Reader(), dueReads, instanceID, limit)
}

// EndDueReads notes that nothing is to be told of the messages with these internal identifiers any more.
func (s *Store) EndDueReads(ctx context.Context, instanceID string, ids []string) (err error) {
	defer table.Wrap(&err, "end due reads")
	_, err = s.db.ExecOf(ctx, instanceID, "DELETE FROM due_reads WHERE instance_id = $1 AND message_id IN "+s.db.In(2), instanceID, table.Texts(ids))
	return err
}

// AddHistory adds messages from before an instance was linked. A message whose platform
// identifier is known stays as it is. It returns a gateway.NotFound if the instance is
// gone.
func (s *Store) AddHistory(ctx context.Context, instanceID string, messages []gateway.Message) error {
	err := s.db.record(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		for _, message := range messages {
			var known int
			if err := r.QueryRowContext(ctx, "SELECT count(*) FROM messages WHERE instance_id = $1 AND platform_id = $2",
				instanceID, message.PlatformID).Scan(&known); err != nil {
				return err
			}
			if known > 0 {
				continue // so it has no namesake, and what is remembered stays right
			}
			if _, err := r.addMessage(ctx, insertMessage, message); err != nil {
				return err
			}
			if !message.Starred {
				continue
			}
			if _, err := r.ExecContext(ctx, "UPDATE messages SET starred = TRUE WHERE id = $1", message.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return ofInstance(err, "add history")
}

// AcceptMessage begins to add a message that is about to be sent and, if record is not
// nil, its idempotency record. No message of the instance has its platform identifier,
// because that is random. The message shares the commit with everything else that is written
// before it is sent. wait waits for that commit; it may be called more than once. If the
// key of the record is taken, nothing is added, and wait returns a gateway.Conflict; if
// the instance is gone, a gateway.NotFound.
func (s *Store) AcceptMessage(ctx context.Context, message gateway.Message, record *gateway.Idempotency) (wait func() error) {
	var added sql.Result // of the record
	pending := s.db.beginRecord(ctx, message.InstanceID, func(ctx context.Context, r *recorder) error {
		if record == nil {
			r.recent.Wrote(chattable.AsRead(message))
			_, err := r.addMessage(ctx, insertMessage, message)
			return err
		}
		var err error
		if added, err = addIdempotency(ctx, r, *record, message.ID); err != nil {
			return err
		}
		// Asked before the commit, the result would cost a round trip.
		r.recent.WroteIf(chattable.AsRead(message), func() bool {
			rows, err := added.RowsAffected()
			return err == nil && rows > 0
		})
		_, err = r.addMessage(ctx, insertRequestedMessage, message, record.KeyID, record.Key)
		return err
	})
	return func() error {
		err := pending.Wait() // before added is read
		return accepted(err, record, added)
	}
}

// addMessage runs a statement that adds a message under a condition, whose values are behind those of
// the message.
func (r *recorder) addMessage(ctx context.Context, statement string, message gateway.Message, condition ...any) (sql.Result, error) {
	chatID, err := r.chats.Chat(ctx, r, message.Chat)
	if err != nil {
		return nil, err
	}
	result, err := r.ExecContext(ctx, statement, chattable.AddedColumns.Values(&message, append([]any{chatID}, condition...)...)...)
	if err != nil {
		return nil, err
	}
	return result, r.chats.Added(ctx, r, chatID, message)
}

// accepted is the answer to a message that was to be added with an idempotency record, which may be nil.
// added is the result of adding the record.
func accepted(err error, record *gateway.Idempotency, added sql.Result) error {
	rows := int64(1)
	if err == nil && record != nil {
		rows, err = added.RowsAffected()
	}
	if err == nil && rows == 0 {
		return gateway.Errorf(gateway.Conflict, gateway.CodeIdempotencyConflict,
			"another request with this Idempotency-Key came first")
	}
	return ofInstance(err, "accept message")
}

// FindMessages returns the messages of the instance whose platform identifier or internal
// identifier is id: oldest first, ten at most. The platform's identifiers are unique in a
// chat, and hardly ever occur in two chats.
func (s *Store) FindMessages(ctx context.Context, instanceID, id string) (_ []gateway.Message, err error) {
	defer table.Wrap(&err, "find messages")
	return chattable.MessageColumns.Collect(ctx, s.db.Reader(), findMessages, instanceID, id)
}

// ChatKnown reports whether the instance has a message of the chat, which is known by
// either of its addresses: one that was received, or one that the platform has taken. It
// may read every message of the instance.
func (s *Store) ChatKnown(ctx context.Context, instanceID string, chat gateway.Party) (known bool, err error) {
	defer table.Wrap(&err, "look for a chat")
	_, known, err = table.Find(ctx, s.db.Scanner(), table.Value[string], chatKnown, instanceID, string(chat.Address()), string(chat.Key()))
	return known, err
}

// MessagesByID returns the messages of the instance with the internal identifiers, oldest
// first.
func (s *Store) MessagesByID(ctx context.Context, instanceID string, ids []string) (_ []gateway.Message, err error) {
	defer table.Wrap(&err, "messages by their ids")
	return chattable.MessageColumns.Collect(ctx, s.db.Reader(), s.db.messagesByID(), instanceID, table.Texts(ids))
}

// messagesByID compares an expression with the instance. With the column SQLite would read
// the index of the instance whole.
func (d dialect) messagesByID() string {
	return "FROM messages WHERE instance_id || '' = $1 AND id IN " + d.In(2) + " ORDER BY created_at, id"
}

// CountTraffic counts the messages of an instance that it received and sent from one time
// until another, in each hour in which there are any, in order. Messages from before the link
// do not count, nor do those that are on their way or have failed.
func (s *Store) CountTraffic(ctx context.Context, instanceID string, from, until time.Time) (_ []gateway.Traffic, err error) {
	defer table.Wrap(&err, "count messages")
	return table.Collect(ctx, s.db.Scanner(), table.Into(func(t *gateway.Traffic) []any {
		return []any{table.IntoTime(&t.Hour), &t.Received, &t.Sent}
	}), countTraffic, instanceID, table.Millis(from), table.Millis(until))
}

// ListCorrespondence sums up the messages of an instance with people that were stored since
// a time, one entry for each pair of addresses. It does not count what CountTraffic does not.
func (s *Store) ListCorrespondence(ctx context.Context, instanceID string, since time.Time) (_ []gateway.Correspondence, err error) {
	defer table.Wrap(&err, "list correspondence")
	return table.Collect(ctx, s.db.Scanner(), table.Into(func(c *gateway.Correspondence) []any {
		return []any{&c.Chat.JID, &c.Chat.LID, &c.Written, table.IntoTime(&c.FirstWritten), table.IntoTime(&c.LastReceived)}
	}), listCorrespondence, instanceID, table.Millis(since))
}
