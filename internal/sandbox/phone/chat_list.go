// The list of a phone's chats, and how many messages wait in them.

package phone

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
)

// maxChats bounds the list of a phone's chats.
const maxChats = 200

// unreadMessages is the condition of the index of the messages that nobody has read.
const unreadMessages = "from_me = 0 AND deleted = 0 AND status < 3"

// ChatLine is a chat in the list of a phone's chats.
type ChatLine struct {
	ID        string // a chat ID, people by number
	Name      string
	PictureID string    // the hash of the picture's file, "" for none
	Group     bool      // else it is a person
	Since     time.Time // of the last message, or when the group was created
	Last      *Bubble   // the last message, nil for a group without one
	Unread    int       // messages that have not been read
}

// ChatLines returns the chats of the phone of a number, at most 200, that with the
// newest message first. Groups without a message come after them.
func (s *Service) ChatLines(ctx context.Context, number string) ([]ChatLine, error) {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil || s.config.Load != nil {
		return nil, err
	}
	unread, err := s.counts(ctx, "SELECT chat, COUNT(*) FROM messages WHERE number = $1 AND "+unreadMessages+" GROUP BY chat", of.Number)
	if err != nil {
		return nil, err
	}
	last, err := s.numbered(ctx, "SELECT seq, "+messageColumns+` FROM messages JOIN (
		SELECT MAX(seq) AS last FROM messages WHERE number = $1 GROUP BY chat ORDER BY last DESC LIMIT $2
		) ON seq = last ORDER BY seq DESC`, of.Number, maxChats)
	if err != nil {
		return nil, err
	}
	var lines []ChatLine
	listed := map[string]bool{}
	for _, kept := range last {
		line, ok, err := s.chatLine(ctx, of, kept)
		if err != nil {
			return nil, err
		}
		if ok {
			line.Unread = unread[line.ID]
			lines = append(lines, line)
			listed[line.ID] = true
		}
	}
	groups, err := s.groups.Of(ctx, of.Number)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if where := (chat.Chat{Group: g}); !listed[where.JID().String()] {
			lines = append(lines, lineOf(where, time.Unix(g.CreatedAt, 0)))
		}
	}
	return lines[:min(len(lines), maxChats)], nil
}

// chatLine returns the line of a chat with its last message. ok is false if the chat
// does not exist any more.
func (s *Service) chatLine(ctx context.Context, of *account.Account, last numberedMessage) (line ChatLine, ok bool, err error) {
	jid, err := types.ParseJID(last.chat)
	if err != nil {
		return line, false, fmt.Errorf("phone: read chat: %w", err)
	}
	where, ok, err := s.config.Chats.At(ctx, jid)
	if err != nil || !ok {
		return line, false, err
	}
	bubble, err := s.bubble(ctx, of, last)
	line = lineOf(where, bubble.At)
	line.Last = &bubble
	return line, true, err
}

// lineOf returns the line of a chat without a message.
func lineOf(where chat.Chat, since time.Time) ChatLine {
	return ChatLine{
		ID: where.JID().String(), Name: where.Name(), PictureID: where.PictureID(), Group: where.Group != nil, Since: since,
	}
}

// Unread returns how many messages nobody has read, by the number of the phone. Phones
// without such a message are left out, and status posts are not counted.
func (s *Service) Unread(ctx context.Context) (map[string]int, error) {
	return s.counts(ctx, "SELECT number, COUNT(*) FROM messages WHERE "+unreadMessages+" AND chat <> $1 GROUP BY number",
		types.StatusBroadcastJID.String())
}

// counts runs a query for names with counts.
func (s *Service) counts(ctx context.Context, query string, args ...any) (counts map[string]int, err error) {
	rows, err := s.db.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("phone: count messages: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	counts = map[string]int{}
	for rows.Next() {
		var name string
		var count int
		if err := rows.Scan(&name, &count); err != nil {
			return nil, fmt.Errorf("phone: count messages: %w", err)
		}
		counts[name] = count
	}
	return counts, rows.Err()
}
