package sandbox_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/phone"
)

// window reads a part of a chat with the service that pages use.
func (w *world) window(number, chat string, before int64, limit int) phone.Window {
	w.tb.Helper()
	shown, err := w.server.Phones.Window(context.Background(), number, chat, before, limit)
	if err != nil {
		w.tb.Fatal(err)
	}
	return shown
}

// lines reads the list of a phone's chats with the service that pages use.
func (w *world) lines(number string) []phone.ChatLine {
	w.tb.Helper()
	lines, err := w.server.Phones.ChatLines(context.Background(), number)
	if err != nil {
		w.tb.Fatal(err)
	}
	return lines
}

func TestWindowsOfAChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 7 {
		w.send(silent, otherSilent, fmt.Sprint(i))
	}
	w.send(silent, friend, "elsewhere")
	for _, c := range []struct {
		limit   int
		pages   [][]string // newest first
		earlier []bool
	}{
		{3, [][]string{{"4", "5", "6"}, {"1", "2", "3"}, {"0"}}, []bool{true, true, false}},
		{7, [][]string{{"0", "1", "2", "3", "4", "5", "6"}}, []bool{false}},
		{100, [][]string{{"0", "1", "2", "3", "4", "5", "6"}}, []bool{false}},
	} {
		before := int64(0)
		for n, want := range c.pages {
			got := w.window(silent, otherSilent, before, c.limit)
			var said []string
			for _, bubble := range got.Bubbles {
				said = append(said, bubble.Text)
			}
			if fmt.Sprint(said) != fmt.Sprint(want) || got.Earlier != c.earlier[n] {
				t.Fatalf("page %d of %d: %v, earlier %t", n, c.limit, said, got.Earlier)
			}
			before = got.Bubbles[0].Place
		}
	}
}

func TestChatListHasTheLastMessagesAndWhatIsUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(http.MethodPost, "/groups", map[string]any{"subject": "empty", "owner": otherSilent}, nil)
	var group struct{ ID string }
	w.do(http.MethodPost, "/groups", map[string]any{
		"subject": "walk", "owner": otherSilent, "participants": []map[string]string{{"number": silent}},
	}, &group)
	first := w.send(silent, otherSilent, "one")
	w.message(otherSilent, first, anyMessage)
	w.message(otherSilent, w.send(silent, otherSilent, "two"), anyMessage)
	w.message(otherSilent, w.send(silent, group.ID, "all"), anyMessage)
	lines := w.lines(otherSilent)
	if len(lines) != 3 {
		t.Fatalf("the list has %+v", lines)
	}
	walk, person, empty := lines[0], lines[1], lines[2]
	if !walk.Group || walk.Name != "walk" || walk.Unread != 1 || walk.Last.Text != "all" || walk.Last.Sender == "" {
		t.Errorf("the group is %+v", walk)
	}
	if person.Group || person.ID != silent+"@s.whatsapp.net" || person.Name == "" || person.Unread != 2 || person.Last.Text != "two" {
		t.Errorf("the person is %+v", person)
	}
	if !empty.Group || empty.Last != nil || empty.Unread != 0 || empty.Since.IsZero() {
		t.Errorf("the empty group is %+v", empty)
	}
	w.do(http.MethodPost, chatPath(otherSilent, first, "read"), nil, nil)
	unread, err := w.server.Phones.Unread(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if unread[otherSilent] != 2 || len(unread) != 1 {
		t.Errorf("unread are %v", unread)
	}
	w.do(http.MethodDelete, chatPath(silent, first, ""), nil, nil)
	w.until("a message that was read and deleted is not counted", func() bool { return w.lines(otherSilent)[1].Unread == 1 },
		func() any { return w.lines(otherSilent) })
}

func TestBubblesHaveWhatBelongsToThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(message map[string]any) phone.Bubble {
		t.Helper()
		var answer struct{ MessageID string }
		message["to"] = otherSilent
		w.do(http.MethodPost, "/phones/"+silent+"/messages", message, &answer)
		w.message(otherSilent, answer.MessageID, anyMessage)
		bubbles := w.window(otherSilent, silent, 0, 1).Bubbles
		if bubbles[0].MessageID != answer.MessageID {
			t.Fatalf("the last message is %+v", bubbles[0])
		}
		return bubbles[0]
	}
	question := send(map[string]any{"type": "text", "text": "question"})
	answer := send(map[string]any{"type": "location", "latitude": 1.5, "longitude": 2.5, "quoteMessageId": question.MessageID})
	if q := answer.Quote; q == nil || q.Text != "question" || q.MessageID != question.MessageID || q.Sender != question.Sender || q.FromMe {
		t.Errorf("the quote is %+v", answer.Quote)
	}
	poll := send(map[string]any{"type": "poll", "text": "which?", "options": []string{"a", "b"}})
	if poll.Poll == nil || fmt.Sprint(poll.Poll.Options) != "[a b]" || poll.Quote != nil {
		t.Errorf("the poll is %+v", poll)
	}
	mention := send(map[string]any{"type": "text", "text": "ask @" + silent, "mentions": []string{silent}})
	if mention.Text != "ask @"+mention.Sender {
		t.Errorf("somebody who is mentioned is shown as %q", mention.Text)
	}
	file := send(map[string]any{"type": "document", "media": dataURI("application/pdf", []byte("a file")), "fileName": "a.pdf"})
	got, err := w.server.Phones.File(t.Context(), otherSilent, file.Place)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(got.Content)
	if err := errors.Join(err, got.Content.Close()); err != nil {
		t.Fatal(err)
	}
	if string(content) != "a file" || got.Name != "a.pdf" || got.MimeType != "application/pdf" || !file.HasFile {
		t.Errorf("the file is %+v", got)
	}
	w.do(http.MethodDelete, chatPath(otherSilent, file.MessageID, "media")+"?everywhere=true", nil, nil)
	if gone := w.window(otherSilent, silent, 0, 1).Bubbles[0]; gone.HasFile {
		t.Error("a file that all phones have lost is still shown")
	}
	if _, err := w.server.Phones.File(t.Context(), otherSilent, file.Place); err == nil {
		t.Error("a file that all phones have lost is still there")
	}
	if _, err := w.server.Phones.Bubble(t.Context(), friend, file.Place); err == nil {
		t.Error("a message of another phone is shown")
	}
}

// A quote is what its sender says: it may name people who do not exist, and messages
// that nobody has.
func TestMadeUpQuotesCreateNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	payload, err := proto.Marshal(&waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: new("answer"),
		ContextInfo: &waE2E.ContextInfo{
			StanzaID: new("NONE"), Participant: new("4915300000014@s.whatsapp.net"),
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ MessageID string }
	w.do(http.MethodPost, "/phones/"+silent+"/raw",
		map[string]any{"to": otherSilent, "message": base64.StdEncoding.EncodeToString(payload)}, &answer)
	w.message(otherSilent, answer.MessageID, anyMessage)
	bubble := w.window(otherSilent, silent, 0, 1).Bubbles[0]
	if bubble.Quote == nil || bubble.Quote.Sender != "" || bubble.Quote.Type != "" {
		t.Errorf("the quote is %+v", bubble.Quote)
	}
	phones, err := w.server.Profiles.List(t.Context())
	if err != nil || len(phones) != 2 {
		t.Errorf("there are now %d phones, %v", len(phones), err)
	}
}
