// A message as a bubble.

package page

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

// optionsOf counts the votes of a poll. number is whose phone it is.
func optionsOf(number string, m content.Shown) []bubbles.Option {
	if m.Poll == nil {
		return nil
	}
	var options []bubbles.Option
	for _, name := range m.Poll.Options[:min(len(m.Poll.Options), bubbles.MaxOptions)] {
		counted := bubbles.Option{Name: bubbles.Line(name, bubbles.MaxLine), Value: name}
		for _, vote := range m.Votes {
			if slices.Contains(vote.Options, name) {
				counted.Votes++
				counted.Chosen = counted.Chosen || numberOf(vote.From) == number
			}
		}
		options = append(options, counted)
	}
	return options
}

// eventOf counts the responses to a calendar event. number is whose phone it is.
func eventOf(number string, m content.Shown) *bubbles.Event {
	if m.Event == nil {
		return nil
	}
	card := &bubbles.Event{
		Start: eventTime(m.Event.Start), End: eventTime(m.Event.End), Description: bubbles.Line(m.Event.Description, bubbles.MaxLine),
		JoinLink: bubbles.Line(m.Event.JoinLink, bubbles.MaxLine), Cancelled: m.Event.Cancelled, Counted: true,
	}
	if place := m.Event.Location; place != nil {
		card.Place = bubbles.Line(strings.TrimSpace(place.Name+" "+place.Address), bubbles.MaxLine)
	}
	for _, response := range m.Responses {
		people := 1 + response.ExtraGuests
		switch response.Response {
		case "going":
			card.Going += people
		case "maybe":
			card.Maybe += people
		default:
			card.NotGoing++
		}
		if numberOf(response.From) == number {
			card.Mine = response.Response
		}
	}
	return card
}

// eventTime is a time of a calendar event as people read it.
func eventTime(at string) string {
	parsed, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return ""
	}
	return bubbles.EventTime(parsed)
}

// bubbleOf returns the bubble of a message on a side of the page.
func bubbleOf(side, number string, m phone.Bubble, group bool) bubbles.Bubble {
	at := strconv.FormatInt(m.Place, 10)
	path := phonePath(number) + "/messages/" + at
	b := bubbles.Bubble{
		Element: side + "-m" + at, Path: path, Quote: at, Type: m.Type, Kind: kindOf(m.Type), Lost: web.Word("the phone does not have the file"),
		Mine: m.FromMe, At: m.At, ViewOnce: m.ViewOnce, VideoNote: m.VideoNote, Play: !m.FromMe, Open: !m.FromMe,
		Opened: m.ViewOnce && m.Status == bubbles.Opened, Forwarded: m.Forwarded, Edited: m.Edited, Deleted: m.Deleted,
		Pinned: m.PinnedUntil != "", Starred: m.Starred, Unread: !m.FromMe && m.Status != "read" && m.Status != bubbles.Opened,
	}
	if m.Preview != nil {
		b.Preview = bubbles.PreviewOf(m.Preview.Title, m.Preview.Description)
	}
	if group && !m.FromMe {
		b.Sender = bubbles.Name(m.Sender, numberOf(m.From))
	}
	if m.FromMe {
		b.Status = m.Status
	}
	if m.Deleted {
		return b
	}
	b.Text, b.Cut = bubbles.Clip(m.Text+m.Caption, bubbles.MaxShown) // it has only one of them
	if m.HasFile {
		b.File = b.Path + "/file"
		b.FileName = bubbles.Name(m.FileName, "")
		if m.MediaSize != nil {
			b.Size = *m.MediaSize
		}
	}
	b.Problems = m.Problems
	b.Options, b.Event, b.Contacts = optionsOf(number, m.Shown), eventOf(number, m.Shown), cardsOf(m.Shown)
	b.Answers = quoteOf(m.Quote)
	for _, reaction := range m.Reactions {
		b.Reactions = bubbles.Count(b.Reactions, reaction.Reaction)
	}
	if m.Latitude != nil && m.Longitude != nil {
		b.Map = bubbles.MapOf(*m.Latitude, *m.Longitude, m.Name, m.Address)
	}
	return b
}

// cardsOf returns the cards of a message, as many as a bubble lists.
func cardsOf(shown content.Shown) (cards []bubbles.Contact) {
	all := shown.Contacts
	if len(all) == 0 && shown.Contact != nil {
		all = []content.Contact{*shown.Contact}
	}
	for _, card := range all[:min(len(all), bubbles.MaxOptions)] {
		cards = append(cards, bubbles.ContactOf(card.FullName, card.PhoneNumber, card.Organization))
	}
	return cards
}

func quoteOf(q *phone.Quote) *bubbles.Quote {
	if q == nil {
		return nil
	}
	quoted := &bubbles.Quote{
		Sender: bubbles.Line(q.Sender, bubbles.MaxName), Mine: q.FromMe, Line: bubbles.Line(q.Text+q.Caption, bubbles.MaxLine), Deleted: q.Deleted,
	}
	if q.Type != "" {
		quoted.Kind = kindOf(q.Type)
	}
	return quoted
}

// kindOf is what a message of a type is called where its content is not shown.
func kindOf(kind string) web.Word {
	kinds := map[string]web.Word{
		"image": web.Word("Picture"), "video": web.Word("Video"), "voice": web.Word("Voice message"), "audio": web.Word("Audio"),
		"document": web.Word("File"), "sticker": web.Word("Sticker"), "location": web.Word("Location"), "contact": web.Word("Contact"),
		"poll": web.Word("Poll"), "event": web.Word("Calendar event"), "order": web.Word("Order"), "group_invite": web.Word("Invitation to a group"), "text": web.Word("Message"), "album": web.Word("Album"),
	}
	if word, ok := kinds[kind]; ok {
		return word
	}
	return web.Word("A kind of message that phones can't show")
}

// numberOf returns the number in a chat ID.
func numberOf(id string) string {
	number, _, _ := strings.Cut(id, "@")
	return number
}

// phonePath is the path of what can be done with the phone of a number.
func phonePath(number string) string {
	return fmt.Sprintf("%s/ui/phones/%s", Path, url.PathEscape(number))
}
