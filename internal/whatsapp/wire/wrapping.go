// Content that is wrapped in other content.

package wire

import (
	"math"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

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
