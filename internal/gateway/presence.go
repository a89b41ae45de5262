package gateway

import "time"

// Presence is what an account shows of itself (contract, "presence allowed values").
type Presence string

// The presences. The first three belong to one chat, the last two to the
// account.
const (
	PresenceComposing   Presence = "composing"
	PresenceRecording   Presence = "recording"
	PresencePaused      Presence = "paused"
	PresenceAvailable   Presence = "available"
	PresenceUnavailable Presence = "unavailable"
)

// ContactPresence is the presence of a contact: typing in a chat, or being online.
type ContactPresence struct {
	From     Party
	Chat     Party // where it types; From itself in a direct chat, or for available and unavailable
	Presence Presence
	LastSeen time.Time // with unavailable, where the contact shows it; else zero
	At       time.Time
}

func (ContactPresence) incoming() {}

// Cleaned cleans the names and bounds the times.
func (p ContactPresence) Cleaned(now time.Time) Incoming {
	p.From, p.Chat = p.From.cleaned(), p.Chat.cleaned()
	if !p.LastSeen.IsZero() {
		p.LastSeen = CleanTime(p.LastSeen, now)
	}
	return p
}

// PresenceSubscription says that an instance wants to know when a contact comes and goes, and
// what the contact has shown last.
type PresenceSubscription struct {
	InstanceID string
	Contact    Party
	CreatedAt  time.Time
	EndsAt     time.Time
	Presence   Presence  // that the contact has shown last; empty: none yet
	ShownAt    time.Time // zero: never
	LastSeen   time.Time // when the contact was last online, where it shows that; else zero
}

// MaxPresenceSubscriptions is how many contacts an instance may subscribe to.
const MaxPresenceSubscriptions = 100
