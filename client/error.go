// Refusals of the gateway, and their codes.

package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The codes of an Error. Newer gateways may have more.
const (
	CodeValidation             = "VALIDATION_ERROR"
	CodeUnauthorized           = "UNAUTHORIZED"
	CodePaymentRequired        = "PAYMENT_REQUIRED"
	CodeForbidden              = "FORBIDDEN"
	CodeNotFound               = "NOT_FOUND"
	CodeInstanceNotFound       = "INSTANCE_NOT_FOUND"
	CodeMessageNotFound        = "MESSAGE_NOT_FOUND"
	CodeChatNotFound           = "CHAT_NOT_FOUND"
	CodeNotSynced              = "INSTANCE_NOT_SYNCED"
	CodeProfileChangeRefused   = "PROFILE_CHANGE_REFUSED"
	CodePrivacyChangeRefused   = "PRIVACY_CHANGE_REFUSED"
	CodeCallNotFound           = "CALL_NOT_FOUND"
	CodeHistoryPending         = "HISTORY_REQUEST_PENDING"
	CodeNotSubscribed          = "NOT_SUBSCRIBED"
	CodeSubscriptionLimit      = "SUBSCRIPTION_LIMIT_REACHED"
	CodeBlockRefused           = "BLOCK_REFUSED"
	CodeGroupNotFound          = "GROUP_NOT_FOUND"
	CodeGroupAdminRequired     = "GROUP_ADMIN_REQUIRED"
	CodeGroupFull              = "GROUP_FULL"
	CodeContactChangeRefused   = "CONTACT_CHANGE_REFUSED"
	CodeChatChangeRefused      = "CHAT_CHANGE_REFUSED"
	CodeLabelNotFound          = "LABEL_NOT_FOUND"
	CodeLabelChangeRefused     = "LABEL_CHANGE_REFUSED"
	CodeGroupChangeRefused     = "GROUP_CHANGE_REFUSED"
	CodeChannelNotFound        = "CHANNEL_NOT_FOUND"
	CodeChannelGone            = "CHANNEL_GONE"
	CodeChannelPrivate         = "CHANNEL_PRIVATE"
	CodeChannelNotAvailable    = "CHANNEL_NOT_AVAILABLE"
	CodeChannelOwnerRequired   = "CHANNEL_OWNER_REQUIRED"
	CodeChannelChangeRefused   = "CHANNEL_CHANGE_REFUSED"
	CodeChannelContent         = "CHANNEL_CONTENT_NOT_SUPPORTED"
	CodeStatusAudience         = "STATUS_AUDIENCE_NOT_ALLOWED"
	CodeInviteNotValid         = "INVITE_NOT_VALID"
	CodeInviteExpired          = "INVITE_EXPIRED"
	CodeInviteRefused          = "INVITE_REFUSED"
	CodeAlreadyParticipant     = "ALREADY_PARTICIPANT" // this and the next five: of one person, in a result
	CodeNotParticipant         = "NOT_PARTICIPANT"
	CodeParticipantPrivacy     = "PARTICIPANT_PRIVACY"
	CodeParticipantLeft        = "PARTICIPANT_LEFT"
	CodeParticipantRefused     = "PARTICIPANT_REFUSED"
	CodeNoJoinRequest          = "NO_JOIN_REQUEST"
	CodeMediaNotFound          = "MEDIA_NOT_FOUND"
	CodeWebhookNotFound        = "WEBHOOK_NOT_FOUND"
	CodeWebhookInactive        = "WEBHOOK_INACTIVE"
	CodeWebhookLimit           = "WEBHOOK_LIMIT_REACHED"
	CodeWebhookOfAccount       = "WEBHOOK_OF_ACCOUNT"
	CodeMessageNotEditable     = "MESSAGE_NOT_EDITABLE"
	CodeMessageNotDeletable    = "MESSAGE_NOT_DELETABLE"
	CodeMessageNotReactable    = "MESSAGE_NOT_REACTABLE"
	CodeMessageHasNoMedia      = "MESSAGE_HAS_NO_MEDIA"
	CodeMessageIsNoEvent       = "MESSAGE_IS_NO_EVENT"
	CodeMessageIsNoPoll        = "MESSAGE_IS_NO_POLL"
	CodeEditWindowExpired      = "EDIT_WINDOW_EXPIRED"
	CodeDeleteWindowExpired    = "DELETE_WINDOW_EXPIRED"
	CodeMethodNotAllowed       = "METHOD_NOT_ALLOWED"
	CodeRecipientNotRegistered = "RECIPIENT_NOT_REGISTERED"
	CodeNotConnected           = "INSTANCE_NOT_CONNECTED"
	CodeAlreadyConnected       = "INSTANCE_ALREADY_CONNECTED"
	CodeInstanceLimit          = "INSTANCE_LIMIT_REACHED"
	CodeIdempotencyConflict    = "IDEMPOTENCY_CONFLICT"
	CodePayloadTooLarge        = "PAYLOAD_TOO_LARGE"
	CodeRangeNotSatisfiable    = "RANGE_NOT_SATISFIABLE"
	CodeEventsExpired          = "EVENTS_EXPIRED"
	CodeMediaFetchFailed       = "MEDIA_FETCH_FAILED"
	CodeProxyUnreachable       = "PROXY_UNREACHABLE"
	CodeProxyAuthFailed        = "PROXY_AUTH_FAILED"
	CodeProxyPlatform          = "PROXY_PLATFORM_UNREACHABLE"
	CodeRateLimited            = "RATE_LIMITED"
	CodeRecipientRestricted    = "RECIPIENT_RESTRICTED"
	CodeQueueFull              = "QUEUE_FULL"
	CodeQueueExpired           = "QUEUE_EXPIRED"   // only in the event of a message that failed
	CodeQueueCancelled         = "QUEUE_CANCELLED" // only in the event of a message that failed
	CodeMessageBeingSent       = "MESSAGE_BEING_SENT"
	CodeInternal               = "INTERNAL_ERROR"
	CodePlatformError          = "PLATFORM_ERROR"
	CodePlatformTimeout        = "PLATFORM_TIMEOUT"
	CodeUnavailable            = "UNAVAILABLE"
)

// Error is the gateway's answer to a request that it refused.
type Error struct {
	StatusCode int       `json:"statusCode"`
	Message    string    `json:"message"` // for people
	Code       string    `json:"error"`   // for programs; empty if the answer is not the gateway's
	Timestamp  time.Time `json:"timestamp"`
	Path       string    `json:"path"`
	// Details names each field of a request that is not valid.
	Details []FieldError `json:"details,omitempty"`
	// RetryAfter is how long to wait before a repeat; zero if the gateway does not
	// say.
	RetryAfter time.Duration `json:"-"`
}

// FieldError says what is wrong with one field.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error returns the status, the code and the message.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%d: %s", e.StatusCode, e.Message)
	}
	return fmt.Sprintf("%d %s: %s", e.StatusCode, e.Code, e.Message)
}

// Temporary reports whether the same request may succeed later: the gateway or
// the platform can't be reached or is busy, or the instance is not connected.
// Repeat a send that failed this way with the same IdempotencyKey.
func (e *Error) Temporary() bool {
	switch e.StatusCode {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusConflict:
		return e.Code == CodeNotConnected || e.RetryAfter > 0
	default:
		return e.StatusCode >= http.StatusInternalServerError
	}
}

// IsCode reports whether err is the gateway's refusal with that code, such as
// CodeNotConnected.
func IsCode(err error, code string) bool {
	refusal, ok := errors.AsType[*Error](err)
	return ok && refusal.Code == code
}

// refusal makes the error of an answer. The answer may come from a proxy in front of
// the gateway and then has another body.
func refusal(response *http.Response, answer []byte) error {
	var e Error
	if err := json.Unmarshal(answer, &e); err != nil || e.StatusCode == 0 {
		e = Error{StatusCode: response.StatusCode, Message: http.StatusText(response.StatusCode), Path: response.Request.URL.Path}
	}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return &e
}
