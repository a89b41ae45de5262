package gateway

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Kind says what sort of failure an Error is. The API maps each kind to one
// HTTP status.
type Kind int

// The kinds, and when each is used.
const (
	// Internal is a failure of this program; its text is never shown to a client.
	Internal Kind = iota
	// Invalid is a request that can't be carried out as it stands.
	Invalid
	// Unauthorized is a missing, unknown, revoked or expired key.
	Unauthorized
	// PaymentRequired is work for an instance that waits for its payment.
	PaymentRequired
	// Forbidden is a valid key whose scope does not include what was asked for.
	Forbidden
	// NotFound is something that does not exist, or not for this instance.
	NotFound
	// MethodNotAllowed is a known path with a method it does not have.
	MethodNotAllowed
	// Gone is something that was there and is no longer kept.
	Gone
	// Conflict is a request that the present state does not allow.
	Conflict
	// TooLarge is a body or file over the limit.
	TooLarge
	// OutOfRange is a part of a file that the file does not have.
	OutOfRange
	// RateLimited is too many requests in a short time, by a limit of this program or of
	// the platform.
	RateLimited
	// PlatformFailed is a refusal by the platform.
	PlatformFailed
	// PlatformTimeout is an acknowledgement by the platform that did not come in time.
	PlatformTimeout
	// Unavailable is a program that is stopping, or a part of it that can't be reached now.
	Unavailable
)

// ErrUnstorable is in the chain of an error if a database refuses a value: it would refuse
// the same value each time, and accepts others.
var ErrUnstorable = errors.New("gateway: the database can't hold this")

// ErrDatabaseAway is in the chain of an error if the database can't be reached, or can't write, and it is
// certain that nothing was written. Where that is not certain, it is missing: a repeat could
// do the same thing twice.
var ErrDatabaseAway = errors.New("gateway: the database can't be used")

// ErrDatabaseLost is in the chain of an error if the database went away during a write, so that nobody knows
// whether it took place.
var ErrDatabaseLost = errors.New("gateway: the database went away while it was written to")

// ErrStopping is the error of what was not begun because the program stops: nothing was done. A client can
// repeat its request, which another process answers, or this one after its start.
var ErrStopping error = &Error{
	Kind: Unavailable, Code: CodeUnavailable, RetryAfter: 2 * time.Second,
	Message: "the gateway is stopping: repeat the request",
}

// Codes of the error body that packages other than the API use.
const (
	CodeValidation          = "VALIDATION_ERROR"
	CodeUnauthorized        = "UNAUTHORIZED"
	CodePaymentRequired     = "PAYMENT_REQUIRED"
	CodeForbidden           = "FORBIDDEN"
	CodeNotFound            = "NOT_FOUND"
	CodeInstanceNotFound    = "INSTANCE_NOT_FOUND"
	CodeMessageNotFound     = "MESSAGE_NOT_FOUND"
	CodeChatNotFound        = "CHAT_NOT_FOUND"
	CodeProfileRefused      = "PROFILE_CHANGE_REFUSED"
	CodePrivacyRefused      = "PRIVACY_CHANGE_REFUSED"
	CodeCallNotFound        = "CALL_NOT_FOUND"
	CodeHistoryPending      = "HISTORY_REQUEST_PENDING"
	CodeNotSubscribed       = "NOT_SUBSCRIBED"
	CodeSubscriptionLimit   = "SUBSCRIPTION_LIMIT_REACHED"
	CodeBlockRefused        = "BLOCK_REFUSED"
	CodeNotSynced           = "INSTANCE_NOT_SYNCED"
	CodeContactRefused      = "CONTACT_CHANGE_REFUSED"
	CodeChatRefused         = "CHAT_CHANGE_REFUSED"
	CodeLabelNotFound       = "LABEL_NOT_FOUND"
	CodeLabelRefused        = "LABEL_CHANGE_REFUSED"
	CodeTemplateNotFound    = "TEMPLATE_NOT_FOUND"
	CodeTemplateExists      = "TEMPLATE_EXISTS"
	CodeTemplateLimit       = "TEMPLATE_LIMIT_REACHED"
	CodeGroupNotFound       = "GROUP_NOT_FOUND"
	CodeGroupAdminRequired  = "GROUP_ADMIN_REQUIRED"
	CodeGroupFull           = "GROUP_FULL"
	CodeGroupRefused        = "GROUP_CHANGE_REFUSED"
	CodeChannelNotFound     = "CHANNEL_NOT_FOUND"
	CodeChannelGone         = "CHANNEL_GONE"
	CodeChannelPrivate      = "CHANNEL_PRIVATE"
	CodeChannelBlocked      = "CHANNEL_NOT_AVAILABLE"
	CodeChannelOwner        = "CHANNEL_OWNER_REQUIRED"
	CodeChannelRefused      = "CHANNEL_CHANGE_REFUSED"
	CodeChannelContent      = "CHANNEL_CONTENT_NOT_SUPPORTED"
	CodeStatusAudience      = "STATUS_AUDIENCE_NOT_ALLOWED"
	CodeInviteNotValid      = "INVITE_NOT_VALID"
	CodeInviteExpired       = "INVITE_EXPIRED"
	CodeInviteRefused       = "INVITE_REFUSED"
	CodeAlreadyParticipant  = "ALREADY_PARTICIPANT" // of one person, in a result
	CodeNotParticipant      = "NOT_PARTICIPANT"     // of one person, in a result
	CodeParticipantPrivacy  = "PARTICIPANT_PRIVACY" // of one person, in a result
	CodeParticipantLeft     = "PARTICIPANT_LEFT"    // of one person, in a result
	CodeParticipantRefused  = "PARTICIPANT_REFUSED" // of one person, in a result
	CodeNoJoinRequest       = "NO_JOIN_REQUEST"     // of one person, in a result
	CodeMediaNotFound       = "MEDIA_NOT_FOUND"
	CodeWebhookNotFound     = "WEBHOOK_NOT_FOUND"
	CodeWebhookInactive     = "WEBHOOK_INACTIVE"
	CodeWebhookLimit        = "WEBHOOK_LIMIT_REACHED"
	CodeWebhookOfAccount    = "WEBHOOK_OF_ACCOUNT"
	CodeMessageNotEditable  = "MESSAGE_NOT_EDITABLE"
	CodeMessageNotDeletable = "MESSAGE_NOT_DELETABLE"
	CodeMessageNotReactable = "MESSAGE_NOT_REACTABLE"
	CodeMessageHasNoMedia   = "MESSAGE_HAS_NO_MEDIA"
	CodeMessageIsNoEvent    = "MESSAGE_IS_NO_EVENT"
	CodeMessageIsNoPoll     = "MESSAGE_IS_NO_POLL"
	CodeEditWindowExpired   = "EDIT_WINDOW_EXPIRED"
	CodeDeleteWindowExpired = "DELETE_WINDOW_EXPIRED"
	CodeMethodNotAllowed    = "METHOD_NOT_ALLOWED"
	CodeNotRegistered       = "RECIPIENT_NOT_REGISTERED"
	CodeNotConnected        = "INSTANCE_NOT_CONNECTED"
	CodeAlreadyConnected    = "INSTANCE_ALREADY_CONNECTED"
	CodeIdempotencyConflict = "IDEMPOTENCY_CONFLICT"
	CodePayloadTooLarge     = "PAYLOAD_TOO_LARGE"
	CodeOutOfRange          = "RANGE_NOT_SATISFIABLE"
	CodeEventsExpired       = "EVENTS_EXPIRED"
	CodeMediaFetchFailed    = "MEDIA_FETCH_FAILED"
	CodeProxyUnreachable    = "PROXY_UNREACHABLE"
	CodeProxyAuthFailed     = "PROXY_AUTH_FAILED"
	CodeProxyPlatform       = "PROXY_PLATFORM_UNREACHABLE"
	CodeRateLimited         = "RATE_LIMITED"
	CodeRecipientRestricted = "RECIPIENT_RESTRICTED"
	CodeQueueFull           = "QUEUE_FULL"
	CodeQueueExpired        = "QUEUE_EXPIRED"   // in the event of a message that failed
	CodeQueueCancelled      = "QUEUE_CANCELLED" // in the event of a message that failed
	CodeMessageBeingSent    = "MESSAGE_BEING_SENT"
	CodeExternalNameTaken   = "EXTERNAL_NAME_TAKEN"
	CodeKeyValueTaken       = "KEY_VALUE_TAKEN"
	CodeUploadNotFound      = "UPLOAD_NOT_FOUND"
	CodeUploadLimit         = "UPLOAD_LIMIT_REACHED"
	CodeInstanceLimit       = "INSTANCE_LIMIT_REACHED"
	CodeInternal            = "INTERNAL_ERROR"
	CodePlatformError       = "PLATFORM_ERROR"
	CodePlatformTimeout     = "PLATFORM_TIMEOUT"
	CodeUnavailable         = "UNAVAILABLE"
)

// FieldError names one wrong field of a request.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is a failure that is shown to a client, word for word. Every other error is
// internal.
type Error struct {
	Kind    Kind
	Code    string // UPPER_SNAKE, the error field of the API's error body
	Message string // for people; it has no secrets and no internals
	Fields  []FieldError
	// RetryAfter is after which time a repeat may succeed; zero if that is unknown.
	RetryAfter time.Duration
	// Cause is what the operator needs to know beyond the message; it is logged, and no
	// client sees it. It may be nil.
	Cause error
}

// Error returns the message with its code, and the cause.
func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Code + ": " + e.Message + ": " + e.Cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an Error of the kind and code with a formatted message.
func Errorf(kind Kind, code, format string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// maxFields bounds how many fields an error names.
const maxFields = 20

// InvalidField makes the validation error about one field.
func InvalidField(field, message string) *Error {
	return InvalidFields(FieldError{Field: field, Message: message})
}

// InvalidFields makes the validation error that names every field, twenty at most; its
// message also says how many more there are.
func InvalidFields(fields ...FieldError) *Error {
	more := len(fields) - maxFields
	if more > 0 {
		fields = fields[:maxFields:maxFields]
	}
	texts := make([]string, len(fields), len(fields)+1)
	for i, field := range fields {
		texts[i] = field.Field + " " + field.Message
	}
	if more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return &Error{Kind: Invalid, Code: CodeValidation, Message: strings.Join(texts, "; "), Fields: fields}
}

// shortWait is when a client should ask again while the program lacks what it stands on.
const shortWait = 2 * time.Second

// Shortage returns what a client is told of an error that is no Error, where the program lacks what it stands
// on at the moment: the database is away, a disk is full or can't be written, no file can be opened. Nothing
// was done, and a repeat may succeed. It is nil for every other error.
func Shortage(err error) *Error {
	if _, known := AsError(err); known || err == nil {
		return nil
	}
	for _, of := range []struct {
		why  error
		says string
	}{
		{ErrDatabaseAway, "the database can't be reached, or can't write, at the moment"},
		{syscall.ENOSPC, "the disk of the gateway is full"},
		{syscall.EDQUOT, "the disk of the gateway is full"},
		{syscall.EROFS, "the disk of the gateway can't be written"},
		{syscall.EMFILE, "the gateway can't open more files at the moment"},
		{syscall.ENFILE, "the gateway can't open more files at the moment"},
		{syscall.ENOMEM, "the gateway has no memory for this at the moment"},
	} {
		if errors.Is(err, of.why) {
			return &Error{Kind: Unavailable, Code: CodeUnavailable, RetryAfter: shortWait, Message: of.says + ": repeat the request", Cause: err}
		}
	}
	return nil
}

// AsError returns the Error in err's chain, if there is one.
func AsError(err error) (*Error, bool) { return errors.AsType[*Error](err) }

// IsAway reports whether an error says that an instance is not connected, or not here any more: that is over by
// itself, if it ever is.
func IsAway(err error) bool {
	known, ok := AsError(err)
	return ok && known.Code == CodeNotConnected || errors.Is(err, ErrTenureOver)
}

// KindOf returns the kind of the Error in err's chain, Internal if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}
