package body_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// Bodies of other tools are read without a schema, with media as they write it.
func TestObjectsAreReadWithoutASchema(t *testing.T) {
	t.Parallel()
	file := strings.Repeat("what is in the file ", 5000)
	encoded := base64.StdEncoding.EncodeToString([]byte(file))
	form := "--x\r\nContent-Disposition: form-data; name=\"number\"\r\n\r\n55\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n" + file + "\r\n--x--\r\n"
	for name, test := range cases.Sorted(map[string]struct {
		body, contentType string
		want              map[string]any
		media             string
		wrong             string // words of the error
	}{
		"nothing":         {want: map[string]any{}},
		"bare base64":     {body: `{"number":"55","media":"` + encoded + `"}`, want: map[string]any{"number": "55"}, media: file},
		"data URI":        {body: `{"media":"data:text/plain;base64,` + encoded + `","number":5}`, want: map[string]any{"number": 5.0}, media: file},
		"URL":             {body: `{"media":"https://example.org/a.png"}`, want: map[string]any{"media": "https://example.org/a.png"}},
		"short":           {body: `{"media":"aGVsbG8="}`, want: map[string]any{"media": "aGVsbG8="}},
		"deeper":          {body: `{"a":{"media":"` + encoded[:40] + `"}}`, want: map[string]any{"a": map[string]any{"media": encoded[:40]}}},
		"form":            {body: form, contentType: "multipart/form-data; boundary=x", want: map[string]any{"number": "55"}, media: file},
		"no object":       {body: `[1]`, wrong: "JSON object"},
		"null":            {body: `null`, wrong: "JSON object"},
		"broken":          {body: `{"media":"` + encoded[:400], wrong: "JSON object"},
		"not base64":      {body: `{"media":"` + encoded[:400] + `!!"}`, wrong: "valid base64"},
		"form not UTF-8":  {body: strings.Replace(form, "55", "\xff", 1), contentType: "multipart/form-data; boundary=x", wrong: "UTF-8"},
		"escaped slashes": {body: `{"media":"` + strings.ReplaceAll(encoded, "/", `\/`) + `"}`, want: map[string]any{}, media: file},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(test.body))
			request.Header.Set("Content-Type", test.contentType)
			read, err := body.NewReader(body.Config{TempDir: t.TempDir()}).ReadBare(httptest.NewRecorder(), request, "media")
			t.Cleanup(func() {
				if err := read.Close(); err != nil {
					t.Error(err)
				}
			})
			var got map[string]any
			if err == nil {
				got, err = read.Object()
			}
			switch {
			case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)), test.wrong == "" && err != nil:
				t.Fatalf("the error is %v", err)
			case test.wrong == "" && !reflect.DeepEqual(got, test.want):
				t.Errorf("got %v", got)
			}
			media := ""
			if m := read.Media(); m != nil && err == nil {
				content, err := io.ReadAll(io.NewSectionReader(m.Content, 0, m.Size))
				if err != nil {
					t.Fatal(err)
				}
				media = string(content)
			}
			if media != test.media {
				t.Errorf("the media has %d bytes, want %d", len(media), len(test.media))
			}
		})
	}
}

// A body that is JSON is given as it was sent; a form is none.
func TestJSONIsGivenAsItWasSent(t *testing.T) {
	t.Parallel()
	for name, test := range cases.Sorted(map[string]struct{ body, contentType, field, want string }{
		"an object":  {body: `{"a": [1]}`, want: `{"a": [1]}`},
		"no JSON":    {body: `a=b`, want: `a=b`},
		"no field":   {body: `{"media":"https://example.org"}`, field: "media", want: `{"media":"https://example.org"}`},
		"a form":     {body: "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--\r\n", contentType: "multipart/form-data; boundary=x", field: "media"},
		"no content": {},
	}) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(test.body))
		request.Header.Set("Content-Type", test.contentType)
		read, err := body.NewReader(body.Config{TempDir: t.TempDir()}).Read(httptest.NewRecorder(), request, test.field)
		got := string(read.JSON())
		if closed := read.Close(); err != nil || closed != nil || got != test.want {
			t.Errorf("%s: %q (%v, %v)", name, got, err, closed)
		}
	}
	var none *body.Body
	if got := none.JSON(); got != nil {
		t.Errorf("of no body: %q", got)
	}
}
