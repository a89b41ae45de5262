// Content of ours, as the platform's clients write it.

package wire

import (
	"fmt"
	"time"

	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/gateway"
)

func newMessage(content gateway.Content) (*waE2E.Message, error) {
	about, err := newContext(content)
	if err != nil {
		return nil, err
	}
	switch content.Type {
	case gateway.TypeText:
		if content.Look != nil {
			return newStatusText(content), nil
		}
		if about == nil && content.Preview == nil {
			return &waE2E.Message{Conversation: new(content.Text)}, nil
		}
		text := &waE2E.ExtendedTextMessage{Text: new(content.Text), ContextInfo: about}
		if shown := content.Preview; shown != nil {
			text.MatchedText, text.Title, text.Description = &shown.URL, &shown.Title, optional(shown.Description)
			text.JPEGThumbnail, text.PreviewType = shown.Thumbnail, waE2E.ExtendedTextMessage_NONE.Enum()
		}
		return &waE2E.Message{ExtendedTextMessage: text}, nil
	case gateway.TypeLocation:
		return &waE2E.Message{LocationMessage: newLocation(*content.Location, about)}, nil
	case gateway.TypeContact:
		cards := make([]*waE2E.ContactMessage, len(content.Contacts))
		for n, card := range content.Contacts {
			cards[n] = &waE2E.ContactMessage{DisplayName: &card.FullName, Vcard: new(vcard(card))}
		}
		if len(cards) > 1 {
			return &waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{
				DisplayName: new(cards[0].GetDisplayName()), Contacts: cards, ContextInfo: about,
			}}, nil
		}
		return &waE2E.Message{ContactMessage: &waE2E.ContactMessage{
			DisplayName: cards[0].DisplayName,
			Vcard:       cards[0].Vcard,
			ContextInfo: about,
		}}, nil
	case gateway.TypePoll:
		return newPoll(content, about), nil
	case gateway.TypeEvent:
		return newEvent(content, about), nil
	case gateway.TypeGroupInvite:
		return &waE2E.Message{GroupInviteMessage: newInvite(content, about)}, nil
	case gateway.TypeImage, gateway.TypeVideo, gateway.TypeVoice, gateway.TypeAudio, gateway.TypeDocument, gateway.TypeSticker:
		return intoAlbum(newMediaMessage(content, about), content.AlbumOf), nil
	case gateway.TypeAlbum:
		return newAlbum(*content.Album, about), nil
	default:
		return nil, fmt.Errorf("wire: no way to send a message of type %q", content.Type)
	}
}

// white is the colour of the text of a status post, with its opacity.
const white, opaque = 0xFFFFFFFF, 0xFF000000

// newStatusText is a text as phones show it on the whole screen.
func newStatusText(content gateway.Content) *waE2E.Message {
	fonts := map[gateway.StatusFont]waE2E.ExtendedTextMessage_FontType{
		gateway.FontScript: waE2E.ExtendedTextMessage_FB_SCRIPT, gateway.FontBold: waE2E.ExtendedTextMessage_SYSTEM_BOLD,
		gateway.FontBreeze: waE2E.ExtendedTextMessage_MORNINGBREEZE_REGULAR, gateway.FontCalistoga: waE2E.ExtendedTextMessage_CALISTOGA_REGULAR,
		gateway.FontExo: waE2E.ExtendedTextMessage_EXO2_EXTRABOLD, gateway.FontTypewriter: waE2E.ExtendedTextMessage_COURIERPRIME_BOLD,
	}
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{
		Text: &content.Text, TextArgb: new(uint32(white)), BackgroundArgb: new(content.Look.Background | opaque),
		Font: fonts[content.Look.Font].Enum(), // the zero value is the system's
	}}
}

func newInvite(content gateway.Content, about *waE2E.ContextInfo) *waE2E.GroupInviteMessage {
	invite := &waE2E.GroupInviteMessage{
		GroupJID: new(string(content.Invite.Group)), InviteCode: &content.Invite.Code, GroupName: &content.Invite.Name,
		GroupType: waE2E.GroupInviteMessage_DEFAULT.Enum(), Caption: optional(content.Text), ContextInfo: about,
	}
	if at := content.Invite.ExpiresAt; !at.IsZero() {
		invite.InviteExpiration = new(at.Unix())
	}
	return invite
}

func newLocation(place gateway.Location, about *waE2E.ContextInfo) *waE2E.LocationMessage {
	location := &waE2E.LocationMessage{
		DegreesLatitude:  new(place.Latitude),
		DegreesLongitude: new(place.Longitude),
		ContextInfo:      about,
	}
	if place.Name != "" {
		location.Name = new(place.Name)
	}
	if place.Address != "" {
		location.Address = new(place.Address)
	}
	return location
}

// newContext says which message is answered, and who is mentioned; nil for neither.
func newContext(content gateway.Content) (*waE2E.ContextInfo, error) {
	about, err := newQuote(content.Quote)
	if err != nil || len(content.Mentions) == 0 && !content.MentionsEveryone {
		return about, err
	}
	if about == nil {
		about = &waE2E.ContextInfo{}
	}
	for _, who := range content.Mentions {
		about.MentionedJID = append(about.MentionedJID, string(who))
	}
	if content.MentionsEveryone {
		about.NonJIDMentions = new(uint32(1))
	}
	return about, nil
}

// newQuote points to the message that is answered and carries its content, which
// the recipient's phone shows above the answer.
func newQuote(quote *gateway.Quote) (*waE2E.ContextInfo, error) {
	if quote == nil {
		return nil, nil //nolint:nilnil // no quote is an ordinary case
	}
	quoted, err := Decode(quote.Payload)
	if err != nil {
		return nil, err
	}
	// A quote has no quote of its own, and no wrapping for a single look.
	quoted = Unwrap(quoted)
	quoted.MessageContextInfo = nil
	dropLocalFields(quoted)
	setContext(quoted, nil)
	about := &waE2E.ContextInfo{
		StanzaID:      new(quote.PlatformID),
		Participant:   new(string(quote.Sender)),
		QuotedMessage: quoted,
	}
	if quote.Chat.IsStatus() { // it is answered in the chat with its author
		about.RemoteJID = new(string(quote.Chat))
	}
	return about, nil
}

// NewPin pins a message for a time, or unpins it (zero).
func NewPin(key *waCommon.MessageKey, lasts time.Duration, now time.Time) *waE2E.Message {
	kind := waE2E.PinInChatMessage_PIN_FOR_ALL
	if lasts == 0 {
		kind = waE2E.PinInChatMessage_UNPIN_FOR_ALL
	}
	return &waE2E.Message{
		PinInChatMessage:   &waE2E.PinInChatMessage{Key: key, Type: kind.Enum(), SenderTimestampMS: new(now.UnixMilli())},
		MessageContextInfo: &waE2E.MessageContextInfo{MessageAddOnDurationInSecs: new(uint32(lasts / time.Second))}, //nolint:gosec // at most MaxPin
	}
}

// setContext replaces the context of a message, and reports whether it has a place for
// one.
func setContext(message *waE2E.Message, about *waE2E.ContextInfo) bool {
	switch {
	case message.ExtendedTextMessage != nil:
		message.ExtendedTextMessage.ContextInfo = about
	case message.ImageMessage != nil:
		message.ImageMessage.ContextInfo = about
	case message.VideoMessage != nil:
		message.VideoMessage.ContextInfo = about
	case message.PtvMessage != nil:
		message.PtvMessage.ContextInfo = about
	case message.AudioMessage != nil:
		message.AudioMessage.ContextInfo = about
	case message.DocumentMessage != nil:
		message.DocumentMessage.ContextInfo = about
	case message.StickerMessage != nil:
		message.StickerMessage.ContextInfo = about
	case message.LocationMessage != nil:
		message.LocationMessage.ContextInfo = about
	case message.LiveLocationMessage != nil:
		message.LiveLocationMessage.ContextInfo = about
	case message.ContactMessage != nil:
		message.ContactMessage.ContextInfo = about
	case message.ContactsArrayMessage != nil:
		message.ContactsArrayMessage.ContextInfo = about
	case message.PollCreationMessage != nil:
		message.PollCreationMessage.ContextInfo = about
	case message.PollCreationMessageV2 != nil:
		message.PollCreationMessageV2.ContextInfo = about
	case message.PollCreationMessageV3 != nil:
		message.PollCreationMessageV3.ContextInfo = about
	case message.EventMessage != nil:
		message.EventMessage.ContextInfo = about
	default:
		return false
	}
	return true
}

// EncodeDisappearing writes the payload of a message that disappears after that time
// (gateway.Encoder).
func (Encoder) EncodeDisappearing(payload []byte, after time.Duration) ([]byte, error) {
	message, err := Decode(payload)
	if err != nil {
		return nil, err
	}
	content := Unwrap(message)
	if content.Conversation != nil { // which has no place for it
		content.ExtendedTextMessage, content.Conversation = &waE2E.ExtendedTextMessage{Text: content.Conversation}, nil
	}
	about := contextOf(content)
	if album := content.GetAlbumMessage(); album != nil {
		about = album.ContextInfo
	}
	if about == nil {
		about = &waE2E.ContextInfo{}
	}
	about.Expiration = new(uint32(after / time.Second)) //nolint:gosec // ten years at most
	switch {
	case content.AlbumMessage != nil:
		content.AlbumMessage.ContextInfo = about
	case content.GroupInviteMessage != nil:
		content.GroupInviteMessage.ContextInfo = about
	case !setContext(content, about):
		return payload, nil
	}
	return encode(message)
}
