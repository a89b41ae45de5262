// Files that come with a form.

package frame

import (
	"log/slog"
	"mime"

	"github.com/recado-project/recado/internal/body"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

// MaxFields bounds what a form with a file has beside the file, in bytes.
const MaxFields = 256 << 10

// ReadForm reads a form that may come with a file, in a field of that name. The file goes to the disk,
// within the bounds of all bodies of requests. Its errors are those of body.Reader. Its caller
// calls done at the end, which removes the file.
func (r *Request) ReadForm(field string) (done func(), err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != body.FormType {
		if err := r.ParseForm(); err != nil {
			return nil, gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "the form can't be read")
		}
		return func() {}, nil
	}
	read, err := r.pages.config.Shares.Bodies.Read(r.W, r.Request, field)
	done = func() {
		if err := read.Close(); err != nil {
			r.pages.config.Logger.WarnContext(r.Context(), "the file of a form is still on the disk; the next start removes it", slog.Any("error", err))
		}
	}
	if err != nil {
		done()
		return nil, err
	}
	r.form = read
	r.PostForm = read.Fields()
	r.Form = read.Fields()
	for name, values := range r.URL.Query() {
		r.Form[name] = append(r.Form[name], values...)
	}
	return done, nil
}

// File returns the file of a form and the name that its owner has for it. Its error is Invalid, of that
// field, if none was chosen. ReadForm has read the form.
func (r *Request) File(field string) (file *media.Decoded, name string, err error) {
	if file = r.form.Media(); file == nil || file.Size == 0 {
		return nil, "", gateway.InvalidField(field, "choose a file")
	}
	return file, r.form.FileName(), nil
}
