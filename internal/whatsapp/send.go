package whatsapp

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/trace"
	"github.com/recado-project/recado/internal/whatsapp/channels"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// Send sends a message (gateway.Messages).
func (s *session) Send(ctx context.Context, out gateway.Outgoing) (gateway.Sent, error) {
	to, err := wire.ToJID(out.Chat)
	if err != nil {
		return gateway.Sent{}, err
	}
	message, err := wire.Decode(out.Payload)
	if err != nil {
		return gateway.Sent{}, err
	}
	// One bound for all of it: whatsmeow has bounds of its own, of a minute and more, for
	// each request to the platform that a send needs.
	ctx, cancel := context.WithTimeout(ctx, s.line.Wait)
	defer cancel()
	client := s.line.Client()
	if err := s.contacts.CheckRegistered(ctx, to); err != nil {
		return gateway.Sent{}, err
	}
	if s.announces(ctx, to) {
		if err := s.giveSecret(ctx, to, out.PlatformID, message); err != nil {
			return gateway.Sent{}, err
		}
	}
	sending, only := ctx, wire.TakeAudience(message)
	if to.Server == types.BroadcastServer {
		if sending, err = s.profiles.Audience(ctx, only); err != nil {
			return gateway.Sent{}, err
		}
	}
	response, err := s.transmit(sending, client, to, message, out)
	switch {
	case wire.IsNoGroup(err):
		return gateway.Sent{}, wire.NoGroup()
	case to.Server == types.NewsletterServer && err != nil:
		return gateway.Sent{}, channels.Failure(err)
	}
	if to.Server == types.GroupServer && wire.IsNotAllowed(err) {
		return gateway.Sent{}, s.refusedInGroup(ctx, to, message, err)
	}
	if err != nil {
		return gateway.Sent{}, s.refusedRecipient(ctx, wire.Failure(err), s.party(ctx, client, to))
	}
	s.contacts.Watch(to)
	ctx = context.WithoutCancel(ctx) // the message is sent, however little of the time is left
	at := gateway.CleanTime(response.Timestamp.UTC(), s.line.Now().UTC())
	return gateway.Sent{At: at, Chat: s.party(ctx, client, to)}, nil
}

// refusedInGroup says why the platform refuses a message, or a change of one, in a group: it gives
// who has left, and who may not write, the same answer.
func (s *session) refusedInGroup(ctx context.Context, to types.JID, message *waE2E.Message, refusal error) error {
	id := wire.JIDOf(to)
	s.groups.Forget(id)
	group, err := s.groups.Group(ctx, id)
	switch {
	case gateway.KindOf(err) == gateway.NotFound:
		return err
	case message.GetPinInChatMessage() != nil:
		return gateway.Errorf(gateway.Forbidden, gateway.CodeGroupAdminRequired, "only administrators of the group pin messages, and this account is none")
	case err == nil && group.Rules.AdminsWrite && group.Role == "":
		return gateway.Errorf(gateway.Forbidden, gateway.CodeGroupAdminRequired, "only administrators of the group write in it, and this account is none")
	}
	return wire.GroupFailure(refusal)
}

// transmit hands a message to the platform.
func (s *session) transmit(
	ctx context.Context, client *whatsmeow.Client, to types.JID, message *waE2E.Message, out gateway.Outgoing,
) (response whatsmeow.SendResponse, err error) {
	kept, done := traced(ctx, out.Stored)
	defer func() { done(err) }()
	handle := wire.TakeHandle(message)
	err = keys.Send(ctx, kept, func(ctx context.Context) error {
		response, err = client.SendMessage(ctx, to, message, whatsmeow.SendRequestExtra{
			ID: out.PlatformID, Timeout: s.line.Wait, AdditionalNodes: wire.MarksOf(message), MediaHandle: handle,
		})
		return wire.OutOfTime(ctx, err)
	})
	return response, err
}

// traced shows the two parts of a send in its trace: until keys and message are kept, and
// until the platform has acknowledged it, which done ends. kept may be nil.
func traced(ctx context.Context, kept func(context.Context) error) (wrapped func(context.Context) error, done func(error)) {
	_, step := trace.Step(ctx, "encrypt and keep")
	if !step.Recording() {
		return kept, func(error) {}
	}
	return func(within context.Context) (err error) {
		if kept != nil {
			err = kept(within)
		}
		step.End(err)
		if err == nil {
			_, step = trace.Step(ctx, "acknowledgement")
		}
		return err
	}, func(err error) { step.End(err) }
}

// party returns both addresses of a chat, as far as they are known.
func (s *session) party(ctx context.Context, client *whatsmeow.Client, chat types.JID) gateway.Party {
	return wire.PartyOf(chat, line.OtherAddress(ctx, client.Store.LIDs, chat), "")
}

// EncodeChange writes the payload of a change (gateway.Messages).
func (s *session) EncodeChange(key gateway.MessageKey, change gateway.Change) ([]byte, error) {
	chat, err := wire.ToJID(key.Chat.Address())
	if err != nil {
		return nil, err
	}
	var message *waE2E.Message
	switch change.Kind {
	case gateway.ChangeEdited:
		content, err := wire.Decode(change.Payload)
		if err != nil {
			return nil, err
		}
		message = s.line.Client().BuildEdit(chat, key.PlatformID, content)
	case gateway.ChangeCancelled:
		if message, err = newEventEdit(s.ctx, s.line.Client(), chat, key.PlatformID, change.Payload, s.line.Now()); err != nil {
			return nil, err
		}
	case gateway.ChangeDeleted:
		message = s.line.Client().BuildRevoke(chat, types.EmptyJID, key.PlatformID)
	case gateway.ChangeReaction:
		sender := types.EmptyJID // this account
		if !key.FromMe {
			// Groups address people by LID, and so must the reaction.
			if sender, err = wire.ToJID(key.Sender.Key()); err != nil {
				return nil, err
			}
		}
		message = s.line.Client().BuildReaction(chat, sender, key.PlatformID, change.Reaction)
		if s.announces(s.ctx, chat) {
			if message, err = s.sealedReaction(s.ctx, s.line.Client(), chat, sender, key.PlatformID, message); err != nil {
				return nil, err
			}
		}
	case gateway.ChangePin:
		sender := types.EmptyJID // this account
		if !key.FromMe {
			if sender, err = wire.ToJID(key.Sender.Key()); err != nil {
				return nil, err
			}
		}
		message = wire.NewPin(s.line.Client().BuildMessageKey(chat, sender, key.PlatformID), change.For, s.line.Now())
	}
	payload, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("whatsapp: encode a change: %w", err)
	}
	return payload, nil
}

// MarkRead sends the sender of a message a receipt that it was read (gateway.Messages).
func (s *session) MarkRead(ctx context.Context, key gateway.MessageKey, at time.Time, more ...string) error {
	// Receipts go to the address that the message came from, which was a LID.
	chat, err := wire.ToJID(key.Chat.Key())
	if err != nil {
		return err
	}
	sender, err := wire.ToJID(key.Sender.Key())
	if err != nil {
		return err
	}
	if err := s.line.Client().MarkRead(ctx, append([]types.MessageID{key.PlatformID}, more...), at, chat, sender); err != nil {
		return wire.Failure(err)
	}
	return nil
}

// RequestOlder asks the phone for messages of a chat (gateway.Messages).
func (s *session) RequestOlder(ctx context.Context, before gateway.Message, count int) (string, error) {
	return s.older.Ask(ctx, before, count)
}

// sentMessage finds a message that this instance sent, or a change that it made, for a
// recipient who could not decrypt it. whatsmeow asks if its own memory does not have it
// any more: after a restart, or after many other messages. Without an answer the
// recipient's phone goes on "waiting for this message".
func (s *session) sentMessage(_, chat types.JID, id types.MessageID) *waE2E.Message {
	var payload []byte
	found := false
	s.line.WhileOpen(func() {
		// The platform may name a person by number or by LID.
		for _, address := range []types.JID{chat, s.line.Other(chat)} {
			if !found && !address.IsEmpty() {
				payload, found = s.line.SentPayload(wire.JIDOf(address), id)
			}
		}
	})
	if !found {
		return nil
	}
	message, err := wire.Decode(payload)
	if err != nil {
		s.logger.ErrorContext(s.ctx, "message can't be sent again", slog.String("platform_id", id), slog.Any("error", err))
		return nil
	}
	wire.TakeAudience(message)
	if secret, err := s.secretOf(s.ctx, chat, id); err == nil && secret != nil && message.GetMessageContextInfo() == nil {
		message.MessageContextInfo = &waE2E.MessageContextInfo{MessageSecret: secret}
	}
	return message
}
