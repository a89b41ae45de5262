package wire

import (
	"cmp"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
)

// changeOf reads a message that changes another one: an edit, a deletion, a reaction, a pin.
func changeOf(event *events.Message, envelope Envelope) (gateway.Change, bool) {
	change := gateway.Change{
		ID:     envelope.PlatformID,
		Chat:   envelope.Chat,
		By:     envelope.Sender,
		FromMe: envelope.FromMe,
		At:     envelope.SentAt,
	}
	if event.Info.Chat.Server == types.NewsletterServer {
		return changeOfPost(event, change, envelope.key)
	}
	var target *waCommon.MessageKey
	switch protocol := event.Message.GetProtocolMessage(); {
	case event.Message.GetReactionMessage() != nil:
		change.Kind = gateway.ChangeReaction
		change.Reaction = event.Message.GetReactionMessage().GetText()
		target = event.Message.GetReactionMessage().GetKey()
	case event.Message.GetPinInChatMessage() != nil:
		change.Kind, change.For = gateway.ChangePin, pinTimeOf(event.Message)
		target = event.Message.GetPinInChatMessage().GetKey()
	case protocol == nil:
		return gateway.Change{}, false
	case protocol.GetType() == waE2E.ProtocolMessage_REVOKE:
		change.Kind = gateway.ChangeDeleted
		target = protocol.GetKey()
	case protocol.GetType() == waE2E.ProtocolMessage_MESSAGE_EDIT:
		change.Kind = gateway.ChangeEdited
		if at := protocol.GetTimestampMS(); at > 0 {
			change.At = time.UnixMilli(at).UTC() // of two edits that arrive in another order, the later one counts
		}
		_, change.Text = kindOf(Unwrap(protocol.GetEditedMessage()))
		change.Event = eventOf(Unwrap(protocol.GetEditedMessage()))
		payload, err := proto.Marshal(protocol.GetEditedMessage())
		if err != nil {
			return gateway.Change{}, false // can't happen: it was just parsed
		}
		change.Payload = payload
		target = protocol.GetKey()
	default:
		return gateway.Change{}, false
	}
	change.PlatformID = target.GetID()
	change.SourceKey = "change/" + envelope.key
	return change, change.PlatformID != ""
}

// usualPin is how long a pin lasts that does not say it: the choice that phones propose.
const usualPin = 7 * 24 * time.Hour

// pinTimeOf is how long a pin lasts; zero if it takes one back.
func pinTimeOf(message *waE2E.Message) time.Duration {
	if message.GetPinInChatMessage().GetType() != waE2E.PinInChatMessage_PIN_FOR_ALL {
		return 0
	}
	lasts := time.Duration(message.GetMessageContextInfo().GetMessageAddOnDurationInSecs()) * time.Second
	return min(cmp.Or(lasts, usualPin), gateway.MaxPin)
}

// NewPin pins a message for a time, or unpins it (zero).
func NewPin(key *waCommon.MessageKey, lasts time.Duration, now time.Time) *waE2E.Message {
	kind := waE2E.PinInChatMessage_PIN_FOR_ALL
	if lasts == 0 {
		kind = waE2E.PinInChatMessage_UNPIN_FOR_ALL
	}
	return &waE2E.Message{
		PinInChatMessage:   &waE2E.PinInChatMessage{Key: key, Type: kind.Enum(), SenderTimestampMS: new(now.UnixMilli())},
		MessageContextInfo: &waE2E.MessageContextInfo{MessageAddOnDurationInSecs: new(uint32(lasts / time.Second))}, //nolint:gosec // at most MaxPin
	}
}

// IsNotAllowed reports whether the platform refuses a message to a group because of who sends it: who
// is not in it, who may not write, who may not pin.
func IsNotAllowed(err error) bool {
	code, refused := platformCode(err)
	return refused && (code == codeNotAllowed || code == codePrivacy)
}

// changeOfPost reads a change of a post of a channel: it comes under the identifier of the post,
// as its new content. Only those who write in a channel can make it, which the platform sees to.
func changeOfPost(event *events.Message, change gateway.Change, key string) (gateway.Change, bool) {
	switch event.Info.Edit {
	case types.EditAttributeAdminEdit:
		change.Kind = gateway.ChangeEdited
		_, change.Text = kindOf(Unwrap(event.Message))
		payload, err := proto.Marshal(event.Message)
		if err != nil {
			return gateway.Change{}, false // can't happen: it was just parsed
		}
		change.Payload = payload
	case types.EditAttributeAdminRevoke:
		change.Kind = gateway.ChangeDeleted
	default:
		return gateway.Change{}, false
	}
	change.PlatformID, change.ByAdmin = event.Info.ID, true
	at := event.Info.Timestamp
	if event.NewsletterMeta != nil && !event.NewsletterMeta.EditTS.IsZero() {
		at = event.NewsletterMeta.EditTS
	}
	change.At = at.UTC()
	change.SourceKey = "change/" + key + "/" + strconv.FormatInt(at.UnixMilli(), 10)
	return change, true
}

// IsOwnDeletion reports whether the author of a deletion claims to have sent the message
// that it deletes.
func IsOwnDeletion(event *events.Message) bool {
	key := event.Message.GetProtocolMessage().GetKey()
	return event.Info.Edit != types.EditAttributeAdminRevoke &&
		(key.GetParticipant() == "" || key.GetFromMe() || sameUser(key.GetParticipant(), event.Info.MessageSource))
}

// sameUser reports whether an address is the sender's.
func sameUser(address string, source types.MessageSource) bool {
	who, err := types.ParseJID(address)
	return err == nil && (who.ToNonAD() == source.Sender.ToNonAD() || who.ToNonAD() == source.SenderAlt.ToNonAD())
}
