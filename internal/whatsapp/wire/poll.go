// Polls, and the votes in them.

package wire

import (
	"crypto/sha256"

	"go.mau.fi/util/random"
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
