package whatsapp

import (
	"context"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// cleanHandler stands between a session and what hears it. Whatever the platform
// or a contact has written passes through here, on every path, and is cleaned and
// bounded: names, identifiers, times. The content of messages was cleaned before it
// was read, by cleanContent; chat IDs are by jidOf.
type cleanHandler struct {
	gateway.SessionHandler

	now func() time.Time
}

// Connected cleans the account's name.
func (h cleanHandler) Connected(ctx context.Context, profile gateway.Profile) error {
	return h.SessionHandler.Connected(ctx, h.profile(profile))
}

// ProfileChanged cleans the account's name.
func (h cleanHandler) ProfileChanged(ctx context.Context, profile gateway.Profile) {
	h.SessionHandler.ProfileChanged(ctx, h.profile(profile))
}

// PictureChanged cleans the picture's URL.
func (h cleanHandler) PictureChanged(ctx context.Context, url string) {
	h.SessionHandler.PictureChanged(ctx, cleanURL(url))
}

// MessageArrived cleans a message.
func (h cleanHandler) MessageArrived(ctx context.Context, message gateway.Message) error {
	return h.SessionHandler.MessageArrived(ctx, h.message(message))
}

// HistoryArrived cleans messages from before the link.
func (h cleanHandler) HistoryArrived(ctx context.Context, messages []gateway.Message) error {
	cleaned := make([]gateway.Message, len(messages))
	for i, message := range messages {
		cleaned[i] = h.message(message)
	}
	return h.SessionHandler.HistoryArrived(ctx, cleaned)
}

// ChangeArrived cleans a change.
func (h cleanHandler) ChangeArrived(ctx context.Context, change gateway.Change) error {
	change.ID, change.PlatformID = gateway.CleanID(change.ID), gateway.CleanID(change.PlatformID)
	change.SourceKey = gateway.CleanID(change.SourceKey)
	change.Chat, change.By = h.party(change.Chat), h.party(change.By)
	change.Text = gateway.CleanText(change.Text, gateway.MaxText)
	change.Reaction = gateway.CleanName(change.Reaction)
	change.At = h.time(change.At)
	return h.SessionHandler.ChangeArrived(ctx, change)
}

// ReceiptArrived cleans a receipt.
func (h cleanHandler) ReceiptArrived(ctx context.Context, receipt gateway.Receipt) error {
	ids := make([]string, len(receipt.MessageIDs))
	for i, id := range receipt.MessageIDs {
		ids[i] = gateway.CleanID(id)
	}
	receipt.MessageIDs = ids
	receipt.Chat, receipt.By = h.party(receipt.Chat), h.party(receipt.By)
	receipt.At = h.time(receipt.At)
	return h.SessionHandler.ReceiptArrived(ctx, receipt)
}

// PresenceArrived cleans a presence.
func (h cleanHandler) PresenceArrived(ctx context.Context, presence gateway.ContactPresence) error {
	presence.From, presence.Chat = h.party(presence.From), h.party(presence.Chat)
	if !presence.LastSeen.IsZero() {
		presence.LastSeen = h.time(presence.LastSeen)
	}
	return h.SessionHandler.PresenceArrived(ctx, presence)
}

// GroupChangeArrived cleans a change of a group.
func (h cleanHandler) GroupChangeArrived(ctx context.Context, change gateway.GroupChange) error {
	change.SourceKey = gateway.CleanID(change.SourceKey)
	change.Actor, change.Participants = h.party(change.Actor), h.parties(change.Participants)
	change.At = h.time(change.At)
	return h.SessionHandler.GroupChangeArrived(ctx, change)
}

// ContactChangeArrived cleans news about a contact. News about nobody is none.
func (h cleanHandler) ContactChangeArrived(ctx context.Context, change gateway.ContactChange) error {
	if change.Contact.Address() == "" {
		return nil
	}
	change.SourceKey = gateway.CleanID(change.SourceKey)
	change.Contact = h.party(change.Contact)
	change.At = h.time(change.At)
	return h.SessionHandler.ContactChangeArrived(ctx, change)
}

// CallArrived cleans a call.
func (h cleanHandler) CallArrived(ctx context.Context, call gateway.Call) error {
	call.ID = gateway.CleanID(call.ID)
	call.From, call.Chat = h.party(call.From), h.party(call.Chat)
	call.At = h.time(call.At)
	return h.SessionHandler.CallArrived(ctx, call)
}

// Restricted cleans a restriction. Its end lies ahead, so only one beyond a year is
// not believed.
func (h cleanHandler) Restricted(ctx context.Context, restriction gateway.Restriction) error {
	if restriction.Until.After(h.now().AddDate(1, 0, 0)) {
		restriction.Until = time.Time{}
	}
	restriction.Recipient = h.party(restriction.Recipient)
	restriction.At = h.time(restriction.At)
	return h.SessionHandler.Restricted(ctx, restriction)
}

func (h cleanHandler) profile(profile gateway.Profile) gateway.Profile {
	profile.Name, profile.PictureURL = gateway.CleanName(profile.Name), cleanURL(profile.PictureURL)
	return profile
}

func (h cleanHandler) message(message gateway.Message) gateway.Message {
	message.PlatformID, message.QuotedID = gateway.CleanID(message.PlatformID), gateway.CleanID(message.QuotedID)
	message.WireKey = gateway.CleanID(message.WireKey)
	message.Chat, message.Sender = h.party(message.Chat), h.party(message.Sender)
	message.Text = gateway.CleanText(message.Text, gateway.MaxText)
	message.SentAt = h.time(message.SentAt)
	return message
}

func (h cleanHandler) party(party gateway.Party) gateway.Party {
	party.Name = gateway.CleanName(party.Name)
	return party
}

func (h cleanHandler) parties(parties []gateway.Party) []gateway.Party {
	cleaned := make([]gateway.Party, min(len(parties), maxListed))
	for i := range cleaned {
		cleaned[i] = h.party(parties[i])
	}
	return cleaned
}

func (h cleanHandler) time(at time.Time) time.Time { return gateway.CleanTime(at, h.now().UTC()) }

// maxURL bounds the URL of a picture in characters.
const maxURL = 2048

// cleanURL returns no URL in the place of one that is too long to be one: a part of
// it would lead nowhere.
func cleanURL(url string) string {
	if cleaned := gateway.CleanText(url, maxURL); cleaned == url {
		return url
	}
	return ""
}
