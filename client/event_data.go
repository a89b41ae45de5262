package client

import "time"

// Person is somebody under both addresses.
type Person struct {
	JID  *string `json:"jid"`  // chat ID by number; nil where the number is not known
	LID  *string `json:"lid"`  // nil where it is not known
	Name *string `json:"name"` // nil where it is not known
}

// Chat names a chat. Chat.Chat is where to answer: give it as To.
type Chat struct {
	Chat    string  `json:"chat"`    // by number where known, else by LID; a group's ID
	ChatLID *string `json:"chatLid"` // stays the same; nil for groups, and where not known
}

// The types of a Message.
const (
	MessageText        = "text"
	MessageImage       = "image"
	MessageVideo       = "video"
	MessageVoice       = "voice"
	MessageAudio       = "audio"
	MessageDocument    = "document"
	MessageLocationPin = "location"
	MessageContactCard = "contact"
	MessageSticker     = "sticker"
	MessagePoll        = "poll"
	MessageUnsupported = "unsupported"
)

// Message is a message as events tell it.
type Message struct {
	ID        string `json:"id"`        // the gateway's own UUID
	MessageID string `json:"messageId"` // the platform's identifier
	Chat
	IsGroup         bool             `json:"isGroup"`
	FromMe          bool             `json:"fromMe"`
	From            *Person          `json:"from"` // nil where unknown
	Timestamp       time.Time        `json:"timestamp"`
	Type            string           `json:"type"`            // one of the types above
	Text            *string          `json:"text"`            // of a text
	Caption         *string          `json:"caption"`         // of a file; the question of a poll
	Media           *MessageMedia    `json:"media"`           // nil where there is no file
	Location        *MessageLocation `json:"location"`        // nil for every other type
	Contacts        []MessageContact `json:"contacts"`        // empty for every other type
	QuotedMessageID *string          `json:"quotedMessageId"` // the message that this one answers
	Forwarded       bool             `json:"forwarded"`
	Mentions        []Person         `json:"mentions"`
	Unsupported     *string          `json:"unsupported"` // the platform's name for an unsupported type
}

// MessageMedia describes the file of a message. MediaDownloadLink leads to it.
type MessageMedia struct {
	MimeType string  `json:"mimeType"` // as the sender gave it
	FileName *string `json:"fileName"` // of a document
	Size     int64   `json:"size"`     // bytes
	Seconds  *int64  `json:"seconds"`  // the length of audio and video
	Width    *int    `json:"width"`    // pixels
	Height   *int    `json:"height"`   // pixels
	Voice    bool    `json:"voice"`
	ViewOnce bool    `json:"viewOnce"`
}

// MessageLocation is the place of a location message.
type MessageLocation struct {
	Latitude  float64 `json:"latitude"`  // degrees north
	Longitude float64 `json:"longitude"` // degrees east
	Name      *string `json:"name"`
	Address   *string `json:"address"`
}

// MessageContact is a card of a contact message.
type MessageContact struct {
	FullName     string  `json:"fullName"`
	PhoneNumber  *string `json:"phoneNumber"` // digits with country code
	Organization *string `json:"organization"`
}

// InstanceStatusEvent is the data of TypeInstanceStatus.
type InstanceStatusEvent struct {
	Status         string `json:"status"` // StatusConnected and its like
	PreviousStatus string `json:"previousStatus"`
	// Reason is one of the reasons below; nil where there is no more to say.
	Reason       *string `json:"reason"`
	MessengerJID *string `json:"messengerJid"` // nil where nothing is linked
	MessengerLID *string `json:"messengerLid"`
}

// The reasons of an InstanceStatusEvent.
const (
	ReasonLoggedOut       = "logged_out"
	ReasonUnlinkedOnPhone = "unlinked_on_phone"
	ReasonBanned          = "banned"
	ReasonReplaced        = "replaced"
	ReasonClientOutdated  = "client_outdated"
	ReasonConnectionLost  = "connection_lost"
	ReasonQRExpired       = "qr_expired"
	ReasonPayment         = "payment"
	ReasonStopped         = "stopped"
)

// InstanceQREvent is the data of TypeInstanceQR: a new code to scan.
type InstanceQREvent QRCode

// InstanceRestrictedEvent is the data of TypeInstanceRestricted.
type InstanceRestrictedEvent struct {
	Until     *time.Time `json:"until"`     // nil where it is not known
	Recipient *Person    `json:"recipient"` // to whom a message was refused; nil where the platform told it unasked
}

// MessageReceivedEvent is the data of TypeMessageReceived.
type MessageReceivedEvent struct {
	Message
}

// MessageSentEvent is the data of TypeMessageSent.
type MessageSentEvent struct {
	Message

	// Source is SourceAPI for a message sent through the gateway, SourceDevice
	// for one from the phone or another device.
	Source string `json:"source"`
}

// The sources of a MessageSentEvent.
const (
	SourceAPI    = "api"
	SourceDevice = "device"
)

// MessageStatusEvent is the data of TypeMessageStatus.
type MessageStatusEvent struct {
	MessageID string  `json:"messageId"`
	ID        *string `json:"id"` // the gateway's own UUID; nil where it does not have the message
	Chat
	Status      string    `json:"status"`      // one of the statuses below
	Participant *Person   `json:"participant"` // in a group, whose receipt it is
	Timestamp   time.Time `json:"timestamp"`
}

// The statuses of a MessageStatusEvent, in the order in which they come.
const (
	MessageStatusSent      = "sent"
	MessageStatusDelivered = "delivered"
	MessageStatusRead      = "read"
	MessageStatusPlayed    = "played"
	MessageStatusFailed    = "failed" // and nothing comes after
)

// MessageEditedEvent is the data of TypeMessageEdited.
type MessageEditedEvent struct {
	MessageID string `json:"messageId"`
	Chat
	From *Person `json:"from"` // who edited it
	Text string  `json:"text"` // the new text, or the new caption
}

// MessageDeletedEvent is the data of TypeMessageDeleted.
type MessageDeletedEvent struct {
	MessageID string `json:"messageId"`
	Chat
	From *Person `json:"from"` // who deleted it: its sender, or an administrator of the group
}

// MessageReactionEvent is the data of TypeMessageReaction.
type MessageReactionEvent struct {
	MessageID string `json:"messageId"`
	Chat
	From     *Person `json:"from"`     // who reacted
	Reaction string  `json:"reaction"` // the emoji; empty where it was taken back
}

// PresenceEvent is the data of TypePresence.
type PresenceEvent struct {
	Chat
	From     *Person    `json:"from"`
	Presence Presence   `json:"presence"`
	LastSeen *time.Time `json:"lastSeen"` // with Unavailable, where the contact shows it
}

// GroupUpdatedEvent is the data of TypeGroupUpdated; Client.Group tells what the
// group is now.
type GroupUpdatedEvent struct {
	GroupID      string   `json:"groupId"`
	Change       string   `json:"change"`       // one of the changes below
	Actor        *Person  `json:"actor"`        // who changed it; nil where unknown
	Participants []Person `json:"participants"` // whom the change is about
}

// The changes of a GroupUpdatedEvent.
const (
	GroupCreated             = "created"
	GroupSubject             = "subject"
	GroupDescription         = "description"
	GroupPicture             = "picture"
	GroupParticipantsAdded   = "participants_added"
	GroupParticipantsRemoved = "participants_removed"
	GroupAdminsAdded         = "admins_added"
	GroupAdminsRemoved       = "admins_removed"
	GroupSettings            = "settings"
	GroupDeleted             = "deleted"
)

// ContactUpdatedEvent is the data of TypeContactUpdated.
type ContactUpdatedEvent Person

// CallReceivedEvent is the data of TypeCallReceived.
type CallReceivedEvent struct {
	Chat
	From   *Person `json:"from"`
	CallID string  `json:"callId"`
	Video  bool    `json:"video"`
}

// WebhookSuspendedEvent is the data of TypeWebhookSuspended.
type WebhookSuspendedEvent struct {
	Reason       string     `json:"reason"` // "gone" after an answer 410, "unreachable" after too long without success
	FailingSince *time.Time `json:"failingSince"`
	NextSequence int64      `json:"nextSequence"` // the first event that was not delivered
}

// EventsExpiredEvent is the data of TypeEventsExpired: events that are gone
// before they were delivered.
type EventsExpiredEvent struct {
	FromSequence int64 `json:"fromSequence"` // the first
	ToSequence   int64 `json:"toSequence"`   // the last
}

// WebhookTestEvent is the data of TypeWebhookTest.
type WebhookTestEvent struct {
	Message string `json:"message"`
}
