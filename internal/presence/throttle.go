// How often a presence is reported: a contact who toggles all the time fills no log.

package presence

import (
	"sync"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// A contact in a chat is reported contactBurst times at once, and then once in
	// contactPause.
	contactBurst = 20
	contactPause = 5 * time.Second
	// All contacts of an instance together: instanceBurst times, then once in instancePause.
	instanceBurst = 200
	instancePause = 200 * time.Millisecond
	// maxLines bounds the contacts and chats of an instance that are remembered. Of more at
	// the same time nothing is reported.
	maxLines = 2000
)

// allowance says how often something may happen: it is the time at which everything that has
// happened is paid for.
type allowance struct{ paid time.Time }

// allows reports whether it may happen once more.
func (a allowance) allows(now time.Time, burst int, pause time.Duration) bool {
	return a.paid.Sub(now) <= time.Duration(burst-1)*pause
}

func (a *allowance) spend(now time.Time, pause time.Duration) {
	if a.paid.Before(now) {
		a.paid = now
	}
	a.paid = a.paid.Add(pause)
}

// throttle decides what is reported at once, what later, and what never because something
// newer came. The zero value is ready. It is safe for concurrent use.
type throttle struct {
	mu        sync.Mutex
	instances map[string]*crowd
}

// crowd is what the contacts of an instance have shown lately.
type crowd struct {
	allowance
	lines map[line]*state
	late  int // lines with something that waits
}

// line is a contact in a chat.
type line struct{ chat, contact gateway.JID }

type state struct {
	allowance
	waits *late
}

// late is a presence that waits for room.
type late struct {
	tenure   gateway.Tenure
	presence gateway.ContactPresence
}

// take reports whether a presence is reported now. If not, it waits, in the place of an earlier
// one of the same contact.
func (t *throttle) take(tenure gateway.Tenure, instanceID string, presence gateway.ContactPresence, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	crowd := t.instance(instanceID)
	key := line{presence.Chat.Key(), presence.From.Key()}
	known := crowd.lines[key]
	if known == nil {
		if len(crowd.lines) >= maxLines {
			crowd.forget(now)
		}
		if len(crowd.lines) >= maxLines {
			return false
		}
		known = &state{}
		crowd.lines[key] = known
	}
	if crowd.allows(now, instanceBurst, instancePause) && known.allows(now, contactBurst, contactPause) {
		crowd.spend(now, instancePause)
		known.spend(now, contactPause)
		if known.waits != nil {
			known.waits = nil
			crowd.late--
		}
		return true
	}
	if known.waits == nil {
		crowd.late++
	}
	known.waits = &late{tenure, presence}
	return false
}

func (t *throttle) instance(id string) *crowd {
	found := t.instances[id]
	if found == nil {
		if t.instances == nil {
			t.instances = map[string]*crowd{}
		}
		found = &crowd{lines: map[line]*state{}}
		t.instances[id] = found
	}
	return found
}

// forget removes the lines that are as if nothing had happened.
func (c *crowd) forget(now time.Time) {
	for key, state := range c.lines {
		if state.waits == nil && !state.paid.After(now) {
			delete(c.lines, key)
		}
	}
}

// crowded returns the instances that have something to look at.
func (t *throttle) crowded() (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.instances {
		ids = append(ids, id)
	}
	return ids
}

// due takes what has waited and may be reported now.
func (t *throttle) due(instanceID string, now time.Time) (all []late) {
	t.mu.Lock()
	defer t.mu.Unlock()
	crowd := t.instances[instanceID]
	if crowd == nil {
		return nil
	}
	if crowd.late > 0 {
		for _, state := range crowd.lines {
			if state.waits == nil || !crowd.allows(now, instanceBurst, instancePause) || !state.allows(now, contactBurst, contactPause) {
				continue
			}
			all = append(all, *state.waits)
			state.waits = nil
			crowd.late--
			crowd.spend(now, instancePause)
			state.spend(now, contactPause)
		}
	}
	crowd.forget(now)
	if len(crowd.lines) == 0 && !crowd.paid.After(now) {
		delete(t.instances, instanceID)
	}
	return all
}
