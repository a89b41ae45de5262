// The words that the fields of events can hold.

package client

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
	MessageCalendar    = "event"
	MessageOrdered     = "order"
	MessageInvitation  = "group_invite"
	MessageOffered     = "product"
	MessageBill        = "payment"
	MessageAlbum       = "album"
	MessageUnsupported = "unsupported"
)

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

	ReasonProxyUnreachable         = "proxy_unreachable"
	ReasonProxyAuthFailed          = "proxy_auth_failed"
	ReasonProxyPlatformUnreachable = "proxy_platform_unreachable"
)

// The responses of a MessageEventResponseEvent.
const (
	ResponseGoing    = "going"
	ResponseNotGoing = "not_going"
	ResponseMaybe    = "maybe"
)

// The sources of a MessageSentEvent.
const (
	SourceAPI    = "api"
	SourceDevice = "device"
)

// The statuses of a MessageStatusEvent, in the order in which they come.
const (
	MessageStatusSent      = "sent"
	MessageStatusDelivered = "delivered"
	MessageStatusRead      = "read"
	MessageStatusPlayed    = "played"
	MessageStatusFailed    = "failed" // and nothing comes after
)

// What was done, in a ChannelUpdatedEvent.
const (
	ChannelFollowed   = "followed" // or made
	ChannelUnfollowed = "unfollowed"
	ChannelMuted      = "muted"
	ChannelUnmuted    = "unmuted"
)

// What is different in a ChatUpdatedEvent.
const (
	ChatArchived     = "archived"
	ChatPinned       = "pinned"
	ChatMuted        = "muted"
	ChatRead         = "read" // it has other messages to read, or another mark
	ChatDisappearing = "disappearing"
	ChatCleared      = "cleared" // its messages were deleted, and it stays
	ChatDeleted      = "deleted"
)

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
