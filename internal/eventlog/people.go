package eventlog

import "github.com/recado-project/recado/internal/gateway"

// Presence tells what a contact shows.
type Presence struct {
	Chat
	From     *Person `json:"from" doc:"Who shows it."`
	Presence string  `json:"presence" doc:"composing, recording, paused, available or unavailable."`
	LastSeen *Time   `json:"lastSeen" doc:"With unavailable, where the contact shows it."`
}

// NewPresence makes the data of a contact's presence.
func NewPresence(presence gateway.ContactPresence) Presence {
	return Presence{
		Chat: NewChat(presence.Chat), From: NewPerson(presence.From),
		Presence: string(presence.Presence), LastSeen: TimeOrNull(presence.LastSeen),
	}
}

// Kind is presence.
func (Presence) Kind() Kind { return KindPresence }

// GroupUpdated tells that a group changed; what it is now, the group metadata
// say.
type GroupUpdated struct {
	GroupID      string    `json:"groupId" doc:"The group's chat ID."`
	Change       string    `json:"change" doc:"created, subject, description, picture, participants_added, participants_removed, admins_added, admins_removed, settings or deleted."`
	Actor        *Person   `json:"actor" doc:"Who changed it; null where unknown."`
	Participants []*Person `json:"participants" doc:"Whom the change is about; empty where it is about nobody."`
}

// NewGroupUpdated makes the data of a group's change.
func NewGroupUpdated(change gateway.GroupChange) GroupUpdated {
	return GroupUpdated{
		GroupID: string(change.Group), Change: string(change.Kind),
		Actor: NewPerson(change.Actor), Participants: newPersons(change.Participants),
	}
}

// Kind is group.updated.
func (GroupUpdated) Kind() Kind { return KindGroupUpdated }

// ContactUpdated tells news about a contact: a name, a picture, or that a number
// and a LID belong together.
type ContactUpdated struct {
	JID  *string `json:"jid" doc:"The chat ID by number; null where the number is not known."`
	LID  *string `json:"lid" doc:"The LID; null where it is not known."`
	Name *string `json:"name" doc:"The name that the person goes by; null where it is not known."`
}

// NewContactUpdated makes the data of news about a contact.
func NewContactUpdated(change gateway.ContactChange) ContactUpdated {
	person := NewPerson(change.Contact)
	if person == nil {
		return ContactUpdated{}
	}
	return ContactUpdated(*person)
}

// Kind is contact.updated.
func (ContactUpdated) Kind() Kind { return KindContactUpdated }

// CallReceived tells that a call rings. The gateway can't answer it.
type CallReceived struct {
	Chat
	From   *Person `json:"from" doc:"Who calls."`
	CallID string  `json:"callId" doc:"The platform's identifier of the call."`
	Video  bool    `json:"video" doc:"Whether it is a video call."`
}

// NewCallReceived makes the data of a call.
func NewCallReceived(call gateway.Call) CallReceived {
	return CallReceived{Chat: NewChat(call.Chat), From: NewPerson(call.From), CallID: call.ID, Video: call.Video}
}

// Kind is call.received.
func (CallReceived) Kind() Kind { return KindCallReceived }
