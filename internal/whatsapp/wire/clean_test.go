package wire

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Whatever a contact writes, and wherever in a message, is clean afterwards.
func TestCleanContent(t *testing.T) {
	t.Parallel()
	const dirty, clean = "a\x00b\xff", "ab\uFFFD"
	quote := &waE2E.ContextInfo{StanzaID: new(dirty), QuotedMessage: &waE2E.Message{Conversation: new(dirty)}, MentionedJID: []string{dirty}}
	message := &waE2E.Message{
		EphemeralMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{
			DocumentMessage: &waE2E.DocumentMessage{FileName: new(dirty), Caption: new(dirty), Mimetype: new(dirty), ContextInfo: quote},
		}},
		LocationMessage: &waE2E.LocationMessage{DegreesLatitude: new(math.NaN()), DegreesLongitude: new(math.Inf(-1)), Name: new(dirty)},
		ProtocolMessage: &waE2E.ProtocolMessage{EditedMessage: &waE2E.Message{Conversation: new(strings.Repeat("ã", 70_000))}},
	}
	if !CleanContent(message) {
		t.Error("a small message counts as too large")
	}
	document := message.GetEphemeralMessage().GetMessage().GetDocumentMessage()
	for name, got := range cases.Sorted(map[string]string{
		"file name": document.GetFileName(), "caption": document.GetCaption(), "media type": document.GetMimetype(),
		"quoted id": document.GetContextInfo().GetStanzaID(), "mention": document.GetContextInfo().GetMentionedJID()[0],
		"quoted text": document.GetContextInfo().GetQuotedMessage().GetConversation(), "place": message.GetLocationMessage().GetName(),
	}) {
		if got != clean {
			t.Errorf("%s is %q, want %q", name, got, clean)
		}
	}
	if place := message.GetLocationMessage(); place.GetDegreesLatitude() != 0 || place.GetDegreesLongitude() != 0 {
		t.Errorf("the place lies at %v, %v", place.GetDegreesLatitude(), place.GetDegreesLongitude())
	}
	edited := message.GetProtocolMessage().GetEditedMessage().GetConversation()
	if got := utf8.RuneCountInString(edited); got != gateway.MaxText {
		t.Errorf("an edit has %d characters", got)
	}
}

func TestCleanContentIsBounded(t *testing.T) {
	t.Parallel()
	nested := &waE2E.Message{Conversation: new("deep")}
	for range 10 * maxDepth {
		nested = &waE2E.Message{EphemeralMessage: &waE2E.FutureProofMessage{Message: nested}}
	}
	CleanContent(nested)
	if depth := depthOf(nested.ProtoReflect()); depth > maxDepth+1 {
		t.Errorf("the parts lie %d deep in one another", depth)
	}
	people := &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		ContextInfo: &waE2E.ContextInfo{MentionedJID: make([]string, 20_000)},
	}}
	CleanContent(people)
	if got := len(people.GetExtendedTextMessage().GetContextInfo().GetMentionedJID()); got != gateway.MaxListed {
		t.Errorf("%d people are mentioned", got)
	}
	picture := &waE2E.Message{ImageMessage: &waE2E.ImageMessage{JPEGThumbnail: make([]byte, maxContent)}}
	if CleanContent(picture) {
		t.Error("a picture with a thumbnail of a megabyte counts as small")
	}
}

func depthOf(part protoreflect.Message) int {
	deepest := 0
	part.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() != nil && !field.IsList() && !field.IsMap() {
			deepest = max(deepest, depthOf(value.Message()))
		}
		return true
	})
	return deepest + 1
}

// Whatever can be read as a message can be kept, and read again as the same.
func FuzzCleanContent(f *testing.F) {
	for _, message := range []*waE2E.Message{
		{Conversation: new("a\x00b\xff")},
		{LocationMessage: &waE2E.LocationMessage{DegreesLatitude: new(math.NaN())}},
		{ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: []*waE2E.ContactMessage{{Vcard: new("BEGIN:VCARD\nFN:\x00\nEND:VCARD")}}}},
	} {
		seed, err := proto.Marshal(message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		var message waE2E.Message
		if proto.Unmarshal(wire, &message) != nil {
			return
		}
		CleanContent(&message)
		content, once := open(&message)
		_, text := kindOf(content)
		details := detailsOf(content, once, func(types.JID) types.JID { return types.EmptyJID })
		texts := []string{text, details.Unsupported}
		if details.Media != nil {
			texts = append(texts, details.Media.FileName, details.Media.MimeType)
		}
		for _, card := range details.Contacts {
			texts = append(texts, card.FullName, card.PhoneNumber, card.Organization)
		}
		for _, party := range details.Mentions {
			texts = append(texts, string(party.JID), string(party.LID))
		}
		for _, text := range texts {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				t.Errorf("%q is not clean", text)
			}
		}
		payload, err := proto.Marshal(&message)
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		if _, err := Decode(payload); err != nil {
			t.Errorf("what was written can't be read: %v", err)
		}
	})
}
