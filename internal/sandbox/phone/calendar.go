// Calendar events that a phone shows: responses to them, and that they are cancelled.

package phone

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sqlite"
)

// Respond lets the phone of a number respond to a calendar event that it shows. It replaces an
// earlier response.
func (s *Service) Respond(ctx context.Context, number, messageID string, response content.Response) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	return s.sendChange(ctx, number, messageID, func(where chat.Chat, kept *storedMessage) (*waE2E.Message, error) {
		event, ballot, author, err := s.eventIn(ctx, kept)
		if err != nil {
			return nil, err
		}
		if err := event.CheckResponse(response); err != nil {
			return nil, err
		}
		ballot.Author, ballot.Voter = author.LIDJID(), of.LIDJID()
		sealed, err := ballot.SealResponse(response, s.now())
		if err != nil {
			return nil, err
		}
		sealed.EventCreationMessageKey = pollKey(where, kept, author)
		return &waE2E.Message{EncEventResponseMessage: sealed}, nil
	})
}

// CancelEvent lets the phone of a number cancel a calendar event that it has sent.
func (s *Service) CancelEvent(ctx context.Context, number, messageID string) error {
	return s.sendChange(ctx, number, messageID, func(where chat.Chat, kept *storedMessage) (*waE2E.Message, error) {
		_, ballot, author, err := s.eventIn(ctx, kept)
		if err != nil {
			return nil, err
		}
		if !kept.fromMe {
			return nil, refusal.Invalidf("messageId", "the phone has not sent this message")
		}
		message, err := kept.message()
		if err != nil {
			return nil, err
		}
		ballot.Author, ballot.Voter = author.LIDJID(), author.LIDJID()
		return ballot.SealCancellation(content.Unwrap(message).GetEventMessage(), pollKey(where, kept, author), s.now())
	})
}

// eventIn returns the calendar event of a message, what its responses are encrypted with, and
// who has sent it.
func (s *Service) eventIn(ctx context.Context, kept *storedMessage) (*content.Event, content.Ballot, *account.Account, error) {
	message, err := kept.message()
	if err != nil {
		return nil, content.Ballot{}, nil, err
	}
	event, secret := content.EventOf(message)
	if event == nil {
		return nil, content.Ballot{}, nil, refusal.Invalidf("messageId", "the message is no event")
	}
	author, err := s.authorOfStored(ctx, kept)
	return event, content.Ballot{Secret: secret, PollID: kept.id}, author, err
}

// eventNamed finds the calendar event with an identifier that the phone shows in a chat. ok is
// false if there is none.
func (p *phone) eventNamed(ctx context.Context, tx *sqlite.Tx, where chat.Chat, id string) (
	kept *storedMessage, ballot content.Ballot, author *account.Account, ok bool, err error,
) {
	kept, found, err := p.answered(ctx, tx, where, id)
	if err != nil || !found {
		return nil, content.Ballot{}, nil, false, err
	}
	_, ballot, author, err = p.s.eventIn(ctx, kept)
	if refused := (*refusal.Error)(nil); errors.As(err, &refused) {
		return nil, content.Ballot{}, nil, false, nil
	}
	return kept, ballot, author, err == nil, err
}

// respond notes a response to a calendar event that the phone shows. One that can't be opened
// changes nothing.
func (p *phone) respond(where chat.Chat, in incoming, sealed *waE2E.EncEventResponseMessage) {
	p.u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		kept, ballot, author, ok, err := p.eventNamed(ctx, tx, where, sealed.GetEventCreationMessageKey().GetID())
		if err != nil || !ok {
			return err
		}
		for _, ballot := range ballots(ballot, author, in.sender) {
			if response, ok := ballot.OpenResponse(sealed); ok {
				return p.keepVote(ctx, tx, where, kept, in.sender.PN().String(), response.AsVote())
			}
		}
		return nil
	})
}

// editEvent replaces a sender's own calendar event. An edit that can't be opened changes nothing.
func (p *phone) editEvent(where chat.Chat, in incoming, sealed *waE2E.SecretEncryptedMessage) {
	p.u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		kept, ballot, author, ok, err := p.eventNamed(ctx, tx, where, sealed.GetTargetMessageKey().GetID())
		if err != nil || !ok || author.Number != in.sender.Number {
			return err
		}
		for _, ballot := range ballots(ballot, author, author) {
			edited, ok := ballot.OpenEventEdit(sealed)
			if !ok {
				continue
			}
			payload, err := content.EditEvent(kept.payload, edited)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "UPDATE messages SET edited = 1, payload = $1 WHERE number = $2 AND chat = $3 AND id = $4",
				payload, p.Account.Number, where.JID().String(), kept.id)
			return err
		}
		return nil
	})
}
