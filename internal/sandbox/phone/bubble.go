// The messages of one chat, as somebody who holds the phone sees them.

package phone

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// maxNamed bounds how many mentions of a message have their names looked up.
const maxNamed = 20

// maxWindow bounds the messages in one window.
const maxWindow = 500

// Bubble is a message in a chat, with what a phone shows beside it.
type Bubble struct {
	content.Shown

	Place   int64     // its place on the phone: later messages have higher ones
	At      time.Time // when it was sent
	Sender  string    // the name of who has sent it
	Quote   *Quote    // the message that it answers, nil for none
	HasFile bool      // the phone has its file
}

// Quote is the message that another one answers.
type Quote struct {
	content.Shown

	Sender string // the name of who has sent it, "" if that is not known
}

// Window is a part of a chat.
type Window struct {
	Bubbles []Bubble // oldest first
	Earlier bool     // there are messages before the first one
}

// Window returns the newest messages of a chat on the phone of a number, at most limit
// of them. chat is a number or a chat ID. If before is not 0, it returns the newest ones
// before that place.
func (s *Service) Window(ctx context.Context, number, chat string, before int64, limit int) (Window, error) {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return Window{}, err
	}
	with, err := s.config.Chats.Named(ctx, "chat", chat)
	if err != nil || s.config.Load != nil {
		return Window{}, err
	}
	limit = min(max(limit, 1), maxWindow)
	if before <= 0 {
		before = math.MaxInt64
	}
	kept, err := s.numbered(ctx, "SELECT seq, "+messageColumns+` FROM messages
		WHERE number = $1 AND chat = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4`,
		of.Number, with.JID().String(), before, limit+1)
	if err != nil {
		return Window{}, err
	}
	shown := Window{Earlier: len(kept) > limit}
	for _, k := range slices.Backward(kept[:min(len(kept), limit)]) {
		bubble, err := s.bubble(ctx, of, k)
		if err != nil {
			return Window{}, err
		}
		shown.Bubbles = append(shown.Bubbles, bubble)
	}
	return shown, nil
}

// numberedMessage is a stored message with its position.
type numberedMessage struct {
	*storedMessage

	place int64
}

// numbered runs a query for messages, whose first column is their place.
func (s *Service) numbered(ctx context.Context, query string, args ...any) (list []numberedMessage, err error) {
	rows, err := s.db.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("phone: list messages: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var m numberedMessage
		m.storedMessage, err = scanMessage(func(columns ...any) error {
			return rows.Scan(append([]any{&m.place}, columns...)...)
		})
		if err != nil {
			return nil, fmt.Errorf("phone: list messages: %w", err)
		}
		list = append(list, m)
	}
	return list, rows.Err()
}

// bubble returns a message as people see it on the phone.
func (s *Service) bubble(ctx context.Context, of *account.Account, kept numberedMessage) (Bubble, error) {
	shown, err := kept.show()
	if err != nil {
		return Bubble{}, err
	}
	author, err := s.authorOfStored(ctx, kept.storedMessage)
	if err != nil {
		return Bubble{}, err
	}
	bubble := Bubble{Shown: shown, Place: kept.place, At: time.UnixMilli(kept.at), Sender: author.DisplayName()}
	if kept.deleted {
		return bubble, nil
	}
	message, err := kept.message()
	if err != nil {
		return Bubble{}, err
	}
	if err := s.nameMentions(ctx, &bubble.Shown); err != nil {
		return Bubble{}, err
	}
	bubble.HasFile = kept.file.sha256 != "" && !kept.forgotten
	if quote, ok := content.QuoteOf(message); ok {
		bubble.Quote, err = s.showQuote(ctx, of, quote)
	}
	return bubble, err
}

// Bubble returns the message in a place on the phone of a number.
func (s *Service) Bubble(ctx context.Context, number string, place int64) (Bubble, error) {
	of, kept, err := s.inPlace(ctx, number, place)
	if err != nil {
		return Bubble{}, err
	}
	return s.bubble(ctx, of, kept)
}

// inPlace returns the message in a place on the phone of a number.
func (s *Service) inPlace(ctx context.Context, number string, place int64) (*account.Account, numberedMessage, error) {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return nil, numberedMessage{}, err
	}
	found, err := s.numbered(ctx, "SELECT seq, "+messageColumns+" FROM messages WHERE number = $1 AND seq = $2", of.Number, place)
	if err != nil {
		return nil, numberedMessage{}, err
	}
	if len(found) == 0 {
		return nil, numberedMessage{}, refusal.NotFoundf("the phone shows no message in this place")
	}
	return of, found[0], nil
}

// namedIn returns the account that a quote or a mention names, or nil if there is none. It
// creates none: that is what somebody says.
func (s *Service) namedIn(ctx context.Context, author string) (*account.Account, error) {
	jid, err := types.ParseJID(author)
	if err != nil {
		return nil, nil //nolint:nilerr // it names nobody
	}
	if jid.Server == types.HiddenUserServer {
		return s.config.Accounts.FindLID(ctx, jid.User)
	}
	return s.config.Accounts.Find(ctx, phonenumber.Canonical(jid.User))
}

// showQuote returns a quote as people see it. The phone shows what the answer repeats
// of the message, or else the message itself, if it has it.
func (s *Service) showQuote(ctx context.Context, of *account.Account, quote content.Quote) (*Quote, error) {
	shown := &Quote{Shown: quote.Shown}
	shown.MessageID = quote.MessageID
	author, err := s.namedIn(ctx, quote.Author)
	if err != nil {
		return nil, err
	}
	if author != nil {
		shown.Sender, shown.FromMe = author.DisplayName(), author == of
	}
	if shown.Type != "" {
		return shown, nil
	}
	kept, err := s.findAnyMessage(ctx, of, quote.MessageID)
	if err != nil || kept == nil {
		return shown, err
	}
	shown.Shown, err = kept.show()
	return shown, err
}

// nameMentions puts the names of those whom a message mentions where its text has their
// addresses, as people see it.
func (s *Service) nameMentions(ctx context.Context, shown *content.Shown) error {
	for _, mention := range shown.Mentions[:min(len(shown.Mentions), maxNamed)] {
		who, err := s.namedIn(ctx, mention)
		if err != nil {
			return err
		}
		if who == nil {
			continue // the sender can write anything there
		}
		user, _, _ := strings.Cut(mention, "@")
		shown.Text = strings.ReplaceAll(shown.Text, "@"+user, "@"+who.DisplayName())
		shown.Caption = strings.ReplaceAll(shown.Caption, "@"+user, "@"+who.DisplayName())
	}
	return nil
}
