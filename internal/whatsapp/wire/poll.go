// Polls and calendar events, and the votes in them and the responses to them.

package wire

import (
	"crypto/sha256"
	"time"

	"go.mau.fi/util/random"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
)

// secretBytes is how long the secret of a message is, with which votes are encrypted.
const secretBytes = 32

// newPoll makes a poll. There are newer kinds of polls too, but this one is what whatsmeow marks
// as a poll outside of the encryption, as the platform wants it.
func newPoll(content gateway.Content, about *waE2E.ContextInfo) *waE2E.Message {
	poll := &waE2E.PollCreationMessage{
		Name:                   new(content.Text),
		SelectableOptionsCount: new(uint32(content.Poll.MaxAnswers)), //nolint:gosec // no more than there are options
		ContextInfo:            about,
	}
	for _, option := range content.Poll.Options {
		poll.Options = append(poll.Options, &waE2E.PollCreationMessage_Option{OptionName: new(option.Name)})
	}
	return &waE2E.Message{PollCreationMessage: poll, MessageContextInfo: newSecret()}
}

// newSecret makes the secret of a message that others may answer with something encrypted.
func newSecret() *waE2E.MessageContextInfo {
	return &waE2E.MessageContextInfo{MessageSecret: random.Bytes(secretBytes)}
}

// pollOf returns the poll that content puts to the vote, nil for none.
func pollOf(content *waE2E.Message) *waE2E.PollCreationMessage {
	for _, poll := range []*waE2E.PollCreationMessage{
		content.GetPollCreationMessage(), content.GetPollCreationMessageV2(), content.GetPollCreationMessageV3(),
		content.GetPollCreationMessageV5(), content.GetPollCreationMessageV6(),
	} {
		if poll != nil {
			return poll
		}
	}
	return nil
}

// votedOn describes a poll for people, and with what votes name its options by; nil for
// content that is none.
func votedOn(content *waE2E.Message) *gateway.Poll {
	poll := pollOf(content)
	if poll == nil {
		return nil
	}
	found := &gateway.Poll{Options: make([]gateway.PollOption, 0, len(poll.GetOptions()))}
	for _, option := range poll.GetOptions() {
		found.Options = append(found.Options, gateway.PollOption{
			Name: gateway.CleanName(option.GetOptionName()), Hash: sha256.Sum256([]byte(option.GetOptionName())),
		})
	}
	if most := poll.GetSelectableOptionsCount(); most < uint32(len(found.Options)) { //nolint:gosec // a list in memory
		found.MaxAnswers = int(most)
	}
	return found
}

// VoteOf translates a vote that was decrypted, and reports whether it names a poll.
func VoteOf(event *events.Message, vote *waE2E.PollVoteMessage, self gateway.Party) (gateway.PollVote, bool) {
	envelope := EnvelopeOf(&event.Info, self)
	translated := gateway.PollVote{
		PollID: event.Message.GetPollUpdateMessage().GetPollCreationMessageKey().GetID(),
		Chat:   envelope.Chat, By: envelope.Sender, FromMe: envelope.FromMe, At: envelope.SentAt,
		SourceKey: "vote/" + envelope.key,
	}
	for _, hash := range vote.GetSelectedOptions() {
		if len(hash) == sha256.Size && len(translated.Choices) < gateway.MaxListed {
			translated.Choices = append(translated.Choices, [sha256.Size]byte(hash))
		}
	}
	return translated, translated.PollID != ""
}

// newEvent makes a calendar event.
func newEvent(content gateway.Content, about *waE2E.ContextInfo) *waE2E.Message {
	given := content.Event
	event := &waE2E.EventMessage{
		ContextInfo: about, Name: new(content.Text), Description: optional(given.Description), JoinLink: optional(given.JoinLink),
		StartTime: new(given.Start.Unix()), IsCanceled: new(given.Cancelled), ExtraGuestsAllowed: new(given.ExtraGuestsAllowed),
	}
	if !given.End.IsZero() {
		event.EndTime = new(given.End.Unix())
	}
	if place := given.Place; place != nil {
		event.Location = &waE2E.LocationMessage{
			Name: optional(place.Name), Address: optional(place.Address), DegreesLatitude: place.Latitude, DegreesLongitude: place.Longitude,
		}
	}
	return &waE2E.Message{EventMessage: event, MessageContextInfo: newSecret()}
}

// MarksOf returns what the stanza of a message says outside of the encryption, besides what
// whatsmeow writes there: the platform's own clients mark calendar events. nil for nothing.
func MarksOf(message *waE2E.Message) *[]waBinary.Node {
	if message.GetEventMessage() == nil {
		return nil
	}
	return &[]waBinary.Node{{Tag: "meta", Attrs: waBinary.Attrs{"event_type": "creation"}}}
}

// millis are the milliseconds of a second.
const millis = 1000

// maxLink bounds the link to a meeting, in characters.
const maxLink = 2048

// eventOf describes a calendar event; nil for content that is none.
func eventOf(content *waE2E.Message) *gateway.CalendarEvent {
	switch {
	case content.GetScheduledCallCreationMessage() != nil:
		return &gateway.CalendarEvent{Start: unixTime(content.GetScheduledCallCreationMessage().GetScheduledTimestampMS() / millis)}
	case content.GetEventInviteMessage() != nil:
		invite := content.GetEventInviteMessage()
		return &gateway.CalendarEvent{
			Description: gateway.CleanText(invite.GetCaption(), gateway.MaxText), JoinLink: gateway.CleanText(invite.GetCallLink(), maxLink),
			Start: unixTime(invite.GetStartTime()), End: unixTime(invite.GetEndTime()), Cancelled: invite.GetIsCanceled(),
		}
	}
	event := content.GetEventMessage()
	if event == nil {
		return nil
	}
	found := &gateway.CalendarEvent{
		Description: gateway.CleanText(event.GetDescription(), gateway.MaxText), JoinLink: gateway.CleanText(event.GetJoinLink(), maxLink),
		Start: unixTime(event.GetStartTime()), End: unixTime(event.GetEndTime()),
		Cancelled: event.GetIsCanceled(), ExtraGuestsAllowed: event.GetExtraGuestsAllowed(),
	}
	if place := event.GetLocation(); place != nil {
		found.Place = &gateway.EventPlace{
			Name: gateway.CleanName(place.GetName()), Address: gateway.CleanText(place.GetAddress(), gateway.MaxText),
		}
		if place.DegreesLatitude != nil && place.DegreesLongitude != nil {
			found.Place.Latitude, found.Place.Longitude = place.DegreesLatitude, place.DegreesLongitude
		}
	}
	return found
}

// ResponseOf translates a response to a calendar event that was decrypted, and reports whether
// it names an event and says something.
func ResponseOf(event *events.Message, opened *waE2E.EventResponseMessage, self gateway.Party) (gateway.EventResponse, bool) {
	envelope := EnvelopeOf(&event.Info, self)
	translated := gateway.EventResponse{
		EventID: event.Message.GetEncEventResponseMessage().GetEventCreationMessageKey().GetID(),
		Chat:    envelope.Chat, By: envelope.Sender, FromMe: envelope.FromMe, At: envelope.SentAt,
		ExtraGuests: int(opened.GetExtraGuestCount()), SourceKey: "response/" + envelope.key,
	}
	switch opened.GetResponse() {
	case waE2E.EventResponseMessage_GOING:
		translated.Response = gateway.ResponseGoing
	case waE2E.EventResponseMessage_NOT_GOING:
		translated.Response = gateway.ResponseNotGoing
	case waE2E.EventResponseMessage_MAYBE:
		translated.Response = gateway.ResponseMaybe
	default:
		return gateway.EventResponse{}, false
	}
	return translated, translated.EventID != ""
}

// NewEventEdit is what an edit of a calendar event holds when it is decrypted.
func NewEventEdit(key *waCommon.MessageKey, content *waE2E.Message, now time.Time) *waE2E.Message {
	return &waE2E.Message{ProtocolMessage: &waE2E.ProtocolMessage{
		Key: key, Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), TimestampMS: new(now.UnixMilli()),
		EditedMessage: &waE2E.Message{EventMessage: Unwrap(content).GetEventMessage()},
	}}
}
