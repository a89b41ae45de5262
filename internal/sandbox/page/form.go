// What browsers send in forms.

package page

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// read reads the form of a request, also one with a file. It must be called before the
// fields are asked for.
func (r *request) read() error {
	if err := r.ParseForm(); err != nil {
		return formError(err)
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return nil
	}
	// It is bounded, so it fits into memory: files of others are not left on the disk.
	if err := r.ParseMultipartForm(maxFile); err != nil {
		return formError(err)
	}
	return nil
}

// formError refuses a form that can't be read, unless it is too large.
func formError(err error) error {
	if _, ok := err.(*http.MaxBytesError); ok || strings.Contains(err.Error(), "too large") { //nolint:errorlint // multipart does not wrap it
		return &http.MaxBytesError{Limit: maxFile}
	}
	return refusal.Invalidf("", "the form can't be read")
}

// attachment is a file in a form.
type attachment struct {
	content  []byte
	name     string
	mimeType string
}

// file returns a file of the form, or nil if none was chosen.
func (r *request) file(field string) (*attachment, error) {
	if r.MultipartForm == nil || len(r.MultipartForm.File[field]) == 0 {
		return nil, nil
	}
	header := r.MultipartForm.File[field][0]
	opened, err := header.Open()
	if err != nil {
		return nil, formError(err)
	}
	defer func() { _ = opened.Close() }() // it was only read
	content, err := io.ReadAll(opened)
	if err != nil {
		return nil, formError(err)
	}
	if len(content) == 0 {
		return nil, nil
	}
	kind := header.Header.Get("Content-Type")
	if kind == "" || kind == "application/octet-stream" {
		kind = http.DetectContentType(content)
	}
	return &attachment{content: content, name: header.Filename, mimeType: kind}, nil
}

// field is a text of the form, without blanks around it.
func (r *request) field(name string) string { return strings.TrimSpace(r.Form.Get(name)) }

// on reports whether a box of the form is ticked.
func (r *request) on(name string) bool { return r.Form.Get(name) != "" }

// list is a text of the form as a list of numbers, or whatever else is separated by
// commas, semicolons and lines.
func (r *request) list(name string) []string {
	return strings.FieldsFunc(r.Form.Get(name), func(letter rune) bool { return strings.ContainsRune(",;\n\r", letter) })
}

// decimal is a number of the form, also with a decimal comma.
func (r *request) decimal(name string) (*float64, error) {
	value, err := strconv.ParseFloat(strings.Replace(r.field(name), ",", ".", 1), 64)
	if err != nil {
		return nil, refusal.Invalidf(name, "must be a number")
	}
	return &value, nil
}

// integer is a whole number of the form, or nil if the field is empty.
func (r *request) integer(name string) (*int64, error) {
	if r.field(name) == "" {
		return nil, nil
	}
	value, err := strconv.ParseInt(r.field(name), 10, 64)
	if err != nil {
		return nil, refusal.Invalidf(name, "must be a whole number")
	}
	return &value, nil
}

// maxDuration is what a form may ask for: ten years.
const maxDuration = 10 * 365 * 24 * time.Hour

// duration is a number of seconds in the form.
func (r *request) duration(name string) (time.Duration, error) {
	seconds, err := r.integer(name)
	if err != nil || seconds == nil {
		return 0, err
	}
	if *seconds < 0 || *seconds > int64(maxDuration/time.Second) {
		return 0, refusal.Invalidf(name, "must be between now and ten years from now")
	}
	return time.Duration(*seconds) * time.Second, nil
}

// place is the place of the message that the path names.
func (r *request) place() (int64, error) {
	at, err := strconv.ParseInt(r.PathValue("place"), 10, 64)
	if err != nil {
		return 0, refusal.NotFoundf("the phone shows no message in this place")
	}
	return at, nil
}

// side is the side of the page that a dialog belongs to.
func (r *request) side() string {
	if r.URL.Query().Get("side") == right {
		return right
	}
	return left
}

// chat is the chat that the path names.
func (r *request) chat() string { return r.PathValue("chat") }

// chatPath is the path of what can be done in that chat.
func (r *request) chatPath() string {
	return phonePath(r.number()) + "/chats/" + url.PathEscape(r.chat())
}
