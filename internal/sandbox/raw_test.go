package sandbox_test

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"strings"
	"testing"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/proto/waWeb"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// poison has bytes that texts may have and many programs don't expect.
const poison = "a\x00b\xff\xfe\u202ec"

func encoded(t *testing.T, message proto.Message) string {
	t.Helper()
	raw, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// raw lets a phone send a raw message and returns its ID.
func (w *world) raw(from, to string, message *waE2E.Message, more map[string]any) string {
	w.tb.Helper()
	payload, err := proto.Marshal(message)
	if err != nil {
		w.tb.Fatal(err)
	}
	body := map[string]any{"to": to, "message": payload}
	maps.Copy(body, more)
	var answer struct{ MessageID string }
	w.do(http.MethodPost, "/phones/"+from+"/raw", body, &answer)
	return answer.MessageID
}

func withID(id string) func(*events.Message) bool {
	return func(m *events.Message) bool { return m.Info.ID == id }
}

func hasText(text string) func(content.Shown) bool {
	return func(m content.Shown) bool { return m.Text == text && !m.Deleted && !m.Edited }
}

func TestRawMessagesReachTheClientAsTheyStand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	huge := strings.Repeat("7", 12_000)
	target := c.text(friend, "first")
	key := &waCommon.MessageKey{RemoteJID: new(pn(gateway).String()), FromMe: new(true), ID: &target}
	for name, m := range cases.Sorted(map[string]struct {
		message *waE2E.Message
		more    map[string]any
		check   func(*events.Message) bool
	}{
		"text": {
			textMessage(poison),
			map[string]any{"id": "A-TEXT", "timestamp": 1_700_000_000},
			func(m *events.Message) bool {
				return m.Message.GetConversation() == poison && m.Info.Timestamp.Unix() == 1_700_000_000
			},
		},
		"huge id": {textMessage("x"), map[string]any{"id": huge}, nil},
		"id": {
			textMessage("x"),
			map[string]any{"id": "ignored", "idBase64": b64(poison)},
			func(m *events.Message) bool { return m.Info.ID == poison },
		},
		"push name": {
			textMessage("x"),
			map[string]any{"id": "A-NAME", "pushNameBase64": b64(poison)},
			func(m *events.Message) bool { return m.Info.PushName == poison },
		},
		"quote": {
			&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
				Text: new("x"), ContextInfo: &waE2E.ContextInfo{StanzaID: new(poison), Participant: new(poison)},
			}},
			map[string]any{"id": "A-QUOTE"},
			func(m *events.Message) bool {
				return m.Message.GetExtendedTextMessage().GetContextInfo().GetStanzaID() == poison
			},
		},
		"revoke by another": {
			&waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{Key: key, Type: waE2E.ProtocolMessage_REVOKE.Enum()}},
			map[string]any{"id": "A-REVOKE", "edit": "7"},
			func(m *events.Message) bool { return m.Info.Edit == types.EditAttributeSenderRevoke },
		},
		"mime type": {
			&waE2E.Message{ImageMessage: &waE2E.ImageMessage{
				Mimetype: new(poison), DirectPath: new("no-slash"), MediaKey: []byte{1}, FileSHA256: []byte{2}, FileEncSHA256: []byte{3},
			}},
			map[string]any{"id": "A-FILE"},
			func(m *events.Message) bool { return m.Message.GetImageMessage().GetDirectPath() == "no-slash" },
		},
		"type": {textMessage("x"), map[string]any{"id": "A-TYPE", "type": "reaction"}, func(m *events.Message) bool { return m.Info.Type == "reaction" }},
	}) {
		id := w.raw(friend, gateway, m.message, m.more)
		if chosen := m.more["id"]; chosen != "ignored" && id != chosen {
			t.Errorf("%s: the id is %q", name, id)
		}
		if name == "id" {
			id = poison
		}
		if got := expect(c, withID(id)); m.check != nil && !m.check(got) {
			t.Errorf("%s: came as %+v", name, got)
		}
	}
	// A message that no client can read must not stop the messages after it.
	w.do(http.MethodPost, "/phones/"+friend+"/raw", map[string]any{"to": gateway, "message": b64("\xff\xff\xff")}, nil)
	last := w.send(friend, gateway, "last")
	c.got("last")
	w.message(gateway, last, anyMessage)
	// The other phones ignore all of it.
	w.message(friend, target, hasText("first"))
	// Everything is still there after a restart.
	w.down()
	w.start()
	w.message(gateway, last, anyMessage)
	w.message(friend, target, hasText("first"))
}

func TestRawMessagesInGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	info, jid := w.makeGroup(friend, gateway, other)
	expect[*events.JoinedGroup](c, nil)
	target := w.send(friend, info.ID, "the owner's")
	c.got("the owner's")
	id := w.raw(other, info.ID, &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Key:  &waCommon.MessageKey{RemoteJID: &info.ID, FromMe: new(true), ID: &target},
		Type: waE2E.ProtocolMessage_REVOKE.Enum(),
	}}, map[string]any{"edit": "8"})
	got := expect(c, withID(id))
	if got.Info.Edit != types.EditAttributeAdminRevoke || got.Info.Chat != jid || got.Info.Sender.User == "" {
		t.Errorf("came as %+v", got.Info)
	}
	w.message(gateway, target, hasText("the owner's"))
}

func TestRawReceiptsReachTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	info, jid := w.makeGroup(friend, gateway)
	w.do(http.MethodPost, "/phones/"+other+"/raw-receipt", map[string]any{
		"to": gateway, "messageIds": []string{"FOREIGN", "x"}, "messageIdsBase64": []string{b64(poison)}, "type": "read",
	}, nil)
	if got := c.receipt("FOREIGN", types.ReceiptTypeRead); len(got.MessageIDs) != 3 || got.MessageIDs[2] != poison {
		t.Errorf("came as %+v", got)
	}
	w.do(http.MethodPost, "/phones/"+other+"/raw-receipt", map[string]any{
		"to": gateway, "chat": info.ID, "messageIds": []string{"IN-A-GROUP"}, "type": "played",
	}, nil)
	if got := c.receipt("IN-A-GROUP", types.ReceiptTypePlayed); got.Chat != jid {
		t.Errorf("came as %+v", got)
	}
}

func TestNamesMayHoldAnyBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	info, jid := w.makeGroup(friend, gateway)
	expect[*events.JoinedGroup](c, nil)
	w.do(http.MethodPut, "/phones/"+friend, map[string]any{"nameBase64": b64(poison)}, nil)
	w.do(http.MethodPut, "/groups/"+info.ID, map[string]any{"subjectBase64": b64(poison), "descriptionBase64": b64(poison)}, nil)
	expect(c, func(e *events.GroupInfo) bool { return e.Name != nil && e.Name.Name == poison })
	for range 2 {
		id := w.send(friend, gateway, "named")
		if got := expect(c, withID(id)); got.Info.PushName != poison {
			t.Errorf("the name came as %q", got.Info.PushName)
		}
		group, err := c.GetGroupInfo(context.Background(), jid)
		if err != nil || group.Name != poison || group.Topic != poison {
			t.Errorf("the group came as %+v, %v", group, err)
		}
		c.Disconnect()
		w.down()
		w.start()
		c.restart()
		c.online()
	}
}

func TestHistoryMayHoldAnything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	part := &waHistorySync.HistorySync{
		SyncType: waHistorySync.HistorySync_INITIAL_BOOTSTRAP.Enum(),
		Conversations: []*waHistorySync.Conversation{{
			ID: new(pn(friend).String()), Name: new(poison),
			Messages: []*waHistorySync.HistorySyncMsg{{Message: &waWeb.WebMessageInfo{
				Key:     &waCommon.MessageKey{RemoteJID: new(pn(friend).String()), FromMe: new(false), ID: new(poison)},
				Message: textMessage(poison), PushName: new(poison), MessageTimestamp: new(uint64(1 << 63)),
			}}},
		}},
		Pushnames: []*waHistorySync.Pushname{{ID: new(poison), Pushname: new(poison)}},
	}
	w.do(http.MethodPut, "/phones/"+gateway+"/history", map[string]any{"raw": encoded(t, part)}, nil)
	w.down()
	w.start()
	sync := expect(w.newClient().link(gateway), func(e *events.HistorySync) bool { return len(e.Data.GetConversations()) > 0 })
	got := sync.Data.GetConversations()[0]
	if got.GetName() != poison || got.GetMessages()[0].GetMessage().GetKey().GetID() != poison {
		t.Errorf("came as %v", got)
	}
}

func TestMessageMayLieAboutItsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	var file struct {
		DirectPath                          string
		MediaKey, FileSHA256, FileEncSHA256 []byte
		FileLength                          uint64
	}
	w.do(http.MethodPost, "/media", map[string]any{"type": "document", "media": dataURI("text/plain", make([]byte, 100_000))}, &file)
	if file.FileLength != 100_000 {
		t.Fatalf("the file is %+v", file)
	}
	id := w.raw(friend, gateway, &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
		DirectPath: &file.DirectPath, MediaKey: file.MediaKey, FileSHA256: file.FileSHA256, FileEncSHA256: file.FileEncSHA256,
		FileLength: new(uint64(10)),
	}}, nil)
	got := expect(c, withID(id)).Message.GetDocumentMessage()
	padded, err := c.Download(t.Context(), got)
	if got.GetFileLength() != 10 || err != nil || len(padded) != 100_000 {
		t.Errorf("%d bytes, said to be %d, %v", len(padded), got.GetFileLength(), err)
	}
}

func TestRawCallsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		method, path string
		body         map[string]any
		says         string
	}{
		{http.MethodPost, "/phones/" + friend + "/raw", map[string]any{}, "to: is required; message"},
		{http.MethodPost, "/phones/" + friend + "/raw", map[string]any{"to": other, "message": "%"}, "base64"},
		{http.MethodPost, "/phones/" + friend + "/raw", map[string]any{"to": other, "message": b64(strings.Repeat("x", 8<<20)), "id": "y"}, "8388608"},
		{http.MethodPost, "/phones/" + friend + "/raw-receipt", map[string]any{"to": other}, "messageIds"},
		{http.MethodPost, "/phones/" + friend + "/raw-receipt", map[string]any{"to": other, "messageIds": []string{"x"}, "chat": "x"}, "chat"},
		{http.MethodPut, "/phones/" + friend + "/history", map[string]any{"raw": b64("\xff")}, "HistorySync"},
		{http.MethodPost, "/media", map[string]any{"type": "hologram", "media": dataURI("text/plain", []byte("x"))}, "type"},
	} {
		var answer struct{ Message string }
		if status := w.call(c.method, c.path, c.body, &answer); status != http.StatusBadRequest || !strings.Contains(answer.Message, c.says) {
			t.Errorf("%s %v: %d %s", c.path, c.body["to"], status, answer.Message)
		}
	}
}
