package whatsapp

import (
	"fmt"
	"log/slog"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

// messageArrived hands a message on and reports whether it was kept.
func (s *session) messageArrived(event *events.Message) bool {
	if !isChat(event.Info.MessageSource) {
		return true
	}
	notification := event.Message.GetProtocolMessage().GetHistorySyncNotification()
	if notification != nil && event.Info.IsFromMe { // anybody can write such a message
		s.historyAnnounced(&event.Info, notification)
		return true
	}
	s.completeAddresses(&event.Info.MessageSource)
	s.unlock(event)
	cleanContent(event.Message)
	if change, ok := changeOf(event, s.Self()); ok {
		return s.changeArrived(event, change)
	}
	message, ok, err := s.newArrived(event)
	if err == nil && !ok {
		return true
	}
	if err == nil {
		err = s.receiver.Receive(s.ctx, message)
	}
	return s.kept(err, "message", slog.String("platform_id", event.Info.ID))
}

// isChat reports whether a message belongs to a chat that the gateway has: with a
// person, or in a group. Stories, channels and the platform's own broadcasts are
// no chats: nobody could be answered there.
func isChat(source types.MessageSource) bool {
	switch source.Chat.Server {
	case types.DefaultUserServer, types.HiddenUserServer, types.GroupServer:
		return true
	case types.BroadcastServer: // a list of the sender's
		return source.IsIncomingBroadcast()
	default:
		return false
	}
}

// unavailableArrived tells of a message that the platform keeps from linked
// devices on purpose. Of any other that could not be opened nothing is told: its
// sender, or the account's phone, has been asked for it again.
func (s *session) unavailableArrived(event *events.UndecryptableMessage) bool {
	if !event.IsUnavailable || event.UnavailableType == events.UnavailableTypeUnknown || !isChat(event.Info.MessageSource) {
		s.logger.WarnContext(s.ctx, "message not decrypted; it was asked for again",
			slog.String("platform_id", event.Info.ID))
		return true
	}
	s.completeAddresses(&event.Info.MessageSource)
	message := s.newMessage(&event.Info)
	message.Type = gateway.TypeUnsupported
	message.Payload = []byte{} // there is no content, and never will be
	message.Details.Unsupported = "unavailable:" + string(event.UnavailableType)
	return s.kept(s.receiver.Receive(s.ctx, message), "unavailable message", slog.String("platform_id", event.Info.ID))
}

// completeAddresses fills in the other address of everybody, where the stanza
// left it out and an earlier one told it.
func (s *session) completeAddresses(source *types.MessageSource) {
	device := s.current().Store
	if source.SenderAlt.IsEmpty() {
		source.SenderAlt, _ = device.GetAltJID(s.ctx, source.Sender) // unknown is an ordinary answer
	}
	if source.RecipientAlt.IsEmpty() && !source.IsGroup && source.IsFromMe {
		source.RecipientAlt, _ = device.GetAltJID(s.ctx, source.Chat)
	}
	if !source.IsFromMe {
		s.numbered(source.Sender, source.SenderAlt)
	} else if !source.IsGroup {
		s.numbered(source.Chat, source.RecipientAlt)
	}
}

// newArrived translates a message as it came, and reports whether it is one.
func (s *session) newArrived(event *events.Message) (message gateway.Message, ok bool, err error) {
	sent := withoutCopy(event.RawMessage)
	if sent == nil {
		return gateway.Message{}, false, nil
	}
	message = s.newMessage(&event.Info)
	if small := cleanContent(sent); !small {
		message.Type, message.Payload, message.Details.Unsupported = gateway.TypeUnsupported, []byte{}, tooLarge
		return message, true, nil
	}
	content, once := open(sent)
	kind, text := kindOf(content)
	alt := altOf(s.ctx, s.current().Store.LIDs)
	details := detailsOf(content, once, alt)
	if kind == gateway.TypeUnsupported && details.Unsupported == "" {
		return gateway.Message{}, false, nil
	}
	payload, err := proto.MarshalOptions{AllowPartial: true}.Marshal(sent) // of a history, which may lack something
	if err != nil {
		return gateway.Message{}, false, fmt.Errorf("whatsapp: write payload: %w", err)
	}
	message.Type, message.Text = kind, text
	message.QuotedID = contextOf(content).GetStanzaID()
	message.Payload = payload
	message.Details = details
	return message, true, nil
}

// newMessage makes a message of what its stanza says, without content.
func (s *session) newMessage(info *types.MessageInfo) gateway.Message {
	message := gateway.Message{
		PlatformID: info.ID,
		Chat:       chatOf(info.MessageSource),
		Sender:     partyOf(info.Sender, info.SenderAlt, info.PushName),
		FromMe:     info.IsFromMe,
		Source:     gateway.SourcePeer,
		Status:     gateway.MessageDelivered,
		SentAt:     info.Timestamp.UTC(),
		CreatedAt:  s.connector.config.Now().UTC(),
	}
	if info.IsFromMe {
		message.Sender = s.Self()
		message.Source = gateway.SourceDevice
		message.Status = gateway.MessageSent
	}
	message.WireKey = wireKey(message)
	return message
}

// wireKey is the same for every delivery of a message. The LID goes first: the
// number may become known between two of them.
func wireKey(message gateway.Message) string {
	return string(lidFirst(message.Chat)) + "/" + string(lidFirst(message.Sender)) + "/" + message.PlatformID
}

func lidFirst(party gateway.Party) gateway.JID {
	if party.LID != "" {
		return party.LID
	}
	return party.JID
}

func chatOf(source types.MessageSource) gateway.Party {
	switch {
	case source.IsIncomingBroadcast(): // it lies in the chat with its sender
		return partyOf(source.Sender, source.SenderAlt, "")
	case source.IsGroup:
		return partyOf(source.Chat, types.EmptyJID, "")
	case source.IsFromMe:
		return partyOf(source.Chat, source.RecipientAlt, "")
	default:
		return partyOf(source.Chat, source.SenderAlt, "")
	}
}

// contextOf returns what a message says about its own context, the quote among
// it; nil, which answers everything with nothing, where there is none.
func contextOf(message *waE2E.Message) *waE2E.ContextInfo {
	for _, part := range []interface{ GetContextInfo() *waE2E.ContextInfo }{
		message.GetExtendedTextMessage(), message.GetImageMessage(), message.GetVideoMessage(),
		message.GetAudioMessage(), message.GetDocumentMessage(), message.GetStickerMessage(),
		message.GetLocationMessage(), message.GetLiveLocationMessage(), message.GetContactMessage(),
		message.GetContactsArrayMessage(), message.GetPtvMessage(), pollOf(message),
	} {
		if info := part.GetContextInfo(); info != nil {
			return info
		}
	}
	return nil
}

func typeName(value any) string { return fmt.Sprintf("%T", value) }
