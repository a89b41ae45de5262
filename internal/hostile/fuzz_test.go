package hostile_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/testkit/postgres"
)

// hostility makes messages that no honest client sends. The same seed makes the same
// messages.
type hostility struct{ *rand.Rand }

// text makes a hostile text.
func (h hostility) text() string {
	parts := []string{"", "a", "\x00", "\xff\xfe", "\xc3", "\u202e", "é", "👋", "'", `"`, "\\", "\r\n", "%s", "1234567890", "@lid", "@g.us", "\U0010FFFF", "\uFFFE"}
	var text strings.Builder
	for range h.IntN(8) {
		text.WriteString(parts[h.IntN(len(parts))])
	}
	if h.IntN(40) == 0 {
		return strings.Repeat(text.String()+"x", 1+h.IntN(10_000))
	}
	return text.String()
}

// number makes an extreme number.
func (h hostility) number() uint64 {
	edges := []uint64{0, 1, 127, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64, h.Uint64()}
	return edges[h.IntN(len(edges))]
}

// fill sets any fields of the protocol at random.
func (h hostility) fill(message protoreflect.Message, depth int) {
	fields := message.Descriptor().Fields()
	for range 1 + h.IntN(6) {
		field := fields.Get(h.IntN(fields.Len()))
		switch {
		case field.IsMap() || field.Message() != nil && depth > 6:
		case field.IsList():
			list := message.Mutable(field).List()
			for range h.IntN(4) {
				if field.Message() != nil {
					h.fill(list.AppendMutable().Message(), depth+1)
				} else {
					list.Append(h.value(field))
				}
			}
		case field.Message() != nil:
			h.fill(message.Mutable(field).Message(), depth+1)
		default:
			message.Set(field, h.value(field))
		}
	}
}

func (h hostility) value(field protoreflect.FieldDescriptor) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(h.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(h.IntN(200)))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(h.number()))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(h.number()))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(h.number()))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(h.number())
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(math.Float32frombits(uint32(h.number())))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(math.Float64frombits(h.number()))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(h.text())
	default:
		return protoreflect.ValueOfBytes([]byte(h.text()))
	}
}

// content makes a message of a kind that the gateway reads, a change, or a message of any
// kind. All of its fields are hostile.
func (h hostility) content(known string) *waE2E.Message {
	message := &waE2E.Message{}
	kinds := []protoreflect.Name{
		"extendedTextMessage", "imageMessage", "documentMessage", "audioMessage", "videoMessage", "stickerMessage",
		"locationMessage", "contactMessage", "contactsArrayMessage", "pollCreationMessage", "reactionMessage",
		"protocolMessage", "viewOnceMessageV2", "ephemeralMessage", "deviceSentMessage", "liveLocationMessage",
	}
	switch h.IntN(4) {
	case 0:
		message.Conversation = new(h.text())
	case 1:
		kind := []waE2E.ProtocolMessage_Type{waE2E.ProtocolMessage_REVOKE, waE2E.ProtocolMessage_MESSAGE_EDIT, waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION}
		protocol := &waE2E.ProtocolMessage{Type: kind[h.IntN(len(kind))].Enum(), Key: &waCommon.MessageKey{ID: new(known), RemoteJID: new(h.text())}}
		protocol.EditedMessage = &waE2E.Message{Conversation: new(h.text())}
		message.ProtocolMessage = protocol
	case 2:
		field := message.ProtoReflect().Descriptor().Fields().ByName(kinds[h.IntN(len(kinds))])
		h.fill(message.ProtoReflect().Mutable(field).Message(), 0)
	default:
		h.fill(message.ProtoReflect(), 0)
	}
	return message
}

// stanza makes the attributes around a message.
func (h hostility) stanza() map[string]any {
	more := map[string]any{}
	if h.IntN(3) == 0 {
		more["idBase64"] = []byte(h.text() + "x") // none is no message
	}
	if h.IntN(3) == 0 {
		more["pushNameBase64"] = []byte(h.text())
	}
	if h.IntN(3) == 0 {
		more["edit"] = []string{"1", "2", "3", "7", "8", "x"}[h.IntN(6)]
	}
	if h.IntN(4) == 0 {
		more["timestamp"] = int64(h.number() >> 1)
	}
	return more
}

// FuzzHostileMessages has a stranger send a volley of hostile messages to instances
// on both databases. Afterwards each of them is connected, and has been all the time;
// the next message arrives, and a send works.
func FuzzHostileMessages(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed, seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, onPostgres bool) {
		url := ""
		if onPostgres {
			url = postgres.Start(t)
		}
		b := besiege(t, url)
		h := hostility{rand.New(rand.NewPCG(seed, 1))}
		group := b.Phones.CreateGroup(t, "group", stranger, shopNumber)
		known := b.Phones.SendText(t, stranger, group.ID, "hello")
		for range 15 {
			payload, err := proto.MarshalOptions{AllowPartial: true}.Marshal(h.content(known))
			if err != nil || len(payload) > 4<<20 {
				continue // some parts refuse what is no UTF-8, and the sandbox what is huge
			}
			if h.IntN(8) == 0 && len(payload) > 0 { // and what is no message
				payload[h.IntN(len(payload))] ^= byte(1 + h.IntN(255))
			}
			to := []string{shopNumber, group.ID}[h.IntN(2)]
			b.Phones.SendRaw(t, stranger, to, payload, h.stanza())
		}
		b.Phones.SendRawReceipt(t, stranger, map[string]any{
			"to": shopNumber, "chat": group.ID, "messageIdsBase64": [][]byte{[]byte(h.text() + "x"), []byte(h.text() + "x")}, "type": "read",
		})
		b.Phones.UpdateGroup(t, group.ID, map[string]any{"subjectBase64": []byte(h.text() + "x"), "by": stranger})
		b.unharmed(t)
	})
}
