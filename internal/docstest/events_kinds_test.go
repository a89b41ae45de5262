package docstest_test

import "github.com/recado-project/recado/internal/eventlog"

// eventDescription is what docs/events.md says about a kind besides its fields.
type eventDescription struct {
	data  eventlog.Data
	like  eventlog.Data // another kind whose fields are not listed again
	when  string
	order string
	text  string
}

func eventDescriptions() map[eventlog.Kind]eventDescription {
	all := map[eventlog.Kind]eventDescription{}
	whens := map[eventlog.Kind]string{}
	for _, description := range eventlog.Descriptions() {
		whens[description.Data.Kind()] = description.When
	}
	for _, d := range append(append(instanceDescriptions(), messageDescriptions()...), append(peopleDescriptions(), webhookDescriptions()...)...) {
		d.when = whens[d.data.Kind()]
		all[d.data.Kind()] = d
	}
	return all
}

func instanceDescriptions() []eventDescription {
	return []eventDescription{
		{
			data: eventlog.InstanceStatus{}, order: "the instance",
			text: "The status changed; [the guide](guide.md#see-your-instances) says what each status means and what to do. The event is\n" +
				"appended only when the status changes, never as a sign of life. `reason` gives the cause, if it is known.",
		},
		{
			data: eventlog.InstanceQR{}, order: "the instance",
			text: "The instance has a new code to scan: show it in place of the previous one. The data are the answer of\n" +
				"[the request for a QR code](guide.md#by-qr-code).",
		},
		{
			data: eventlog.InstancePasskey{}, order: "the instance",
			text: "The account links a device only after a passkey has signed a request of the platform. The event comes when a phone has scanned\n" +
				"or typed the code, and at each change after it. [Linking](linking.md) says how the request is signed.",
		},
		{
			data: eventlog.InstanceRestricted{}, order: "the instance",
			text: "For a while, the platform lets the account write only to people with whom it already has a chat. Sends to others are\n" +
				"refused with `RECIPIENT_RESTRICTED` until the restriction ends: [care.md](care.md#a-restriction).",
		},
	}
}

func messageDescriptions() []eventDescription {
	return []eventDescription{
		{
			data: eventlog.MessageReceived{}, order: "the chat",
			text: "Somebody else sent a message, in a direct chat or in a group. `text` is set for a text, `caption` and `media` for a file,\n" +
				"`location` for a location and `contacts` for a contact message; the `caption` of a poll is its question, that of a calendar `event` its name. `referral` says\n" +
				"from which advertisement somebody came, with the click id that the advertiser's platform knows. The event does\n" +
				"not contain the file: ask for its [download link](guide.md#download-a-file) with `messageId`.\n" +
				"\n" +
				"A kind of message that the gateway does not know is reported too, as `unsupported`, so that you can see that there is one.\n" +
				"Messages from before the instance was linked are kept, but cause no events.",
		},
		{
			data: eventlog.MessageSent{}, like: eventlog.MessageReceived{}, order: "the chat",
			text: "The platform has accepted a message of this account. `source` says where it was sent: through the API, or on the phone or\n" +
				"another device. The fields are those of [`message.received`](#messagereceived), and:",
		},
		{
			data: eventlog.MessageStatus{}, order: "the chat",
			text: "`sent`: the platform has the message. `delivered`: it is on the recipient's phone. `read`, and `played` for a voice note:\n" +
				"the recipient has opened it, and shares that. `failed`: it was not sent. A status never goes back, but one may be skipped:\n" +
				"a message can be read without a `delivered` before. In a group, each member's receipt is an event of its own, with\n" +
				"`participant`.",
		},
		{
			data: eventlog.MessageEdited{}, order: "the chat",
			text: "Somebody edited a text, a caption or a calendar event, or cancelled that: a contact, or this account. `messageId` names the message. An earlier event reported\n" +
				"it, unless it was sent before the instance was linked.",
		},
		{
			data: eventlog.MessageDeleted{}, order: "the chat",
			text: "Somebody deleted a message for everyone. In a group, that may be an administrator.",
		},
		{
			data: eventlog.MessageReaction{}, order: "the chat",
			text: "Each person has at most one reaction to a message: a new one replaces the previous one, an empty one removes it.",
		},
		{
			data: eventlog.MessagePollVote{}, order: "the chat",
			text: "Somebody voted in a poll: in one of this account, or in one that came to it. The platform sends votes encrypted for those\n" +
				"who have the poll; one that can't be opened, or that the poll does not allow, has no event. `tallies` say how the poll\n" +
				"stands; [who voted for what](guide.md#polls) can be asked for. Votes in polls from before the instance was linked are\n" +
				"not known.",
		},
		{
			data: eventlog.MessageEventResponse{}, order: "the chat",
			text: "Somebody responded to a calendar event: to one of this account, or to one that came to it. The platform sends responses\n" +
				"encrypted for those who have the event; one that can't be opened has no event here. A person's last response counts.\n" +
				"Responses to calendar events from before the instance was linked are not known.",
		},
		{
			data: eventlog.MessagePinned{}, order: "the chat",
			text: "Somebody pinned a message for everybody in the chat, or unpinned it: a contact, a member of the group, or this account. A\n" +
				"pin in a group in which the person may not pin has no event.",
		},
		{
			data: eventlog.MessageStarred{}, order: "the chat",
			text: "The owner of the account starred a message, or took the star away. Nobody else sees stars.",
		},
		{
			data: eventlog.MessageDeletedForMe{}, order: "the chat",
			text: "The owner of the account deleted a message for this account alone: the others in the chat still have it. The gateway has\n" +
				"forgotten its content and removed its file.",
		},
	}
}

func peopleDescriptions() []eventDescription {
	return []eventDescription{
		{
			data: eventlog.Presence{}, order: "the chat",
			text: "`composing`, `recording` and `paused` belong to a chat, `available` and `unavailable` to a person, who can hide them. The\n" +
				"platform does not store presence, so this is the one type that you can miss while the gateway is not connected.",
		},
		{
			data: eventlog.ChatUpdated{}, order: "the chat",
			text: "The account's owner has arranged a chat in another way, on the phone or [through the API](guide.md#arrange-chats), or has read\n" +
				"messages on the phone. `changed` says what is different; the other fields say how the chat is now. A message that comes\n" +
				"causes no such event, and neither does what was arranged before the instance was linked.",
		},
		{
			data: eventlog.LabelUpdated{}, order: "the instance",
			text: "The account's owner has made, renamed or deleted a label, on the phone or [through the API](guide.md#labels). When one is\n" +
				"deleted, it is taken from all chats and messages, without an event for each. Labels from before the link cause no events.",
		},
		{
			data: eventlog.LabelAssigned{}, order: "the chat",
			text: "A label was put on a chat or taken from it, or from a message of the chat: then `messageId` names that.",
		},
		{
			data: eventlog.ChatHistory{}, order: "the chat",
			text: "A [request for older messages](guide.md#older-messages) has ended. The messages have come before it, and have no events. A\n" +
				"request that was under way when the gateway was stopped has no such event: ask again.",
		},
		{
			data: eventlog.GroupUpdated{}, order: "the group",
			text: "`change` says what changed, and [the group's metadata](guide.md#groups) say how the group is now. Several changes at once\n" +
				"are reported one by one.",
		},
		{
			data: eventlog.ChannelUpdated{}, order: "the channel",
			text: "The account's owner has followed a [channel](guide.md#channels), or muted it, or the other way round, on the phone or\n" +
				"another device. What is written in it comes as `message.received`.",
		},
		{
			data: eventlog.ContactUpdated{}, order: "the contact",
			text: "A contact has another name or another picture, or a number and a LID turned out to belong to one person: then merge what\n" +
				"you have stored under each of them.",
		},
		{
			data: eventlog.CallReceived{}, order: "the chat",
			text: "The phone is ringing. The gateway can't answer a call, but [reject it](guide.md#calls), and you can write to the caller.",
		},
		{
			data: eventlog.CallEnded{}, order: "the chat",
			text: "It has stopped ringing. The platform does not always say how a call has ended, and says nothing of calls that end while the\n" +
				"gateway is not connected.",
		},
		{
			data: eventlog.AccountUpdated{}, order: "the instance",
			text: "Somebody changed the profile, the privacy settings or the block list of the instance's own account: on the phone, or\n" +
				"[through the API](guide.md#own-account). Read there what else you need.",
		},
	}
}

func webhookDescriptions() []eventDescription {
	return []eventDescription{
		{
			data: eventlog.WebhookSuspended{}, order: "the instance",
			text: "Your endpoint answered 410, or no delivery has succeeded for five days: [what to do](webhooks.md#suspended). The stream\n" +
				"shows this event at once; the webhook itself gets it when delivery goes on.",
		},
		{
			data: eventlog.EventsExpired{}, order: "the instance",
			text: "Events that waited longer than they are [kept](webhooks.md#how-long-events-are-kept) were removed before your webhook got\n" +
				"them. Only the events are gone. The messages that they reported stay: you can still download their files, reply to them\n" +
				"and forward them.",
		},
		{
			data: eventlog.WebhookTest{}, order: "nothing",
			text: "You asked for [a test of your endpoint](webhooks.md#try-your-endpoint). This event is not recorded: the stream does not\n" +
				"show it, and its `sequence` is 0, which no other event has.",
		},
	}
}
