package conversation_test

import (
	"encoding/json"
	"slices"
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

// What happened stands between the messages before and after it, a call once, and nothing of another
// chat or of another time.
func TestWhatHappenedIsBetweenMessages(t *testing.T) {
	t.Parallel()
	event := func(kind eventlog.Kind, chat string, seconds int, data map[string]any) eventlog.Event {
		return happened(t, kind, chat, seconds, data)
	}
	call := map[string]any{"chat": ana, "callId": "C1"}
	for name, c := range cases.Sorted(map[string]struct {
		events []eventlog.Event
		newest bool
		want   string
	}{
		"nothing":           {nil, true, "m0 m10 m20"},
		"a call that ends":  {[]eventlog.Event{event(eventlog.KindCallReceived, ana, 5, call), event(eventlog.KindCallEnded, ana, 12, call)}, true, "m0 m10 call.ended m20"},
		"a call that rings": {[]eventlog.Event{event(eventlog.KindCallReceived, ana, 25, call)}, true, "m0 m10 m20 call.received"},
		"later":             {[]eventlog.Event{event(eventlog.KindCallReceived, ana, 25, call)}, false, "m0 m10 m20"},
		"before":            {[]eventlog.Event{event(eventlog.KindCallReceived, ana, -5, call)}, true, "m0 m10 m20"},
		"another chat":      {[]eventlog.Event{event(eventlog.KindCallEnded, group, 5, map[string]any{"chat": group})}, true, "m0 m10 m20"},
		"damaged":           {[]eventlog.Event{{Kind: eventlog.KindCallEnded, Chat: ana, At: start.Add(time.Second), Data: []byte("{")}}, true, "m0 call.ended m10 m20"},
	}) {
		said, messages := chat(t, ana)
		said.Add(conversation.Chat{Address: ana, Newest: c.newest, Now: start, Tell: func(e eventlog.Event) string { return string(e.Kind) }}, messages, c.events)
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
func chat(t *testing.T, address string) (said conversation.Conversation, messages []gateway.Message) {
	t.Helper()
	for _, text := range []string{"m0", "m10", "m20"} {
		seconds, err := time.ParseDuration(text[1:] + "s")
		if err != nil {
			t.Fatal(err)
		}
		m := gateway.Message{ID: text, PlatformID: "3EB0" + text, Chat: gateway.Party{JID: gateway.JID(address)}, Type: gateway.TypeText, Text: text, SentAt: start.Add(seconds)}
		messages = append(messages, m)
		said.Bubbles = append(said.Bubbles, conversation.Bubble(m, start))
	}
	return said, messages
}

// The last reaction of everybody counts, and one that was taken back does not.
func TestReactionsAreBelowTheirMessage(t *testing.T) {
	t.Parallel()
	said, messages := chat(t, group)
	react := func(seconds int, who, reaction string) eventlog.Event {
		return happened(t, eventlog.KindMessageReaction, group, seconds, map[string]any{
			"messageId": "3EB0m10", "chat": group, "from": map[string]any{"lid": who}, "reaction": reaction,
		})
	}
	said.Add(conversation.Chat{Address: group, Newest: true, Now: start}, messages, []eventlog.Event{
		react(11, "1@lid", "👍"), react(12, "2@lid", "❤️"), react(13, "3@lid", "👍"), react(14, "2@lid", ""), react(15, "1@lid", "🎉"),
	})
	var got []string
	for _, reaction := range said.Bubbles[1].Reactions {
		got = append(got, strings.Repeat(reaction.Emoji, reaction.Count))
	}
	if !slices.Equal(got, []string{"🎉", "👍"}) || len(said.Bubbles[0].Reactions)+len(said.Bubbles[2].Reactions) > 0 {
		t.Errorf("the reactions are %v", got)
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
		said.Add(conversation.Chat{Address: c.chat, Newest: true, Now: start.Add(time.Minute)}, nil, c.events)
		if said.Typing != c.want || said.Who != c.who || c.want != "" && (said.Lasts < 5 || said.Lasts > 6) {
			t.Errorf("%s: %q %q for %d seconds", name, said.Who, said.Typing, said.Lasts)
		}
	}
}
