// How chats are written: with their messages.

package chattable

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store/labeltable"
	"github.com/recado-project/recado/internal/store/table"
)

const (
	// Two at most: one by the number and one by the LID, which is the first.
	findChats = "SELECT id, jid, lid, disappearing FROM chats WHERE instance_id = $1 AND jid = $2 AND jid <> '' UNION " +
		"SELECT id, jid, lid, disappearing FROM chats WHERE instance_id = $1 AND lid = $3 AND lid <> '' ORDER BY lid DESC"

	insertChat = "INSERT INTO chats (instance_id, id, jid, lid, name, last_id, last_at, unread, read_at) VALUES ($1, $2, $3, $4, '', '', 0, 0, 0)"

	// A message of a history is older than what is there. A message that was not added,
	// because it was there already, changes nothing.
	noteMessage = `UPDATE chats SET
		last_id = CASE WHEN last_at <= $1 THEN $2 ELSE last_id END,
		last_at = CASE WHEN last_at <= $1 THEN $1 ELSE last_at END,
		name = CASE WHEN $3 <> '' AND (last_at <= $1 OR name = '') THEN $3 ELSE name END,
		unread = unread + $4,
		open_menu = CASE WHEN $7 THEN $8 ELSE open_menu END
		WHERE instance_id = $5 AND id = $6 AND EXISTS (SELECT 1 FROM messages WHERE id = $2)`

	// Of two chats that were one person's all along, the first takes over what the second has.
	takeOver = `UPDATE chats SET
		last_id = CASE WHEN chats.last_at >= gone.last_at THEN chats.last_id ELSE gone.last_id END,
		last_at = CASE WHEN chats.last_at >= gone.last_at THEN chats.last_at ELSE gone.last_at END,
		open_menu = CASE WHEN chats.last_at >= gone.last_at THEN chats.open_menu ELSE gone.open_menu END,
		name = CASE WHEN chats.name <> '' THEN chats.name ELSE gone.name END,
		read_at = CASE WHEN chats.read_at >= gone.read_at THEN chats.read_at ELSE gone.read_at END,
		archived = chats.archived OR gone.archived, pinned = chats.pinned OR gone.pinned,
		muted_until = CASE WHEN chats.muted_until <> 0 THEN chats.muted_until ELSE gone.muted_until END,
		marked_unread = chats.marked_unread OR gone.marked_unread,
		disappearing = CASE WHEN chats.disappearing <> 0 THEN chats.disappearing ELSE gone.disappearing END
		FROM chats AS gone WHERE chats.instance_id = $1 AND chats.id = $2 AND gone.instance_id = $1 AND gone.id = $3`

	answered = `UPDATE chats SET read_at = $1, unread = 0, marked_unread = FALSE
		WHERE instance_id = $2 AND id = $3 AND EXISTS (SELECT 1 FROM messages WHERE id = $4)`

	countUnread = `UPDATE chats SET unread = (SELECT count(*) FROM messages
		WHERE messages.chat_id = chats.id AND created_at > chats.read_at AND NOT from_me AND wire_key IS NOT NULL)
		WHERE instance_id = $1 AND id = $2`
)

// Write is one write to the chats of an instance, for the goroutine that carries it out.
// Writes of one instance run one after another.
type Write struct {
	tables     *Tables
	instanceID string
	epoch      int64
	steps      []step
}

// step is what a write has learned, in the order in which it did.
type step struct {
	name   name
	chat   remembered // without an id: what was known of the name is wrong
	reword bool       // a message was added that is not in the index
	asks   *bool      // whether a chat of the instance has an open menu
}

// BeginChats begins a write in the tenure with the epoch. A write that runs again is begun again.
func (t *Tables) BeginChats(instanceID string, epoch int64) Write {
	return Write{tables: t, instanceID: instanceID, epoch: epoch}
}

// Committed is called after the commit, in the order of the writes.
func (w *Write) Committed() {
	for _, s := range w.steps {
		switch {
		case s.asks != nil:
			w.tables.asks.Add(asking{w.instanceID, w.epoch}, *s.asks)
		case s.reword:
			select {
			case w.tables.added <- struct{}{}:
			default: // it is known already
			}
		case s.chat.id == "":
			w.tables.known.Remove(s.name)
		default:
			w.tables.known.Add(s.name, s.chat)
		}
	}
}

// Chat returns the id of the chat of a party, and adds the chat if there is none. Two chats
// that turn out to be one are joined.
func (w *Write) Chat(ctx context.Context, q table.Querier, party gateway.Party) (id string, err error) {
	known := w.name(party.JID, party.LID)
	if chat, ok := w.tables.known.Get(known); ok {
		return chat.id, nil
	}
	found, err := table.Collect(ctx, q, scanNamed, findChats, w.instanceID, string(party.JID), string(party.LID))
	if err != nil {
		return "", err
	}
	var chat remembered
	switch len(found) {
	case 0:
		if chat.id, err = newID(); err == nil {
			_, err = q.ExecContext(ctx, insertChat, w.instanceID, chat.id, string(party.JID), string(party.LID))
		}
	case 1:
		chat, err = found[0].remembered, w.learn(ctx, q, found[0], party)
	default: // what the joined chat is like is read by the next write
		return w.join(ctx, q, found[0], found[1], party)
	}
	if err != nil {
		return "", err
	}
	w.steps = append(w.steps, step{name: known, chat: chat})
	return chat.id, nil
}

// named is a chat with its addresses.
type named struct {
	remembered

	jid, lid gateway.JID
}

//nolint:gochecknoglobals // a function
var scanNamed = table.Into(func(n *named) []any { return []any{&n.id, &n.jid, &n.lid, &n.disappearing} })

func newID() (string, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("chattable: choose an id: %w", err)
	}
	return strings.ReplaceAll(id.String(), "-", ""), nil // one word of the index
}

func (w *Write) name(jid, lid gateway.JID) name { return name{w.instanceID, w.epoch, jid, lid} }

// forget makes the addresses of a chat unknown, at once and after the commit: an earlier write
// of the same transaction may make them known then.
func (w *Write) forget(jids, lids []gateway.JID) {
	for _, jid := range append(jids, "") {
		for _, lid := range append(lids, "") {
			stale := w.name(jid, lid)
			w.tables.known.Remove(stale)
			w.steps = append(w.steps, step{name: stale})
		}
	}
}

// learn writes the addresses of a chat that were not known, or are others now.
func (w *Write) learn(ctx context.Context, q table.Querier, chat named, party gateway.Party) error {
	jid, lid := cmp.Or(party.JID, chat.jid), cmp.Or(party.LID, chat.lid)
	if jid == chat.jid && lid == chat.lid {
		return nil
	}
	w.forget([]gateway.JID{chat.jid, jid}, []gateway.JID{chat.lid, lid})
	_, err := q.ExecContext(ctx, "UPDATE chats SET jid = $1, lid = $2 WHERE instance_id = $3 AND id = $4",
		string(jid), string(lid), w.instanceID, chat.id)
	return err
}

// join makes one chat of two: of one that has the LID, and one that has the number.
func (w *Write) join(ctx context.Context, q table.Querier, staying, gone named, party gateway.Party) (string, error) {
	if staying.lid != party.LID {
		staying, gone = gone, staying
	}
	moved, err := table.Collect(ctx, q, scanWorded, "SELECT 0, id, chat_id, text FROM messages WHERE chat_id = $1 AND text <> ''", gone.id)
	if err != nil {
		return "", err
	}
	for _, message := range moved {
		if err := w.tables.words.replace(ctx, q, staying.id, message.id, message.text); err != nil {
			return "", err
		}
	}
	if err := labeltable.Move(ctx, q, w.instanceID, gone.id, staying.id); err != nil {
		return "", err
	}
	for _, statement := range []struct {
		query string
		args  []any
	}{
		{"UPDATE messages SET chat_id = $1 WHERE chat_id = $2", []any{staying.id, gone.id}},
		{takeOver, []any{w.instanceID, staying.id, gone.id}},
		{"DELETE FROM chats WHERE instance_id = $1 AND id = $2", []any{w.instanceID, gone.id}},
		{countUnread, []any{w.instanceID, staying.id}},
	} {
		if _, err := q.ExecContext(ctx, statement.query, statement.args...); err != nil {
			return "", err
		}
	}
	w.forget([]gateway.JID{gone.jid}, []gateway.JID{gone.lid})
	return staying.id, w.learn(ctx, q, staying, party)
}

// Added notes a message that was written into a chat just now, unless it was there already.
// It counts as unread if it arrived, and is from somebody else.
func (w *Write) Added(ctx context.Context, q table.Querier, chatID string, message gateway.Message) error {
	unread := int64(0)
	if !message.FromMe && message.WireKey != "" {
		unread = 1
	}
	name := message.Chat.Name
	if name == "" && !message.FromMe && !message.Chat.JID.IsGroup() {
		name = message.Sender.Name
	}
	// A menu is open until the account writes something else, from whatever device.
	says, menu := message.FromMe && message.Status != gateway.MessageFailed && (message.Source == gateway.SourceAPI || message.WireKey != ""), ""
	if says && message.Menu.Exists() {
		menu = message.ID
		w.steps = append(w.steps, step{asks: new(true)})
	}
	_, err := q.ExecContext(ctx, noteMessage, table.Millis(message.CreatedAt), message.ID, name, unread, message.InstanceID, chatID, says, menu)
	if err == nil && message.Source == gateway.SourceDevice && message.WireKey != "" {
		// Who answers on the phone has read what is above.
		_, err = q.ExecContext(ctx, answered, table.Millis(message.CreatedAt), message.InstanceID, chatID, message.ID)
	}
	if err != nil || message.Text == "" {
		return err
	}
	w.steps = append(w.steps, step{reword: true})
	return w.tables.words.add(ctx, q, chatID, message)
}

// What is asked of a text that was received, for a test that the indexes are used. The first holds few chats.
const (
	AsksAnywhereQuery = "SELECT EXISTS (SELECT 1 FROM chats WHERE instance_id = $1 AND open_menu > '')"
	OpenMenuQuery     = "SELECT open_menu FROM chats WHERE instance_id = $1 AND id = $2"
)

// OpenMenu returns the id of the message with the menu that is open in the chat of a party: the account's last message
// there. It is empty if there is none, which costs nothing where the instance sends no menus.
func (w *Write) OpenMenu(ctx context.Context, q table.Querier, party gateway.Party) (messageID string, err error) {
	asks, known := w.tables.asks.Get(asking{w.instanceID, w.epoch})
	if !known {
		if err := q.QueryRowContext(ctx, AsksAnywhereQuery, w.instanceID).Scan(&asks); err != nil {
			return "", err
		}
		w.steps = append(w.steps, step{asks: &asks})
	}
	if !asks {
		return "", nil
	}
	chatID, err := w.Chat(ctx, q, party)
	if err != nil {
		return "", err
	}
	messageID, _, err = table.Find(ctx, q, table.Value[string], OpenMenuQuery, w.instanceID, chatID)
	return messageID, err
}

// Reworded notes that the text of a message has changed.
func (w *Write) Reworded(ctx context.Context, q table.Querier, message gateway.Message) error {
	chatID, err := w.Chat(ctx, q, message.Chat)
	if err != nil {
		return err
	}
	return w.tables.words.replace(ctx, q, chatID, message.ID, message.Text)
}

// Leaving notes that messages are about to be removed, and returns their ids for Left. set is
// a query for their ids, with its parameters.
func (w *Write) Leaving(ctx context.Context, q table.Querier, set string, args ...any) (ids []string, err error) {
	ids, err = table.Collect(ctx, q, table.Value[string], set, args...)
	if err != nil || len(ids) == 0 {
		return ids, err
	}
	if err := labeltable.Leave(ctx, q, set, args...); err != nil {
		return ids, err
	}
	_, err = q.ExecContext(ctx, `UPDATE chats SET unread = unread - gone.n FROM (
		SELECT m.instance_id, m.chat_id, count(*) AS n FROM messages AS m
		JOIN chats AS c ON c.instance_id = m.instance_id AND c.id = m.chat_id
		WHERE m.id IN (`+set+`) AND NOT m.from_me AND m.wire_key IS NOT NULL AND m.created_at > c.read_at
		GROUP BY m.instance_id, m.chat_id) AS gone WHERE chats.instance_id = gone.instance_id AND chats.id = gone.chat_id`, args...)
	return ids, err
}

// Left forgets the words of messages that were removed.
func (w *Write) Left(ctx context.Context, q table.Querier, ids []string) error {
	return w.tables.words.remove(ctx, q, ids)
}
