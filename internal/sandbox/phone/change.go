// Edits, deletions, reactions and pins that a phone receives.

package phone

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/chat"
	"github.com/recado-project/recado/internal/sandbox/chatstate"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// editWindow and deleteWindow say how long after sending a message may be edited or
// deleted. They are longer than what people are shown, because a change may be on
// its way for a while.
const (
	editWindow   = 20 * time.Minute
	deleteWindow = 60 * time.Hour
)

// applyChange applies a reaction, an edit or a deletion to the message that it
// names. It changes nothing if the sender may not do that, or is too late. done
// reports whether the message was one of these kinds.
func (p *phone) applyChange(where chat.Chat, in incoming, message *waE2E.Message) (done bool) {
	if reaction := message.GetReactionMessage(); reaction != nil {
		if !where.Announces() { // there phones show encrypted ones alone
			p.u.Ring(p.Account.Number)
			p.react(where, reaction.GetKey().GetID(), in.sender.PN().String(), reaction.GetText())
		}
		return true
	}
	if reaction := message.GetEncReactionMessage(); reaction != nil {
		p.u.Ring(p.Account.Number)
		p.reactSealed(where, in, reaction)
		return true
	}
	if vote := message.GetPollUpdateMessage(); vote != nil {
		p.u.Ring(p.Account.Number)
		p.count(where, in, vote)
		return true
	}
	if response := message.GetEncEventResponseMessage(); response != nil {
		p.u.Ring(p.Account.Number)
		p.respond(where, in, response)
		return true
	}
	if edit := message.GetSecretEncryptedMessage(); edit.GetSecretEncType() == waE2E.SecretEncryptedMessage_EVENT_EDIT {
		p.u.Ring(p.Account.Number)
		p.editEvent(where, in, edit)
		return true
	}
	if pin := message.GetPinInChatMessage(); pin.GetKey().GetID() != "" {
		p.u.Ring(p.Account.Number)
		p.pin(where, in, pin, message.GetMessageContextInfo())
		return true
	}
	change := message.GetProtocolMessage()
	if change == nil {
		return false
	}
	p.u.Ring(p.Account.Number)
	switch change.GetType() { //nolint:exhaustive // most kinds are not for a person to see
	case waE2E.ProtocolMessage_REVOKE:
		p.revoke(where, in, change)
	case waE2E.ProtocolMessage_MESSAGE_EDIT:
		p.edit(where, in, change)
	case waE2E.ProtocolMessage_EPHEMERAL_SETTING:
		if where.Group == nil {
			chatstate.SetTimer(p.u, p.Account.Number, where.JID(), change.GetEphemeralExpiration())
		}
	}
	return true
}

// revoke deletes a message for everyone. Senders may delete their own messages, and
// admins of a group those of all members.
func (p *phone) revoke(where chat.Chat, in incoming, change *waE2E.ProtocolMessage) {
	query := `UPDATE messages SET deleted = 1, read_due = 0, pinned_until = 0, starred = 0, reactions = '{}'
		WHERE number = $1 AND chat = $2 AND id = $3 AND at >= $4 AND sender = $5`
	if where.Group != nil && where.Group.IsAdmin(in.sender) && !change.GetKey().GetFromMe() {
		query = `UPDATE messages SET deleted = 1, read_due = 0, pinned_until = 0, starred = 0, reactions = '{}'
			WHERE number = $1 AND chat = $2 AND id = $3 AND at >= $4 AND $5 <> ''`
	}
	earliest := time.Unix(in.at, 0).Add(-deleteWindow).UnixMilli()
	p.u.Exec(query, p.Account.Number, where.JID().String(), change.GetKey().GetID(), earliest, in.sender.PN().String())
}

// edit replaces the text of a sender's own message.
func (p *phone) edit(where chat.Chat, in incoming, change *waE2E.ProtocolMessage) {
	edited := content.Unwrap(change.GetEditedMessage())
	p.u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		var seq int64
		var payload []byte
		found, err := database.One(tx.QueryRowContext(ctx, `SELECT seq, payload FROM messages
			WHERE number = $1 AND chat = $2 AND id = $3 AND sender = $4 AND deleted = 0 AND at >= $5`,
			p.Account.Number, where.JID().String(), change.GetKey().GetID(), in.sender.PN().String(),
			time.Unix(in.at, 0).Add(-editWindow).UnixMilli()), &seq, &payload)
		if err != nil || !found {
			return err
		}
		if payload, err = content.Edit(payload, edited); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE messages SET edited = 1, payload = $1 WHERE seq = $2", payload, seq)
		return err
	})
}

// reactSealed sets a reaction that is encrypted with the secret of its message. One that can't be
// opened changes nothing.
func (p *phone) reactSealed(where chat.Chat, in incoming, sealed *waE2E.EncReactionMessage) {
	p.u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		kept, found, err := p.answered(ctx, tx, where, sealed.GetTargetMessageKey().GetID())
		if err != nil || !found {
			return err
		}
		message, err := kept.message()
		if err != nil {
			return err
		}
		author, err := p.s.authorOfStored(ctx, kept)
		if err != nil {
			return err
		}
		for _, ballot := range ballots(content.Ballot{Secret: content.SecretOf(message), PollID: kept.id}, author, in.sender) {
			if emoji, ok := ballot.OpenReaction(sealed); ok {
				return p.keepReaction(ctx, tx, where, kept.id, in.sender.PN().String(), emoji)
			}
		}
		return nil
	})
}

// react sets somebody's reaction, or removes it if emoji is empty.
func (p *phone) react(where chat.Chat, id, from, emoji string) {
	p.u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		return p.keepReaction(ctx, tx, where, id, from, emoji)
	})
}

func (p *phone) keepReaction(ctx context.Context, tx *sqlite.Tx, where chat.Chat, id, from, emoji string) error {
	rows, err := database.Strings(ctx, tx, "SELECT reactions FROM messages WHERE number = $1 AND chat = $2 AND id = $3 AND deleted = 0",
		p.Account.Number, where.JID().String(), id)
	if err != nil || len(rows) == 0 {
		return err
	}
	reactions := map[string]string{}
	if err := json.Unmarshal([]byte(rows[0]), &reactions); err != nil {
		return fmt.Errorf("phone: read reactions: %w", err)
	}
	reactions[from] = emoji
	if emoji == "" {
		delete(reactions, from)
	}
	encoded, err := json.Marshal(reactions)
	if err != nil {
		return fmt.Errorf("phone: keep reactions: %w", err)
	}
	_, err = tx.ExecContext(ctx, "UPDATE messages SET reactions = $1 WHERE number = $2 AND chat = $3 AND id = $4",
		string(encoded), p.Account.Number, where.JID().String(), id)
	return err
}

// findChange returns a change that the phone has sent, or nil if there is none with
// this ID.
func (s *Service) findChange(ctx context.Context, of *account.Account, id string) (*storedMessage, error) {
	kept := &storedMessage{}
	found, err := database.One(s.db.Reader().QueryRowContext(ctx,
		"SELECT id, chat, at, payload FROM changes WHERE number = $1 AND id = $2", of.Number, id),
		&kept.id, &kept.chat, &kept.at, &kept.payload)
	if err != nil {
		return nil, fmt.Errorf("phone: find change: %w", err)
	}
	if !found {
		return nil, nil
	}
	return kept, nil
}

// sendChange lets a phone change a message that it shows, on the phone and
// everywhere else. build makes the message that carries the change.
func (s *Service) sendChange(
	ctx context.Context, number, messageID string, build func(where chat.Chat, kept *storedMessage) (*waE2E.Message, error),
) error {
	of, kept, err := s.shownMessage(ctx, number, messageID)
	if err != nil {
		return err
	}
	if kept.deleted {
		return refusal.Conflictf("the message was deleted")
	}
	jid, err := types.ParseJID(kept.chat)
	if err != nil {
		return fmt.Errorf("phone: read chat: %w", err)
	}
	where, ok, err := s.config.Chats.Lookup(ctx, jid)
	if err != nil {
		return err
	}
	if !ok || (where.Group != nil && !where.Group.Has(of)) {
		return refusal.Conflictf("the phone is not in this group")
	}
	message, err := build(where, kept)
	if err != nil {
		return err
	}
	if where.Status && message.GetProtocolMessage() == nil {
		return refusal.Conflictf("a status post can only be deleted")
	}
	of.LockPhone()
	defer of.UnlockPhone()
	u := s.config.Accounts.NewUnit()
	phone := s.openPhone(u, of)
	if err := phone.change(ctx, where, message); err != nil {
		return err
	}
	return u.Commit(ctx)
}

// change sends a change. It is kept for devices that can't decrypt it and ask for
// it again.
func (p *phone) change(ctx context.Context, where chat.Chat, message *waE2E.Message) error {
	out := phoneMessage{id: wire.NewMessageID(), chat: where, at: p.s.now().Unix(), message: message}
	payload, err := proto.Marshal(message)
	if err != nil {
		return fmt.Errorf("phone: keep change: %w", err)
	}
	in := incoming{sender: p.Account, group: where.Group, status: where.Status, id: out.id, at: out.at}
	p.applyChange(where, in, content.Unwrap(message))
	p.u.Exec("INSERT INTO changes (number, id, chat, at, payload) VALUES ($1, $2, $3, $4, $5)",
		p.Account.Number, out.id, where.JID().String(), p.s.now().UnixMilli(), payload)
	return p.distribute(ctx, out)
}
