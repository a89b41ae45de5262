package api_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
)

// document is a body whose file has that many bytes.
func document(bytes int) string {
	return `{"to":"5511988887766","document":"data:text/plain;base64,` + strings.Repeat("AAAA", bytes/3) + `"}`
}

// held sends a body except its last byte, and returns a function that sends that.
func held(t *testing.T, f *fixture, path, key, body string) (finish func() *httptest.ResponseRecorder) {
	t.Helper()
	from, to := io.Pipe()
	made := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, from)
	made.ContentLength = -1
	made.Header.Set("X-Api-Key", key)
	recorder, answered := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(answered)
		f.handler.ServeHTTP(recorder, made)
		_ = from.Close() // a body that is not wanted to its end
	}()
	// A write to a pipe returns when it was read: after two writes the first is held.
	for _, piece := range []string{body[:len(body)-2], body[len(body)-2 : len(body)-1]} {
		if _, err := io.WriteString(to, piece); err != nil {
			break
		}
	}
	return func() *httptest.ResponseRecorder {
		_, _ = io.WriteString(to, body[len(body)-1:])
		_ = to.Close()
		<-answered
		return recorder
	}
}

// The bytes of bodies in progress are bounded: for all accounts together, for each, and for each key
// of it; a body that ends makes room again.
func TestBodiesUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	stub := &outcome{result: sentResult()}
	f := newFixture(t, func(c *api.Config) {
		c.Messages, c.MaxMedia, c.Limits = stub, size, always(api.Limits{Bodies: 8 * size})
	})
	path := "/api/message/" + f.newInstance(t) + "/document"
	other := f.newKey(t, access.KeyParams{AccountID: f.account.ID, Name: "other"})
	third := f.newKey(t, access.KeyParams{AccountID: f.account.ID, Name: "third"})
	blue, err := f.access.EnsureAccount(t.Context(), "blue")
	if err != nil {
		t.Fatal(err)
	}
	stranger := f.newKey(t, access.KeyParams{AccountID: blue.ID})
	var finish []func() *httptest.ResponseRecorder
	hold := func(key string) { finish = append(finish, held(t, f, path, key, document(size-999))) }
	refuse := func(key, says string) {
		t.Helper()
		r := request{method: post, path: path, key: key, body: document(size - 999)}
		got := f.do(t, r)
		body := wantRefusal(t, r, got, http.StatusServiceUnavailable, gateway.CodeUnavailable)
		if !strings.HasPrefix(body.Message, says) || got.Header().Get("Retry-After") != "1" {
			t.Errorf("it says %q, Retry-After %q", body.Message, got.Header().Get("Retry-After"))
		}
	}
	answer := func(key string, status int) {
		t.Helper()
		if got := f.do(t, request{method: post, path: path, key: key, body: document(size - 999)}); got.Code != status {
			t.Errorf("answered %d %s, want %d", got.Code, got.Body, status)
		}
	}
	for range 4 {
		hold(f.key)
	}
	refuse(f.key, "this API key has")
	answer(other, http.StatusCreated)
	hold(other)
	hold(other)
	refuse(third, "this account has")
	answer(stranger, http.StatusForbidden) // its body was read
	stay := []func() *httptest.ResponseRecorder{held(t, f, path, stranger, document(size-999)), held(t, f, path, stranger, document(size-999))}
	refuse(stranger, "the gateway has")
	for _, done := range stay {
		done()
	}
	for _, done := range finish {
		if got := done(); got.Code != http.StatusCreated {
			t.Errorf("a body that was let in is answered %d %s", got.Code, got.Body)
		}
	}
	for _, key := range []string{f.key, other, third} {
		answer(key, http.StatusCreated)
	}
}

// A body that brings no more bytes is given up, and its connection closed.
func TestBodyThatStallsIsGivenUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(c *api.Config) { c.BodyPatience = 20 * time.Millisecond })
	server := httptest.NewUnstartedServer(nil)
	server.Config = contract.NewHTTPServer(f.handler, newDiscardLogger())
	server.Start()
	defer server.Close()
	from, to := io.Pipe()
	defer func() { _ = to.Close() }()
	// Sooner than the server's own time for reading, which would end the request as well.
	late := time.AfterFunc(30*time.Second, func() { _ = to.CloseWithError(errors.New("it was not given up")) })
	defer late.Stop()
	made, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/api/message/"+f.newInstance(t)+"/image", from)
	if err != nil {
		t.Fatal(err)
	}
	made.Header.Set("X-Api-Key", f.key)
	go func() { _, _ = io.WriteString(to, `{"image":"data:;base64,AAAA`) }()
	response, err := http.DefaultTransport.RoundTrip(made)
	if err != nil {
		t.Fatal(err)
	}
	defer closeBody(t, response)
	if text := readAll(t, response.Body); response.StatusCode != http.StatusBadRequest || !strings.Contains(text, "could not be read to its end") {
		t.Errorf("answered %d %s", response.StatusCode, text)
	}
}

// An error names a bounded number of fields, and says how many more there are.
func TestErrorsStaySmall(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	id := f.newInstance(t)
	for _, test := range []struct {
		path, body string
		details    int
		ends       string
	}{
		{"/api/instances/" + id + "/check-numbers", `{"numbers":[` + strings.Repeat("0,", 400) + `0]}`, 20, "; and 381 more"},
		{"/api/instances/" + id + "/check-numbers", `{"numbers":[` + strings.Repeat("0,", 1<<18) + `0]}`, 1, "numbers must have 500 items or less"},
		{"/api/instances/" + id + "/check-numbers", `{"numbers":[` + strings.Repeat("{},", 1<<18) + `0]}`, 1, "numbers must have 500 items or less"},
		{"/api/partner/api-keys", `{"name":"a","instanceIds":[` + strings.Repeat(`"x",`, 999) + `"x"]}`, 20, "; and 980 more"},
		{"/api/partner/api-keys", `{"name":"a","instanceIds":[` + strings.Repeat(`"x",`, 1000) + `"x"]}`, 1, "instanceIds must have 1000 items or less"},
	} {
		r := request{method: post, path: test.path, key: f.partner, body: test.body}
		body := wantRefusal(t, r, f.do(t, r), http.StatusBadRequest, gateway.CodeValidation)
		if len(body.Details) != test.details || !strings.HasSuffix(body.Message, test.ends) {
			t.Errorf("%.40s: %d details, %.200q", test.body, len(body.Details), body.Message)
		}
	}
}

// Unknown fields cost no more than their bytes.
//
//nolint:paralleltest // allocations can be counted in one test at a time
func TestUnknownFieldsAreNotBuilt(t *testing.T) {
	f := newFixture(t, func(c *api.Config) { c.Messages = sends{} })
	f.loose = true // only the API's own allocations count
	path := "/api/message/" + f.newInstance(t) + "/text"
	body := func(more string) string { return `{"to":"5511988887766",` + more + `"message":"Oi"}` }
	allocated := func(body string) float64 {
		return testing.AllocsPerRun(3, func() {
			if got := f.do(t, request{method: post, path: path, key: f.key, body: body}); got.Code != http.StatusCreated {
				t.Fatalf("answered %d %s", got.Code, got.Body)
			}
		})
	}
	plain := allocated(body(""))
	for _, value := range []string{"[" + strings.Repeat("{},", 1<<17) + "0]", "{" + strings.Repeat(`"a":{"b":[1]},`, 1<<15) + `"c":1e999}`} {
		if more := allocated(body(fmt.Sprintf(`"other":%s,`, value))) - plain; more > 100 {
			t.Errorf("%.20s: %.0f allocations more", value, more)
		}
	}
}
