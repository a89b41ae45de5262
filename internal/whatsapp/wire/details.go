package wire

import (
	"net/http"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/gateway"
)

// detailsOf describes content without its wrappings; once says that one of them allows a
// single look. alt finds the other address of somebody who is mentioned.
func detailsOf(content *waE2E.Message, once bool, alt func(types.JID) types.JID) gateway.Details {
	if content != nil && content.Conversation != nil && partOf(content) == nil {
		return gateway.Details{ViewOnce: once} // a bare text holds nothing else
	}
	about := contextOf(content)
	details := gateway.Details{
		ViewOnce:  once || onceOf(content),
		VideoNote: content.GetPtvMessage() != nil,
		Location:  locationOf(content),
		Contacts:  contactsOf(content),
		Poll:      votedOn(content),
		Event:     eventOf(content),
		Preview:   previewOf(content),
		Order:     orderOf(content),
		Product:   productOf(content),
		Buttons:   shownButtons(content),
		Invite:    inviteOf(content),
		Selection: selectionOf(content),
		Referral:  referralOf(about),
		Forwarded: about.GetIsForwarded(),
		Mentions:  mentionsOf(about, alt),
		Quoted:    quotedOf(about, alt),

		MentionsEveryone: about.GetNonJIDMentions() > 0,
	}
	details.Payment, _ = paymentOf(content)
	if pointer := FileOf(content); pointer != nil {
		details.Media = new(mediaOf(pointer))
	}
	if kind, _ := kindOf(content); kind == gateway.TypeUnsupported {
		details.Unsupported = nameOf(content)
	}
	return details
}

// onceOf reports whether a file itself says that it may be opened once only:
// some clients mark it there, and not by a wrapping.
func onceOf(content *waE2E.Message) bool {
	return content.GetImageMessage().GetViewOnce() || content.GetVideoMessage().GetViewOnce() ||
		content.GetAudioMessage().GetViewOnce()
}

// previewOf returns what a text shows of its link. A sender can write anything there.
func previewOf(content *waE2E.Message) *gateway.LinkPreview {
	text := content.GetExtendedTextMessage()
	if text.GetMatchedText() == "" {
		return nil
	}
	return &gateway.LinkPreview{
		URL:   gateway.CleanDescription(text.GetMatchedText()),
		Title: gateway.CleanName(text.GetTitle()), Description: gateway.CleanDescription(text.GetDescription()),
	}
}

func locationOf(content *waE2E.Message) *gateway.Location {
	if place := content.GetLiveLocationMessage(); place != nil {
		return &gateway.Location{Latitude: place.GetDegreesLatitude(), Longitude: place.GetDegreesLongitude(), Live: true}
	}
	place := content.GetLocationMessage()
	if shown := offerOf(content); shown != nil {
		place = shown.head.GetLocationMessage()
	}
	if place == nil {
		return nil
	}
	return &gateway.Location{
		Latitude: place.GetDegreesLatitude(), Longitude: place.GetDegreesLongitude(), Live: place.GetIsLive(),
		Name: gateway.CleanName(place.GetName()), Address: gateway.CleanText(place.GetAddress(), gateway.MaxText),
	}
}

// maxThumbnail bounds the picture of a quote in bytes; clients write some thousand.
const maxThumbnail = 32 << 10

// quotedOf reads the message that is answered, as the author's client has it; nil for none.
func quotedOf(about *waE2E.ContextInfo, alt func(types.JID) types.JID) *gateway.Quoted {
	content := Unwrap(about.GetQuotedMessage())
	if content == nil {
		return nil
	}
	quoted := &gateway.Quoted{PlatformID: gateway.CleanID(about.GetStanzaID()), Product: productOf(content)}
	quoted.Type, quoted.Text = kindOf(content)
	quoted.Text = gateway.CleanText(quoted.Text, gateway.MaxText)
	if author, err := types.ParseJID(about.GetParticipant()); err == nil && author.User != "" {
		quoted.Sender = PartyOf(author.ToNonAD(), alt(author.ToNonAD()), "")
	}
	if chat, err := types.ParseJID(about.GetRemoteJID()); err == nil && chat.User != "" {
		quoted.Chat = JIDOf(chat.ToNonAD())
	}
	if picture := thumbnailOf(content); len(picture) <= maxThumbnail && http.DetectContentType(picture) == "image/jpeg" {
		quoted.Thumbnail = picture
	}
	return quoted
}

// thumbnailOf is the small picture of content; nil for none.
func thumbnailOf(content *waE2E.Message) []byte {
	part := partOf(content)
	if shown := offerOf(content); shown != nil && shown.head != nil {
		part = partOf(shown.head)
	}
	if part == nil {
		return nil
	}
	if pictured, ok := part.Interface().(interface{ GetJPEGThumbnail() []byte }); ok {
		return pictured.GetJPEGThumbnail()
	}
	return nil
}

// maxContacts bounds the cards of one message.
const maxContacts = 300

func contactsOf(content *waE2E.Message) []gateway.ContactCard {
	cards := content.GetContactsArrayMessage().GetContacts()
	if card := content.GetContactMessage(); card != nil {
		cards = []*waE2E.ContactMessage{card}
	}
	if len(cards) == 0 {
		return nil
	}
	cards = cards[:min(len(cards), maxContacts)]
	contacts := make([]gateway.ContactCard, len(cards))
	for i, card := range cards {
		contacts[i] = parseVCard(card.GetVcard())
		if contacts[i].FullName == "" {
			contacts[i].FullName = card.GetDisplayName()
		}
		contacts[i] = cleanCard(contacts[i])
	}
	return contacts
}

func cleanCard(card gateway.ContactCard) gateway.ContactCard {
	card.FullName = gateway.CleanName(card.FullName)
	card.PhoneNumber = gateway.CleanName(card.PhoneNumber)
	card.Organization = gateway.CleanName(card.Organization)
	for n, number := range card.Numbers {
		card.Numbers[n].Number, card.Numbers[n].Label = gateway.CleanName(number.Number), gateway.CleanName(number.Label)
	}
	for n := range card.Emails {
		card.Emails[n] = gateway.CleanName(card.Emails[n])
	}
	for n := range card.Addresses {
		card.Addresses[n] = gateway.CleanDescription(card.Addresses[n])
	}
	return card
}

func mentionsOf(about *waE2E.ContextInfo, alt func(types.JID) types.JID) []gateway.Party {
	mentioned := about.GetMentionedJID()
	if len(mentioned) == 0 {
		return nil
	}
	parties := make([]gateway.Party, 0, len(mentioned))
	for _, text := range mentioned {
		jid, err := types.ParseJID(text)
		if err != nil || jid.User == "" {
			continue // a sender can write anything there
		}
		parties = append(parties, PartyOf(jid, alt(jid), ""))
	}
	return parties
}

// contextOf returns the context of a message, with its quote. It is nil if there is none,
// and its getters then return zero values.
func contextOf(message *waE2E.Message) *waE2E.ContextInfo {
	if message == nil {
		return nil
	}
	part := partOf(message)
	if part == nil {
		return nil
	}
	if asked, ok := part.Interface().(*waE2E.RequestPaymentMessage); ok { // it is with the note
		return contextOf(asked.GetNoteMessage())
	}
	if about, ok := part.Interface().(interface{ GetContextInfo() *waE2E.ContextInfo }); ok {
		return about.GetContextInfo()
	}
	return nil
}

// partOf returns the part of content that says what it is; nil for a bare text.
func partOf(content *waE2E.Message) (part protoreflect.Message) {
	all := content.ProtoReflect()
	for n := range all.Descriptor().Fields().Len() {
		if field := all.Descriptor().Fields().Get(n); field.Message() != nil && all.Has(field) && !silent[field.Name()] {
			return all.Get(field).Message()
		}
	}
	return nil
}

// albumOf is the album that a picture or a video belongs to. A sender can write anything there.
func albumOf(message *waE2E.Message) string {
	association := message.GetMessageContextInfo().GetMessageAssociation()
	if association.GetAssociationType() != waE2E.MessageAssociation_MEDIA_ALBUM {
		return ""
	}
	return gateway.CleanID(association.GetParentMessageKey().GetID())
}
