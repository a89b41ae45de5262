package forward

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Which instance a request is for, and whether any node may answer it. A file that may still
// have to be fetched needs the session of its instance; one that is kept does not.
func TestRoutes(t *testing.T) {
	t.Parallel()
	const id = "01a20f5e-257a-76b2-996d-947b609d93a4"
	for _, test := range []struct {
		method, target string
		instance       string
		anywhere       bool
	}{
		{http.MethodGet, "/api/instances/" + id, id, true},
		{http.MethodPatch, "/api/instances/" + id, id, false},
		{http.MethodGet, "/api/instances/" + id + "/chats", id, false},
		{http.MethodPost, "/api/message/" + id + "/text", id, false},
		{http.MethodGet, "/media/" + id + "/m?expires=1&name=a&signature=x", id, true},
		{http.MethodHead, "/media/" + id + "/m?expires=1&name=a&signature=x", id, true},
		{http.MethodGet, "/media/" + id + "/m?expires=1&name=&fetch=true&signature=x", id, false},
		{http.MethodPost, "/media/" + id + "/m?expires=1", id, false},
		{http.MethodGet, "/api/partner/webhooks/" + id, "", false},
		{http.MethodGet, "/media/no-instance/m", "", true},
	} {
		request := httptest.NewRequestWithContext(t.Context(), test.method, test.target, http.NoBody)
		if got := instanceOf(request.URL.Path); got != test.instance {
			t.Errorf("%s is for %q, want %q", test.target, got, test.instance)
		}
		if got := anywhere(request); got != test.anywhere {
			t.Errorf("%s %s may be answered anywhere: %t", test.method, test.target, got)
		}
	}
}
