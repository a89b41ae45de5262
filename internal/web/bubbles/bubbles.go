// Package bubbles shows messages as the bubbles of a chat: the structure of one, the blocks of
// templates that show it, the style of a list of chats beside an open one, and the script of the
// field to write in. The page of the phones and the dashboard's chats are made with it.
package bubbles

import (
	"embed"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/web"
)

// Files are the blocks, the style, the script and the translations. Block "bubble" needs a dict
// with B, the Bubble, and Side, which names the field to write in: its form is in #SIDE-write.
//
//go:embed *.html assets locale
var Files embed.FS

// MaxReactions and MaxOptions bound what a bubble lists.
const (
	MaxReactions = 8
	MaxOptions   = 24
)

// Opened is the status of a message that was played, or opened if that works once.
const Opened = "played"

// Bubble is a message in a chat, with the texts of others made fit for a page.
type Bubble struct {
	Element   string   // its ID in the page
	Path      string   // the path of what can be done with it; "" for nothing
	Quote     string   // what an answer names it by; "" if it can't be answered
	Type      string   // as the contract names types: text, image, video, voice, …
	Kind      web.Word // what it is called where its content is not shown
	Mine      bool
	Sender    string // who has sent it, "" if that is clear
	At        time.Time
	Text      string
	Cut       bool   // there is more text, at Path/text
	File      string // the path of its file, "" if there is none
	FileName  string
	Size      int64    // of the file in bytes
	Lost      web.Word // why there is no file
	ViewOnce  bool
	VideoNote bool
	Play      bool // that it was played is told to Path/played, once
	Open      bool // what can be opened once is opened by a button
	Opened    bool
	Forwarded bool
	Edited    bool
	Deleted   bool
	Pinned    bool
	Starred   bool
	Unread    bool   // nobody has read it on this side
	Status    string // of a message of this side: pending, failed, sent, delivered, read or played
	Answers   *Quote
	Preview   *Preview
	Reactions []Reaction
	Options   []Option
	Event     *Event
	Map       *Map
	Contacts  []Contact
	Problems  []string // what is wrong with it
	Notice    bool     // it is no message, but what happened between them: its text alone is shown
}

// Quote is the message that another one answers.
type Quote struct {
	Sender  string
	Mine    bool
	Line    string   // the beginning of its text
	Kind    web.Word // "" if nothing is known of it
	Deleted bool
}

// Preview is what is shown of the page behind a link.
type Preview struct{ Title, Description string }

// PreviewOf returns the preview of a page of somebody's.
func PreviewOf(title, description string) *Preview {
	return &Preview{Title: Line(title, MaxLine), Description: Line(description, MaxLine)}
}

// Reaction is how often somebody has reacted in the same way.
type Reaction struct {
	Emoji string
	Count int
}

// Count adds a reaction to those of a message, in the order in which they come.
func Count(counted []Reaction, emoji string) []Reaction {
	emoji = Line(emoji, 10)
	for n := range counted {
		if counted[n].Emoji == emoji {
			counted[n].Count++
			return counted
		}
	}
	if emoji == "" || len(counted) >= MaxReactions {
		return counted
	}
	return append(counted, Reaction{Emoji: emoji, Count: 1})
}

// Option is an answer to a poll, or a button below a message.
type Option struct {
	Name   string
	Value  string // the name whole, as a vote has it
	Votes  int
	Chosen bool // by this side
}

// Event is a calendar event. Times are in UTC.
type Event struct {
	Start, End             string // as people read them; End is "" where it is open
	Place                  string
	Description            string
	JoinLink               string
	Cancelled              bool
	Counted                bool // who comes is known
	Going, Maybe, NotGoing int
	Mine                   string // the response of this side, "" for none
}

// EventTime is a time of a calendar event as people read it; "" for the zero time.
func EventTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// Map is a place on a drawn map.
type Map struct {
	Name, Address       string
	Latitude, Longitude string
	Link                string // of a map outside
	Columns, Rows       []int  // where the lines of the drawing are
}

// Contact is somebody's card.
type Contact struct {
	Name, Organization string
	Number             string // without a plus
}

// ContactOf returns the card of somebody. The number may have a plus.
func ContactOf(name, number, organization string) Contact {
	return Contact{Name: Name(name, "?"), Number: strings.TrimPrefix(Line(number, MaxName), "+"), Organization: Line(organization, MaxName)}
}

// The size of a drawn map, and how far its lines are apart.
const (
	mapWidth, mapHeight = 256, 128
	mapStep             = 32
)

// MapOf returns the map of a place, by its degrees. Its lines are where they are for this place
// alone, so that two places look different.
func MapOf(latitude, longitude float64, name, address string) *Map {
	degrees := func(value float64) string { return strconv.FormatFloat(value, 'f', 6, 64) }
	drawn := &Map{Name: Line(name, MaxLine), Address: Line(address, MaxLine), Latitude: degrees(latitude), Longitude: degrees(longitude)}
	drawn.Link = "https://www.openstreetmap.org/?" + url.Values{"mlat": {drawn.Latitude}, "mlon": {drawn.Longitude}}.Encode()
	for x := shift(longitude); x < mapWidth; x += mapStep {
		drawn.Columns = append(drawn.Columns, x)
	}
	for y := shift(latitude); y < mapHeight; y += mapStep {
		drawn.Rows = append(drawn.Rows, y)
	}
	return drawn
}

// shift returns where the first line of a map is.
func shift(value float64) int {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0
	}
	_, rest := math.Modf(math.Abs(value) * 1000)
	return int(rest * mapStep)
}

// Brief is the beginning of the message's text in one line.
func (b Bubble) Brief() string { return Line(b.Text, MaxLine) }

// Seen reports whether the other side has read the message, or played it.
func (b Bubble) Seen() bool { return b.Status == "read" || b.Status == Opened }

// Progress is how far a message of this side has come, in words.
func (b Bubble) Progress() web.Word {
	switch b.Status {
	case "pending":
		return web.Word("On its way")
	case "failed":
		return web.Word("Failed")
	case "delivered":
		return web.Word("Delivered")
	case "read":
		return web.Word("Read")
	case Opened:
		return web.Word("Played")
	default:
		return web.Word("Sent")
	}
}

// Emojis are offered as reactions; any other one can be typed.
func Emojis() []string {
	return []string{"👍", "❤️", "😂", "😮", "😢", "🙏", "🎉", "🔥"}
}

// MoreEmojis are offered to whoever writes, besides Emojis.
func MoreEmojis() []string {
	return []string{
		"😀", "😅", "🤣", "😊", "😉", "😍", "😘", "🤔", "🙄", "😴", "😭", "😡", "🤗", "🤝", "👏", "💪",
		"👋", "👌", "👎", "🤞", "☝️", "👀", "💙", "💚", "✅", "❌", "⚠️", "❗", "❓", "⏰", "📅", "📍",
		"📞", "📦", "🚚", "🛒", "💰", "💳", "🧾", "🎁", "☕", "🍕", "🌟", "💯", "🔝", "📷", "🏠", "🚗",
	}
}
