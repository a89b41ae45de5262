// Package poll counts the votes in a poll. Messaging asks it.
package poll

import (
	"crypto/sha256"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
)

// Poll is how a poll stands.
type Poll struct {
	Message gateway.Message // Text is the question
	// MaxAnswers is how many options somebody may choose; 0: any number.
	MaxAnswers int
	Options    []Option // in the poll's order
	Voters     int      // who have a vote in it
}

// Option is an option of a poll with those who chose it.
type Option struct {
	Name   string
	Voters []gateway.Party // the one who voted first is first
}

// Count makes the standing of a poll from its votes.
func Count(message gateway.Message, poll *gateway.Poll, votes []gateway.KeptVote) Poll {
	counted := Poll{Message: message}
	if poll == nil {
		return counted
	}
	counted.MaxAnswers, counted.Options = poll.MaxAnswers, make([]Option, len(poll.Options))
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

// Chosen returns those choices that are options of the poll, each once.
func Chosen(poll *gateway.Poll, choices [][sha256.Size]byte) [][sha256.Size]byte {
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

// Event is the event of a vote, with how the poll stands after it.
func Event(vote gateway.PollVote, stands Poll, choices [][sha256.Size]byte, poll *gateway.Poll) (eventlog.Event, error) {
	data := eventlog.MessagePollVote{
		MessageID: vote.PollID, ID: stands.Message.ID, Chat: eventlog.NewChat(vote.Chat), From: eventlog.NewPerson(vote.By),
		Question: stands.Message.Text, Options: make([]string, 0, len(choices)),
		Tallies: make([]eventlog.Tally, 0, len(stands.Options)), Voters: stands.Voters,
	}
	places := placesIn(poll)
	for _, choice := range choices {
		data.Options = append(data.Options, poll.Options[places[choice]].Name)
	}
	for _, option := range stands.Options {
		data.Tallies = append(data.Tallies, eventlog.Tally{Option: option.Name, Votes: len(option.Voters)})
	}
	return eventlog.NewEvent(stands.Message.InstanceID, vote.Chat.Key(), vote.SourceKey, vote.At, data)
}
