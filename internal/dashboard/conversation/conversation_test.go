package conversation_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/dashboard/conversation"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/webtest"
)

const ana, group = "5511988887766@s.whatsapp.net", "120363041234567890@g.us"

func TestWordsAreTranslated(t *testing.T) {
	t.Parallel()
	webtest.Words(t)
}

// happened makes an event of a chat, some seconds after start.
func happened(t *testing.T, kind eventlog.Kind, chat string, seconds int, data map[string]any) eventlog.Event {
	t.Helper()
	content, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return eventlog.Event{Kind: kind, Chat: gateway.JID(chat), Sequence: int64(seconds), At: start.Add(time.Duration(seconds) * time.Second), Data: content}
}

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a fixed moment

// What happened stands between the messages before and after it, a call once.
func TestWhatHappenedIsBetweenMessages(t *testing.T) {
	t.Parallel()
	event := func(kind eventlog.Kind, chat string, seconds int, data map[string]any) eventlog.Event {
		return happened(t, kind, chat, seconds, data)
	}
	call := map[string]any{"chat": ana, "callId": "C1"}
	for name, c := range cases.Sorted(map[string]struct {
		events []eventlog.Event
		want   string
	}{
		"nothing":           {nil, "m0 m10 m20"},
		"a call that ends":  {[]eventlog.Event{event(eventlog.KindCallReceived, ana, 5, call), event(eventlog.KindCallEnded, ana, 12, call)}, "m0 m10 call.ended m20"},
		"a call that rings": {[]eventlog.Event{event(eventlog.KindCallReceived, ana, 25, call)}, "m0 m10 m20 call.received"},
		"before":            {[]eventlog.Event{event(eventlog.KindCallReceived, ana, -5, call)}, "call.received m0 m10 m20"},
		"damaged":           {[]eventlog.Event{{Kind: eventlog.KindCallEnded, Chat: ana, At: start.Add(time.Second), Data: []byte("{")}}, "m0 call.ended m10 m20"},
	}) {
		said := chat(t, ana)
		said.Happened(c.events, func(e eventlog.Event) string { return string(e.Kind) })
		var got []string
		for _, b := range said.Bubbles {
			if got = append(got, b.Text); b.Notice != strings.Contains(b.Text, ".") {
				t.Errorf("%s: %q has Notice %v", name, b.Text, b.Notice)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// chat returns three messages of a chat, ten seconds apart, with their bubbles.
func chat(t *testing.T, address string) (said conversation.Conversation) {
	t.Helper()
	for _, text := range []string{"m0", "m10", "m20"} {
		seconds, err := time.ParseDuration(text[1:] + "s")
		if err != nil {
			t.Fatal(err)
		}
		m := gateway.Message{ID: text, PlatformID: "3EB0" + text, Chat: gateway.Party{JID: gateway.JID(address)}, Type: gateway.TypeText, Text: text, SentAt: start.Add(seconds)}
		said.Bubbles = append(said.Bubbles, conversation.Bubble(m, start))
	}
	return said
}

// Equal reactions are counted; a deleted message has none.
func TestReactionsAreBelowTheirMessage(t *testing.T) {
	t.Parallel()
	message := gateway.Message{Type: gateway.TypeText, Text: "Quero duas!"}
	for _, reaction := range []string{"🎉", "👍", "🎉"} {
		message.Reactions = append(message.Reactions, gateway.StoredReaction{Reaction: reaction})
	}
	shown := func() (got string) {
		for _, reaction := range conversation.Bubble(message, start).Reactions {
			got += strings.Repeat(reaction.Emoji, reaction.Count) + " "
		}
		return got
	}
	if got := shown(); got != "🎉🎉 👍 " {
		t.Errorf("the reactions are %s", got)
	}
	if message.DeletedAt = start; shown() != "" {
		t.Error("a deleted message has reactions")
	}
}

// Who types stops by a word, or by itself.
func TestTypingEnds(t *testing.T) {
	t.Parallel()
	presence := func(chat string, seconds int, what string) eventlog.Event {
		return happened(t, eventlog.KindPresence, chat, seconds, map[string]any{"chat": chat, "presence": what, "from": map[string]any{"name": "Bruno"}})
	}
	for name, c := range cases.Sorted(map[string]struct {
		chat   string
		events []eventlog.Event
		want   web.Word
		who    string
	}{
		"types":        {ana, []eventlog.Event{presence(ana, 50, "composing")}, "is typing…", ""},
		"records":      {ana, []eventlog.Event{presence(ana, 50, "composing"), presence(ana, 51, "recording")}, "is recording…", ""},
		"stopped":      {ana, []eventlog.Event{presence(ana, 50, "composing"), presence(ana, 51, "paused")}, "", ""},
		"long ago":     {ana, []eventlog.Event{presence(ana, 30, "composing")}, "", ""},
		"another chat": {ana, []eventlog.Event{presence(group, 50, "composing")}, "", ""},
		"in a group":   {group, []eventlog.Event{presence(group, 50, "composing")}, "is typing…", "Bruno"},
	}) {
		var said conversation.Conversation
		said.Types(c.events, c.chat, start.Add(time.Minute))
		if said.Typing != c.want || said.Who != c.who || c.want != "" && (said.Lasts < 5 || said.Lasts > 6) {
			t.Errorf("%s: %q %q for %d seconds", name, said.Who, said.Typing, said.Lasts)
		}
	}
}
