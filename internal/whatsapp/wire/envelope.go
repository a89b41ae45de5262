package wire

import (
	"time"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// Envelope is what the platform says about a message besides its content.
type Envelope struct {
	PlatformID   string
	Chat, Sender gateway.Party
	FromMe       bool // by this account, on its phone or another device
	SentAt       time.Time
	key          string // the same for every delivery
}

// EnvelopeOf reads the envelope of a message. self is this account.
func EnvelopeOf(info *types.MessageInfo, self gateway.Party) Envelope {
	envelope := Envelope{
		PlatformID: info.ID,
		Chat:       ChatOf(info.MessageSource),
		Sender:     PartyOf(info.Sender, info.SenderAlt, info.PushName),
		FromMe:     info.IsFromMe,
		SentAt:     info.Timestamp.UTC(),
	}
	if envelope.FromMe {
		envelope.Sender = self
	}
	envelope.key = string(envelope.Chat.Key()) + "/" + string(envelope.Sender.Key()) + "/" + envelope.PlatformID
	return envelope
}

// message makes a message without content.
func (e Envelope) message(now time.Time) gateway.Message {
	message := gateway.Message{
		PlatformID: e.PlatformID,
		Chat:       e.Chat,
		Sender:     e.Sender,
		FromMe:     e.FromMe,
		Source:     gateway.SourcePeer,
		Status:     gateway.MessageDelivered,
		SentAt:     e.SentAt,
		CreatedAt:  now.UTC(),
		WireKey:    e.key,
	}
	if e.FromMe {
		message.Source = gateway.SourceDevice
		message.Status = gateway.MessageSent
	}
	return message
}

// IsChat reports whether a message belongs to a chat with a person, in a group, to a channel, or
// to the status posts. The platform's own broadcasts are no chats: they can't be answered.
func IsChat(source types.MessageSource) bool {
	switch source.Chat.Server {
	case types.DefaultUserServer, types.HiddenUserServer, types.GroupServer, types.NewsletterServer:
		return true
	case types.BroadcastServer: // a list of the sender's
		return source.IsIncomingBroadcast() || source.Chat == types.StatusBroadcastJID
	default:
		return false
	}
}

// ChatOf returns the chat of a message.
func ChatOf(source types.MessageSource) gateway.Party {
	switch {
	case source.IsIncomingBroadcast(): // it lies in the chat with its sender
		return PartyOf(source.Sender, source.SenderAlt, "")
	case source.IsGroup:
		return PartyOf(source.Chat, types.EmptyJID, "")
	case source.IsFromMe:
		return PartyOf(source.Chat, source.RecipientAlt, "")
	default:
		return PartyOf(source.Chat, source.SenderAlt, "")
	}
}
