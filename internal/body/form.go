// Bodies of multipart/form-data: a file as it is, and the other fields as parts.

package body

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// FilePart is the part with the file. One with a file under the name of the media field
	// does too.
	FilePart = "file"

	// fileNameField is the field that the name of the file fills, where it is left out.
	fileNameField = "fileName"
	// maxParts bounds how many parts a form has: the longest list, and the other fields.
	maxParts = 200
)

// Fields returns the texts of a form by their names; nil where the body is none.
func (b *Body) Fields() url.Values {
	if b == nil || b.form == nil {
		return nil
	}
	fields := url.Values{}
	for _, part := range b.form.parts {
		fields.Add(part.name, part.value)
	}
	return fields
}

// FileName returns the name of the file of a form, as its owner has it; empty for none.
func (b *Body) FileName() string {
	if b == nil || b.form == nil {
		return ""
	}
	return b.form.fileName
}

// form is what a body of multipart/form-data holds beside its file.
type form struct {
	parts    []formPart
	size     int64  // of names and values
	fileName string // as the client gave it; empty for none
}

// formPart is a part with a text.
type formPart struct{ name, value string }

// FormType is the type of forms with files.
const FormType = "multipart/form-data"

// boundaryOf returns what separates the parts of a form by the type of the body; empty if it
// is no form.
func boundaryOf(request *http.Request) string {
	kind, parameters, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	if err != nil || kind != FormType {
		return ""
	}
	return parameters["boundary"]
}

// beginsForm reports whether a body is a form, whatever its type says: JSON is read as JSON.
func beginsForm(from *bufio.Reader) bool {
	head, err := from.Peek(2)
	return err == nil && string(head) == "--"
}

// readForm reads a form. Its errors are TooLarge, Unavailable, and Invalid, also where from
// fails; else it could not be kept.
func (r *Reader) readForm(b *Body, from io.Reader, boundary string) error {
	b.form = &form{}
	parts := multipart.NewReader(from, boundary)
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return invalidForm()
		case n == maxParts:
			return gateway.InvalidField("body", fmt.Sprintf("must have %d parts or less", maxParts))
		}
		if name := part.FormName(); name == FilePart || name == b.sieve.field && part.FileName() != "" {
			err = r.readFile(b, part)
		} else {
			err = b.readText(part, name)
		}
		if err != nil {
			return err
		}
	}
}

// readFile copies the file of a form into a temporary file.
func (r *Reader) readFile(b *Body, part *multipart.Part) (err error) {
	if b.sieve.media != nil {
		return gateway.InvalidField(FilePart, "must be given once")
	}
	if b.sieve.media, err = newInlineMedia(b.sieve.temp, declaredType(part.Header.Get("Content-Type"))); err != nil {
		return err
	}
	b.form.fileName = part.FileName()
	piece := make([]byte, block)
	for {
		n, err := part.Read(piece)
		if err := b.sieve.media.write(piece[:n]); err != nil {
			return err
		}
		if b.sieve.media.size > r.config.MaxMedia {
			return gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the media has more than %d bytes", r.config.MaxMedia)
		}
		if err := b.hold.Grow(b.held()); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return invalidForm()
		}
	}
}

// declaredType is the type of a part as a data URI can have it; empty for none.
func declaredType(given string) string {
	if _, _, err := mime.ParseMediaType(given); err != nil || len(given) > maxDataHead/2 || strings.ContainsAny(given, ",\x00") {
		return ""
	}
	return given
}

// readText reads a part with a text.
func (b *Body) readText(part *multipart.Part, name string) error {
	value, err := io.ReadAll(io.LimitReader(part, besideMedia+1))
	if err != nil {
		return invalidForm()
	}
	if b.form.size += int64(len(name) + len(value)); b.form.size > besideMedia {
		return besideTooLarge()
	}
	b.form.parts = append(b.form.parts, formPart{name: name, value: string(value)})
	return b.hold.Grow(b.held())
}

// write makes JSON of a form, as the schema wants it, so that it is checked as every body is.
// It leaves values that are not of their type as texts, which the check refuses.
func (f *form) write(into *bytes.Buffer, rules Rules, media *sieve) []error {
	fields := map[string]json.RawMessage{}
	var errs []error
	add := func(name string, value any) {
		encoded, err := json.Marshal(value)
		if err != nil {
			errs = append(errs, err)
		}
		fields[name] = encoded
	}
	schema := resolve(rules.Registry, rules.Schema)
	if media.media != nil {
		sum, err := media.media.finish()
		if err != nil {
			return []error{err}
		}
		add(media.field, dataScheme+media.media.declared+dataMarker+","+sum)
		if _, named := schema.Properties[fileNameField]; named && f.fileName != "" {
			add(fileNameField, f.fileName)
		}
	}
	lists, given := map[string][]json.RawMessage{}, map[string]bool{}
	for _, part := range f.parts {
		if !utf8.ValidString(part.name) || !utf8.ValidString(part.value) {
			errs = append(errs, Wrong(gateway.CleanName(part.name), "must be UTF-8"))
			continue
		}
		property, known := propertyOf(schema, part.name)
		if property = resolveKnown(rules.Registry, property, known); property.Type == huma.TypeArray {
			lists[part.name] = append(lists[part.name], formValue(resolve(rules.Registry, property.Items), part.value))
			continue
		}
		errs = append(errs, once(given, part.name)...)
		fields[part.name] = formValue(property, part.value)
	}
	for name, items := range lists {
		errs = append(errs, once(given, name)...)
		add(name, items)
	}
	if media.media != nil && given[media.field] {
		errs = append(errs, Wrong(media.field, "must be given once"))
	}
	if encoded, err := json.Marshal(fields); err != nil {
		errs = append(errs, err)
	} else {
		into.Write(encoded)
	}
	return errs
}

// once notes that a field was given, and refuses it if it was before.
func once(given map[string]bool, name string) []error {
	if given[name] {
		return []error{Wrong(gateway.CleanName(name), "must be given once")}
	}
	given[name] = true
	return nil
}

// resolveKnown returns the schema of a field; an empty one for an unknown field.
func resolveKnown(registry huma.Registry, property *huma.Schema, known bool) *huma.Schema {
	if !known {
		return &huma.Schema{}
	}
	return resolve(registry, property)
}

// formValue is the JSON of a text in a form: of another type, where that is wanted and the
// text is one.
func formValue(schema *huma.Schema, text string) json.RawMessage {
	wanted := ""
	switch schema.Type {
	case huma.TypeBoolean:
		wanted = "tf"
	case huma.TypeInteger, huma.TypeNumber:
		wanted = "-0123456789"
	case huma.TypeObject:
		wanted = "{"
	}
	if text != "" && strings.IndexByte(wanted, text[0]) >= 0 && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a text that is UTF-8 can be encoded
	return quoted
}

func besideTooLarge() error {
	return gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the body has more than %d bytes besides its media", besideMedia)
}

// invalidForm is the error for a form that can't be taken apart.
func invalidForm() error {
	return gateway.InvalidField("body", "is not valid multipart/form-data")
}
