// What people ask of the messages as a whole.

package messaging

import (
	"context"
	"fmt"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// describe reads what a message holds besides its text. One that was deleted holds nothing.
func (s *Service) describe(ctx context.Context, message gateway.Message) (gateway.Details, error) {
	if !message.DeletedAt.IsZero() {
		return gateway.Details{}, nil
	}
	details, err := s.config.Encoder.Describe(ctx, message.Payload)
	if err != nil {
		return gateway.Details{}, fmt.Errorf("messaging: describe message: %w", err)
	}
	return details, nil
}

// Unanswered counts the people to whom the instance has written in the last days, and those
// who have not written since the first of these messages. It reads every message of these
// days; nothing is counted as messages flow.
func (s *Service) Unanswered(ctx context.Context, instanceID string) (gateway.Unanswered, error) {
	since := s.config.Now().Add(-unansweredDays * 24 * time.Hour)
	correspondence, err := s.config.Store.ListCorrespondence(ctx, instanceID, since)
	if err != nil {
		return gateway.Unanswered{}, fmt.Errorf("messaging: count messages without an answer: %w", err)
	}
	return countUnanswered(correspondence), nil
}

// unansweredDays is how many days back messages without an answer are counted.
const unansweredDays = 7

// countUnanswered counts the people in a correspondence of that many days. They may be there several
// times: by number, by LID, and by both.
func countUnanswered(correspondence []gateway.Correspondence) gateway.Unanswered {
	counted := gateway.Unanswered{Days: unansweredDays}
	for _, person := range mergedByAddress(correspondence) {
		if person.Written == 0 {
			continue
		}
		counted.OfChats++
		if person.LastReceived.Before(person.FirstWritten) {
			counted.Chats++
			counted.Messages += person.Written
		}
	}
	return counted
}

// mergedByAddress makes one entry of those that share an address.
func mergedByAddress(correspondence []gateway.Correspondence) []*gateway.Correspondence {
	var people []*gateway.Correspondence
	byAddress := map[gateway.JID]*gateway.Correspondence{}
	add := func(entry gateway.Correspondence) {
		person := byAddress[entry.Chat.Key()]
		if person == nil {
			person = byAddress[entry.Chat.Address()]
		}
		if person == nil {
			person = new(gateway.Correspondence)
			people = append(people, person)
		}
		for _, address := range []gateway.JID{entry.Chat.JID, entry.Chat.LID} {
			if address != "" {
				byAddress[address] = person
			}
		}
		if person.FirstWritten.IsZero() || !entry.FirstWritten.IsZero() && entry.FirstWritten.Before(person.FirstWritten) {
			person.FirstWritten = entry.FirstWritten
		}
		if entry.LastReceived.After(person.LastReceived) {
			person.LastReceived = entry.LastReceived
		}
		person.Written += entry.Written
	}
	// Those with both addresses say which of the others are the same person.
	for _, both := range []bool{true, false} {
		for _, entry := range correspondence {
			if both == (entry.Chat.JID != "" && entry.Chat.LID != "") {
				add(entry)
			}
		}
	}
	return people
}
