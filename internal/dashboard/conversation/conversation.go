// Package conversation shows a chat as people read it: its messages as bubbles, with reactions below
// them and what happened between them. It reads nothing itself.
package conversation

import (
	"embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/dashboard/sentence"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// Files are the translations.
//
//go:embed locale
var Files embed.FS

// typingLife is how long somebody types who never stops.
const typingLife = 15 * time.Second

// Name is what people call a chat or a person: the name, or the number.
func Name(party gateway.Party) string { return bubbles.Name(party.Name, Number(party)) }

// Number is what people call somebody without a name: the number, with a plus.
func Number(party gateway.Party) string {
	number, host, _ := strings.Cut(string(party.Address()), "@")
	if host == gateway.PersonalSuffix {
		return "+" + number
	}
	return number
}

// Bubble returns a message as it is shown at a moment. Its path is empty, and so is that of its file: who
// shows it knows what can be done with it.
func Bubble(m gateway.Message, now time.Time) bubbles.Bubble {
	details := m.Details
	b := bubbles.Bubble{
		Element: "m-" + m.ID, Type: string(m.Type), Kind: sentence.Kind(m.Type), Lost: web.Word("the file is not here"),
		Mine: m.FromMe, At: m.SentAt, ViewOnce: details.ViewOnce, VideoNote: details.VideoNote, Forwarded: details.Forwarded,
		Edited: !m.EditedAt.IsZero(), Deleted: !m.DeletedAt.IsZero(), Pinned: m.PinnedUntil.After(now), Starred: m.Starred,
	}
	if m.FromMe {
		b.Status = m.Status.String()
	} else if m.Chat.JID.IsGroup() {
		b.Sender = Name(m.Sender)
	}
	if b.Deleted {
		return b
	}
	b.Text, b.Cut = bubbles.Clip(m.Text, bubbles.MaxShown)
	if details.Media != nil {
		b.FileName, b.Size = bubbles.Name(details.Media.FileName, ""), details.Media.Size
	}
	if place := details.Location; place != nil {
		b.Map = bubbles.MapOf(place.Latitude, place.Longitude, place.Name, place.Address)
	}
	for _, card := range details.Contacts[:min(len(details.Contacts), bubbles.MaxOptions)] {
		b.Contacts = append(b.Contacts, bubbles.ContactOf(card.FullName, card.PhoneNumber, card.Organization))
	}
	if details.Preview != nil {
		b.Preview = bubbles.PreviewOf(details.Preview.Title, details.Preview.Description)
	}
	for _, given := range m.Reactions {
		b.Reactions = bubbles.Count(b.Reactions, given.Reaction)
	}
	b.Options, b.Event, b.Answers = optionsOf(details), calendarOf(details.Event), answeredBy(details.Quoted)
	return b
}

// optionsOf returns what can be chosen below a message: the options of a poll, or its buttons.
func optionsOf(details gateway.Details) (options []bubbles.Option) {
	add := func(name string) {
		if name = bubbles.Line(name, bubbles.MaxLine); name != "" && len(options) < bubbles.MaxOptions {
			options = append(options, bubbles.Option{Name: name})
		}
	}
	if details.Poll != nil {
		for _, option := range details.Poll.Options {
			add(option.Name)
		}
	}
	for _, button := range details.Buttons {
		add(button.Text)
	}
	return options
}

// calendarOf returns a calendar event as it is shown; nil for none.
func calendarOf(event *gateway.CalendarEvent) *bubbles.Event {
	if event == nil {
		return nil
	}
	shown := &bubbles.Event{
		Start: bubbles.EventTime(event.Start), End: bubbles.EventTime(event.End), Cancelled: event.Cancelled,
		Description: bubbles.Line(event.Description, bubbles.MaxLine), JoinLink: bubbles.Line(event.JoinLink, bubbles.MaxLine),
	}
	if event.Place != nil {
		shown.Place = bubbles.Line(event.Place.Name, bubbles.MaxLine)
	}
	return shown
}

// answeredBy returns the message that another one answers, as it is shown; nil for none.
func answeredBy(quoted *gateway.Quoted) *bubbles.Quote {
	if quoted == nil {
		return nil
	}
	shown := &bubbles.Quote{Line: bubbles.Line(quoted.Text, bubbles.MaxLine)}
	if quoted.Sender.Name != "" || quoted.Sender.Address() != "" {
		shown.Sender = Name(quoted.Sender)
	}
	if quoted.Type != "" {
		shown.Kind = sentence.Kind(quoted.Type)
	}
	return shown
}

// Conversation is a part of a chat.
type Conversation struct {
	Bubbles []bubbles.Bubble // in the order in which they came
	Typing  web.Word         // what somebody does now; empty for nothing
	Who     string           // does it, in a group
	Lasts   int              // how many more seconds, if they never stop
}

// Happened puts the calls and the changes of the group between the bubbles. events are those of the chat, in
// their order; tell says what one of them reports.
func (c *Conversation) Happened(events []eventlog.Event, tell func(event eventlog.Event) string) {
	ended := map[string]bool{}
	for _, event := range events {
		if event.Kind == eventlog.KindCallEnded {
			ended[callOf(event)] = true
		}
	}
	for _, event := range events {
		if event.Kind == eventlog.KindCallReceived && ended[callOf(event)] {
			continue
		}
		c.insert(bubbles.Bubble{
			Element: "e-" + strconv.FormatInt(event.Sequence, 10), At: event.At, Notice: true, Text: bubbles.Line(tell(event), bubbles.MaxLine),
		})
	}
}

// insert puts what happened before the first message that is later. Messages themselves stay in the
// order in which they came.
func (c *Conversation) insert(happened bubbles.Bubble) {
	place := slices.IndexFunc(c.Bubbles, func(b bubbles.Bubble) bool { return b.At.After(happened.At) })
	if place < 0 {
		place = len(c.Bubbles)
	}
	c.Bubbles = slices.Insert(c.Bubbles, place, happened)
}

// isIn reports whether an event is of a chat.
func isIn(event eventlog.Event, address string) bool {
	if string(event.Chat) == address {
		return true
	}
	var data struct {
		Chat string `json:"chat"`
	}
	return json.Unmarshal(event.Data, &data) == nil && data.Chat == address
}

// callOf returns the call of an event.
func callOf(event eventlog.Event) string {
	var data struct {
		CallID string `json:"callId"`
	}
	_ = json.Unmarshal(event.Data, &data) // an event without one is of no call
	return data.CallID
}

// Types finds out who writes in a chat now, by the newest events of the instance in their order. address is
// what events call the chat.
func (c *Conversation) Types(events []eventlog.Event, address string, now time.Time) {
	for _, event := range events {
		if event.Kind != eventlog.KindPresence || now.Sub(event.At) > typingLife || !isIn(event, address) {
			continue
		}
		var data eventlog.Presence
		if json.Unmarshal(event.Data, &data) != nil {
			continue
		}
		c.Lasts = int((typingLife - now.Sub(event.At)).Seconds())
		c.Typing, c.Who = map[string]web.Word{"composing": web.Word("is typing…"), "recording": web.Word("is recording…"), "available": web.Word("online")}[data.Presence], ""
		if gateway.JID(address).IsGroup() && data.From != nil {
			c.Who = bubbles.Line(deref(data.From.Name), bubbles.MaxName)
		}
	}
}

// deref is the text that may be null; empty for none.
func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
