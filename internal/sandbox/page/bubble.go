// A message as a bubble.

package page

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/content"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/web"
)

const (
	// longPause between two messages is shown between their bubbles.
	longPause = 6 * time.Hour
	// maxReactions and maxOptions bound what a bubble lists.
	maxReactions = 8
	maxOptions   = 24

	opened = "played" // the status of a message that was played, or opened if that works once
)

// bubble is a message in a chat.
type bubble struct {
	Element   string // its ID in the page
	Path      string // the path of what can be done with it
	Place     int64  // its place on the phone
	Type      string
	Mine      bool
	Sender    string // who has sent it, "" if that is clear
	At        time.Time
	Pause     bool // it comes long after the one before it
	Text      string
	Cut       bool   // there is more text
	File      string // the path of its file, "" if the phone has none
	FileName  string
	Size      int64 // of the file in bytes
	ViewOnce  bool
	VideoNote bool
	Preview   *content.Preview
	Opened    bool
	Forwarded bool
	Edited    bool
	Deleted   bool
	Pinned    bool
	Starred   bool
	Status    string // of a message that this phone has sent
	Unread    bool   // nobody has read it on this phone
	Quote     *quote
	Reactions []reaction
	Options   []option // of a poll
	Event     *eventCard
	Map       *mapCard
	Contacts  []contactCard
	Problems  []string // what is wrong with it
}

// quote is the message that another one answers.
type quote struct {
	Sender  string
	Mine    bool
	Line    string // the beginning of its text
	Type    string // "" if nothing is known of it
	Deleted bool
}

// reaction is how often somebody has reacted in the same way.
type reaction struct {
	Emoji string
	Count int
}

// option is an answer to a poll.
type option struct {
	Name   string
	Value  string // the name whole, as a vote has it
	Votes  int
	Chosen bool // by this phone
}

// optionsOf counts the votes of a poll. number is whose phone it is.
func optionsOf(number string, m content.Shown) []option {
	if m.Poll == nil {
		return nil
	}
	var options []option
	for _, name := range m.Poll.Options[:min(len(m.Poll.Options), maxOptions)] {
		counted := option{Name: line(name, maxLine), Value: name}
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

// eventCard is a calendar event. Times are in UTC.
type eventCard struct {
	Start, End   string // as people read them; End is "" where it is open
	Place        string
	Description  string
	JoinLink     string
	Cancelled    bool
	Going, Maybe int
	NotGoing     int
	Mine         string // the response of this phone, "" for none
}

// eventOf counts the responses to a calendar event. number is whose phone it is.
func eventOf(number string, m content.Shown) *eventCard {
	if m.Event == nil {
		return nil
	}
	card := &eventCard{
		Start: eventTime(m.Event.Start), End: eventTime(m.Event.End), Description: line(m.Event.Description, maxLine),
		JoinLink: line(m.Event.JoinLink, maxLine), Cancelled: m.Event.Cancelled,
	}
	if place := m.Event.Location; place != nil {
		card.Place = line(strings.TrimSpace(place.Name+" "+place.Address), maxLine)
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
	return parsed.UTC().Format("2006-01-02 15:04 UTC")
}

// mapCard is a place on a drawn map.
type mapCard struct {
	Name, Address       string
	Latitude, Longitude string
	Link                string // of a map outside
	Columns, Rows       []int  // where the lines of the drawing are
}

// contactCard is somebody's card.
type contactCard struct {
	Name, Number, Organization string
}

// bubbleOf returns the bubble of a message on a side of the page.
func bubbleOf(side, number string, m phone.Bubble, group bool) bubble {
	at := strconv.FormatInt(m.Place, 10)
	b := bubble{
		Element: side + "-m" + at, Path: phonePath(number) + "/messages/" + at, Place: m.Place, Type: m.Type, Mine: m.FromMe, At: m.At,
		ViewOnce: m.ViewOnce, VideoNote: m.VideoNote, Preview: m.Preview, Opened: m.ViewOnce && m.Status == opened, Forwarded: m.Forwarded, Edited: m.Edited, Deleted: m.Deleted, Pinned: m.PinnedUntil != "", Starred: m.Starred,
		Unread: !m.FromMe && m.Status != "read" && m.Status != opened,
	}
	if group && !m.FromMe {
		b.Sender = name(m.Sender, numberOf(m.From))
	}
	if m.FromMe {
		b.Status = m.Status
	}
	if m.Deleted {
		return b
	}
	b.Text, b.Cut = clip(m.Text+m.Caption, maxShown) // it has only one of them
	if m.HasFile {
		b.File = b.Path + "/file"
		b.FileName = name(m.FileName, "")
		if m.MediaSize != nil {
			b.Size = *m.MediaSize
		}
	}
	b.Problems = m.Problems
	b.Options, b.Event = optionsOf(number, m.Shown), eventOf(number, m.Shown)
	b.Quote, b.Reactions, b.Map = quoteOf(m.Quote), reactionsOf(m.Reactions), mapOf(m.Shown)
	b.Contacts = cardsOf(m.Shown)
	return b
}

// cardsOf returns the cards of a message, as many as a bubble lists.
func cardsOf(shown content.Shown) (cards []contactCard) {
	all := shown.Contacts
	if len(all) == 0 && shown.Contact != nil {
		all = []content.Contact{*shown.Contact}
	}
	for _, card := range all[:min(len(all), maxOptions)] {
		cards = append(cards, contactCard{
			Name: name(card.FullName, "?"), Number: strings.TrimPrefix(line(card.PhoneNumber, maxName), "+"), Organization: line(card.Organization, maxName),
		})
	}
	return cards
}

func quoteOf(q *phone.Quote) *quote {
	if q == nil {
		return nil
	}
	return &quote{
		Sender: line(q.Sender, maxName), Mine: q.FromMe, Line: line(q.Text+q.Caption, maxLine), Type: q.Type, Deleted: q.Deleted,
	}
}

// reactionsOf counts the reactions of each kind, in the order in which they come.
func reactionsOf(list []content.Reaction) []reaction {
	var counted []reaction
	places := map[string]int{}
	for _, r := range list {
		emoji := line(r.Reaction, 10)
		if n, known := places[emoji]; known {
			counted[n].Count++
		} else if emoji != "" && len(counted) < maxReactions {
			places[emoji] = len(counted)
			counted = append(counted, reaction{Emoji: emoji, Count: 1})
		}
	}
	return counted
}

// The size of a drawn map, and how far its lines are apart.
const (
	mapWidth, mapHeight = 256, 128
	mapStep             = 32
)

// mapOf returns the map of a place. Its lines are where they are for this place alone,
// so that two places look different.
func mapOf(m content.Shown) *mapCard {
	if m.Latitude == nil || m.Longitude == nil {
		return nil
	}
	latitude, longitude := degrees(*m.Latitude), degrees(*m.Longitude)
	card := &mapCard{
		Name: line(m.Name, maxLine), Address: line(m.Address, maxLine), Latitude: latitude, Longitude: longitude,
		Link: "https://www.openstreetmap.org/?" + url.Values{"mlat": {latitude}, "mlon": {longitude}}.Encode(),
	}
	for x := shift(*m.Longitude); x < mapWidth; x += mapStep {
		card.Columns = append(card.Columns, x)
	}
	for y := shift(*m.Latitude); y < mapHeight; y += mapStep {
		card.Rows = append(card.Rows, y)
	}
	return card
}

func degrees(value float64) string { return strconv.FormatFloat(value, 'f', 6, 64) }

// shift returns where the first line of a map is.
func shift(value float64) int {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0
	}
	_, rest := math.Modf(math.Abs(value) * 1000)
	return int(rest * mapStep)
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

// Brief is the beginning of the message's text in one line.
func (b bubble) Brief() string { return line(b.Text, maxLine) }

// Kind is what the message is called where its content is not shown.
func (b bubble) Kind() web.Word { return kindOf(b.Type) }

// Kind is what the quoted message is called.
func (q quote) Kind() web.Word { return kindOf(q.Type) }

// Ticks is how far a message has come, in words.
func (b bubble) Ticks() web.Word {
	switch b.Status {
	case "delivered":
		return web.Word("Delivered")
	case "read":
		return web.Word("Read")
	case opened:
		return web.Word("Played")
	default:
		return web.Word("Sent")
	}
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
