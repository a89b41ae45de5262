// Votes in the polls that a phone shows.

package phone

import (
	"context"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sqlite"
)

// Vote lets the phone of a number vote in a poll that it shows. The options replace those
// of an earlier vote; without any, that is taken back.
func (s *Service) Vote(ctx context.Context, number, messageID string, options []string) error {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	return s.sendChange(ctx, number, messageID, func(where chat.Chat, kept *storedMessage) (*waE2E.Message, error) {
		message, err := kept.message()
		if err != nil {
			return nil, err
		}
		poll, secret := content.PollOf(message)
		if poll == nil {
			return nil, refusal.Invalidf("messageId", "the message is no poll")
		}
		if err := poll.CheckVote(options); err != nil {
			return nil, err
		}
		author, err := s.authorOfStored(ctx, kept)
		if err != nil {
			return nil, err
		}
		ballot := content.Ballot{Secret: secret, PollID: kept.id, Author: author.LIDJID(), Voter: of.LIDJID()}
		value, err := ballot.Seal(options)
		if err != nil {
			return nil, err
		}
		return &waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{
			PollCreationMessageKey: pollKey(where, kept, author), Vote: value, SenderTimestampMS: new(s.now().UnixMilli()),
		}}, nil
	})
}

// pollKey names a poll in a vote: by LID, as votes are encrypted.
func pollKey(where chat.Chat, kept *storedMessage, author *account.Account) *waCommon.MessageKey {
	key := &waCommon.MessageKey{FromMe: &kept.fromMe, ID: &kept.id}
	if where.Group == nil {
		key.RemoteJID = new(where.Person.LIDJID().String())
		return key
	}
	key.RemoteJID, key.Participant = new(where.Group.JID().String()), new(author.LIDJID().String())
	return key
}

// count notes a vote in a poll that the phone shows. One that can't be opened, or that the
// poll does not allow, changes nothing.
func (p *phone) count(where chat.Chat, in incoming, update *waE2E.PollUpdateMessage) {
	p.u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		kept, found, err := p.answered(ctx, tx, where, update.GetPollCreationMessageKey().GetID())
		if err != nil || !found {
			return err
		}
		message, err := kept.message()
		if err != nil {
			return err
		}
		poll, secret := content.PollOf(message)
		if poll == nil {
			return nil
		}
		author, err := p.s.authorOfStored(ctx, kept)
		if err != nil {
			return err
		}
		for _, ballot := range ballots(content.Ballot{Secret: secret, PollID: kept.id}, author, in.sender) {
			if options, ok := ballot.Open(update.GetVote(), *poll); ok {
				return p.keepVote(ctx, tx, where, kept, in.sender.PN().String(), options)
			}
		}
		return nil
	})
}

// answered finds the poll or the calendar event that somebody answers, with the answers until now.
func (p *phone) answered(ctx context.Context, tx *sqlite.Tx, where chat.Chat, id string) (kept *storedMessage, found bool, err error) {
	kept = &storedMessage{id: id}
	found, err = database.One(tx.QueryRowContext(ctx,
		"SELECT sender, payload, votes FROM messages WHERE number = $1 AND chat = $2 AND id = $3 AND deleted = 0",
		p.Account.Number, where.JID().String(), id), &kept.sender, &kept.payload, &kept.votes)
	return kept, found, err
}

// ballots are those that a vote may have: clients name author and voter by number or by LID.
func ballots(of content.Ballot, author, voter *account.Account) (list []content.Ballot) {
	for _, of.Author = range []types.JID{author.LIDJID(), author.PN()} {
		for _, of.Voter = range []types.JID{voter.LIDJID(), voter.PN()} {
			list = append(list, of)
		}
	}
	return list
}

func (p *phone) keepVote(ctx context.Context, tx *sqlite.Tx, where chat.Chat, kept *storedMessage, from string, options []string) error {
	votes, err := content.WithVote(kept.votes, from, options)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE messages SET votes = $1 WHERE number = $2 AND chat = $3 AND id = $4",
		votes, p.Account.Number, where.JID().String(), kept.id)
	return err
}
