// Package content builds the content of messages and reads it: texts, media,
// places, contacts, polls, calendar events, and kinds that clients need not understand.
//
// It does not send or keep anything.
package content

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Shown is a message as a phone shows it. Fields that do not apply are empty or
// null. Chats and senders are named by number, never by LID.
type Shown struct {
	MessageID       string     `json:"messageId"`
	Chat            string     `json:"chat"`
	From            string     `json:"from"`
	FromMe          bool       `json:"fromMe"`
	Timestamp       string     `json:"timestamp"` // ISO 8601
	Type            string     `json:"type"`
	Text            string     `json:"text"`
	Caption         string     `json:"caption"`
	Background      string     `json:"background,omitempty"` // of a text as a status post: #RRGGBB
	Font            string     `json:"font,omitempty"`       // of such a text, as the platform names it
	MimeType        string     `json:"mimeType"`
	FileName        string     `json:"fileName"`
	MediaSHA256     string     `json:"mediaSha256"`
	MediaSize       *int64     `json:"mediaSize"`
	ViewOnce        bool       `json:"viewOnce"`
	VideoNote       bool       `json:"videoNote"`
	Animated        bool       `json:"animated"` // a sticker that moves, or a video that plays without end, as a GIF does
	Latitude        *float64   `json:"latitude"`
	Longitude       *float64   `json:"longitude"`
	Name            string     `json:"name"`
	Address         string     `json:"address"`
	Contact         *Contact   `json:"contact"`
	Contacts        []Contact  `json:"contacts,omitempty"` // if there are several; the first one is Contact
	Poll            *Poll      `json:"poll"`
	Preview         *Preview   `json:"preview"` // of the page behind a link in a text
	Votes           []Vote     `json:"votes"`
	Event           *Event     `json:"event"`     // a calendar event; Text is its name
	Responses       []Response `json:"responses"` // to it
	Album           *Album     `json:"album"`     // of the frame of one
	AlbumID         string     `json:"albumId"`   // of a picture or a video in one: the frame
	QuotedMessageID string     `json:"quotedMessageId"`
	Forwarded       bool       `json:"forwarded"`
	Mentions        []string   `json:"mentions"`         // as the message has them, by number or by LID
	Everyone        bool       `json:"mentionsEveryone"` // all members of the group are mentioned
	Reactions       []Reaction `json:"reactions"`
	Edited          bool       `json:"edited"`
	Deleted         bool       `json:"deleted"`
	PinnedUntil     string     `json:"pinnedUntil"` // ISO 8601; "" for not
	Starred         bool       `json:"starred"`
	Problems        []string   `json:"problems"`                  // what is wrong with it, as its owner would notice
	Status          string     `json:"status"`                    // sent, delivered, read or played
	DisappearsAfter uint32     `json:"disappearsAfter,omitempty"` // seconds; 0: never
}

// Preview is what a phone shows of the page behind a link.
type Preview struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Picture     bool   `json:"picture"` // there is one
}

// Contact is a contact card.
type Contact struct {
	FullName     string `json:"fullName"`
	PhoneNumber  string `json:"phoneNumber"`
	Organization string `json:"organization"`
}

// Reaction is somebody's reaction to a message.
type Reaction struct {
	From     string `json:"from"`
	Reaction string `json:"reaction"`
}

// Unwrap takes a message out of its envelopes, such as the one for disappearing
// messages.
func Unwrap(m *waE2E.Message) *waE2E.Message {
	for range 4 { // clients do not nest deeper
		switch {
		case m.GetEphemeralMessage().GetMessage() != nil:
			m = m.GetEphemeralMessage().GetMessage()
		case m.GetDocumentWithCaptionMessage().GetMessage() != nil:
			m = m.GetDocumentWithCaptionMessage().GetMessage()
		case m.GetEditedMessage().GetMessage() != nil:
			m = m.GetEditedMessage().GetMessage()
		default:
			return m
		}
	}
	return m
}

// ViewOnce takes a message out of its view-once envelope, and reports whether it
// had one.
func ViewOnce(m *waE2E.Message) (inner *waE2E.Message, once bool) {
	for _, envelope := range []*waE2E.FutureProofMessage{
		m.GetViewOnceMessage(), m.GetViewOnceMessageV2(), m.GetViewOnceMessageV2Extension(),
	} {
		if envelope.GetMessage() != nil {
			return envelope.GetMessage(), true
		}
	}
	return m, false
}

// TextOf returns the text of a text message, and "" for other messages.
func TextOf(m *waE2E.Message) string {
	if text := m.GetConversation(); text != "" {
		return text
	}
	return m.GetExtendedTextMessage().GetText()
}

// IsContent reports whether people see the message. Other messages are only for
// devices.
func IsContent(m *waE2E.Message) bool {
	var shown Shown
	Describe(m, &shown)
	return shown.Type != ""
}

// Describe fills in what a phone shows of a message. It leaves the type empty if
// there is nothing to show.
func Describe(m *waE2E.Message, shown *Shown) {
	inner, once := ViewOnce(m)
	shown.ViewOnce, shown.AlbumID = once, albumOf(m)
	about := contextOf(m)
	shown.QuotedMessageID, shown.Forwarded, shown.DisappearsAfter = about.GetStanzaID(), about.GetIsForwarded(), about.GetExpiration()
	shown.Mentions, shown.Everyone = append([]string{}, about.GetMentionedJID()...), about.GetNonJIDMentions() > 0
	if text := TextOf(inner); text != "" || inner.GetExtendedTextMessage() != nil {
		shown.Type, shown.Text = "text", text
		if v := inner.GetExtendedTextMessage(); v.GetMatchedText() != "" {
			shown.Preview = &Preview{URL: v.GetMatchedText(), Title: v.GetTitle(), Description: v.GetDescription(), Picture: len(v.GetJPEGThumbnail()) > 0}
		}
		if v := inner.GetExtendedTextMessage(); v != nil && v.BackgroundArgb != nil {
			shown.Background, shown.Font = fmt.Sprintf("#%06X", v.GetBackgroundArgb()&0xFFFFFF), v.GetFont().String()
		}
		return
	}
	switch {
	case inner.GetImageMessage() != nil:
		v := inner.GetImageMessage()
		shown.Caption = v.GetCaption()
		shown.setMedia("image", v)
		shown.ViewOnce = once || v.GetViewOnce()
	case inner.GetVideoMessage() != nil:
		v := inner.GetVideoMessage()
		shown.Caption = v.GetCaption()
		shown.setMedia("video", v)
		shown.Animated = v.GetGifPlayback()
		shown.ViewOnce = once || v.GetViewOnce()
	case inner.GetPtvMessage() != nil:
		shown.setMedia("video", inner.GetPtvMessage())
		shown.VideoNote = true
	case inner.GetAudioMessage() != nil:
		v := inner.GetAudioMessage()
		kind := "audio"
		if v.GetPTT() {
			kind = "voice"
		}
		shown.setMedia(kind, v)
		shown.ViewOnce = once || v.GetViewOnce()
	case inner.GetDocumentMessage() != nil:
		v := inner.GetDocumentMessage()
		shown.Caption, shown.FileName = v.GetCaption(), v.GetFileName()
		shown.setMedia("document", v)
	case inner.GetStickerMessage() != nil:
		v := inner.GetStickerMessage()
		shown.setMedia("sticker", v)
		shown.Animated = v.GetIsAnimated()
	case inner.GetLocationMessage() != nil:
		v := inner.GetLocationMessage()
		shown.Type, shown.Name, shown.Address = "location", v.GetName(), v.GetAddress()
		latitude, longitude := v.GetDegreesLatitude(), v.GetDegreesLongitude()
		shown.Latitude, shown.Longitude = &latitude, &longitude
	case inner.GetContactMessage() != nil:
		v := inner.GetContactMessage()
		card := parseCard(v.GetVcard())
		if card.FullName == "" {
			card.FullName = v.GetDisplayName()
		}
		shown.Type, shown.Contact = "contact", &card
	case len(inner.GetContactsArrayMessage().GetContacts()) > 0:
		v := inner.GetContactsArrayMessage()
		for _, card := range v.GetContacts() {
			shown.Contacts = append(shown.Contacts, parseCard(card.GetVcard()))
		}
		shown.Type, shown.Contact = "contact", &shown.Contacts[0]
	case inner.GetAlbumMessage() != nil:
		v := inner.GetAlbumMessage()
		shown.Type, shown.Album = "album", &Album{Images: int(v.GetExpectedImageCount()), Videos: int(v.GetExpectedVideoCount())}
	case pollOf(inner) != nil:
		shown.Type, shown.Text = "poll", pollOf(inner).GetName()
		shown.Poll, _ = PollOf(inner)
	case inner.GetEventMessage() != nil:
		v := inner.GetEventMessage()
		shown.Type, shown.Text, shown.Event = "event", v.GetName(), eventOf(v)
	case isUnsupported(inner):
		shown.Type = "unsupported"
	case inner.GetLiveLocationMessage() != nil:
		v := inner.GetLiveLocationMessage()
		shown.Type, shown.Caption = "location", v.GetCaption()
		latitude, longitude := v.GetDegreesLatitude(), v.GetDegreesLongitude()
		shown.Latitude, shown.Longitude = &latitude, &longitude
	default:
		describeCommerce(inner, shown)
		if shown.Type == "" {
			describeOther(inner, shown)
		}
	}
}

// setMedia fills in what the message says about its file. The phone finds out hash
// and size when it fetches the file.
func (m *Shown) setMedia(kind string, media MediaPart) {
	m.Type, m.MimeType = kind, media.GetMimetype()
}

// Quote is what a message says about the message that it answers.
type Quote struct {
	MessageID string
	Author    string // a JID, by number or by LID
	Shown     Shown  // its content; Type is "" if the message does not repeat it
}

// QuoteOf returns the quote of a message. ok is false if it answers none.
func QuoteOf(m *waE2E.Message) (quote Quote, ok bool) {
	info := contextOf(m)
	if info.GetStanzaID() == "" {
		return Quote{}, false
	}
	quote = Quote{MessageID: info.GetStanzaID(), Author: info.GetParticipant()}
	if repeated := info.GetQuotedMessage(); repeated != nil {
		Describe(Unwrap(repeated), &quote.Shown)
	}
	return quote, true
}

// contextOf returns what a message says about its place among others, or nil.
func contextOf(m *waE2E.Message) (about *waE2E.ContextInfo) {
	inner, _ := ViewOnce(Unwrap(m))
	inner.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil || field.IsList() {
			return true
		}
		part, ok := value.Message().Interface().(interface{ GetContextInfo() *waE2E.ContextInfo })
		if ok {
			about = part.GetContextInfo()
		}
		return about == nil
	})
	return about
}
