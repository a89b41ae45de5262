// Events about people and groups.

package eventlog

import "github.com/recado-project/recado/internal/gateway"

// The kinds of events about people and groups.
const (
	KindPresence       Kind = "presence"
	KindGroupUpdated   Kind = "group.updated"
	KindContactUpdated Kind = "contact.updated"
	KindCallReceived   Kind = "call.received"
	KindCallEnded      Kind = "call.ended"
	KindAccountUpdated Kind = "account.updated"
	KindChannelUpdated Kind = "channel.updated"
)

func peopleKinds() []Description {
	return []Description{
		{Presence{}, "a contact types, records, comes online or goes offline"},
		{ChatUpdated{}, "a chat was archived, pinned, muted, read, marked as unread or deleted, on the phone or through the API"},
		{ChatHistory{}, "the phone has answered a request for older messages of a chat, or not in time"},
		{LabelUpdated{}, "a label was made, changed or deleted, on the phone or through the API"},
		{LabelAssigned{}, "a label was put on a chat or a message, or taken from it"},
		{GroupUpdated{}, "a group was changed"},
		{ChannelUpdated{}, "a channel was followed, unfollowed, muted or unmuted, on the phone or another device"},
		{ContactUpdated{}, "a contact changed, or the gateway learned more about one"},
		{CallReceived{}, "somebody calls"},
		{CallEnded{}, "a call that rang has ended"},
		{AccountUpdated{}, "the messenger account of the instance changed, here or on the phone"},
	}
}

// Presence reports that a contact types, records, is online or offline.
type Presence struct {
	Chat
	From     *Person `json:"from" doc:"The contact."`
	Presence string  `json:"presence" words:"composing,recording,paused,available,unavailable" doc:"composing, recording, paused, available or unavailable."`
	LastSeen *Time   `json:"lastSeen" doc:"When the contact was last online; only with unavailable, and if the contact shares it."`
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

// GroupUpdated reports that a group changed. The group's metadata say what it is
// now.
type GroupUpdated struct {
	GroupID      string    `json:"groupId" doc:"The group's chat ID."`
	Change       string    `json:"change" words:"created,subject,description,picture,participants_added,participants_removed,admins_added,admins_removed,settings,invite,join_requested,join_request_ended,linked,unlinked,deleted" doc:"created, subject, description, picture, participants_added, participants_removed, admins_added, admins_removed, settings, invite (the link was reset), join_requested, join_request_ended, linked, unlinked or deleted."`
	Actor        *Person   `json:"actor" doc:"Who changed it; null where unknown."`
	Participants []*Person `json:"participants" doc:"The people who were added, removed, or became or stopped being administrators, or who asked to join or ask no more; empty for other changes."`
	Settings     []string  `json:"settings" doc:"Which settings changed: messages, info, adding, approval, disappearing or other; empty for other changes."`
	LinkedGroup  *string   `json:"linkedGroup" doc:"The community that the group was linked to or unlinked from; of a community, the group. Null for other changes."`
}

// NewGroupUpdated makes the data of a group's change.
func NewGroupUpdated(change gateway.GroupChange) GroupUpdated {
	return GroupUpdated{
		Settings: texts(change.Settings), LinkedGroup: orNull(change.Other),
		GroupID: string(change.Group), Change: string(change.Kind),
		Actor: NewPerson(change.Actor), Participants: newPersons(change.Participants),
	}
}

// Kind is group.updated.
func (GroupUpdated) Kind() Kind { return KindGroupUpdated }

// ChannelUpdated reports what the owner of the account has done with a channel on the phone or
// another device.
type ChannelUpdated struct {
	ChannelID string  `json:"channelId" doc:"The channel's ID."`
	Name      *string `json:"name" doc:"The channel's name; null where it is not known."`
	Change    string  `json:"change" words:"followed,unfollowed,muted,unmuted" doc:"followed (or made), unfollowed, muted or unmuted."`
}

// NewChannelUpdated makes the data of what was done with a channel.
func NewChannelUpdated(change gateway.ChannelChange) ChannelUpdated {
	return ChannelUpdated{ChannelID: string(change.ID), Name: orNull(change.Name), Change: string(change.Kind)}
}

// Kind is channel.updated.
func (ChannelUpdated) Kind() Kind { return KindChannelUpdated }

// ContactUpdated reports that a contact changed: a name, a picture, or that a number
// and a LID turned out to belong together.
type ContactUpdated struct{ Person }

// NewContactUpdated makes the data of a change of a contact.
func NewContactUpdated(change gateway.ContactChange) ContactUpdated {
	person := NewPerson(change.Contact)
	if person == nil {
		return ContactUpdated{}
	}
	return ContactUpdated{*person}
}

// Kind is contact.updated.
func (ContactUpdated) Kind() Kind { return KindContactUpdated }

// CallEnded reports how a call has ended that rang.
type CallEnded struct {
	Chat
	From   *Person `json:"from" doc:"Who called."`
	CallID string  `json:"callId" doc:"The platform's identifier of the call."`
	Reason string  `json:"reason" words:"rejected,missed,accepted_elsewhere,ended" doc:"rejected (here, or on the phone), missed (nobody answered, or the caller gave up), accepted_elsewhere (on the phone) or ended (the platform says no more)."`
}

// NewCallEnded makes the data of the end of a call.
func NewCallEnded(end gateway.CallEnd) CallEnded {
	return CallEnded{Chat: NewChat(end.Chat), From: NewPerson(end.From), CallID: end.ID, Reason: string(end.Reason)}
}

// Kind is call.ended.
func (CallEnded) Kind() Kind { return KindCallEnded }

// CallReceived reports that a call rings. The gateway can't answer it, but reject it.
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

// AccountUpdated reports that the messenger account of the instance changed: what others see
// of it, what it lets them do, or whom it has blocked.
type AccountUpdated struct {
	Change   string    `json:"change" words:"name,about,picture,privacy,blocked,unblocked,block_list" doc:"name, about, picture, privacy, blocked, unblocked, or block_list (it changed in a way that the platform does not name: read it again)."`
	Name     *string   `json:"name" doc:"The new name; null for other changes."`
	About    *string   `json:"about" doc:"What the account says about itself now; null for other changes."`
	Settings []string  `json:"settings" doc:"Which privacy settings changed: lastSeen, online, profilePicture, about, readReceipts, groups, calls, messages, disappearing or other; empty for other changes."`
	People   []*Person `json:"people" doc:"Who was blocked or unblocked; empty for other changes."`
}

// NewAccountUpdated makes the data of a change of the account.
func NewAccountUpdated(change gateway.AccountChange) AccountUpdated {
	data := AccountUpdated{Change: string(change.Kind), Settings: texts(change.Settings), People: newPersons(change.People)}
	switch change.Kind {
	case gateway.AccountNameChanged:
		data.Name = &change.Text
	case gateway.AccountAboutChanged:
		data.About = &change.Text
	default: // the others have no text
	}
	return data
}

// Kind is account.updated.
func (AccountUpdated) Kind() Kind { return KindAccountUpdated }
