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
	newChats []time.Time // of the last day, in order
	chance   float64     // of the jitter after the last message: from 0 to 1
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
	}{{budget.PerHour, time.Hour}, {budget.PerDay, newChatsKept}} {
		if n := len(p.newChats); limit.most > 0 && n >= limit.most {
			at = latest(at, p.newChats[n-limit.most].Add(limit.within))
		}
	}
	return at
}

// takeNewChat notes that a chat is begun.
func (p *pacer) takeNewChat(at time.Time) {
	p.newChats = append(p.newChats, at)
	day := at.Add(-newChatsKept)
	p.newChats = slices.DeleteFunc(p.newChats, func(begun time.Time) bool { return begun.Before(day) })
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
