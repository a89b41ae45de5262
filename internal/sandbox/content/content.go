// Package content builds the content of messages and reads it: texts, media,
// places, contacts, polls, calendar events, and kinds that clients need not understand.
//
// It does not send or keep anything.
package content

import (
	"fmt"

	"go.mau.fi/whatsmeow/proto/waE2E"
)

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
	if text := TextOf(inner); text != "" || inner.GetExtendedTextMessage() != nil {
		shown.Type, shown.Text = "text", text
		if v := inner.GetExtendedTextMessage(); v.GetMatchedText() != "" {
			shown.Preview = &Preview{URL: v.GetMatchedText(), Title: v.GetTitle(), Description: v.GetDescription(), Picture: len(v.GetJPEGThumbnail()) > 0}
		}
		if v := inner.GetExtendedTextMessage(); v != nil && v.BackgroundArgb != nil {
			shown.Background, shown.Font = fmt.Sprintf("#%06X", v.GetBackgroundArgb()&0xFFFFFF), v.GetFont().String()
		}
		shown.setContext(inner.GetExtendedTextMessage().GetContextInfo())
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
		shown.setContext(v.GetContextInfo())
	case inner.GetContactMessage() != nil:
		v := inner.GetContactMessage()
		card := parseCard(v.GetVcard())
		if card.FullName == "" {
			card.FullName = v.GetDisplayName()
		}
		shown.Type, shown.Contact = "contact", &card
		shown.setContext(v.GetContextInfo())
	case len(inner.GetContactsArrayMessage().GetContacts()) > 0:
		v := inner.GetContactsArrayMessage()
		for _, card := range v.GetContacts() {
			shown.Contacts = append(shown.Contacts, parseCard(card.GetVcard()))
		}
		shown.Type, shown.Contact = "contact", &shown.Contacts[0]
		shown.setContext(v.GetContextInfo())
	case inner.GetAlbumMessage() != nil:
		v := inner.GetAlbumMessage()
		shown.Type, shown.Album = "album", &Album{Images: int(v.GetExpectedImageCount()), Videos: int(v.GetExpectedVideoCount())}
		shown.setContext(v.GetContextInfo())
	case pollOf(inner) != nil:
		shown.Type, shown.Text = "poll", pollOf(inner).GetName()
		shown.Poll, _ = PollOf(inner)
		shown.setContext(pollOf(inner).GetContextInfo())
	case inner.GetEventMessage() != nil:
		v := inner.GetEventMessage()
		shown.Type, shown.Text, shown.Event = "event", v.GetName(), eventOf(v)
		shown.setContext(v.GetContextInfo())
	case isUnsupported(inner):
		shown.Type = "unsupported"
	case inner.GetLiveLocationMessage() != nil:
		v := inner.GetLiveLocationMessage()
		shown.Type, shown.Caption = "location", v.GetCaption()
		latitude, longitude := v.GetDegreesLatitude(), v.GetDegreesLongitude()
		shown.Latitude, shown.Longitude = &latitude, &longitude
		shown.setContext(v.GetContextInfo())
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
	m.setContext(media.GetContextInfo())
}

func (m *Shown) setContext(info *waE2E.ContextInfo) {
	m.QuotedMessageID, m.Forwarded, m.DisappearsAfter = info.GetStanzaID(), info.GetIsForwarded(), info.GetExpiration()
	m.Mentions, m.Everyone = append([]string{}, info.GetMentionedJID()...), info.GetNonJIDMentions() > 0
}
