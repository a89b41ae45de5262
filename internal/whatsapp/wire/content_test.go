package wire

import (
	"bytes"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func mustEncode(t *testing.T, content gateway.Content) []byte {
	t.Helper()
	payload, err := Encoder{}.Encode(content)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

func mustDecode(t *testing.T, payload []byte) *waE2E.Message {
	t.Helper()
	message, err := Decode(payload)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// A message of any kind says when it disappears, as phones write it, and is else as it was.
func TestEncodeDisappearing(t *testing.T) {
	t.Parallel()
	media, quote := &gateway.Media{MimeType: "x/y", FileName: "a.pdf"}, &gateway.Quote{PlatformID: "3EB0", Sender: "1@lid"}
	for name, content := range cases.Sorted(map[string]gateway.Content{
		"text":                  {Type: gateway.TypeText, Text: "oi"},
		"text with an answer":   {Type: gateway.TypeText, Text: "oi", Quote: quote},
		"text with a mention":   {Type: gateway.TypeText, Text: "oi", Mentions: []gateway.JID{"1@lid"}},
		"image, once":           {Type: gateway.TypeImage, Media: media, ViewOnce: true},
		"video note":            {Type: gateway.TypeVideo, Media: media, Note: true},
		"voice":                 {Type: gateway.TypeVoice, Media: media},
		"document with caption": {Type: gateway.TypeDocument, Text: "read", Media: media},
		"sticker":               {Type: gateway.TypeSticker, Media: media},
		"location":              {Type: gateway.TypeLocation, Location: &gateway.Location{Latitude: -23.5}},
		"contact":               {Type: gateway.TypeContact, Contacts: []gateway.ContactCard{{FullName: "Ana"}}},
		"poll":                  {Type: gateway.TypePoll, Text: "?", Poll: &gateway.Poll{Options: []gateway.PollOption{{Name: "a"}, {Name: "b"}}}},
		"event":                 {Type: gateway.TypeEvent, Text: "party", Event: &gateway.CalendarEvent{}},
		"invitation":            {Type: gateway.TypeGroupInvite, Invite: &gateway.GroupInvite{Group: "1@g.us"}},
		"album":                 {Type: gateway.TypeAlbum, Album: &gateway.Album{Images: 2}, Quote: quote},
	}) {
		payload := mustEncode(t, content)
		gone, err := Encoder{}.EncodeDisappearing(payload, 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		before, after := Unwrap(mustDecode(t, payload)), Unwrap(mustDecode(t, gone))
		about := contextOf(after)
		if after.AlbumMessage != nil {
			about = after.AlbumMessage.ContextInfo
		}
		if about.GetExpiration() != 86_400 {
			t.Errorf("%s: it disappears after %d seconds", name, about.GetExpiration())
		}
		if content.Quote != nil && about.GetStanzaID() != "3EB0" || len(about.GetMentionedJID()) != len(content.Mentions) {
			t.Errorf("%s: of what it is about there is %v", name, about)
		}
		kind, text := kindOf(after)
		if wantKind, wantText := kindOf(before); kind != wantKind || text != wantText {
			t.Errorf("%s: it is a %s %q, and was a %s %q", name, kind, text, wantKind, wantText)
		}
	}
	for name, payload := range cases.Sorted(map[string][]byte{"nothing": {}, "no content": {0x62, 0}}) {
		if same, err := (Encoder{}).EncodeDisappearing(payload, time.Hour); err != nil || !bytes.Equal(same, payload) {
			t.Errorf("%s became %q, %v", name, same, err)
		}
	}
	if _, err := (Encoder{}).EncodeDisappearing([]byte("\xff"), time.Hour); err == nil {
		t.Error("no payload was read")
	}
}

// Every kind comes back as what it was, wrapped as the platform's clients do.
func TestEncode(t *testing.T) {
	t.Parallel()
	media := &gateway.Media{MimeType: "x/y", FileName: "a b.pdf", Size: 3, SHA256: []byte{1}}
	tests := map[string]struct {
		content gateway.Content
		text    string
	}{
		"text":                  {gateway.Content{Type: gateway.TypeText, Text: "oi"}, "oi"},
		"image":                 {gateway.Content{Type: gateway.TypeImage, Text: "look", Media: media}, "look"},
		"image, once":           {gateway.Content{Type: gateway.TypeImage, Media: media, ViewOnce: true}, ""},
		"video":                 {gateway.Content{Type: gateway.TypeVideo, Text: "look", Media: media}, "look"},
		"voice":                 {gateway.Content{Type: gateway.TypeVoice, Media: media}, ""},
		"voice, once":           {gateway.Content{Type: gateway.TypeVoice, Media: media, ViewOnce: true}, ""},
		"audio":                 {gateway.Content{Type: gateway.TypeAudio, Media: media}, ""},
		"document":              {gateway.Content{Type: gateway.TypeDocument, Media: media}, ""},
		"document with caption": {gateway.Content{Type: gateway.TypeDocument, Text: "read", Media: media}, "read"},
		"sticker":               {gateway.Content{Type: gateway.TypeSticker, Media: media}, ""},
		"location":              {gateway.Content{Type: gateway.TypeLocation, Location: &gateway.Location{Latitude: -23.5}}, ""},
		"contact":               {gateway.Content{Type: gateway.TypeContact, Contacts: []gateway.ContactCard{{FullName: "Ana"}}}, ""},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.content.Quote = &gateway.Quote{
				PlatformID: "3EB0", Sender: "1@lid", Payload: mustEncode(t, gateway.Content{Type: gateway.TypeText, Text: "question"}),
			}
			message := mustDecode(t, mustEncode(t, c.content))
			content := Unwrap(message)
			kind, text := kindOf(content)
			if kind != c.content.Type || text != c.text {
				t.Errorf("is %s %q, want %s %q", kind, text, c.content.Type, c.text)
			}
			quote := contextOf(content)
			if quote.GetStanzaID() != "3EB0" || quote.GetQuotedMessage().GetConversation() != "question" {
				t.Errorf("quotes %v", quote)
			}
			if once := message.ViewOnceMessageV2 != nil || message.ViewOnceMessageV2Extension != nil; once != c.content.ViewOnce {
				t.Errorf("once: %v", once)
			}
		})
	}
}

// What is passed on carries the mark and its count, and neither the quote nor
// how the original was to be shown.
func TestEncodeForwarded(t *testing.T) {
	t.Parallel()
	connector := Encoder{}
	payload := mustEncode(t, gateway.Content{
		Type: gateway.TypeImage, Text: "look", Media: &gateway.Media{MimeType: "image/png", Upload: gateway.Upload{DirectPath: "/a", Key: []byte{1}}}, ViewOnce: true,
		Quote: &gateway.Quote{PlatformID: "3EB0", Sender: "1@lid", Payload: mustEncode(t, gateway.Content{Type: gateway.TypeText, Text: "q"})},
	})
	for count := uint32(1); count <= 3; count++ {
		var err error
		if payload, err = connector.EncodeForwarded(payload); err != nil {
			t.Fatal(err)
		}
		message := mustDecode(t, payload)
		info := contextOf(message)
		if !info.GetIsForwarded() || info.GetForwardingScore() != count || info.StanzaID != nil || message.ImageMessage.GetCaption() != "look" {
			t.Errorf("forwarded %d times: %v", count, message)
		}
	}
	text, err := connector.EncodeForwarded(mustEncode(t, gateway.Content{Type: gateway.TypeText, Text: "oi"}))
	if err != nil {
		t.Fatal(err)
	}
	if message := mustDecode(t, text); message.Conversation != nil || message.GetExtendedTextMessage().GetText() != "oi" {
		t.Errorf("a text is forwarded as %v", message)
	}
}

func TestEncodeEdited(t *testing.T) {
	t.Parallel()
	connector := Encoder{}
	quote := &gateway.Quote{PlatformID: "3EB0", Sender: "1@lid", Payload: mustEncode(t, gateway.Content{Type: gateway.TypeText, Text: "q"})}
	for name, content := range cases.Sorted(map[string]gateway.Content{
		"plain":     {Type: gateway.TypeText, Text: "oi"},
		"an answer": {Type: gateway.TypeText, Text: "oi", Quote: quote},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			payload, err := connector.EncodeEdited(mustEncode(t, content), "olá")
			if err != nil {
				t.Fatal(err)
			}
			message := mustDecode(t, payload)
			if _, text := kindOf(message); text != "olá" {
				t.Errorf("the text is %q", text)
			}
			if quotes := contextOf(message).GetStanzaID() != ""; quotes != (content.Quote != nil) {
				t.Errorf("quotes: %v", quotes)
			}
		})
	}
	image := mustEncode(t, gateway.Content{Type: gateway.TypeImage, Media: &gateway.Media{}})
	if _, err := connector.EncodeEdited(image, "olá"); err == nil {
		t.Error("an image was edited")
	}
}

func TestVcardEscapes(t *testing.T) {
	t.Parallel()
	got := vcard(gateway.ContactCard{FullName: "Silva, Ana; \\o/\nLtda", PhoneNumber: "5511988887766", Account: "5511988887766", Organization: "A;B"})
	want := "BEGIN:VCARD\nVERSION:3.0\nN:;Silva\\, Ana\\; \\\\o/\\nLtda;;;\nFN:Silva\\, Ana\\; \\\\o/\\nLtda\nORG:A\\;B\n" +
		"TEL;type=CELL;type=VOICE;waid=5511988887766:+5511988887766\nEND:VCARD"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A kind that nobody knows is kept as unsupported, with its name; what shows a
// person nothing is no message.
func TestKindOfAndNameOf(t *testing.T) {
	t.Parallel()
	protocol := func(kind waE2E.ProtocolMessage_Type) *waE2E.Message {
		return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Type: kind.Enum()}}
	}
	poll := &waE2E.PollCreationMessage{Name: new("?")}
	tests := map[string]struct {
		message *waE2E.Message
		kind    gateway.MessageType
		name    string // of an unsupported one; empty: no message
	}{
		"poll":            {&waE2E.Message{PollCreationMessageV3: poll}, gateway.TypePoll, ""},
		"newest poll":     {&waE2E.Message{PollCreationMessageV6: poll}, gateway.TypePoll, ""},
		"wrapped poll":    {&waE2E.Message{PollCreationMessageV4: &waE2E.FutureProofMessage{Message: &waE2E.Message{PollCreationMessage: poll}}}, gateway.TypePoll, ""},
		"round video":     {&waE2E.Message{PtvMessage: &waE2E.VideoMessage{}}, gateway.TypeVideo, ""},
		"cards":           {&waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{DisplayName: new("2")}}, gateway.TypeContact, ""},
		"live location":   {&waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{}}, gateway.TypeLocation, ""},
		"picture of many": {&waE2E.Message{AssociatedChildMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{ImageMessage: &waE2E.ImageMessage{}}}}, gateway.TypeImage, ""},

		"event":        {&waE2E.Message{EventMessage: &waE2E.EventMessage{Name: new("party")}}, gateway.TypeEvent, ""},
		"product":      {&waE2E.Message{ProductMessage: &waE2E.ProductMessage{}}, gateway.TypeUnsupported, "productMessage"},
		"pin":          {&waE2E.Message{PinInChatMessage: &waE2E.PinInChatMessage{}}, gateway.TypeUnsupported, "pinInChatMessage"},
		"keep":         {&waE2E.Message{KeepInChatMessage: &waE2E.KeepInChatMessage{}}, gateway.TypeUnsupported, "keepInChatMessage"},
		"with a key":   {&waE2E.Message{SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{}, ProductMessage: &waE2E.ProductMessage{}}, gateway.TypeUnsupported, "productMessage"},
		"new protocol": {protocol(99), gateway.TypeUnsupported, "protocolMessage:99"},
		"reminder":     {protocol(waE2E.ProtocolMessage_REMINDER_MESSAGE), gateway.TypeUnsupported, "protocolMessage:REMINDER_MESSAGE"},

		"reaction":           {&waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{}}, gateway.TypeUnsupported, ""},
		"encrypted reaction": {&waE2E.Message{EncReactionMessage: &waE2E.EncReactionMessage{}}, gateway.TypeUnsupported, ""},
		"vote":               {&waE2E.Message{PollUpdateMessage: &waE2E.PollUpdateMessage{}}, gateway.TypeUnsupported, ""},
		"album":              {&waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{}}, gateway.TypeUnsupported, ""},
		"vanishing":          {protocol(waE2E.ProtocolMessage_EPHEMERAL_SETTING), gateway.TypeUnsupported, ""},
		"history":            {protocol(waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION), gateway.TypeUnsupported, ""},
		"key":                {&waE2E.Message{SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{GroupID: new("g")}}, gateway.TypeUnsupported, ""},
		"nothing":            {&waE2E.Message{MessageContextInfo: &waE2E.MessageContextInfo{}}, gateway.TypeUnsupported, ""},
		"nil":                {nil, gateway.TypeUnsupported, ""},
	}
	for name, c := range cases.Sorted(tests) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := Unwrap(c.message)
			kind, _ := kindOf(content)
			if kind != c.kind {
				t.Errorf("is %s, want %s", kind, c.kind)
			}
			if kind != gateway.TypeUnsupported {
				return
			}
			if got := nameOf(content); got != c.name {
				t.Errorf("is called %q, want %q", got, c.name)
			}
		})
	}
}

// A kind that is younger than our copy of the protocol has a number instead of a
// name.
func TestNameOfFieldFromTheFuture(t *testing.T) {
	t.Parallel()
	message := mustDecode(t, protowire.AppendString(protowire.AppendTag(nil, 9999, protowire.BytesType), "?"))
	if got := nameOf(message); got != "unknown:9999" {
		t.Errorf("is called %q", got)
	}
}

func FuzzMediaOf(f *testing.F) {
	connector := Encoder{}
	for _, content := range []gateway.Content{
		{Type: gateway.TypeText, Text: "oi"},
		{Type: gateway.TypeDocument, Text: "read", Media: &gateway.Media{FileName: "a"}},
	} {
		payload, err := connector.Encode(content)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if _, _, err := connector.MediaOf(payload); err != nil {
			return
		}
		// What can be read can be passed on, or is refused; it never panics.
		if forwarded, err := connector.EncodeForwarded(payload); err == nil {
			if _, _, err := connector.MediaOf(forwarded); err != nil {
				t.Error(err)
			}
		}
	})
}
