// How chats are arranged: archived, pinned, muted, read, deleted.

package chattable

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	chatByID = "FROM chats WHERE instance_id = $1 AND id = $2"

	newestUntil = "SELECT COALESCE(MAX(created_at), 0) FROM messages WHERE chat_id = $1 AND sent_at <= $2"

	// The chat is an expression, so that the index of the identifiers is used.
	newestNamed = "SELECT COALESCE(MAX(created_at), 0) FROM messages WHERE instance_id = $1 AND platform_id = $2" +
		" AND chat_id || '' = $3 AND NOT from_me"
)

// arranged are the columns that an arrangement changes.
//
//nolint:gochecknoglobals // a table, and a statement that is made of it
var (
	arranged = chatRowColumns.Only("archived", "pinned", "muted_until", "marked_unread", "disappearing", "read_at")
	arrange  = "UPDATE chats SET " + arranged.Assignments() + " WHERE instance_id = " + arranged.Next(1) + " AND id = " + arranged.Next(2)
)

// Chosen is the result of a change of a chat.
type Chosen struct {
	Before, After gateway.Chat
	Aspects       []gateway.ChatAspect // that have changed, in the order of their declaration
}

// Change changes a chat. It adds an unknown chat, so that its arrangement is stored, but not for messages
// that were read. Forget deletes.
func (w *Write) Change(ctx context.Context, q table.Querier, update gateway.ChatUpdate) (chosen Chosen, err error) {
	found, err := table.Collect(ctx, q, scanNamed, findChats, w.instanceID, string(update.Chat.JID), string(update.Chat.LID))
	if err != nil || len(found) == 0 && update.ChatChange == (gateway.ChatChange{}) {
		return chosen, err
	}
	id, err := w.Chat(ctx, q, update.Chat)
	if err != nil {
		return chosen, err
	}
	row, _, err := chatRowColumns.Find(ctx, q, chatByID, w.instanceID, id)
	if chosen.Before = row.chat; err != nil {
		return chosen, err
	}
	row.chat.Arrangement = changed(row.chat.Arrangement, update.ChatChange)
	readThrough, err := w.readThrough(ctx, q, id, update)
	if err != nil {
		return chosen, err
	}
	if readThrough > row.readAt {
		row.chat.MarkedUnread = row.chat.MarkedUnread && update.Read != nil
		row.readAt = readThrough
	}
	if _, err := q.ExecContext(ctx, arrange, arranged.Values(&row, w.instanceID, id)...); err != nil {
		return chosen, err
	}
	if row.chat.Disappearing != chosen.Before.Disappearing {
		party := chosen.Before.Party
		w.forget([]gateway.JID{party.JID, update.Chat.JID}, []gateway.JID{party.LID, update.Chat.LID})
	}
	if _, err := q.ExecContext(ctx, countUnread, w.instanceID, id); err != nil {
		return chosen, err
	}
	chosen.After, _, err = chatColumns.Find(ctx, q, chatByID, w.instanceID, id)
	chosen.Aspects = aspects(chosen.Before, chosen.After)
	return chosen, err
}

func changed(to gateway.Arrangement, change gateway.ChatChange) gateway.Arrangement {
	if change.Archived != nil {
		to.Archived = *change.Archived
	}
	if change.Pinned != nil {
		to.Pinned = *change.Pinned
	}
	if change.MutedUntil != nil {
		to.MutedUntil = change.MutedUntil.UTC().Truncate(time.Millisecond)
	}
	if change.Read != nil {
		to.MarkedUnread = !*change.Read
	}
	if change.Disappearing != nil {
		to.Disappearing = change.Disappearing.Truncate(time.Second)
	}
	return to
}

// readThrough is when the newest message was stored that an update says was read; 0 for none.
func (w *Write) readThrough(ctx context.Context, q table.Querier, chatID string, update gateway.ChatUpdate) (at int64, err error) {
	if update.Read != nil && *update.Read {
		if err := q.QueryRowContext(ctx, newestUntil, chatID, untilMillis(update.Through)).Scan(&at); err != nil {
			return 0, err
		}
	}
	for _, id := range update.ReadIDs {
		var named int64
		if err := q.QueryRowContext(ctx, newestNamed, w.instanceID, id, chatID).Scan(&named); err != nil {
			return 0, err
		}
		at = max(at, named)
	}
	return at, nil
}

// aspects are what differs between two states of a chat.
func aspects(before, after gateway.Chat) (all []gateway.ChatAspect) {
	for _, aspect := range []struct {
		name    gateway.ChatAspect
		differs bool
	}{
		{gateway.ChatArchived, before.Archived != after.Archived},
		{gateway.ChatPinned, before.Pinned != after.Pinned},
		{gateway.ChatMuted, !before.MutedUntil.Equal(after.MutedUntil)},
		{gateway.ChatRead, before.Unread != after.Unread || before.MarkedUnread != after.MarkedUnread},
		{gateway.ChatDisappearing, before.Disappearing != after.Disappearing},
	} {
		if aspect.differs {
			all = append(all, aspect.name)
		}
	}
	return all
}

// Forget removes a chat in which no message is left, and reports whether it was there.
func (w *Write) Forget(ctx context.Context, q table.Querier, party gateway.Party) (chat gateway.Chat, gone bool, err error) {
	found, err := table.Collect(ctx, q, scanNamed, findChats, w.instanceID, string(party.JID), string(party.LID))
	if err != nil || len(found) == 0 {
		return chat, false, err
	}
	chats, err := table.Collect(ctx, q, chatColumns.Scan, "DELETE FROM chats WHERE instance_id = $1 AND id = $2"+
		" AND NOT EXISTS (SELECT 1 FROM messages WHERE chat_id = $2) RETURNING "+chatColumns.Names, w.instanceID, found[0].id)
	if err != nil || len(chats) == 0 {
		return chat, false, err
	}
	w.forget([]gateway.JID{found[0].jid, party.JID}, []gateway.JID{found[0].lid, party.LID})
	return chats[0], chats[0].LastAt.UnixMilli() > 0, nil
}

// ChatMessagesUntil returns the internal identifiers of messages of a chat that were sent until
// a time, or of all if it is zero; limit at most, without those that are on their way, and with the
// starred ones only if starred is true.
func (t *Tables) ChatMessagesUntil(ctx context.Context, chatID string, until time.Time, starred bool, limit int) (_ []string, err error) {
	defer table.Wrap(&err, "messages of a chat")
	return table.Collect(ctx, t.db.Scanner(), table.Value[string],
		"SELECT id FROM messages WHERE chat_id = $1 AND sent_at <= $2 AND status <> 0 AND (NOT starred OR $3) ORDER BY created_at, id LIMIT $4 + 0",
		chatID, untilMillis(until), starred, limit)
}

// untilMillis is a bound that the zero time does not set.
func untilMillis(until time.Time) int64 {
	if until.IsZero() {
		return 1 << 62
	}
	return table.Millis(until)
}
