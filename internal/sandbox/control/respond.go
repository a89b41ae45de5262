package control

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// maxBody bounds a request: the largest has a file in it, as base64.
const maxBody = maxMedia/3*4 + 1<<20

// failure is an answer that is no success.
type failure struct {
	status  int
	code    string
	message string
	details []detail
}

// detail names a field that is wrong.
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

// route serves the methods of one path.
func (a *api) route(methods map[string]handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http leaves the body out
		}
		h, ok := methods[method]
		if !ok {
			w.Header().Set("Allow", allowed(methods))
			a.fail(w, r, &failure{status: http.StatusMethodNotAllowed, code: "METHOD_NOT_ALLOWED", message: "this method is not allowed here"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		body, err := h(r)
		switch {
		case err != nil:
			a.fail(w, r, err)
		case body == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			a.respond(w, r, http.StatusOK, body)
		}
	})
}

func allowed(methods map[string]handler) string {
	names := make([]string, 0, len(methods)+1)
	for name := range methods {
		names = append(names, name)
		if name == http.MethodGet {
			names = append(names, http.MethodHead)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (a *api) notFound(w http.ResponseWriter, r *http.Request) {
	a.fail(w, r, &failure{status: http.StatusNotFound, code: "NOT_FOUND", message: "there is no such route"})
}

// unclean answers paths that the mux would redirect as unknown: nothing here
// redirects.
func unclean(next http.Handler, unknown http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			unknown(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (a *api) respond(w http.ResponseWriter, r *http.Request, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // the caller is gone if it fails
}

// errorBody is the form of every error.
type errorBody struct {
	StatusCode int      `json:"statusCode"`
	Message    string   `json:"message"`
	Error      string   `json:"error"`
	Timestamp  string   `json:"timestamp"`
	Path       string   `json:"path"`
	Details    []detail `json:"details,omitempty"`
}

// fail answers an error. What is nobody's mistake but ours is logged and not
// told.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := translate(err)
	if f.status == http.StatusInternalServerError && r.Context().Err() == nil {
		a.config.Logger.LogAttrs(r.Context(), slog.LevelError, "control call failed", slog.Any("error", err))
	}
	writeFailure(w, r.URL.Path, a.config.Now(), f)
}

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

// translate is the one table from the platform's errors to answers.
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

// decode reads the body, a JSON object, into the struct that v points to. Where
// optional is true the body may be empty. null counts as absent; a field that
// is not known and a wrong type are refused.
func decode(r *http.Request, v any, optional bool) error {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if optional && strings.TrimSpace(string(raw)) == "" {
		return nil
	}
	// A name that is not known is a name that was misspelt.
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(v)
	if err == nil && decoder.More() {
		return validation(detail{"body", "must be one JSON object"})
	}
	if err != nil {
		if field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return validation(detail{strings.Trim(field, `"`), "is no field of this operation"})
		}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return validation(detail{wrong.Field, "must not be a " + wrong.Value})
		}
		if _, ok := errors.AsType[base64.CorruptInputError](err); ok {
			return validation(detail{"body", "has a field whose base64 is not valid"})
		}
		return validation(detail{"body", "must be a JSON object"})
	}
	return nil
}

// seconds is a duration as people write it in a body.
func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
