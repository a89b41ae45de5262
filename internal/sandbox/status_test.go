package sandbox_test

import (
	"bytes"
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/sandbox/addressbook"
	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/testkit/cases"
)

const statusChat = "status@broadcast"

// posts returns the status posts that a phone shows.
func (w *world) posts(number string) (shown []content.Shown) {
	w.do(http.MethodGet, "/phones/"+number+"/messages?chat="+statusChat, nil, &struct {
		Data *[]content.Shown `json:"data"`
	}{&shown})
	return shown
}

// A client's status post reaches those who may see it and nobody else, with receipts of those who
// have; and it is deleted there.
func TestStatusPostOfAClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	w.do(http.MethodPut, "/phones/"+gateway+"/status-audience", map[string]any{"show": "whitelist", "people": []string{friend}}, nil)
	w.do(http.MethodPut, "/phones/"+other, map[string]any{"name": "Other"}, nil)
	sent, err := c.SendMessage(t.Context(), types.StatusBroadcastJID, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: new("open today")}})
	if err != nil {
		t.Fatal(err)
	}
	m := w.message(friend, sent.ID, hasStatus("read"))
	if m.Chat != statusChat || m.From != gateway+"@s.whatsapp.net" || m.Text != "open today" {
		t.Errorf("shown as %+v", m)
	}
	if r := c.receipt(sent.ID, types.ReceiptTypeRead); r.Chat != types.StatusBroadcastJID || r.Sender.Server != types.HiddenUserServer {
		t.Errorf("the receipt is %+v", r.MessageSource)
	}
	if own := w.message(gateway, sent.ID, hasStatus("read")); !own.FromMe || own.Chat != statusChat {
		t.Errorf("own phone shows %+v", own)
	}
	// A phone takes what comes in its order.
	direct, err := c.SendMessage(t.Context(), types.NewJID(other, types.DefaultUserServer), &waE2E.Message{Conversation: new("only to you")})
	if err != nil {
		t.Fatal(err)
	}
	w.message(other, direct.ID, anyMessage)
	if shown := w.posts(other); len(shown) > 0 {
		t.Errorf("somebody else sees %+v", shown)
	}
	if _, err := c.SendMessage(t.Context(), types.StatusBroadcastJID, c.BuildRevoke(types.StatusBroadcastJID, types.EmptyJID, sent.ID)); err != nil {
		t.Fatal(err)
	}
	w.message(friend, sent.ID, func(m content.Shown) bool { return m.Deleted })
	if status := w.call(http.MethodPut, "/phones/"+gateway+"/status-audience", map[string]any{"show": "everybody"}, nil); status != http.StatusBadRequest {
		t.Errorf("an audience that does not exist: %d", status)
	}
}

// A phone's status posts reach the devices of those in its address book, or of those whom its
// owner has chosen.
func TestStatusPostOfAPhone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newClient().link(gateway)
	for _, contact := range []string{gateway, other} {
		w.do(http.MethodPut, "/phones/"+friend+"/contacts/"+contact, map[string]any{"name": "Somebody"}, nil)
	}
	id := w.send(friend, statusChat, "at the beach")
	m := c.got("at the beach")
	if m.Info.ID != id || m.Info.Chat != types.StatusBroadcastJID || m.Info.SenderAlt.User != friend || !m.Info.IsGroup {
		t.Errorf("got %+v", m.Info)
	}
	if shown := w.message(other, id, anyMessage); shown.Chat != statusChat || shown.From != friend+"@s.whatsapp.net" {
		t.Errorf("another phone shows %+v", shown)
	}
	var picture struct {
		MessageID string `json:"messageId"`
	}
	w.do(http.MethodPost, "/phones/"+friend+"/messages", map[string]any{
		"to": statusChat, "type": "image", "media": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "caption": "the sea",
	}, &picture)
	image := expect(c, func(m *events.Message) bool { return m.Info.ID == picture.MessageID && m.Message.ImageMessage != nil })
	if file, err := c.Download(t.Context(), image.Message.GetImageMessage()); err != nil || !bytes.HasPrefix(file, []byte("\x89PNG")) {
		t.Errorf("the picture is %d bytes, %v", len(file), err)
	}
	if err := c.MarkRead(t.Context(), []string{id}, image.Info.Timestamp, m.Info.Chat, m.Info.Sender); err != nil {
		t.Fatal(err)
	}
	w.message(friend, id, hasStatus("read"))

	w.do(http.MethodPut, "/phones/"+friend+"/status-audience", map[string]any{"show": "blacklist", "people": []string{other}}, nil)
	var audience addressbook.Audience
	w.do(http.MethodGet, "/phones/"+friend+"/status-audience", nil, &audience)
	if len(audience.Sees) != 1 || audience.Sees[0] != gateway {
		t.Errorf("the audience is %+v", audience)
	}
	hidden := w.send(friend, statusChat, "for some")
	c.got("for some")
	w.message(other, w.send(friend, other, "only to you"), anyMessage) // it came after the post
	for _, shown := range w.posts(other) {
		if shown.MessageID == hidden {
			t.Error("a post is shown to somebody who was left out")
		}
	}
	w.do(http.MethodDelete, "/phones/"+friend+"/messages/"+id, nil, nil)
	expect(c, func(m *events.Message) bool { return m.Message.GetProtocolMessage().GetKey().GetID() == id })
	for path, body := range cases.Sorted(map[string]map[string]any{
		"/messages":                         {"to": statusChat, "type": "poll", "text": "a", "options": []string{"b", "c"}},
		"/messages/" + hidden + "/edit":     {"text": "another"},
		"/messages/" + hidden + "/reaction": {"reaction": "👍"},
	}) {
		if status := w.call(http.MethodPost, "/phones/"+friend+path, body, nil); status != http.StatusBadRequest && status != http.StatusConflict {
			t.Errorf("%s: %d", path, status)
		}
	}
}
