// Strict reading of a request's body.

package control

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxBody bounds a request in bytes. The largest one has a file in it, in base64.
const maxBody = maxMedia/3*4 + 1<<20

// decode reads the body, a JSON object, into the struct that v points to. If
// optional is true, the body may be empty. null counts as absent. Unknown fields
// and wrong types are refused.
func decode(r *http.Request, v any, optional bool) error {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	if optional && strings.TrimSpace(string(raw)) == "" {
		return nil
	}
	// An unknown name is usually a misspelt one.
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

// seconds converts seconds in a body to a duration.
func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
