// How fast an instance sends and begins chats.

package queue

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// maxPerMinute is how many sends of the last minute are remembered: as many as a pace can
// permit.
const maxPerMinute = 600

// pacer knows when an instance sent and began chats, and says when it may do so next.
type pacer struct {
	sent     []time.Time // the newest, in order
	newChats []NewChat   // of the last day, in order
	chance   float64     // of the jitter after the last message: from 0 to 1
}

// NewChat is a chat that an instance has begun.
type NewChat struct {
	Chat gateway.JID // its LID, or the number's if that is not known
	At   time.Time
}

func newPacer() *pacer {
	return &pacer{chance: rand.Float64()} //nolint:gosec // how long to wait is no secret
}

// ahead returns the times of messages that are to be sent after a time.
func (p *pacer) ahead(now time.Time) []time.Time {
	place, _ := slices.BinarySearchFunc(p.sent, now, time.Time.Compare)
	return slices.Clone(p.sent[place:])
}

// next returns the first time, from a time on, at which a message may be sent.
func (p *pacer) next(pace gateway.Pace, from time.Time) time.Time {
	n := len(p.sent)
	if n == 0 {
		return from
	}
	gap := pace.Gap + time.Duration(p.chance*float64(pace.Jitter))
	at := latest(from, p.sent[n-1].Add(gap))
	if limit := pace.PerMinute; limit > 0 && n >= limit {
		at = latest(at, p.sent[n-limit].Add(time.Minute))
	}
	return at
}

// take notes that a message is sent at a time, which may lie ahead.
func (p *pacer) take(at time.Time) {
	place, _ := slices.BinarySearchFunc(p.sent, at, time.Time.Compare)
	p.sent = slices.Insert(p.sent, place, at)
	p.sent = p.sent[max(0, len(p.sent)-maxPerMinute):]
	p.chance = rand.Float64() //nolint:gosec // how long to wait is no secret
}

// late notes that a message that was to be sent at a time is only sent now, so that the next
// one keeps its distance from it.
func (p *pacer) late(at, now time.Time) {
	if place, found := slices.BinarySearchFunc(p.sent, at, time.Time.Compare); found && now.After(at) {
		p.sent = slices.Delete(p.sent, place, place+1)
		place, _ = slices.BinarySearchFunc(p.sent, now, time.Time.Compare)
		p.sent = slices.Insert(p.sent, place, now)
	}
}

// nextNewChat returns the first time, from a time on, at which a chat may be begun.
func (p *pacer) nextNewChat(budget gateway.Budget, from time.Time) time.Time {
	at := from
	for _, limit := range []struct {
		most   int
		within time.Duration
	}{{budget.PerHour, time.Hour}, {budget.PerDay, newChatsAge}} {
		if n := len(p.newChats); limit.most > 0 && n >= limit.most {
			at = latest(at, p.newChats[n-limit.most].At.Add(limit.within))
		}
	}
	return at
}

// takeNewChat notes that a chat is begun. A chat counts once.
func (p *pacer) takeNewChat(chat gateway.JID, at time.Time) {
	day := at.Add(-newChatsAge)
	p.newChats = slices.DeleteFunc(p.newChats, func(begun NewChat) bool { return begun.At.Before(day) })
	if !p.counted([]gateway.Party{{LID: chat}}) {
		p.newChats = append(p.newChats, NewChat{chat, at})
	}
}

// counted reports whether a chat that may have one of these addresses was begun of late.
func (p *pacer) counted(chats []gateway.Party) bool {
	return slices.ContainsFunc(p.newChats, func(begun NewChat) bool {
		return slices.ContainsFunc(chats, func(chat gateway.Party) bool { return chat.Is(begun.Chat) })
	})
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// How long typing is shown before a text.
const (
	typingLeast     = time.Second
	typingMost      = 12 * time.Second
	typingCharacter = 50 * time.Millisecond
)

// typingTime is how long typing is shown before a text of so many characters.
func typingTime(characters int) time.Duration {
	return min(typingLeast+time.Duration(characters)*typingCharacter, typingMost)
}
