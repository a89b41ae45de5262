// The table of messages: how they are changed.

package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/table"
)

// messageChange changes messages that were found, and returns those that it has changed.
type messageChange = func(found []gateway.Message) (changed []gateway.Message, events []eventlog.Event, err error)

// UpdateMessages reads those messages of an instance that have one of the
// identifiers, the platform's or the internal ones, and hands them to change,
// oldest first, in one transaction that excludes every other update of the
// instance's messages. It writes those that change returns back: their status,
// addresses, content and times; and appends the events. An error of change is
// returned as it is and nothing is written. change may run again.
func (s *Store) UpdateMessages(ctx context.Context, instanceID string, ids []string, change messageChange) error {
	return s.updateMessages(ctx, instanceID, ids, change, groupcommit.Pending.Wait)
}

// UpdateMessagesSoon is UpdateMessages that gives other writes a moment to share the
// commit. It is for what nobody waits for.
func (s *Store) UpdateMessagesSoon(ctx context.Context, instanceID string, ids []string, change messageChange) error {
	return s.updateMessages(ctx, instanceID, ids, change, groupcommit.Pending.WaitSoon)
}

func (s *Store) updateMessages(
	ctx context.Context, instanceID string, ids []string, change messageChange, wait func(groupcommit.Pending) error,
) error {
	var refused error // by change
	pending := s.db.beginRecord(ctx, instanceID, func(ctx context.Context, r *recorder) error {
		found, err := s.messagesToUpdate(ctx, r, instanceID, ids)
		if err != nil {
			return err
		}
		before := make(map[string]gateway.Message, len(found))
		// How many messages have each of the identifiers as the platform's: all that there
		// are with it were found.
		named := make(map[string]int, len(ids))
		for n, message := range found {
			before[message.ID] = message
			found[n].Payload = bytes.Clone(message.Payload) // which change may write to
			if slices.Contains(ids, message.PlatformID) {
				named[message.PlatformID]++
			}
		}
		var changed []gateway.Message
		var events []eventlog.Event
		if changed, events, refused = change(found); refused != nil {
			return nil //nolint:nilerr // an error would make the writes that share the commit run again
		}
		for _, message := range changed {
			old, written := before[message.ID], written(before[message.ID], message)
			if named[old.PlatformID] == 1 && old.Source == gateway.SourceAPI {
				r.recent.Wrote(written)
			} else {
				r.recent.Touched(old.PlatformID)
			}
			if err := writeMessage(ctx, r, old, message); err != nil {
				return err
			}
			before[message.ID] = written
		}
		return r.Append(ctx, events...)
	})
	if err := markUnstorable(wait(pending)); err != nil {
		return fmt.Errorf("store: update messages: %w", err)
	}
	return refused
}

// messagesToUpdate finds the messages of an instance that have one of the
// identifiers. Nearly always they are messages that were sent just now, and known already;
// otherwise there is one identifier as a rule, for which a simpler query is much faster.
func (s *Store) messagesToUpdate(ctx context.Context, r *recorder, instanceID string, ids []string) ([]gateway.Message, error) {
	if found := remembered(r, ids); len(found) > 0 {
		return found, nil
	}
	q := r.Querier
	if len(ids) == 1 {
		found, err := chattable.MessageColumns.Collect(ctx, q, messageByPlatformID, instanceID, ids[0])
		if err != nil || len(found) > 0 {
			slices.SortFunc(found, older)
			return found, err
		}
	}
	found, err := chattable.MessageColumns.Collect(ctx, q, s.db.messagesByIDs(), instanceID, table.Texts(ids))
	return slices.DeleteFunc(found, func(m gateway.Message) bool { return m.InstanceID != instanceID }), err
}

// remembered returns the messages with the platform identifiers from memory, or none unless it has all of
// them. Messages in memory were sent from here; their identifiers are no internal ones.
func remembered(r *recorder, ids []string) []gateway.Message {
	found := make([]gateway.Message, 0, len(ids))
	for _, id := range ids {
		message, ok := r.recent.Find(id)
		if !ok {
			return nil
		}
		found = append(found, message)
	}
	slices.SortFunc(found, older)
	return slices.CompactFunc(found, func(a, b gateway.Message) bool { return a.ID == b.ID })
}

// older says which of two messages comes first.
func older(a, b gateway.Message) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// messageByPlatformID has no ORDER BY: with it SQLite prefers the index of the order, and
// reads every message of the instance.
const messageByPlatformID = "FROM messages WHERE instance_id = $1 AND platform_id = $2"

// messagesByIDs searches for both identifiers. Messages that it finds by the internal one
// may be another instance's. With OR, or with a condition on the instance outside,
// SQLite reads an index of the instance whole.
func (d dialect) messagesByIDs() string {
	return "FROM messages WHERE id IN (" +
		"SELECT id FROM messages WHERE instance_id = $1 AND platform_id IN " + d.In(2) +
		" UNION ALL SELECT * FROM " + d.In(2) + " AS given) ORDER BY created_at, id"
}

// update is a statement that writes columns of a message.
type update struct {
	columns   *table.Columns[gateway.Message]
	statement string
}

func updateOf(columns ...string) update {
	some := chattable.MessageColumns.Only(columns...)
	return update{some, "UPDATE messages SET " + some.Assignments() + " WHERE id = " + some.Next(1)}
}

// What may have changed of a message: nearly always its status alone.
//
//nolint:gochecknoglobals // statements that are made of the columns once
var (
	updateStatus   = updateOf("status", "status_at")
	updateEnvelope = updateOf("status", "status_at", "sent_at", "chat_jid", "chat_lid", "edited_at", "deleted_at", "pinned_until", "starred")
	updateContent  = updateOf("status", "status_at", "sent_at", "chat_jid", "chat_lid", "edited_at", "deleted_at", "pinned_until", "starred", "text", "payload", "menu")
)

// written returns a message as it will be read after writeMessage.
func written(before, after gateway.Message) gateway.Message {
	before.Status, before.StatusAt, before.SentAt = after.Status, after.StatusAt, after.SentAt
	before.Chat.JID, before.Chat.LID = after.Chat.JID, after.Chat.LID
	before.EditedAt, before.DeletedAt, before.PinnedUntil = after.EditedAt, after.DeletedAt, after.PinnedUntil
	before.Text, before.Payload, before.Starred, before.Menu = after.Text, after.Payload, after.Starred, after.Menu
	return chattable.AsRead(before)
}

// writeMessage writes the fields of a message that have changed, with one statement. The identifier of
// after does not matter.
func writeMessage(ctx context.Context, r *recorder, before, after gateway.Message) error {
	changed := updateStatus
	content := before.Text != after.Text || !bytes.Equal(before.Payload, after.Payload)
	switch {
	case content:
		changed = updateContent
	case before.Chat.JID != after.Chat.JID || before.Chat.LID != after.Chat.LID || !before.SentAt.Equal(after.SentAt) ||
		!before.EditedAt.Equal(after.EditedAt) || !before.DeletedAt.Equal(after.DeletedAt) || !before.PinnedUntil.Equal(after.PinnedUntil) || before.Starred != after.Starred:
		changed = updateEnvelope
	}
	if _, err := r.ExecContext(ctx, changed.statement, changed.columns.Values(&after, before.ID)...); err != nil {
		return err
	}
	if before.Text != after.Text {
		return r.chats.Reworded(ctx, r, written(before, after))
	}
	if before.Chat.JID != after.Chat.JID || before.Chat.LID != after.Chat.LID {
		// What is learned of the addresses may join two chats.
		_, err := r.chats.Chat(ctx, r, after.Chat)
		return err
	}
	return nil
}

// PendingMessages returns messages of all instances that were accepted after a position,
// before a time, and have not been acknowledged since, oldest first, limit at most. Those
// that are in the queue are left out: it sends them again.
func (s *Store) PendingMessages(ctx context.Context, after gateway.Position, before time.Time, limit int) (_ []gateway.Message, err error) {
	defer table.Wrap(&err, "pending messages")
	return chattable.MessageColumns.Collect(ctx, s.db.Scanner(), "FROM messages WHERE status = 0 AND created_at < $1 AND (created_at, id) > ($2, $3)"+
		" AND NOT EXISTS (SELECT 1 FROM queued_messages WHERE queued_messages.id = messages.id) ORDER BY created_at, id LIMIT $4 + 0",
		table.Millis(before), table.Millis(after.At), after.ID, limit)
}
