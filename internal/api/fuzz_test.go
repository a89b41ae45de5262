package api_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/api"
)

// Whatever is in a body, the gateway does not fail internally.
func FuzzBodies(f *testing.F) {
	var kinds []string
	for _, r := range everyOperation("I") {
		if r.body != "" && r.isAbout("I") {
			f.Add(len(kinds), r.body)
			kinds = append(kinds, r.method+" "+r.path)
		}
	}
	for i := range kinds {
		f.Add(i, `{"to":null,"contact":{"fullName":[]},"numbers":[{}],"latitude":1e999,"image":"data:;base64,A"}`)
		f.Add(i, `{"to":"5511988887766","image":"data:`+strings.Repeat(";base64,", 3)+`"}`)
		f.Add(i, strings.Repeat(`[`, 100))
		f.Add(i, "{\"to\":\"\xff\",\"messageId\":\"_\",\"reaction\":\"\xf0\x9f\"}")
	}
	stub := &outcome{result: sentResult()}
	fixture := newFixture(f, func(c *api.Config) { c.Messages, c.Directory, c.Groups = stub, stub, groupStub{stub} })
	id := fixture.newInstance(f)
	f.Fuzz(func(t *testing.T, index int, body string) {
		method, path, _ := strings.Cut(kinds[((index%len(kinds))+len(kinds))%len(kinds)], " ")
		if strings.HasSuffix(path, "/pairing-code") || strings.HasSuffix(path, "/payment") {
			return // these have real use cases behind them
		}
		r := request{method: method, path: strings.Replace(path, "/I/", "/"+id+"/", 1), key: fixture.key, body: body}
		got := fixture.do(t, r)
		if got.Code >= http.StatusInternalServerError {
			t.Fatalf("%s %s %q: %d %s", method, path, body, got.Code, got.Body)
		}
	})
}

// Whatever is in a path segment, the gateway does not fail internally.
func FuzzSegments(f *testing.F) {
	for _, text := range []string{"5511988887766", "+14155550123", "77@lid", "1-2@g.us", "true_77@lid_3EB0", "\x00", "\xff", " ", "..", ".", "a/b", "%", "?#"} {
		f.Add(text)
	}
	stub := &outcome{}
	fixture := newFixture(f, func(c *api.Config) { c.Messages, c.Directory, c.Groups = stub, stub, groupStub{stub} })
	id := fixture.newInstance(f)
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return // not a segment
		}
		for _, path := range []string{
			"GET /api/instances/" + id + "/contacts/{}/profile-picture", "POST /api/instances/" + id + "/contacts/{}/block",
			"GET /api/instances/" + id + "/groups/{}", "GET /api/instances/" + id + "/group-invites/{}",
			"PUT /api/instances/" + id + "/communities/{}/groups/{}", "GET /api/message/" + id + "/media-download-link/{}",
		} {
			method, path, _ := strings.Cut(strings.ReplaceAll(path, "{}", url.PathEscape(text)), " ")
			if got := fixture.do(t, request{method: method, path: path, key: fixture.key}); got.Code >= http.StatusInternalServerError {
				t.Fatalf("%s %s: %d %s", method, path, got.Code, got.Body)
			}
		}
	})
}
