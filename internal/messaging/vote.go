// Polls and calendar events: the votes and responses that a session receives, and how a poll stands.

package messaging

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Votes returns how a poll stands. Its error is NotFound, also for a message that was
// deleted, or Invalid for a message that is no poll.
func (s *Service) Votes(ctx context.Context, instanceID string, ref gateway.MessageRef) (Poll, error) {
	message, err := s.Find(ctx, instanceID, ref)
	if err != nil {
		return Poll{}, err
	}
	if !message.DeletedAt.IsZero() {
		return Poll{}, gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound, "the poll was deleted")
	}
	if message.Type != gateway.TypePoll {
		return Poll{}, gateway.Errorf(gateway.Invalid, gateway.CodeMessageIsNoPoll, "the message is no poll; its type is %s", message.Type)
	}
	details, err := s.describe(ctx, message)
	if err != nil {
		return Poll{}, err
	}
	votes, err := s.config.Store.ListVotes(ctx, message.ID)
	if err != nil {
		return Poll{}, fmt.Errorf("messaging: list votes: %w", err)
	}
	return countVotes(message, details.Poll, votes), nil
}

func voteOrigin(vote gateway.PollVote) origin {
	return origin{what: "vote", chat: vote.Chat, by: vote.By, fromMe: vote.FromMe, key: vote.SourceKey, at: vote.At}
}

// keepVote keeps a vote, in the place of an earlier one of the same person, and appends its
// event. A vote is ignored if its poll is not known here, or is in another chat, or if it has
// more choices than the poll allows.
func (r receiver) keepVote(ctx context.Context, vote gateway.PollVote) error {
	message, details, ok, err := r.asked(ctx, vote.Chat, vote.PollID, gateway.TypePoll)
	if err != nil {
		return err
	}
	if !ok || details.Poll == nil { // its author may have edited it to something else
		r.ignore(ctx, vote.PollID, "the poll of the vote is not known here")
		return nil
	}
	choices := chosen(details.Poll, vote.Choices)
	if most := details.Poll.MaxAnswers; most > 0 && len(choices) > most {
		r.ignore(ctx, vote.PollID, "the vote has more choices than the poll allows")
		return nil
	}
	if vote.FromMe {
		message.Menu = gateway.Menu{} // it was not put to the account itself
	}
	err = r.config.Store.KeepVote(ctx, message, gateway.StoredVote{By: vote.By, Choices: choices, At: vote.At},
		func(votes []gateway.StoredVote, answers bool) (eventlog.Event, error) {
			return voteEvent(vote, countVotes(message, details.Poll, votes), choices, details.Poll, answers)
		})
	if err != nil {
		return fmt.Errorf("messaging: keep a vote: %w", err)
	}
	return nil
}

// asked finds the poll or the calendar event that a vote or a response in a chat is for, and what
// it says. ok is false if it is not known here.
func (r receiver) asked(
	ctx context.Context, chat gateway.Party, id string, kind gateway.MessageType,
) (message gateway.Message, details gateway.Details, ok bool, err error) {
	found, err := r.config.Store.FindMessages(ctx, r.instanceID, id)
	if err != nil {
		return message, details, false, fmt.Errorf("messaging: find the %s that somebody answers: %w", kind, err)
	}
	n := slices.IndexFunc(found, func(m gateway.Message) bool {
		return m.Type == kind && m.PlatformID == id && m.DeletedAt.IsZero() && sameChat(m.Chat, chat)
	})
	if n < 0 {
		return message, details, false, nil
	}
	if details, err = r.config.Encoder.Describe(ctx, found[n].Payload); err != nil {
		return message, details, false, fmt.Errorf("messaging: describe the %s that somebody answers: %w", kind, err)
	}
	return found[n], details, details.Unsupported == "", nil
}

func responseOrigin(response gateway.EventResponse) origin {
	return origin{what: "response", chat: response.Chat, by: response.By, fromMe: response.FromMe, key: response.SourceKey, at: response.At}
}

// keepResponse appends the event of a response to a calendar event. It is ignored if that is not
// known here, or is in another chat; guests are not counted where nobody may bring any.
func (r receiver) keepResponse(ctx context.Context, response gateway.EventResponse) error {
	message, details, ok, err := r.asked(ctx, response.Chat, response.EventID, gateway.TypeEvent)
	if err != nil {
		return err
	}
	if !ok {
		r.ignore(ctx, response.EventID, "the calendar event of the response is not known here")
		return nil
	}
	if details.Event == nil || !details.Event.ExtraGuestsAllowed || response.Response == gateway.ResponseNotGoing {
		response.ExtraGuests = 0
	}
	event, err := eventlog.NewEvent(r.instanceID, response.Chat.Key(), response.SourceKey, response.At, eventlog.NewMessageEventResponse(message, response))
	if err != nil {
		return fmt.Errorf("messaging: make the event of a response: %w", err)
	}
	return r.append(ctx, event)
}

func (r receiver) ignore(ctx context.Context, id, why string) {
	r.logger.InfoContext(ctx, "an answer is ignored", slog.String("platform_id", id), slog.String("why", why))
}

// Poll is how a poll stands.
type Poll struct {
	Message gateway.Message // Text is the question
	// MaxAnswers is how many options somebody may choose; 0: any number.
	MaxAnswers int
	Options    []PollOption // in the poll's order
	Voters     int          // who have a vote in it
}

// PollOption is an option of a poll with those who chose it.
type PollOption struct {
	Name   string
	Voters []gateway.Party // the one who voted first is first
}

// countVotes makes the standing of a poll from its votes.
func countVotes(message gateway.Message, poll *gateway.Poll, votes []gateway.StoredVote) Poll {
	counted := Poll{Message: message}
	if poll == nil {
		return counted
	}
	counted.MaxAnswers, counted.Options = poll.MaxAnswers, make([]PollOption, len(poll.Options))
	for n, option := range poll.Options {
		counted.Options[n].Name = option.Name
	}
	places := placesIn(poll)
	for _, vote := range votes {
		for _, choice := range vote.Choices {
			if n, ok := places[choice]; ok {
				counted.Options[n].Voters = append(counted.Options[n].Voters, vote.By)
			}
		}
		if len(vote.Choices) > 0 {
			counted.Voters++
		}
	}
	return counted
}

// placesIn returns where the options of a poll stand, by their hashes. Of options with one name
// the first gets all votes. A poll of somebody else may have a thousand options, and each member
// of a large group may choose them all, so no option is searched for.
func placesIn(poll *gateway.Poll) map[[sha256.Size]byte]int {
	places := make(map[[sha256.Size]byte]int, len(poll.Options))
	for n, option := range poll.Options {
		if _, known := places[option.Hash]; !known {
			places[option.Hash] = n
		}
	}
	return places
}

// chosen returns those choices that are options of the poll, each once.
func chosen(poll *gateway.Poll, choices [][sha256.Size]byte) [][sha256.Size]byte {
	places, taken := placesIn(poll), map[[sha256.Size]byte]bool{}
	var known [][sha256.Size]byte
	for _, choice := range choices {
		if _, ok := places[choice]; ok && !taken[choice] {
			taken[choice] = true
			known = append(known, choice)
		}
	}
	return known
}

// voteEvent is the event of a vote, with how the poll stands after it, and with what it selects of the poll's menu if it
// answers that.
func voteEvent(vote gateway.PollVote, stands Poll, choices [][sha256.Size]byte, poll *gateway.Poll, answers bool) (eventlog.Event, error) {
	data := eventlog.MessagePollVote{
		MessageID: vote.PollID, ID: stands.Message.ID, Chat: eventlog.NewChat(vote.Chat), From: eventlog.NewPerson(vote.By),
		Question: stands.Message.Text, Options: make([]string, 0, len(choices)),
		Tallies: make([]eventlog.PollTally, 0, len(stands.Options)), Voters: stands.Voters,
	}
	places := placesIn(poll)
	for _, choice := range choices {
		data.Options = append(data.Options, poll.Options[places[choice]].Name)
	}
	if answers {
		data.Selection = votedOn(stands.Message.Menu, choices)
	}
	for _, option := range stands.Options {
		data.Tallies = append(data.Tallies, eventlog.PollTally{Option: option.Name, Votes: len(option.Voters)})
	}
	return eventlog.NewEvent(stands.Message.InstanceID, vote.Chat.Key(), vote.SourceKey, vote.At, data)
}
