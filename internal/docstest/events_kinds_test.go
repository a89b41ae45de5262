package docstest_test

import "github.com/recado-project/recado/internal/eventlog"

// eventDescription is what docs/events.md says of a kind besides its fields.
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
	for _, told := range eventlog.Descriptions() {
		whens[told.Data.Kind()] = told.When
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
			text: "The status changed; [the guide](guide.md#see-your-instances) says what each one means and what to do. It is told on a\n" +
				"change alone, never as a sign of life. `reason` says why, where there is more to say.",
		},
		{
			data: eventlog.InstanceQR{}, order: "the instance",
			text: "While an instance waits to be scanned, each new code is told: show it in place of the one before. It is the answer of\n" +
				"[the QR endpoint](guide.md#by-qr-code).",
		},
		{
			data: eventlog.InstanceRestricted{}, order: "the instance",
			text: "The messenger lets the account write to those alone whom it has a chat with, for a while. Sends to others are refused with\n" +
				"`RECIPIENT_RESTRICTED` until it ends.",
		},
	}
}

func messageDescriptions() []eventDescription {
	return []eventDescription{
		{
			data: eventlog.MessageReceived{}, order: "the chat",
			text: "A message of somebody else, in a direct chat or in a group. `text` is set for texts, `caption` and `media` for files,\n" +
				"`location` and `contacts` for what they are called; of a poll, `caption` is the question. The file itself is not in\n" +
				"the event: ask for its [download link](guide.md#download-a-file) with `messageId`.\n\n" +
				"A kind of message that the gateway does not know arrives too, as `unsupported`: nothing is passed over in silence.\n" +
				"Messages from before the instance was linked are kept, and not told.",
		},
		{
			data: eventlog.MessageSent{}, like: eventlog.MessageReceived{}, order: "the chat",
			text: "A message of this account that the messenger has. `source` says from where: through the API, or on the phone or\n" +
				"another device. The fields are those of [`message.received`](#messagereceived), and:",
		},
		{
			data: eventlog.MessageStatus{}, order: "the chat",
			text: "`sent`: the messenger has it. `delivered`: it is on the phone. `read`, and `played` for a voice note, where the recipient\n" +
				"shows that. `failed`: it was not sent. A status never goes back, and may be passed over: a message can be read\n" +
				"without ever having been told as delivered. In a group, everybody's receipt is told, with `participant`.",
		},
		{
			data: eventlog.MessageEdited{}, order: "the chat",
			text: "Somebody has changed a text, here or there. `messageId` names the message, which has been told before, if it is not older\n" +
				"than the link.",
		},
		{
			data: eventlog.MessageDeleted{}, order: "the chat",
			text: "Somebody has deleted a message for everyone. In a group that may be an administrator.",
		},
		{
			data: eventlog.MessageReaction{}, order: "the chat",
			text: "Each person has one reaction to a message: a new one replaces the one before, an empty one takes it back.",
		},
	}
}

func peopleDescriptions() []eventDescription {
	return []eventDescription{
		{
			data: eventlog.Presence{}, order: "the chat",
			text: "`composing`, `recording` and `paused` are of a chat; `available` and `unavailable` of a person, who may not show them.\n" +
				"The messenger does not keep what is shown, so this is the one type that can be missed while the gateway is not connected.",
		},
		{
			data: eventlog.GroupUpdated{}, order: "the group",
			text: "`change` says what, [the group's metadata](guide.md#groups) what it is now. Several changes at once are told one by one.",
		},
		{
			data: eventlog.ContactUpdated{}, order: "the contact",
			text: "A contact goes by another name or has another picture, or a number and a LID turn out to be one person: put together what\n" +
				"you have under either.",
		},
		{
			data: eventlog.CallReceived{}, order: "the chat",
			text: "It rings on the phone. The gateway can't answer a call; you can write to who calls.",
		},
	}
}

func webhookDescriptions() []eventDescription {
	return []eventDescription{
		{
			data: eventlog.WebhookSuspended{}, order: "the instance",
			text: "Your endpoint has answered 410, or nothing has succeeded for five days:\n" +
				"[what to do](webhooks.md#suspended). The webhook itself gets it once delivery goes on; the stream shows it at once.",
		},
		{
			data: eventlog.EventsExpired{}, order: "the instance",
			text: "Events that waited longer than they are [kept](webhooks.md#how-long-events-are-kept) were removed, and your webhook has not\n" +
				"got them. What the messenger has told is not lost with it: messages are still there for download, reply and look-up.",
		},
		{
			data: eventlog.WebhookTest{}, order: "nothing",
			text: "[A try of your endpoint](webhooks.md#try-your-endpoint). It is not written down, so it is not in the stream, and its\n" +
				"`sequence` is 0, which no other event has.",
		},
	}
}
