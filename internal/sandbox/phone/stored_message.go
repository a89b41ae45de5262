package phone

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// storedMessage is a row of the messages that a phone shows.
type storedMessage struct {
	id, chat, sender, device, address string
	fromMe                            bool
	at                                int64 // Unix milliseconds
	payload                           []byte
	status                            receipt.Status
	edited, deleted, starred          bool
	pinnedUntil                       int64 // Unix milliseconds; 0: it is not pinned
	reactions, votes                  string
	file                              savedFile
	forgotten                         bool // the phone no longer has its file
	problems                          string
}

const messageColumns = "id, chat, sender, device, address, from_me, at, payload, status, edited, deleted, starred, pinned_until, reactions, votes, " +
	"media_sha256, media_size, media_forgotten, problems"

func scanMessage(scan func(...any) error) (*storedMessage, error) {
	var k storedMessage
	err := scan(&k.id, &k.chat, &k.sender, &k.device, &k.address, &k.fromMe, &k.at, &k.payload, &k.status,
		&k.edited, &k.deleted, &k.starred, &k.pinnedUntil, &k.reactions, &k.votes, &k.file.sha256, &k.file.size, &k.forgotten, &k.problems)
	return &k, err
}

// message decodes the content.
func (k *storedMessage) message() (*waE2E.Message, error) {
	message := &waE2E.Message{}
	if err := proto.Unmarshal(k.payload, message); err != nil {
		return nil, fmt.Errorf("phone: decode kept message: %w", err)
	}
	return message, nil
}

// findAnyMessage returns a message that the phone shows, received or sent, or nil
// if there is none with this ID.
func (s *Service) findAnyMessage(ctx context.Context, of *account.Account, id string) (*storedMessage, error) {
	kept, err := s.findMessage(ctx, of, id, false)
	if err != nil || kept != nil {
		return kept, err
	}
	return s.findMessage(ctx, of, id, true)
}

// shownMessage returns a message that the phone of a number shows, and the phone's
// account.
func (s *Service) shownMessage(ctx context.Context, number, id string) (*account.Account, *storedMessage, error) {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return nil, nil, err
	}
	kept, err := s.findAnyMessage(ctx, of, id)
	if err == nil && kept == nil {
		err = refusal.NotFoundf("the phone shows no message with this id")
	}
	return of, kept, err
}

// findMessage returns a message of a phone, or nil if there is none with this ID.
func (s *Service) findMessage(ctx context.Context, of *account.Account, id string, fromMe bool) (*storedMessage, error) {
	row := s.db.Reader().QueryRowContext(ctx, "SELECT "+messageColumns+
		" FROM messages WHERE number = $1 AND id = $2 AND from_me = $3 ORDER BY seq LIMIT 1", of.Number, id, fromMe)
	kept, err := scanMessage(row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("phone: find message: %w", err)
	}
	return kept, nil
}

// Messages returns the messages that the phone of a number shows, oldest first. If
// chat is not empty, it names the chat by number or chat ID.
func (s *Service) Messages(ctx context.Context, number, chat string) (list []content.Shown, err error) {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return nil, err
	}
	if chat != "" {
		with, err := s.holding(ctx, "chat", chat)
		if err != nil {
			return nil, err
		}
		chat = with.JID().String()
	}
	if s.config.Load != nil {
		return s.config.Load.Messages(of, chat), nil
	}
	rows, err := s.db.Reader().QueryContext(ctx, "SELECT "+messageColumns+
		" FROM messages WHERE number = $1 AND ($2 = '' OR chat = $2) ORDER BY seq", of.Number, chat)
	if err != nil {
		return nil, fmt.Errorf("phone: list messages: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	list = []content.Shown{}
	for rows.Next() {
		kept, err := scanMessage(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("phone: list messages: %w", err)
		}
		shown, err := kept.show()
		if err != nil {
			return nil, err
		}
		list = append(list, shown)
	}
	return list, rows.Err()
}

// lines are the problems of a message, one a line; none is an empty list.
func lines(problems string) []string {
	if problems == "" {
		return []string{}
	}
	return strings.Split(problems, "\n")
}

// Troubled is a message that does not look right on a phone.
type Troubled struct {
	Number    string   `json:"number"` // the phone
	MessageID string   `json:"messageId"`
	Problems  []string `json:"problems"`
}

// Problems returns the messages of all phones that have problems, the oldest first.
func (s *Service) Problems(ctx context.Context) (list []Troubled, err error) {
	rows, err := s.db.Reader().QueryContext(ctx, "SELECT number, id, problems FROM messages WHERE problems <> '' ORDER BY seq LIMIT 1000")
	if err != nil {
		return nil, fmt.Errorf("phone: list problems: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	list = []Troubled{}
	for rows.Next() {
		var one Troubled
		var problems string
		if err := rows.Scan(&one.Number, &one.MessageID, &problems); err != nil {
			return nil, fmt.Errorf("phone: list problems: %w", err)
		}
		one.Problems = lines(problems)
		list = append(list, one)
	}
	return list, rows.Err()
}

// show returns the message as people see it.
func (k *storedMessage) show() (content.Shown, error) {
	shown := content.Shown{
		MessageID: k.id, Chat: k.chat, From: k.sender, FromMe: k.fromMe, Timestamp: account.Timestamp(time.UnixMilli(k.at)),
		Reactions: []content.Reaction{}, Votes: []content.Vote{}, Responses: []content.Response{}, Edited: k.edited, Deleted: k.deleted, Status: k.status.String(),
		Starred: k.starred,
	}
	if k.pinnedUntil > 0 {
		shown.PinnedUntil = account.Timestamp(time.UnixMilli(k.pinnedUntil))
	}
	message, err := k.message()
	if err != nil {
		return shown, err
	}
	content.Describe(content.Unwrap(message), &shown)
	shown.Problems = lines(k.problems)
	if k.file.sha256 != "" {
		size := int64(k.file.size)
		shown.MediaSHA256, shown.MediaSize = k.file.sha256, &size
	}
	if k.deleted {
		// Only the place and the kind of a deleted message are shown.
		shown = content.Shown{
			MessageID: shown.MessageID, Chat: shown.Chat, From: shown.From, FromMe: shown.FromMe, Timestamp: shown.Timestamp,
			Type: shown.Type, Problems: []string{}, Reactions: shown.Reactions, Votes: []content.Vote{}, Responses: []content.Response{}, Edited: shown.Edited, Deleted: true, Status: shown.Status,
		}
	}
	reactions := map[string]string{}
	if err := json.Unmarshal([]byte(k.reactions), &reactions); err != nil {
		return shown, fmt.Errorf("phone: read reactions: %w", err)
	}
	for _, from := range slices.Sorted(maps.Keys(reactions)) {
		shown.Reactions = append(shown.Reactions, content.Reaction{From: from, Reaction: reactions[from]})
	}
	switch {
	case k.deleted:
	case shown.Event != nil:
		shown.Responses, err = content.Responses(k.votes)
	default:
		shown.Votes, err = content.Votes(k.votes)
	}
	return shown, err
}
