// Files that come with a form.

package frame

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/recado-project/recado/internal/gateway"
)

// MaxFields bounds what a form with a file has beside the file, in bytes.
const MaxFields = 256 << 10

// formMemory is how much of a form is held in memory while it is read.
const formMemory = 1 << 20

// ReadForm reads a form that may come with a file. limit is what the file may have, in bytes, of
// which a refusal speaks; the route bounds the body. Whoever calls it calls done at the end, which
// removes what the file takes on the disk.
func (r *Request) ReadForm(limit int64) (done func(), err error) {
	if err := r.ParseMultipartForm(formMemory); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the file may have %d bytes at most", limit)
		}
		return nil, gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "the form can't be read")
	}
	return func() {
		if r.MultipartForm != nil {
			_ = r.MultipartForm.RemoveAll()
		}
	}, nil
}

// File returns the file of a field as a data URI, and the name that its owner has for it. Its error
// is Invalid if none was chosen. ReadForm has read the form.
func (r *Request) File(field string) (dataURI, name string, err error) {
	file, header, err := r.FormFile(field)
	if err != nil {
		return "", "", gateway.InvalidFields(gateway.FieldError{Field: field, Message: "choose a file"})
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		return "", "", fmt.Errorf("frame: read file: %w", err)
	}
	mediaType, _, err := mime.ParseMediaType(header.Header.Get("Content-Type"))
	if err != nil {
		mediaType = "application/octet-stream"
	}
	return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(content), header.Filename, nil
}
