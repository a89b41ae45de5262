package control

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// failure is an error with its answer.
type failure struct {
	status  int
	code    string
	message string
	details []detail
}

// detail says what is wrong with a field.
type detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

func (f *failure) Error() string { return f.message }

func validation(details ...detail) error {
	texts := make([]string, 0, len(details))
	for _, d := range details {
		texts = append(texts, d.Field+": "+d.Message)
	}
	return &failure{http.StatusBadRequest, "VALIDATION_ERROR", strings.Join(texts, "; "), details}
}

// errorBody is the body of every error.
type errorBody struct {
	StatusCode int      `json:"statusCode"`
	Message    string   `json:"message"`
	Error      string   `json:"error"`
	Timestamp  string   `json:"timestamp"`
	Path       string   `json:"path"`
	Details    []detail `json:"details,omitempty"`
}

// translate turns the platform's errors into answers. It is the only place that
// does.
func translate(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if refused, ok := errors.AsType[*refusal.Error](err); ok {
		switch refused.Kind {
		case refusal.Invalid:
			f := &failure{status: http.StatusBadRequest, code: "VALIDATION_ERROR", message: refused.Error()}
			if refused.Field != "" {
				f.details = []detail{{refused.Field, refused.Message}}
			}
			return f
		case refusal.NotFound:
			return &failure{status: http.StatusNotFound, code: "MESSAGE_NOT_FOUND", message: refused.Message}
		case refusal.Conflict:
			return &failure{status: http.StatusConflict, code: "CONFLICT", message: refused.Message}
		case refusal.Timeout:
			return &failure{status: http.StatusGatewayTimeout, code: "PLATFORM_TIMEOUT", message: refused.Message}
		}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &failure{status: http.StatusRequestEntityTooLarge, code: "PAYLOAD_TOO_LARGE", message: "the body is too large"}
	}
	return &failure{status: http.StatusInternalServerError, code: "INTERNAL_ERROR", message: "something went wrong"}
}

// writeFailure writes the answer to a request that failed.
func writeFailure(w http.ResponseWriter, at string, now time.Time, f *failure) {
	body := errorBody{
		StatusCode: f.status, Message: f.message, Error: f.code, Path: at, Details: f.details,
		Timestamp: now.UTC().Format("2006-01-02T15:04:05.000Z07:00"),
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		w.WriteHeader(f.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.status)
	_, _ = w.Write(encoded) // the caller is gone if it fails
}
