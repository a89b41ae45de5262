package eventlog

// Description is what people are told of a kind of event.
type Description struct {
	Data Data   // the zero value of the kind's data
	When string // it is told, as the end of a sentence
}

// Descriptions returns those of all kinds, in the order of Kinds: the documents
// are made of them.
func Descriptions() []Description {
	return []Description{
		{InstanceStatus{}, "the status of the instance changed"},
		{InstanceQR{}, "there is a new code to scan"},
		{InstanceRestricted{}, "the messenger restricts writing to new contacts"},
		{MessageReceived{}, "somebody has written"},
		{MessageSent{}, "this account has written"},
		{MessageStatus{}, "a message of this account came further"},
		{MessageEdited{}, "a message was edited"},
		{MessageDeleted{}, "a message was deleted for everyone"},
		{MessageReaction{}, "somebody has reacted to a message, or has taken it back"},
		{Presence{}, "a contact types, records, comes online or leaves"},
		{GroupUpdated{}, "a group was changed"},
		{ContactUpdated{}, "there is news of a contact"},
		{CallReceived{}, "somebody calls"},
		{WebhookSuspended{}, "the webhook is not tried any more"},
		{EventsExpired{}, "events went before you had taken them"},
		{WebhookTest{}, "you asked for a test"},
	}
}
