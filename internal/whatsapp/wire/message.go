// What every message has: its envelope, its addresses, and content, which is cleaned (text that can be
// stored, numbers that are numbers, bounded depth) and may be wrapped in other content.

package wire

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/gateway"
)

// UnavailableOf makes the message that stands for one that the platform withholds from
// linked devices on purpose. It never gets content.
func UnavailableOf(event *events.UndecryptableMessage, username string, self gateway.Party, now time.Time) gateway.Message {
	envelope := EnvelopeOf(&event.Info, self)
	envelope.username = username
	message := envelope.message(now)
	withoutContent(&message, "unavailable:"+string(event.UnavailableType))
	return message
}

// tooLarge stands for content that is not kept because of its size.
const tooLarge = "too_large"

// IncomingOf translates what arrived as a message: a gateway.Change, or a
// gateway.Message, with its content cleaned. It is nil for content that shows a person nothing.
// username is the sender's, if the stanza tells it; other finds the other address of somebody.
func IncomingOf(
	event *events.Message, username string, self gateway.Party, now time.Time, other func(types.JID) types.JID,
) (gateway.Incoming, error) {
	CleanContent(event.Message)
	envelope := EnvelopeOf(&event.Info, self)
	envelope.username = username
	if change, ok := changeOf(event, envelope); ok {
		return change, nil
	}
	message, ok, err := messageOf(event, envelope, now, other)
	if err != nil || !ok {
		return nil, err
	}
	return message, nil
}

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

// MessageOf translates a message of a history, and reports whether it is one.
func MessageOf(
	event *events.Message, self gateway.Party, now time.Time, other func(types.JID) types.JID,
) (message gateway.Message, ok bool, err error) {
	return messageOf(event, EnvelopeOf(&event.Info, self), now, other)
}

func messageOf(
	event *events.Message, envelope Envelope, now time.Time, other func(types.JID) types.JID,
) (message gateway.Message, ok bool, err error) {
	sent := withoutCopy(event.RawMessage)
	if sent == nil {
		return gateway.Message{}, false, nil
	}
	message = envelope.message(now)
	if small := CleanContent(sent); !small {
		withoutContent(&message, tooLarge)
		return message, true, nil
	}
	content, once := open(sent)
	message.Type, message.Text = kindOf(content)
	message.Details = detailsOf(content, once, other)
	message.Details.AlbumID = albumOf(sent)
	if message.Type == gateway.TypeUnsupported && message.Details.Unsupported == "" {
		return gateway.Message{}, false, nil
	}
	message.QuotedID = contextOf(content).GetStanzaID()
	message.Payload, err = proto.MarshalOptions{AllowPartial: true}.Marshal(sent) // of a history, which may lack something
	if err != nil {
		return gateway.Message{}, false, fmt.Errorf("wire: write payload: %w", err)
	}
	return message, true, nil
}

// withoutContent makes a message one of a kind that is not supported, without content.
func withoutContent(message *gateway.Message, kind string) {
	message.Type, message.Payload, message.Details.Unsupported = gateway.TypeUnsupported, []byte{}, kind
}

// Envelope is what the platform says about a message besides its content.
type Envelope struct {
	PlatformID   string
	Chat, Sender gateway.Party
	FromMe       bool // by this account, on its phone or another device
	SentAt       time.Time
	username     string // of the sender; empty where the stanza does not tell it
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
		Sender:     e.Sender, SenderUsername: e.username,
		FromMe:    e.FromMe,
		Source:    gateway.SourcePeer,
		Status:    gateway.MessageDelivered,
		SentAt:    e.SentAt,
		CreatedAt: now.UTC(),
		WireKey:   e.key,
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

// JIDOf makes the gateway's form of a chat ID: without a device part, empty for none, and
// clean, because not every sender uses the messenger's own client.
func JIDOf(jid types.JID) gateway.JID {
	if jid.IsEmpty() {
		return ""
	}
	return gateway.JID(gateway.CleanID(jid.ToNonAD().String()))
}

// ToJID makes whatsmeow's form of a chat ID.
func ToJID(jid gateway.JID) (types.JID, error) {
	parsed, err := types.ParseJID(string(jid))
	if err != nil {
		return types.EmptyJID, fmt.Errorf("wire: chat ID: %w", err)
	}
	return parsed, nil
}

// PartyOf puts the two addresses of a person in their places, in whichever order
// they came. A group has only one.
func PartyOf(one, other types.JID, name string) gateway.Party {
	party := gateway.Party{Name: name}
	for _, jid := range []types.JID{one, other} {
		if jid.IsEmpty() {
			continue
		}
		address := &party.JID
		if jid.Server == types.HiddenUserServer {
			address = &party.LID
		}
		*address = JIDOf(jid)
	}
	return party
}

// maxWrappings bounds how deep content may be wrapped; clients use two at most.
const maxWrappings = 5

// withoutCopy returns the message that was sent to the chat, out of the copy that goes to
// the account's other devices.
func withoutCopy(message *waE2E.Message) *waE2E.Message {
	if inner := message.GetDeviceSentMessage().GetMessage(); inner != nil {
		return inner
	}
	return message
}

// Unwrap returns the content of a message without the wrappings that say how to show it:
// once, for a while, with a caption.
func Unwrap(message *waE2E.Message) *waE2E.Message {
	content, _ := open(message)
	return content
}

// open is Unwrap, and reports whether a wrapping allows a single look.
func open(message *waE2E.Message) (content *waE2E.Message, once bool) {
	for range maxWrappings {
		inner, onceOnly := wrapped(message)
		if inner == nil {
			break
		}
		message, once = inner, once || onceOnly
	}
	return message, once
}

// onceOnly are the wrappings whose content may be looked at once.
//
//nolint:gochecknoglobals // a table that nobody writes
var onceOnly = map[protoreflect.Name]bool{"viewOnceMessage": true, "viewOnceMessageV2": true, "viewOnceMessageV2Extension": true}

// wrapped returns the content of one wrapping, nil if there is none. Every field of this type is a
// wrapping, also those that a later version of the protocol has. A comment is one as well.
func wrapped(message *waE2E.Message) (inner *waE2E.Message, once bool) {
	if message == nil {
		return nil, false
	}
	best := protoreflect.FieldNumber(math.MaxInt32)
	message.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil || field.IsList() {
			return true
		}
		part, ok := value.Message().Interface().(interface{ GetMessage() *waE2E.Message })
		if _, isCopy := part.(*waE2E.DeviceSentMessage); !ok || isCopy || part.GetMessage() == nil {
			return true
		}
		// Of several, a single look comes first, and then always the same.
		rank := field.Number()
		if onceOnly[field.Name()] {
			rank -= protowire.MaxValidNumber
		}
		if rank < best {
			inner, once, best = part.GetMessage(), onceOnly[field.Name()], rank
		}
		return true
	})
	return inner, once
}

// Decode reads the payload of a message, wrapped as it may be. Its error is NotFound: one that is
// damaged is not there any more.
func Decode(payload []byte) (*waE2E.Message, error) {
	var message waE2E.Message
	if err := proto.Unmarshal(payload, &message); err != nil {
		return nil, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "what is kept of the message is damaged and can't be read (%v)", err)
	}
	return &message, nil
}

func encode(message *waE2E.Message) ([]byte, error) {
	payload, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("wire: write payload: %w", err)
	}
	return payload, nil
}

const (
	// maxContent bounds the content of one message in bytes. The platform's own
	// clients write some hundred kilobytes at most, nearly all of it a thumbnail.
	maxContent = 1 << 20
	// maxDepth bounds how deep the parts of a message lie in one another.
	maxDepth = 50
)

// CleanContent makes the content of a foreign message safe to keep: every text in
// it is valid UTF-8 without U+0000 and of a bounded length, every number is one,
// and lists and nesting are bounded. It changes the message in place, and reports
// whether the message is small enough to be kept.
//
// It looks at the fields by reflection, so that a kind of message that this program
// does not know is cleaned as well.
func CleanContent(message *waE2E.Message) (small bool) {
	if message == nil {
		return true
	}
	cleanPart(message.ProtoReflect(), 0)
	return proto.Size(message) <= maxContent
}

func cleanPart(part protoreflect.Message, depth int) {
	part.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case depth >= maxDepth && field.Message() != nil:
			part.Clear(field)
		case field.IsMap(): // messages of the platform have none that a person writes
			part.Clear(field)
		case field.IsList():
			cleanList(field, value.List(), depth)
		default:
			if cleaned, changed := cleanValue(field, value, depth); changed {
				part.Set(field, cleaned)
			}
		}
		return true
	})
}

func cleanList(field protoreflect.FieldDescriptor, list protoreflect.List, depth int) {
	if list.Len() > gateway.MaxListed {
		list.Truncate(gateway.MaxListed)
	}
	for i := range list.Len() {
		if cleaned, changed := cleanValue(field, list.Get(i), depth); changed {
			list.Set(i, cleaned)
		}
	}
}

// cleanValue cleans the inside of a message; for a text or a number it returns a clean one
// and whether that differs.
func cleanValue(field protoreflect.FieldDescriptor, value protoreflect.Value, depth int) (cleaned protoreflect.Value, changed bool) {
	switch field.Kind() {
	case protoreflect.StringKind:
		text := value.String()
		kept := gateway.CleanText(text, gateway.MaxText)
		return protoreflect.ValueOfString(kept), kept != text
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(0), !isNumber(value.Float())
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(0), !isNumber(value.Float())
	case protoreflect.MessageKind, protoreflect.GroupKind:
		cleanPart(value.Message(), depth+1)
		return value, false
	default:
		return value, false
	}
}

func isNumber(number float64) bool { return !math.IsNaN(number) && !math.IsInf(number, 0) }
