// Refusals of the gateway.

package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is the gateway's answer to a request that it refused. Every operation that needs an API key
// may be refused with CodeUnauthorized, CodeRateLimited, CodeInternalError or CodeUnavailable; what
// else is said of each.
type Error struct {
	StatusCode int       `json:"statusCode"`
	Message    string    `json:"message"` // for people
	Code       string    `json:"error"`   // for programs, such as CodeNotFound; empty if the answer is not the gateway's
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
		return e.Code == CodeInstanceNotConnected || e.RetryAfter > 0
	default:
		return e.StatusCode >= http.StatusInternalServerError
	}
}

// IsCode reports whether err is the gateway's refusal with that code, such as
// CodeInstanceNotConnected.
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
