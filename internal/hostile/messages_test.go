package hostile_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/testkit/postgres"
)

// onBoth runs a test on SQLite and on PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, postgres.Start(t))
	})
}

// Whatever a stranger writes, the instance stays connected, and each of his messages is
// kept and reported in some form.
func TestHostileMessages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, url string) {
		t.Helper()
		b := besiege(t, url)
		known := b.Phones.SendText(t, stranger, shopNumber, "hello")
		text := mustMarshal(t, &waE2E.Message{Conversation: new("ordinary")})
		edit := mustMarshal(t, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
			Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{ID: &known},
			EditedMessage: &waE2E.Message{Conversation: new("edited\x00\xff")},
		}})
		for name, hostile := range cases.Sorted(map[string]struct {
			message []byte
			more    map[string]any
		}{
			"text with U+0000":         {mustMarshal(t, &waE2E.Message{Conversation: new("a\x00b")}), nil},
			"text that is not UTF-8":   {mustMarshal(t, &waE2E.Message{Conversation: new("a\xff\xfeb")}), nil},
			"very long text":           {mustMarshal(t, &waE2E.Message{Conversation: new(strings.Repeat("x", 900_000))}), nil},
			"more than a megabyte":     {mustMarshal(t, &waE2E.Message{ImageMessage: &waE2E.ImageMessage{JPEGThumbnail: make([]byte, 2<<20)}}), nil},
			"identifier with U+0000":   {text, map[string]any{"idBase64": []byte("3EB0\x00A")}},
			"identifier without end":   {text, map[string]any{"id": strings.Repeat("1234567890", 1_200)}},
			"identifier of no UTF-8":   {text, map[string]any{"idBase64": []byte("3EB0\xff\xfe")}},
			"name with U+0000":         {text, map[string]any{"pushNameBase64": []byte("ev\x00il")}},
			"name that is not UTF-8":   {text, map[string]any{"pushNameBase64": []byte("\xff\xfe")}},
			"name without end":         {text, map[string]any{"pushName": strings.Repeat("n", 100_000)}},
			"edit with U+0000":         {edit, map[string]any{"edit": "1"}},
			"time before all times":    {text, map[string]any{"timestamp": -1 << 60}},
			"time after all times":     {text, map[string]any{"timestamp": 1 << 60}},
			"place that is no number":  {mustMarshal(t, &waE2E.Message{LocationMessage: &waE2E.LocationMessage{DegreesLatitude: new(math.NaN()), Name: new("\x00")}}), nil},
			"quote with U+0000":        {mustMarshal(t, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: new("x"), ContextInfo: &waE2E.ContextInfo{StanzaID: new("\x00\xff")}}}), nil},
			"reaction of U+0000":       {mustMarshal(t, &waE2E.Message{ReactionMessage: &waE2E.ReactionMessage{Key: &waCommon.MessageKey{ID: new("\x00")}, Text: new("\x00")}}), nil},
			"file name and media type": {mustMarshal(t, &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{FileName: new("../\x00\u202e"), Mimetype: new("\x00/\xff")}}), nil},
			"secret under such an identifier": {mustMarshal(t, &waE2E.Message{
				Conversation: new("ordinary"), MessageContextInfo: &waE2E.MessageContextInfo{MessageSecret: make([]byte, 32)},
			}), map[string]any{"idBase64": []byte("S\x00\xff")}},
			"no message at all": {[]byte("\xff\xff\xff\xff"), nil},
			"nothing":           {[]byte{}, nil},
		}) {
			b.Phones.SendRaw(t, stranger, shopNumber, hostile.message, hostile.more)
			_ = name
		}
		b.Phones.SendRawReceipt(t, stranger, map[string]any{"to": shopNumber, "messageIdsBase64": [][]byte{[]byte("\x00"), []byte("\xff")}, "type": "read"})
		events := b.unharmed(t)
		texts, edits := map[string]bool{}, 0
		for _, event := range events {
			var data struct {
				Text        *string `json:"text"`
				Unsupported *string `json:"unsupported"`
			}
			if err := json.Unmarshal(event.Data, &data); err != nil {
				t.Fatal(err)
			}
			switch {
			case event.Type == "message.edited":
				edits++
			case data.Text != nil:
				texts[(*data.Text)[:min(len(*data.Text), 20)]] = true
			case data.Unsupported != nil:
				if strings.HasPrefix(*data.Unsupported, "not_kept") {
					t.Errorf("only a placeholder is kept: %s", event.Data)
				}
				texts["unsupported:"+*data.Unsupported] = true
			}
		}
		for _, want := range []string{"ab", "a\uFFFDb", "xxxxxxxxxxxxxxxxxxxx", "ordinary", "unsupported:too_large"} {
			if !texts[want] {
				t.Errorf("%q is not reported; reported are %v", want, texts)
			}
		}
		if edits != 1 {
			t.Errorf("%d edits are reported", edits)
		}
	})
}

// An ordinary message from a sender whose name PostgreSQL can't store.
func TestHostileName(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, url string) {
		t.Helper()
		b := besiege(t, url)
		b.Phones.Update(t, stranger, map[string]any{"nameBase64": []byte("ev\x00il\xff")})
		b.Phones.SendText(t, stranger, shopNumber, "good morning")
		group := b.Phones.CreateGroup(t, "group", stranger, shopNumber)
		b.Phones.UpdateGroup(t, group.ID, map[string]any{"subjectBase64": []byte("ev\x00il\xff"), "by": stranger})
		b.Phones.SendText(t, stranger, group.ID, "good evening")
		events := b.unharmed(t)
		seen := 0
		for _, event := range events {
			if event.Type == "message.received" && (strings.Contains(string(event.Data), "good morning") || strings.Contains(string(event.Data), "good evening")) {
				seen++
				if !strings.Contains(string(event.Data), `"name":"evil`) {
					t.Errorf("the sender is reported as %s", event.Data)
				}
			}
		}
		if seen != 2 {
			t.Errorf("%d of the two messages are reported", seen)
		}
		metadata, err := b.Client.GetGroup(t.Context(), b.id, group.ID)
		if err != nil || !strings.HasPrefix(metadata.Subject, "evil") {
			t.Errorf("the group is %+v, %v", metadata, err)
		}
	})
}
