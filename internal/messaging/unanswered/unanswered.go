// Package unanswered counts the people who were written to and have not answered. Messaging
// asks it.
package unanswered

import "github.com/recado-project/recado/internal/gateway"

// Days is how many days back messages without an answer are counted.
const Days = 7

// Count counts the people in a correspondence of that many days. They may be there several
// times: by number, by LID, and by both.
func Count(correspondence []gateway.Correspondence) gateway.Unanswered {
	counted := gateway.Unanswered{Days: Days}
	for _, person := range merged(correspondence) {
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

// merged makes one entry of those that share an address.
func merged(correspondence []gateway.Correspondence) []*gateway.Correspondence {
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
