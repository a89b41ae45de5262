// What each kind of event reports.

package sentence

import (
	"cmp"
	"strings"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/web"
)

// tellers are what makes the sentences, for each kind. One returns nothing for data it does not
// understand.
func tellers() map[eventlog.Kind]func(f facts) Sentence {
	return map[eventlog.Kind]func(f facts) Sentence{
		eventlog.KindInstanceStatus:       facts.instanceStatus,
		eventlog.KindInstanceQR:           func(f facts) Sentence { return say(web.Word("QR code %d is shown"), f.Attempt) },
		eventlog.KindInstancePasskey:      facts.passkey,
		eventlog.KindInstanceRestricted:   func(facts) Sentence { return say(web.Word("The messenger restricts messages to new contacts")) },
		eventlog.KindMessageReceived:      facts.received,
		eventlog.KindMessageSent:          facts.sent,
		eventlog.KindMessageStatus:        facts.messageStatus,
		eventlog.KindMessageEdited:        func(f facts) Sentence { return say(web.Word("%s edited a message: %s"), f.author(), quoted(f.Text)) },
		eventlog.KindMessageDeleted:       func(f facts) Sentence { return say(web.Word("%s deleted a message for everyone"), f.author()) },
		eventlog.KindMessageReaction:      facts.reaction,
		eventlog.KindMessagePollVote:      facts.vote,
		eventlog.KindMessageEventResponse: facts.response,
		eventlog.KindMessagePinned:        facts.pinned,
		eventlog.KindMessageStarred:       facts.starred,
		eventlog.KindMessageDeletedForMe: func(f facts) Sentence {
			return say(web.Word("A message in the chat with %s was deleted for this account only"), f.with())
		},
		eventlog.KindPresence:         facts.presence,
		eventlog.KindChatUpdated:      facts.chatUpdated,
		eventlog.KindChatHistory:      facts.history,
		eventlog.KindLabelUpdated:     facts.labelUpdated,
		eventlog.KindLabelAssigned:    facts.labelAssigned,
		eventlog.KindGroupUpdated:     facts.groupUpdated,
		eventlog.KindChannelUpdated:   facts.channelUpdated,
		eventlog.KindContactUpdated:   facts.contactUpdated,
		eventlog.KindCallReceived:     facts.call,
		eventlog.KindCallEnded:        facts.callEnded,
		eventlog.KindAccountUpdated:   facts.accountUpdated,
		eventlog.KindWebhookSuspended: facts.suspended,
		eventlog.KindEventsExpired: func(f facts) Sentence {
			return say(web.Word("Events %d to %d were removed before they were delivered"), f.FromSequence, f.ToSequence)
		},
		eventlog.KindWebhookTest: func(facts) Sentence { return say(web.Word("A test of the webhook")) },
	}
}

func (f facts) instanceStatus() Sentence {
	names := map[gateway.Status]web.Word{
		gateway.StatusCreated: web.Word("new"), gateway.StatusConnecting: web.Word("connecting"), gateway.StatusPendingQR: web.Word("waiting for a scan"),
		gateway.StatusConnected: web.Word("connected"), gateway.StatusManuallyStopped: web.Word("stopped by somebody"),
		gateway.StatusQRTimeout: web.Word("code expired"), gateway.StatusPaymentPending: web.Word("payment pending"),
		gateway.StatusStopped: web.Word("not linked"), gateway.StatusError: web.Word("error"),
	}
	reasons := map[string]web.Word{
		"logged_out": web.Word("logged out here"), "unlinked_on_phone": web.Word("the device was removed on the phone"),
		"banned": web.Word("the account is banned"), "replaced": web.Word("another program connected with the same link"),
		"client_outdated": web.Word("this version of the client is refused"), "connection_lost": web.Word("the connection was lost"),
		"proxy_unreachable": web.Word("the proxy can't be reached"), "proxy_auth_failed": web.Word("the proxy refuses its password"),
		"proxy_platform_unreachable": web.Word("the proxy does not reach the platform"), "qr_expired": web.Word("nobody scanned a code in time"),
		"payment": web.Word("a payment is pending"), "stopped": web.Word("somebody stopped it"),
	}
	named := func(status string) any {
		if name, ok := names[gateway.Status(status)]; ok {
			return say(name)
		}
		return quoted(status)
	}
	if f.Status == "" {
		return Sentence{}
	}
	reason, why := reasons[f.Reason]
	switch {
	case f.PreviousStatus == f.Status && why:
		return say(web.Word("Still %s: %s"), named(f.Status), say(reason))
	case why:
		return say(web.Word("%s → %s: %s"), named(f.PreviousStatus), named(f.Status), say(reason))
	default:
		return say(web.Word("%s → %s"), named(f.PreviousStatus), named(f.Status))
	}
}

func (f facts) passkey() Sentence {
	switch f.State {
	case "requested":
		return say(web.Word("The messenger asks for a passkey"))
	case "confirm":
		return say(web.Word("Compare the code with the one on the phone"))
	case "done":
		return say(web.Word("The passkey was accepted"))
	case "failed":
		return say(web.Word("The passkey was not accepted"))
	default:
		return Sentence{}
	}
}

// kinds are the kinds of messages, as people call them.
func kinds() map[gateway.MessageType]web.Word {
	return map[gateway.MessageType]web.Word{
		gateway.TypeText: web.Word("Text"), gateway.TypeImage: web.Word("Picture"), gateway.TypeVideo: web.Word("Video"),
		gateway.TypeVoice: web.Word("Voice note"), gateway.TypeAudio: web.Word("Audio"), gateway.TypeDocument: web.Word("File"),
		gateway.TypeSticker: web.Word("Sticker"), gateway.TypeLocation: web.Word("Location"), gateway.TypeContact: web.Word("Contact card"),
		gateway.TypePoll: web.Word("Poll"), gateway.TypeEvent: web.Word("Calendar event"), gateway.TypeAlbum: web.Word("Album"),
		gateway.TypeGroupInvite: web.Word("Invitation to a group"), gateway.TypeOrder: web.Word("Order"),
		gateway.TypeProduct: web.Word("Product"), gateway.TypePayment: web.Word("Payment"),
	}
}

// Kind is what people call a kind of message. One that has no name is a message all the same.
func Kind(of gateway.MessageType) web.Word { return cmp.Or(kinds()[of], web.Word("Message")) }

// content is what a message says, or what it is.
func (f facts) content() any {
	written := f.Text
	if written == "" {
		written = f.Caption
	}
	_, known := kinds()[gateway.MessageType(f.Type)]
	switch {
	case f.Type == string(gateway.TypeText), !known && written != "":
		return quoted(written)
	case written == "" && f.Media.FileName != "":
		written = f.Media.FileName
	}
	kind := say(Kind(gateway.MessageType(f.Type)))
	if written == "" {
		return kind
	}
	return say(web.Word("%s, “%s”"), kind, quoted(written))
}

func (f facts) received() Sentence {
	if isGroup(f.Chat) {
		return say(web.Word("%s in %s: %s"), f.author(), f.address(f.Chat), f.content())
	}
	return say(web.Word("%s: %s"), f.author(), f.content())
}

func (f facts) sent() Sentence {
	if f.Source == "device" {
		return say(web.Word("To %s, written on the phone: %s"), f.address(f.Chat), f.content())
	}
	return say(web.Word("To %s: %s"), f.address(f.Chat), f.content())
}

func (f facts) messageStatus() Sentence {
	who := f.address(f.Chat)
	if f.Participant != nil {
		who = f.who(f.Participant)
	}
	switch f.Status {
	case "sent":
		return say(web.Word("Sent to %s"), who)
	case "delivered":
		return say(web.Word("Delivered to %s"), who)
	case "read":
		return say(web.Word("Read by %s"), who)
	case "played":
		return say(web.Word("Played by %s"), who)
	case "failed":
		if f.Failure.Message != "" {
			return say(web.Word("Not sent to %s: %s"), who, Refusal(quoted(f.Failure.Message)))
		}
		return say(web.Word("Not sent to %s"), who)
	default:
		return Sentence{}
	}
}

func (f facts) reaction() Sentence {
	if f.Reaction == "" {
		return say(web.Word("%s removed a reaction"), f.author())
	}
	return say(web.Word("%s reacted with %s"), f.author(), quoted(f.Reaction))
}

func (f facts) vote() Sentence {
	if len(f.Options) == 0 {
		return say(web.Word("%s withdrew the vote: %s"), f.author(), quoted(f.Question))
	}
	return say(web.Word("%s voted for %s: %s"), f.author(), quoted(strings.Join(f.Options, ", ")), quoted(f.Question))
}

func (f facts) response() Sentence {
	switch f.Response {
	case "going":
		return say(web.Word("%s is going to %s"), f.author(), quoted(f.Name))
	case "not_going":
		return say(web.Word("%s is not going to %s"), f.author(), quoted(f.Name))
	case "maybe":
		return say(web.Word("%s might go to %s"), f.author(), quoted(f.Name))
	default:
		return Sentence{}
	}
}

func (f facts) pinned() Sentence {
	if f.PinnedUntil == "" {
		return say(web.Word("%s unpinned a message"), f.author())
	}
	return say(web.Word("%s pinned a message"), f.author())
}

func (f facts) starred() Sentence {
	if f.Starred {
		return say(web.Word("A message in the chat with %s was starred"), f.with())
	}
	return say(web.Word("A message in the chat with %s was unstarred"), f.with())
}

func (f facts) presence() Sentence {
	text := map[string]web.Word{
		"composing": web.Word("%s is typing"), "recording": web.Word("%s is recording"), "paused": web.Word("%s stopped typing"),
		"available": web.Word("%s is online"), "unavailable": web.Word("%s is offline"),
	}[f.Presence]
	return say(text, f.author())
}

func (f facts) chatUpdated() Sentence {
	either := func(yes bool, text, otherwise web.Word) Sentence {
		if !yes {
			text = otherwise
		}
		return say(text, f.with())
	}
	for _, what := range f.Changed { // the first says enough
		switch what {
		case "archived":
			return either(f.Archived, web.Word("The chat with %s was archived"), web.Word("The chat with %s was unarchived"))
		case "pinned":
			return either(f.Pinned, web.Word("The chat with %s was pinned"), web.Word("The chat with %s was unpinned"))
		case "muted":
			return either(f.MutedUntil != "", web.Word("The chat with %s was muted"), web.Word("The chat with %s was unmuted"))
		case "read":
			return either(f.Unread == 0 && !f.MarkedUnread, web.Word("The chat with %s was read"), web.Word("The chat with %s is unread"))
		case "disappearing":
			return say(web.Word("The timer for disappearing messages in the chat with %s changed"), f.with())
		case "cleared":
			return say(web.Word("The chat with %s was cleared"), f.with())
		case "deleted":
			return say(web.Word("The chat with %s was deleted"), f.with())
		}
	}
	return say(web.Word("The chat with %s was changed"), f.with())
}

func (f facts) history() Sentence {
	if f.Answered {
		return say(web.Word("The phone sent %d older messages of the chat with %s"), f.Messages, f.with())
	}
	return say(web.Word("The phone did not send older messages of the chat with %s"), f.with())
}

// label is its name, or its number.
func (f facts) label() Name {
	if f.Name != "" {
		return quoted(f.Name)
	}
	return quoted(f.LabelID)
}

func (f facts) labelUpdated() Sentence {
	if f.Deleted {
		return say(web.Word("The label %s was deleted"), f.label())
	}
	return say(web.Word("The label %s was created or changed"), f.label())
}

func (f facts) labelAssigned() Sentence {
	switch {
	case f.Assigned && f.MessageID != "":
		return say(web.Word("The label %s was put on a message in the chat with %s"), f.label(), f.with())
	case f.Assigned:
		return say(web.Word("The label %s was put on the chat with %s"), f.label(), f.with())
	case f.MessageID != "":
		return say(web.Word("The label %s was removed from a message in the chat with %s"), f.label(), f.with())
	default:
		return say(web.Word("The label %s was removed from the chat with %s"), f.label(), f.with())
	}
}

func (f facts) groupUpdated() Sentence {
	people := map[string]web.Word{
		"participants_added": web.Word("%s joined the group %s"), "participants_removed": web.Word("%s is no longer in the group %s"),
		"admins_added": web.Word("%s is now an administrator of the group %s"), "admins_removed": web.Word("%s is no longer an administrator of the group %s"),
		"join_requested": web.Word("%s asks to join the group %s"), "join_request_ended": web.Word("%s no longer asks to join the group %s"),
	}
	alone := map[string]web.Word{
		"created": web.Word("The group %s was created"), "subject": web.Word("The group %s was renamed"),
		"description": web.Word("The description of the group %s changed"), "picture": web.Word("The picture of the group %s changed"),
		"settings": web.Word("The settings of the group %s were changed"), "invite": web.Word("The invite link of the group %s was reset"),
		"linked": web.Word("The group %s was linked to a community"), "unlinked": web.Word("The group %s was unlinked from a community"),
		"deleted": web.Word("The group %s was deleted"),
	}
	if text, ok := people[f.Change]; ok {
		return say(text, f.all(f.Participants), f.group())
	}
	if text, ok := alone[f.Change]; ok {
		return say(text, f.group())
	}
	return say(web.Word("The group %s was changed"), f.group())
}

func (f facts) channelUpdated() Sentence {
	channel := f.address(f.ChannelID)
	if f.Name != "" {
		channel = quoted(f.Name)
	}
	text := map[string]web.Word{
		"followed": web.Word("The channel %s was followed"), "unfollowed": web.Word("The channel %s was unfollowed"),
		"muted": web.Word("The channel %s was muted"), "unmuted": web.Word("The channel %s was unmuted"),
	}[f.Change]
	return say(text, channel)
}

func (f facts) contactUpdated() Sentence {
	return say(web.Word("The contact %s was updated"), f.who(&person{JID: f.JID, LID: f.LID, Name: f.Name}))
}

func (f facts) call() Sentence {
	if f.Video {
		return say(web.Word("%s is making a video call"), f.author())
	}
	return say(web.Word("%s is calling"), f.author())
}

func (f facts) callEnded() Sentence {
	text := map[string]web.Word{
		"rejected": web.Word("The call of %s was rejected"), "missed": web.Word("The call of %s was missed"),
		"accepted_elsewhere": web.Word("The call of %s was answered on the phone"), "ended": web.Word("The call of %s has ended"),
	}[f.Reason]
	return say(text, f.author())
}

func (f facts) accountUpdated() Sentence {
	switch f.Change {
	case "name":
		return say(web.Word("The account is now called %s"), quoted(f.Name))
	case "about":
		return say(web.Word("The account's About text changed"))
	case "picture":
		return say(web.Word("The account's picture changed"))
	case "privacy":
		return say(web.Word("Privacy settings were changed"))
	case "blocked":
		return say(web.Word("%s was blocked"), f.all(f.People))
	case "unblocked":
		return say(web.Word("%s was unblocked"), f.all(f.People))
	case "block_list":
		return say(web.Word("The list of blocked people was changed"))
	default:
		return Sentence{}
	}
}

func (f facts) suspended() Sentence {
	if f.Reason == "gone" {
		return say(web.Word("A webhook was suspended: its endpoint answered 410 Gone"))
	}
	return say(web.Word("A webhook was suspended: its endpoint failed for days"))
}
