package api_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// document is a body whose file has that many bytes.
func document(size int) string {
	return `{"to":"5511988887766","document":"data:text/plain;base64,` + strings.Repeat("AAAA", size/3) + `"}`
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

// formOf writes a form. A part whose name ends with @ is a file under that name.
func formOf(t *testing.T, parts ...[2]string) (body, contentType string) {
	t.Helper()
	var written bytes.Buffer
	form := multipart.NewWriter(&written)
	for _, part := range parts {
		var err error
		if name, isFile := strings.CutSuffix(part[0], "@"); isFile {
			var into io.Writer
			if into, err = form.CreateFormFile(name, "invoice 1.pdf"); err == nil {
				_, err = io.WriteString(into, part[1])
			}
		} else {
			err = form.WriteField(part[0], part[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return written.String(), form.FormDataContentType()
}

// What a form holds is what JSON holds, and is checked as JSON is.
func TestForms(t *testing.T) {
	t.Parallel()
	stub := &outcome{result: sentResult()}
	f, id := newStub(t, stub)
	to := [2]string{"to", "+55 11 98888-7766"}
	const octets = "application/octet-stream"
	send := func(kind string, parts ...[2]string) request {
		body, contentType := formOf(t, parts...)
		return request{
			method: post, path: "/api/message/" + id + "/" + kind, key: f.key, body: body, header: http.Header{"Content-Type": {contentType}},
		}
	}
	for name, test := range cases.Sorted(map[string]struct {
		request request
		kind    gateway.MessageType
		want    messaging.MediaParams
		file    string // its declared type; "-" for none, empty: no file
	}{
		"a file":               {send("image", to, [2]string{"file@", "bytes"}, [2]string{"viewOnce", "true"}, [2]string{"caption", "1"}), gateway.TypeImage, messaging.MediaParams{Field: "image", Caption: "1", ViewOnce: true}, octets},
		"under the field":      {send("image", [2]string{"image@", "bytes"}, to), gateway.TypeImage, messaging.MediaParams{Field: "image"}, octets},
		"a file without name":  {send("document", to, [2]string{"file", "bytes"}), gateway.TypeDocument, messaging.MediaParams{Field: "document"}, "-"},
		"the name of the file": {send("document", to, [2]string{"file@", "bytes"}), gateway.TypeDocument, messaging.MediaParams{Field: "document", FileName: "invoice 1.pdf"}, octets},
		"a name of its own":    {send("document", to, [2]string{"fileName", "a.txt"}, [2]string{"file@", "bytes"}), gateway.TypeDocument, messaging.MediaParams{Field: "document", FileName: "a.txt"}, octets},
		"a URL":                {send("image", to, [2]string{"image", "https://shop.example/a.png"}), gateway.TypeImage, messaging.MediaParams{Field: "image", Input: "https://shop.example/a.png"}, ""},
		"fields of no use":     {send("image", to, [2]string{"file@", "bytes"}, [2]string{"other", "x"}), gateway.TypeImage, messaging.MediaParams{Field: "image"}, octets},
	}) {
		wantJSON(t, f.do(t, test.request), http.StatusCreated, sentBody)
		if test.file != "" {
			test.want.Input = "data:" + strings.Trim(test.file, "-") + ";base64," + base64.StdEncoding.EncodeToString([]byte("bytes"))
		}
		if got := stub.last(); got.kind != test.kind || !reflect.DeepEqual(got.media, test.want) {
			t.Errorf("%s: asked %+v\nwant %+v", name, got.media, test.want)
		}
	}
}

func TestFormsThatAreRefused(t *testing.T) {
	t.Parallel()
	stub := &outcome{result: sentResult()}
	f := newFixture(t, func(c *api.Config) { c.Messages, c.MaxMedia = stub, 1000 })
	id := f.newInstance(t)
	to, file := [2]string{"to", "5511988887766"}, [2]string{"file@", "bytes"}
	many := [][2]string{to, file}
	for range 300 {
		many = append(many, [2]string{"mentions", "5511988887766"})
	}
	for name, test := range cases.Sorted(map[string]struct {
		parts [][2]string
		cut   int // bytes that are missing at the end
		want  string
	}{
		"two files":          {[][2]string{to, file, file}, 0, "file must be given once"},
		"a file and a URL":   {[][2]string{to, file, {"image", "https://a"}}, 0, "image must be given once"},
		"a field twice":      {[][2]string{to, to, file}, 0, "to must be given once"},
		"no file":            {[][2]string{to}, 0, "image is required"},
		"an empty file":      {[][2]string{to, {"file@", ""}}, 0, "image must not be empty"},
		"no recipient":       {[][2]string{file}, 0, "to is required"},
		"a wrong boolean":    {[][2]string{to, file, {"viewOnce", "yes"}}, 0, "viewOnce must be"},
		"no UTF-8":           {[][2]string{to, file, {"caption", "\xff"}}, 0, "caption must be UTF-8"},
		"too many mentions":  {many, 0, "parts or less"},
		"cut off":            {[][2]string{to, file}, 10, "is not valid multipart/form-data"},
		"a zero in a text":   {[][2]string{to, file, {"caption", "a\x00"}}, 0, "caption must not contain U+0000"},
		"too large":          {[][2]string{to, {"file@", strings.Repeat("a", 1001)}}, 0, "the media has more than 1000 bytes"},
		"too much beside it": {[][2]string{to, file, {"other", strings.Repeat("a", 1<<20)}}, 0, "more than"},
	}) {
		body, contentType := formOf(t, test.parts...)
		r := request{
			method: post, path: "/api/message/" + id + "/image", key: f.key, body: body[:len(body)-test.cut], header: http.Header{"Content-Type": {contentType}},
		}
		got := f.do(t, r)
		if got.Code != http.StatusBadRequest && got.Code != http.StatusRequestEntityTooLarge || !strings.Contains(got.Body.String(), test.want) {
			t.Errorf("%s: %d %s, want %q", name, got.Code, got.Body, test.want)
		}
	}
	// The contract reads JSON, whatever the type says.
	r := request{
		method: post, path: "/api/message/" + id + "/image", key: f.key, body: `{"to":"5511988887766","image":"https://a"}`,
		header: http.Header{"Content-Type": {"multipart/form-data; boundary=x"}},
	}
	wantJSON(t, f.do(t, r), http.StatusCreated, sentBody)
}

// Whatever is in a form, the gateway does not fail internally.
func FuzzForms(f *testing.F) {
	const begin = "--x\r\nContent-Disposition: form-data; name=\""
	f.Add(begin + "to\"\r\n\r\n5511988887766\r\n" + begin + "file\"; filename=\"a\"\r\nContent-Type: image/png\r\n\r\nbytes\r\n--x--\r\n")
	f.Add(begin + "mentions\"\r\n\r\n1\r\n" + begin + "viewOnce\"\r\n\r\ntrue\r\n--x--\r\n")
	f.Add(begin + "sendAt\"\r\n\r\n{}\r\n" + begin + "\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=FF\r\n--x--")
	f.Add("--x--\r\n")
	f.Add("--x\r\n\r\n\r\n--x\r\n")
	stub := &outcome{result: sentResult()}
	fixture := newFixture(f, func(c *api.Config) { c.Messages = stub })
	id := fixture.newInstance(f)
	f.Fuzz(func(t *testing.T, body string) {
		got := fixture.do(t, request{
			method: post, path: "/api/message/" + id + "/document", key: fixture.key, body: body,
			header: http.Header{"Content-Type": {"multipart/form-data; boundary=x"}},
		})
		if got.Code >= http.StatusInternalServerError {
			t.Fatalf("%q: %d %s", body, got.Code, got.Body)
		}
	})
}

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
