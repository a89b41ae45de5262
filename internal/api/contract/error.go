package contract

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// StatusOf is the one table from the kind of a failure to the HTTP status.
func StatusOf(kind gateway.Kind) int {
	statuses := map[gateway.Kind]int{
		gateway.Invalid:          http.StatusBadRequest,
		gateway.Unauthorized:     http.StatusUnauthorized,
		gateway.PaymentRequired:  http.StatusPaymentRequired,
		gateway.Forbidden:        http.StatusForbidden,
		gateway.NotFound:         http.StatusNotFound,
		gateway.MethodNotAllowed: http.StatusMethodNotAllowed,
		gateway.Gone:             http.StatusGone,
		gateway.Conflict:         http.StatusConflict,
		gateway.TooLarge:         http.StatusRequestEntityTooLarge,
		gateway.OutOfRange:       http.StatusRequestedRangeNotSatisfiable,
		gateway.RateLimited:      http.StatusTooManyRequests,
		gateway.PlatformFailed:   http.StatusBadGateway,
		gateway.Unavailable:      http.StatusServiceUnavailable,
		gateway.PlatformTimeout:  http.StatusGatewayTimeout,
	}
	return cmp.Or(statuses[kind], http.StatusInternalServerError)
}

// Error is the body of the answer to every request that failed.
type Error struct {
	StatusCode int                  `json:"statusCode" doc:"The HTTP status." example:"400"`
	Message    string               `json:"message" doc:"What is wrong, for people." example:"to is required"`
	Code       string               `json:"error" doc:"What is wrong, for programs." example:"VALIDATION_ERROR"`
	Timestamp  Timestamp            `json:"timestamp" doc:"When the request was refused."`
	Path       string               `json:"path" doc:"Path of the request, without the query." example:"/api/instances"`
	Details    []gateway.FieldError `json:"details,omitempty" nullable:"false" doc:"Every field that is wrong; only with VALIDATION_ERROR."`

	retryAfter time.Duration
}

// Error returns the message. With this and the next two methods an Error is an answer
// to huma.
func (e *Error) Error() string { return e.Message }

// GetStatus returns the HTTP status.
func (e *Error) GetStatus() int { return e.StatusCode }

// GetHeaders returns the headers that belong to the answer.
func (e *Error) GetHeaders() http.Header {
	header := http.Header{}
	if e.retryAfter > 0 {
		// Whole seconds, never 0.
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.retryAfter.Seconds()))))
	}
	return header
}

// refusal makes the answer for a failed request. An internal error is kept for the
// log: the client does not get its text.
func (x *exchange) refusal(err error) *Error {
	body := x.errorOf(err)
	x.code = body.Code
	return body
}

func (x *exchange) errorOf(err error) *Error {
	if body, ok := errors.AsType[*Error](err); ok {
		return body
	}
	if shortage := gateway.Shortage(err); shortage != nil {
		err = shortage
	}
	failure, ok := errors.AsType[*gateway.Error](err)
	switch {
	case ok && failure.Kind != gateway.Internal:
		if failure.Cause != nil {
			x.failure = err
		}
	case errors.Is(err, context.Canceled) && x.request.Context().Err() != nil:
		failure = gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the client has gone")
	default:
		x.failure = err
		failure = gateway.Errorf(gateway.Internal, gateway.CodeInternal, "an internal error occurred")
	}
	return newError(x.request, failure, x.api.config.Now())
}

func newError(request *http.Request, failure *gateway.Error, now time.Time) *Error {
	return &Error{
		StatusCode: StatusOf(failure.Kind),
		Message:    failure.Message,
		Code:       failure.Code,
		Timestamp:  Timestamp(now),
		Path:       pathOf(request),
		Details:    failure.Fields,
		retryAfter: failure.RetryAfter,
	}
}

// pathOf returns the path as the client wrote it, without the query.
func pathOf(request *http.Request) string {
	if path, _, _ := strings.Cut(request.RequestURI, "?"); strings.HasPrefix(path, "/") {
		return path
	}
	return request.URL.EscapedPath()
}

// Refuse answers a request that does not get as far as the API.
func Refuse(w http.ResponseWriter, r *http.Request, err *gateway.Error, now time.Time) {
	body := newError(r, err, now)
	maps.Copy(w.Header(), body.GetHeaders())
	writeJSON(w, body.StatusCode, body)
}

// fail answers a request that failed outside of an operation.
func (x *exchange) fail(w http.ResponseWriter, err error) {
	body := x.refusal(err)
	maps.Copy(w.Header(), body.GetHeaders())
	writeJSON(w, body.StatusCode, body)
}

// writeJSON writes an answer. It ignores errors: they mean that the client has gone.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(body)
}
