package wire

import (
	"slices"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// An edit changes what it names, in whatever way a client writes it, and nothing else.
func TestEncodeAmended(t *testing.T) {
	t.Parallel()
	about := func(people ...string) *waE2E.ContextInfo {
		return &waE2E.ContextInfo{
			StanzaID: new("3EB0"), QuotedMessage: &waE2E.Message{Conversation: new("before")}, MentionedJID: people,
			ExternalAdReply: &waE2E.ContextInfo_ExternalAdReplyInfo{SourceID: new("ad"), SourceURL: new("https://example.org")},
		}
	}
	image := func(caption string, key byte) *waE2E.Message {
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			Caption: &caption, MediaKey: []byte{key}, DirectPath: new("/p"), Mimetype: new("image/png"), FileLength: new(uint64(7)),
			FileSHA256: []byte{1}, FileEncSHA256: []byte{2}, JPEGThumbnail: []byte{3}, ContextInfo: about(),
		}}
	}
	document := func(caption string) *waE2E.Message {
		return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
			Caption: &caption, MediaKey: []byte{1}, FileName: new("nota.pdf"), Mimetype: new("application/pdf"), ContextInfo: about(),
		}}}}
	}
	once := func(inner *waE2E.Message) *waE2E.Message {
		return &waE2E.Message{ViewOnceMessageV2: &waE2E.FutureProofMessage{Message: inner}}
	}
	text := func(text string, context *waE2E.ContextInfo) *waE2E.Message {
		return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &text, ContextInfo: context}}
	}
	plain := func(text string) *waE2E.Message { return &waE2E.Message{Conversation: &text} }
	caption := &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: new("after")}}
	linked := func(words, link string) *waE2E.Message {
		message := text(words, nil)
		if link != "" {
			message.ExtendedTextMessage.MatchedText, message.ExtendedTextMessage.Title = &link, new("A page")
		}
		return message
	}
	ptv := func(caption string) *waE2E.Message {
		return &waE2E.Message{PtvMessage: &waE2E.VideoMessage{Caption: &caption, MediaKey: []byte{1}}}
	}
	sticker := &waE2E.Message{StickerMessage: &waE2E.StickerMessage{MediaKey: []byte{1}}}
	event := func(name string, canceled *bool) *waE2E.Message {
		return &waE2E.Message{EventMessage: &waE2E.EventMessage{Name: &name, StartTime: new(int64(1)), IsCanceled: canceled}}
	}
	place := func(latitude float64, caption string) *waE2E.Message {
		message := &waE2E.LiveLocationMessage{DegreesLatitude: &latitude, DegreesLongitude: new(7.0)}
		if caption != "" {
			message.Caption = &caption
		}
		return &waE2E.Message{LiveLocationMessage: message}
	}
	for name, c := range cases.Sorted(map[string]struct{ before, edit, after *waE2E.Message }{
		"a caption alone":                 {image("before", 1), caption, image("after", 1)},
		"a caption, and no type":          {image("before", 1), &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: new("after"), Mimetype: new(""), FileLength: new(uint64(0))}}, image("after", 1)},
		"a caption as a text":             {image("before", 1), plain("after"), image("after", 1)},
		"a caption as a text with links":  {image("before", 1), text("after", nil), image("after", 1)},
		"a caption that is taken away":    {image("before", 1), &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: new("")}}, image("", 1)},
		"another picture":                 {image("before", 1), image("after", 9), image("after", 9)},
		"of a picture for a single look":  {once(image("before", 1)), caption, once(image("after", 1))},
		"of a picture, for a single look": {image("before", 1), once(caption), image("after", 1)},
		"of a document":                   {document("before"), &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: new("after")}}}}, document("after")},
		"of a document, not wrapped":      {document("before"), &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: new("after")}}, document("after")},
		"of a video note, as a video":     {ptv("before"), &waE2E.Message{VideoMessage: &waE2E.VideoMessage{Caption: new("after")}}, ptv("after")},
		"of what has none":                {sticker, plain("after"), sticker},
		"a text":                          {plain("before"), plain("after"), plain("after")},
		"a text, as a caption":            {plain("before"), caption, plain("after")},
		"an answer":                       {text("before", about()), plain("after"), text("after", about())},
		"an answer, with a new mention":   {text("before", about()), text("hey @2", &waE2E.ContextInfo{MentionedJID: []string{"2@lid"}}), text("hey @2", about("2@lid"))},
		"a mention that stays":            {text("hi @2", about("2@lid")), plain("hello @2"), text("hello @2", about("2@lid"))},
		"a mention that is not there now": {text("hi @2 @3", about("2@lid", "3@lid")), plain("hello @3"), text("hello @3", about("3@lid"))},
		"a mention that never was":        {text("hi", about("2@lid")), plain("hello"), text("hello", about("2@lid"))},
		"a text becomes one with a link":  {plain("before"), linked("see x.org", "x.org"), linked("see x.org", "x.org")},
		"a link that stays":               {linked("see x.org", "x.org"), plain("look at x.org"), linked("look at x.org", "x.org")},
		"a link that is gone":             {linked("see x.org", "x.org"), plain("nothing"), linked("nothing", "")},
		"an event is cancelled":           {event("party", nil), &waE2E.Message{EventMessage: &waE2E.EventMessage{IsCanceled: new(true)}}, event("party", new(true))},
		"a place that moves":              {place(1, "on my way"), place(2, ""), place(2, "on my way")},
		"another kind":                    {plain("before"), image("after", 1), image("after", 1)},
		"what was not readable":           {&waE2E.Message{}, plain("after"), plain("after")},
	}) {
		edit, err := encode(c.edit)
		if err != nil {
			t.Fatal(err)
		}
		before, err := encode(c.before)
		if err != nil {
			t.Fatal(err)
		}
		amended, err := Encoder{}.EncodeAmended(before, edit)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := mustDecode(t, amended.Payload)
		if !proto.Equal(got, c.after) {
			t.Errorf("%s: it becomes %v, want %v", name, got, c.after)
		}
		if kind, words := kindOf(Unwrap(c.after)); amended.Type != kind || amended.Text != words {
			t.Errorf("%s: it is told as %s %q, want %s %q", name, amended.Type, amended.Text, kind, words)
		}
	}
	amended, err := Encoder{}.EncodeAmended([]byte{0xff}, mustEncode(t, gateway.Content{Type: gateway.TypeText, Text: "after"}))
	if err != nil || amended.Text != "after" {
		t.Errorf("a damaged one: %+v (%v)", amended, err)
	}
}

// Whatever an edit holds, the file of a message stays readable or is another whole one.
func FuzzEncodeAmended(f *testing.F) {
	file := &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: new("a"), MediaKey: []byte{1}, DirectPath: new("/p")}}
	payload, err := encode(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, edit []byte) {
		amended, err := Encoder{}.EncodeAmended(payload, edit)
		if err != nil {
			return
		}
		kept := Unwrap(mustDecode(t, amended.Payload)).GetImageMessage()
		if kept == nil {
			return // it is another kind
		}
		change, err := Decode(edit)
		if err != nil {
			t.Fatal(err)
		}
		if brought := Unwrap(change).GetImageMessage(); len(brought.GetMediaKey()) == 0 && (!slices.Equal(kept.GetMediaKey(), []byte{1}) || kept.GetDirectPath() != "/p") {
			t.Errorf("the file is lost: %v", kept)
		}
	})
}
