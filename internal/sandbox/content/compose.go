package content

import (
	"encoding/json"
	"math"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// Outgoing describes a message that a phone is to send, as the control API reads it.
type Outgoing struct {
	To              string    `json:"to"`   // a number or a chat ID
	Type            string    `json:"type"` // as in Shown
	Text            string    `json:"text"`
	MediaSource     string    `json:"media"` // what the control API reads Media from: a data URI or a URL
	Media           []byte    `json:"-"`
	MimeType        string    `json:"mimeType"` // of Media
	Caption         string    `json:"caption"`
	FileName        string    `json:"fileName"`
	ViewOnce        bool      `json:"viewOnce"`
	VideoNote       bool      `json:"videoNote"` // of a video: it is shown round
	Preview         *Preview  `json:"preview"`   // of a text, as phones make it themselves
	Latitude        *float64  `json:"latitude"`
	Longitude       *float64  `json:"longitude"`
	Name            string    `json:"name"` // of a place
	Address         string    `json:"address"`
	Contact         *Contact  `json:"contact"`
	QuotedMessageID string    `json:"quoteMessageId"`   // "" if it answers none
	Mentions        []string  `json:"mentions"`         // numbers, which the text or the caption has after an @
	Everyone        bool      `json:"mentionsEveryone"` // all members of the group are mentioned
	Options         []string  `json:"options"`          // of a poll, whose question is Text
	MaxAnswers      int       `json:"maxAnswers"`       // of a poll: how many options somebody may choose; 0: any number
	Event           *Event    `json:"event"`            // of a calendar event, whose name is Text
	Kind            string    `json:"kind"`             // of an unsupported message: product, pin or future; "list" for a selection from one
	SelectedID      string    `json:"selectedId"`       // of a selection: the button or the row, whose text is Text
	Order           *Order    `json:"order"`
	Invite          *Invite   `json:"groupInvite"`
	Referral        *Referral `json:"referral"`    // the advertisement from which somebody comes with this message
	Album           *Album    `json:"album"`       // of an album
	AlbumID         string    `json:"albumId"`     // of a picture or a video: the album that it belongs to
	Unavailable     bool      `json:"unavailable"` // with ViewOnce: linked devices do not get the content

	// Content is any message of the protocol, as JSON; its type is content.
	Content json.RawMessage `json:"content"`
}

// PutFile puts a file on the media host, as mediahost.Host does.
type PutFile func(url string, kind mediahost.Kind, file []byte) (mediahost.Pointer, error)

// Compose builds a message. reply names the message that it answers, and is nil if
// it answers none. put is called with the message's file.
func Compose(m Outgoing, reply *waE2E.ContextInfo, put PutFile, now time.Time) (*waE2E.Message, error) {
	reply = m.Referral.Context(reply)
	switch m.Type {
	case "text":
		return composeText(m, reply)
	case "location":
		return composeLocation(m, reply)
	case "contact":
		return composeContact(m, reply)
	case "image", "video", "voice", "audio", "document", "sticker":
		message, err := composeMedia(m, reply, put)
		if err != nil {
			return nil, err
		}
		return inAlbum(message, m.AlbumID), nil
	case "album":
		return composeAlbum(m, reply)
	case "poll":
		return composePoll(m, reply)
	case "event":
		return composeEvent(m, reply)
	case "order":
		return composeOrder(m, reply)
	case "group_invite":
		return composeInvite(m, reply, now)
	case "selection":
		return composeSelection(m, reply)
	case "content":
		return composeContent(m)
	case "unsupported":
		return composeUnsupported(m)
	default:
		return nil, refusal.Invalidf("type",
			"must be one of text, image, video, voice, audio, document, location, contact, sticker, poll, event, order, group_invite, selection, album, content, unsupported")
	}
}

func composeText(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Text == "" {
		return nil, refusal.Invalidf("text", "must not be empty")
	}
	if reply == nil && m.Preview == nil {
		return &waE2E.Message{Conversation: &m.Text}, nil
	}
	text := &waE2E.ExtendedTextMessage{Text: &m.Text, ContextInfo: reply}
	if m.Preview != nil {
		text.MatchedText, text.Title, text.Description = &m.Preview.URL, &m.Preview.Title, optional(m.Preview.Description)
	}
	return &waE2E.Message{ExtendedTextMessage: text}, nil
}

func composeLocation(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Latitude == nil || math.Abs(*m.Latitude) > 90 {
		return nil, refusal.Invalidf("latitude", "must be between -90 and 90")
	}
	if m.Longitude == nil || math.Abs(*m.Longitude) > 180 {
		return nil, refusal.Invalidf("longitude", "must be between -180 and 180")
	}
	return &waE2E.Message{LocationMessage: &waE2E.LocationMessage{
		DegreesLatitude: m.Latitude, DegreesLongitude: m.Longitude,
		Name: optional(m.Name), Address: optional(m.Address), ContextInfo: reply,
	}}, nil
}

func composeContact(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, error) {
	if m.Contact == nil || m.Contact.FullName == "" {
		return nil, refusal.Invalidf("contact.fullName", "is required")
	}
	number, err := phonenumber.Parse(m.Contact.PhoneNumber)
	if err != nil {
		return nil, refusal.Invalidf("contact.phoneNumber", "must be a phone number")
	}
	card := *m.Contact
	card.PhoneNumber = number
	return &waE2E.Message{ContactMessage: &waE2E.ContactMessage{
		DisplayName: &card.FullName, Vcard: new(writeCard(card)), ContextInfo: reply,
	}}, nil
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func optionalFlag(on bool) *bool {
	if !on {
		return nil
	}
	return &on
}
