// One side of the page: a phone with its chats, and one of them open.

package page

import (
	"context"
	"hash/fnv"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/phone"
	"github.com/recado-project/recado/internal/web"
	"github.com/recado-project/recado/internal/web/bubbles"
)

const (
	usualSize = 50  // messages that a chat shows at first
	sizeStep  = 50  // and that it shows more when somebody asks for earlier ones
	maxSize   = 300 // earlier ones are shown alone

	groupSuffix = "@g.us" // of the chat IDs of groups

	// typingLife is how long somebody types who never stops.
	typingLife = 15 * time.Second
)

// side is one side of the page.
type side struct {
	Side      string // left or right
	Asked     string // the number that the address names
	Found     bool   // such a phone exists
	Phone     handset
	Path      string           // of what can be done with the phone
	Passkey   link.PasskeyView // the question for a passkey, as the phone shows it
	NotLinked web.Word         // why that question ended without a link, "" if only Passkey says it
	Chats     []chatLine
	Chat      *openChat // nil: none
	Picked    bool      // somebody has chosen the chat
	Two       bool      // there is another side
	Close     string    // the address without this side
	Back      string    // the address with the list of chats
	Element   string    // begins the IDs of its elements
}

// chatLine is a chat in the list.
type chatLine struct {
	Element string
	ID      string
	Key     string // chooses its colour
	Name    string
	Picture string
	Group   bool
	Here    bool
	URL     string
	Since   time.Time
	Last    *bubbles.Bubble // nil: no message yet
	Line    string          // the beginning of its text
	Unread  int
	Typing  web.Word // what somebody does there, "" for nothing
}

// openChat is the chat whose messages are shown.
type openChat struct {
	ID      string
	Key     string // chooses its colour
	Number  string // of the person, "" for a group
	Name    string
	Picture string
	Group   bool
	Members string // the names of a group's members
	Path    string // of what can be done in the chat
	Form    string // the ID of the field to write in: another one for each chat
	Bubbles []bubbles.Bubble
	Earlier string // the address that shows earlier messages, "" if there are none
	Newest  string // the address that shows the newest ones, "" if it is this one
	Unread  int
	State   web.Word // what is known of the other's presence
	Who     string   // the name of who types in a group
	Refusal web.Word // why nobody can write here; "" if one can
}

// side reads one side of the page. It is empty if no phone is open there.
func (p *Page) side(ctx context.Context, where string, at place) (side, error) {
	open := at.on(where)
	shown := side{
		Side: where, Element: where + "-", Asked: bubbles.Line(open.Number, bubbles.MaxName), Two: at.Right.Number != "",
		Close: at.with(where, openPhone{}).URL(), Back: at.with(where, openPhone{Number: open.Number}).URL(),
	}
	if where == left && at.Right.Number != "" {
		shown.Close = place{Left: at.Right, Search: at.Search}.URL()
	}
	of, found, err := p.config.Profiles.Look(ctx, open.Number)
	if err != nil || !found {
		return shown, err
	}
	shown.Found, shown.Phone, shown.Path = true, handsetOf(of, p.config.Now()), phonePath(of.Number)
	if shown.Passkey, err = p.config.Linking.Passkey(ctx, of.Number); err != nil {
		return shown, err
	}
	shown.NotLinked = knownReason(shown.Passkey.Reason)
	lines, err := p.config.Phones.ChatLines(ctx, of.Number)
	if err != nil {
		return shown, err
	}
	activities, err := p.config.Activities.Of(ctx, of.Number)
	if err != nil {
		return shown, err
	}
	shown.Chat, err = p.openChat(ctx, where, at, of, open.Chat, activities)
	if err != nil {
		return shown, err
	}
	for _, l := range lines {
		line := lineOf(where, of.Number, l)
		if shown.Chat != nil && shown.Chat.ID == l.ID {
			line.Here, shown.Chat.Unread = true, l.Unread
		}
		line.URL = at.with(where, openPhone{Number: of.Number, Chat: l.ID}).URL()
		line.Typing, _ = p.doing(activities, of, l.ID)
		shown.Chats = append(shown.Chats, line)
	}
	return shown, nil
}

// lineOf returns a chat in the list of a phone's chats.
func lineOf(where, number string, l phone.ChatLine) chatLine {
	shown := chatLine{
		Element: where + "-c" + short(l.ID), ID: l.ID, Key: numberOf(l.ID), Name: bubbles.Name(l.Name, numberOf(l.ID)), Picture: pictureURL(l.PictureID),
		Group: l.Group, Since: l.Since, Unread: l.Unread,
	}
	if l.Last != nil {
		last := bubbleOf(where, number, *l.Last, l.Group)
		shown.Last, shown.Line = &last, bubbles.Line(last.Text, bubbles.MaxLine)
	}
	return shown
}

// short returns a short name for a chat ID, for the IDs of elements.
func short(id string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(id)) // a hash never fails
	return strconv.FormatUint(hash.Sum64(), 36)
}

// openChat reads a chat with its messages. It returns nil if there is no such chat.
func (p *Page) openChat(
	ctx context.Context, where string, at place, of account.Phone, id string, activities []account.Activity,
) (*openChat, error) {
	if id == "" {
		return nil, nil
	}
	chat := &openChat{Key: numberOf(id), Path: phonePath(of.Number) + "/chats/" + url.PathEscape(id), Form: where + "-w" + short(of.Number+" "+id)}
	var err error
	if strings.HasSuffix(id, groupSuffix) {
		err = p.describeGroup(ctx, chat, of, id)
	} else {
		err = p.describePerson(ctx, chat, id)
	}
	if err != nil || chat.ID == "" {
		return nil, err
	}
	if !of.Registered {
		chat.Refusal = web.Word("This number is not registered: it can't write.")
	}
	chat.State, chat.Who = p.doing(activities, of, chat.ID)
	if who, found, err := p.config.Profiles.Look(ctx, chat.Who); err != nil {
		return nil, err
	} else if found {
		chat.Who = bubbles.Name(who.Name, who.Number)
	}
	open := at.on(where)
	size := max(open.Size, usualSize)
	window, err := p.config.Phones.Window(ctx, of.Number, chat.ID, open.Before, size)
	if err != nil {
		return nil, err
	}
	for _, m := range window.Bubbles {
		chat.Bubbles = append(chat.Bubbles, bubbleOf(where, of.Number, m, chat.Group))
	}
	chat.page(where, at, of.Number, window)
	return chat, nil
}

// page sets the addresses of earlier and newer messages.
func (c *openChat) page(where string, at place, number string, window phone.Window) {
	open := at.on(where)
	open.Number, open.Chat = number, c.ID
	if open.Before != 0 {
		c.Newest = at.with(where, openPhone{Number: number, Chat: c.ID}).URL()
	}
	if !window.Earlier || len(window.Bubbles) == 0 {
		return
	}
	if size := max(open.Size, usualSize) + sizeStep; size <= maxSize {
		open.Size = size
	} else {
		open.Size, open.Before = 0, window.Bubbles[0].Place
	}
	c.Earlier = at.with(where, open).URL()
}

// describePerson fills in a chat with a person.
func (p *Page) describePerson(ctx context.Context, chat *openChat, id string) error {
	person, found, err := p.config.Profiles.Look(ctx, id)
	if err != nil || !found {
		return err
	}
	chat.ID, chat.Number, chat.Name, chat.Picture = person.JID, person.Number, bubbles.Name(person.Name, person.Number), pictureURL(person.PictureID)
	if !person.Registered {
		chat.Refusal = web.Word("The other number is not registered: it gets no messages.")
	}
	return nil
}

// describeGroup fills in a group. A phone that has left it still shows its messages.
func (p *Page) describeGroup(ctx context.Context, chat *openChat, of account.Phone, id string) error {
	group, err := p.config.Groups.Find(ctx, numberOf(id))
	if err != nil || group == nil {
		return err
	}
	info, err := p.config.Groups.Get(ctx, id)
	if err != nil {
		return err
	}
	chat.ID, chat.Group, chat.Name, chat.Picture = info.ID, true, bubbles.Name(info.Subject, "?"), pictureURL(group.Picture)
	var member, admin bool
	var names []string
	for _, m := range info.Participants {
		if m.ID == of.JID {
			member, admin = true, m.Admin != nil
		}
		if len(names) < maxMembers {
			person, _, err := p.config.Profiles.Look(ctx, m.ID)
			if err != nil {
				return err
			}
			names = append(names, bubbles.Name(person.Name, numberOf(m.ID)))
		}
	}
	chat.Members = strings.Join(names, ", ")
	switch {
	case !member:
		chat.Refusal = web.Word("This phone is not in the group any more.")
	case group.Announcement && !admin:
		chat.Refusal = web.Word("Only admins can write to this group.")
	}
	return nil
}

// maxMembers bounds the names in the head of a group.
const maxMembers = 20

// doing returns what somebody else does in a chat right now, or how they are, and in a
// group the number of who it is.
func (p *Page) doing(activities []account.Activity, of account.Phone, chat string) (state web.Word, who string) {
	group, typed := strings.HasSuffix(chat, groupSuffix), false
	for _, seen := range slices.Backward(activities) {
		there := seen.From == chat && seen.To == of.JID
		if group {
			there = seen.To == chat
		}
		switch {
		case !there:
		case seen.Type == "chatstate" && !typed: // what came before it is over
			typed = true
			word := p.typing(seen)
			if word != "" && group {
				who = numberOf(seen.From)
			}
			if word != "" {
				return word, who
			}
		case seen.Type == "presence" && seen.Value == "available":
			return web.Word("online"), ""
		case seen.Type == "presence":
			return web.Word("not online"), ""
		}
	}
	return "", ""
}

// typing returns what somebody does who was seen typing, "" if that is over.
func (p *Page) typing(seen account.Activity) web.Word {
	at, err := time.Parse(time.RFC3339, seen.Timestamp)
	switch {
	case err != nil || p.config.Now().Sub(at) > typingLife:
		return ""
	case seen.Value == "composing":
		return web.Word("is typing…")
	case seen.Value == "recording":
		return web.Word("is recording…")
	default:
		return ""
	}
}
