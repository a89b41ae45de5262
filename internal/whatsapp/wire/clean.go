// The cleaning of content: text that can be stored, numbers that are numbers, bounded
// depth.

package wire

import (
	"math"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/gateway"
)

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
