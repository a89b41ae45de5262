// Which instance a request is for, and who may answer it.

package forward

import (
	"net/http"
	"strings"

	"github.com/google/uuid"
)

// prefixes are the beginnings of paths that an instance's identifier follows.
func prefixes() []string {
	return []string{"/api/instances/", "/api/message/", "/api/partner/instances/", "/instances/", "/media/"}
}

// instanceOf returns the identifier of the instance that a path names; empty if it names none.
func instanceOf(path string) string {
	for _, prefix := range prefixes() {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		id, _, _ := strings.Cut(rest, "/")
		if len(id) == 36 && uuid.Validate(id) == nil {
			return id
		}
	}
	return ""
}

// anywhere reports whether any node may answer a request for an instance, because the database has all
// that it asks for.
func anywhere(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if strings.HasPrefix(r.URL.Path, "/media/") { // only the instance's session fetches files
		return !r.URL.Query().Has("fetch")
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/api/instances/")
	return ok && !strings.Contains(rest, "/")
}

// isRepeatable reports whether a client can repeat a request that may have been carried out. Sends are
// repeatable with an Idempotency-Key; everything else that is done to messages is idempotent.
func isRepeatable(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPatch:
		return strings.HasPrefix(r.URL.Path, "/api/message/") && r.Header.Get("Idempotency-Key") != ""
	default:
		return true
	}
}

// isStream reports whether the answer to a request is a stream, which lasts as long as its reader likes.
// Nobody waits for a stream to end: its reader connects again.
func isStream(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/live") ||
		strings.HasPrefix(r.URL.Path, "/api/instances/") && strings.HasSuffix(r.URL.Path, "/events")
}
