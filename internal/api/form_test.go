package api_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime/multipart"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/api"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
	"github.com/recado-project/recado/internal/testkit/cases"
)

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
