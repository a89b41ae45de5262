package wire

import (
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/gateway"
)

// detailsOf describes content without its wrappings; once says that one of them allows a
// single look. alt finds the other address of somebody who is mentioned.
func detailsOf(content *waE2E.Message, once bool, alt func(types.JID) types.JID) gateway.Details {
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
		Invite:    inviteOf(content),
		Selection: selectionOf(content),
		Referral:  referralOf(about),
		Forwarded: about.GetIsForwarded(),
		Mentions:  mentionsOf(about, alt),

		MentionsEveryone: about.GetNonJIDMentions() > 0,
	}
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
	if place := content.GetLocationMessage(); place != nil {
		return &gateway.Location{
			Latitude: place.GetDegreesLatitude(), Longitude: place.GetDegreesLongitude(),
			Name: gateway.CleanName(place.GetName()), Address: gateway.CleanText(place.GetAddress(), gateway.MaxText),
		}
	}
	if place := content.GetLiveLocationMessage(); place != nil {
		// It moves later; the event shows where it began.
		return &gateway.Location{Latitude: place.GetDegreesLatitude(), Longitude: place.GetDegreesLongitude()}
	}
	return nil
}

func contactsOf(content *waE2E.Message) []gateway.ContactCard {
	cards := content.GetContactsArrayMessage().GetContacts()
	if card := content.GetContactMessage(); card != nil {
		cards = []*waE2E.ContactMessage{card}
	}
	if len(cards) == 0 {
		return nil
	}
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
