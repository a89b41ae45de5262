// Refusals, with Meta's numbers.

package cloud

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/gateway"
)

// The numbers of Meta's errors.
const (
	numberUnknown         = 1
	numberPermission      = 10
	numberParameter       = 100
	numberToken           = 190
	numberCallback        = 2200
	numberRateLimit       = 130429
	numberSomething       = 131000
	numberMissing         = 131008
	numberInvalid         = 131009
	numberUnavailable     = 131016
	numberUndeliverable   = 131026
	numberPayment         = 131042
	numberRestricted      = 131048
	numberUnsupported     = 131051
	numberMediaDownload   = 131052
	numberMediaUpload     = 131053
	numberTemplateCount   = 132000
	numberUnknownTemplate = 132001
	numberTemplateFormat  = 132012

	// subNoObject is the second number of an ID that names nothing.
	subNoObject = 33
)

// titleUnknownTemplate is what Meta calls numberUnknownTemplate.
const titleUnknownTemplate = "Template name does not exist in the translation"

// graphError is a refusal as Meta's API writes it.
type graphError struct {
	status        int
	code, subcode int
	title         string // what Meta calls the number
	details       string // what is wrong with this request
	retryAfter    string
}

// Error returns the number and both texts.
func (e *graphError) Error() string { return fmt.Sprintf("(#%d) %s: %s", e.code, e.title, e.details) }

// errNoToken is the refusal of a request without a key.
var errNoToken = &graphError{status: http.StatusUnauthorized, code: numberToken, title: "Invalid OAuth access token", details: "Send an API key as Authorization: Bearer."}

func noSuchPath(path string) error {
	return &graphError{status: http.StatusBadRequest, code: numberParameter, subcode: subNoObject, title: "Unsupported request", details: "There is no operation at " + shortened(path) + " with this method."}
}

func noSuchObject(id string) error {
	return &graphError{
		status: http.StatusBadRequest, code: numberParameter, subcode: subNoObject, title: "Unsupported request",
		details: "Object with ID '" + shortened(id) + "' does not exist, or the API key may not use it. The ID of a phone number or a business account is the UUID of an instance, or the number of its account in digits.",
	}
}

// invalid refuses a value.
func invalid(details string) error {
	return &graphError{status: http.StatusBadRequest, code: numberInvalid, title: "Parameter value is not valid", details: details}
}

// missing refuses a request without a field.
func missing(field string) error {
	return &graphError{status: http.StatusBadRequest, code: numberMissing, title: "Required parameter is missing", details: "The field " + field + " is missing."}
}

// notHere refuses what the dialect does not do, with a reason that says what to do instead.
func notHere(code int, details string) error {
	return &graphError{status: http.StatusNotImplemented, code: code, title: "Unsupported request", details: details}
}

// shortened bounds a text that is repeated in an error.
func shortened(text string) string {
	const most = 100
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ToValidUTF8(text, "�")
}

// meaning is what a code of the API is in Meta's numbers.
type meaning struct {
	status, number int
	title          string
}

// meanings are those of the codes that say more than their status.
func meanings() map[string]meaning {
	return map[string]meaning{
		client.CodeValidationError:        {http.StatusBadRequest, numberInvalid, "Parameter value is not valid"},
		client.CodeUnauthorized:           {http.StatusUnauthorized, numberToken, "Invalid OAuth access token"},
		client.CodeForbidden:              {http.StatusForbidden, numberPermission, "Permission denied"},
		client.CodeTemplateNotFound:       {http.StatusNotFound, numberUnknownTemplate, titleUnknownTemplate},
		client.CodeTemplateExists:         {http.StatusBadRequest, numberParameter, "Invalid parameter"},
		client.CodeTemplateLimitReached:   {http.StatusBadRequest, numberParameter, "Invalid parameter"},
		client.CodePaymentRequired:        {http.StatusForbidden, numberPayment, "Payment issue"},
		client.CodeRecipientNotRegistered: {http.StatusBadRequest, numberUndeliverable, "Message undeliverable"},
		client.CodeRecipientRestricted:    {http.StatusBadRequest, numberRestricted, "Spam rate limit hit"},
		client.CodeRateLimited:            {http.StatusBadRequest, numberRateLimit, "Rate limit hit"},
		client.CodeQueueFull:              {http.StatusBadRequest, numberRateLimit, "Rate limit hit"},
		client.CodeMediaFetchFailed:       {http.StatusBadRequest, numberMediaDownload, "Media download error"},
		client.CodeMediaNotFound:          {http.StatusBadRequest, numberMediaDownload, "Media download error"},
		client.CodePayloadTooLarge:        {http.StatusBadRequest, numberMediaUpload, "Media upload error"},
		client.CodeInstanceNotConnected:   {http.StatusServiceUnavailable, numberUnavailable, "Service unavailable"},
		client.CodeUnavailable:            {http.StatusServiceUnavailable, numberUnavailable, "Service unavailable"},
		client.CodePlatformTimeout:        {http.StatusServiceUnavailable, numberUnavailable, "Service unavailable"},
		client.CodePlatformError:          {http.StatusInternalServerError, numberSomething, "Something went wrong"},
		client.CodeQueueExpired:           {http.StatusInternalServerError, numberUndeliverable, "Message undeliverable"},
	}
}

// meaningOf is what a refusal of the API is.
func meaningOf(code string, status int) meaning {
	if found, ok := meanings()[code]; ok {
		return found
	}
	switch {
	case status == http.StatusNotFound:
		return meaning{http.StatusBadRequest, numberParameter, "Unsupported request"}
	case status == http.StatusForbidden:
		return meaning{http.StatusForbidden, numberPermission, "Permission denied"}
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return meaning{http.StatusBadRequest, numberInvalid, "Parameter value is not valid"}
	default:
		return meaning{http.StatusInternalServerError, numberSomething, "Something went wrong"}
	}
}

// asGraph makes a refusal of any error. What only the program's log should know is not in it.
func asGraph(err error) *graphError {
	if refused, ok := errors.AsType[*graphError](err); ok {
		return refused
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return ofAPI(refused)
	}
	if refused, ok := errors.AsType[*gateway.Error](err); ok { // of reading a body
		switch refused.Kind {
		case gateway.TooLarge:
			return &graphError{status: http.StatusBadRequest, code: numberInvalid, title: "Parameter value is not valid", details: refused.Message}
		case gateway.Invalid:
			return &graphError{status: http.StatusBadRequest, code: numberInvalid, title: "Parameter value is not valid", details: "The body could not be read to its end."}
		case gateway.Unavailable, gateway.RateLimited:
			return &graphError{status: http.StatusServiceUnavailable, code: numberUnavailable, title: "Service unavailable", details: refused.Message}
		default:
		}
	}
	return &graphError{status: http.StatusInternalServerError, code: numberUnknown, title: "An unknown error occurred", details: "The gateway's log says more."}
}

// ofAPI makes a refusal of one of the API.
func ofAPI(refused *client.Error) *graphError {
	means := meaningOf(refused.Code, refused.StatusCode)
	made := &graphError{status: means.status, code: means.number, title: means.title, details: refused.Message}
	if refused.StatusCode == http.StatusNotFound && means.number == numberParameter {
		made.subcode = subNoObject
	}
	for _, field := range refused.Details {
		made.details += fmt.Sprintf(" %s: %s.", field.Field, strings.TrimSuffix(field.Message, "."))
	}
	if refused.RetryAfter > 0 {
		made.retryAfter = strconv.Itoa(int(refused.RetryAfter.Seconds()))
	}
	return made
}

// errorBody is the body of a refusal.
type errorBody struct {
	Error errorAnswer `json:"error"`
}

type errorAnswer struct {
	Message string    `json:"message"`
	Type    string    `json:"type"`
	Code    int       `json:"code"`
	Data    errorData `json:"error_data"`
	Subcode int       `json:"error_subcode,omitempty"`
	Trace   string    `json:"fbtrace_id"` // clients expect one; it leads nowhere
}

type errorData struct {
	Product string `json:"messaging_product,omitempty"`
	Details string `json:"details"`
}

// refuse answers a refusal, and returns it.
func (c *Cloud) refuse(w http.ResponseWriter, r *http.Request, err error) *graphError {
	refused := asGraph(err)
	if refused.status >= http.StatusInternalServerError && refused.status != http.StatusNotImplemented {
		c.config.Logger.WarnContext(r.Context(), "cloud: a request has failed", slog.Any("error", err))
	}
	if refused.retryAfter != "" {
		w.Header().Set("Retry-After", refused.retryAfter)
	}
	// Agents see the message alone, and it has to say what is wrong.
	failed := write(w, refused.status, errorBody{Error: errorAnswer{
		Message: refused.Error(), Type: "OAuthException", Code: refused.code, Subcode: refused.subcode,
		Data: errorData{Product: "whatsapp", Details: refused.details}, Trace: rand.Text(),
	}})
	if failed != nil {
		c.config.Logger.DebugContext(r.Context(), "cloud: the client has not read the answer", slog.Any("error", failed))
	}
	return refused
}
