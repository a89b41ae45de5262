// Bodies that no schema describes.

package body

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/recado-project/recado/internal/gateway"
)

// Object returns the fields of a JSON object as encoding/json decodes them, or of a form as texts; none of
// an empty body. The field with the media that Media returns is not among them. Its errors are Invalid. A
// client that means several values of a form writes them as JSON: of fields with the same name the last counts.
func (b *Body) Object() (map[string]any, error) {
	fields := map[string]any{}
	switch {
	case b == nil:
		return fields, nil
	case b.form != nil:
		for _, part := range b.form.parts {
			if !utf8.ValidString(part.name) || !utf8.ValidString(part.value) {
				return nil, gateway.InvalidField(gateway.CleanName(part.name), "must be UTF-8")
			}
			fields[part.name] = part.value
		}
	case len(bytes.TrimSpace(b.json.Bytes())) > 0:
		if err := json.Unmarshal(b.json.Bytes(), &fields); err != nil || fields == nil {
			return nil, gateway.InvalidField("body", "must be a JSON object")
		}
	}
	b.json = bytes.Buffer{}
	if b.sieve == nil || b.sieve.media == nil {
		return fields, nil
	}
	if b.form != nil {
		if _, err := b.sieve.media.finish(); err != nil {
			return nil, err
		}
	}
	if problem := b.sieve.media.problem(); problem != "" {
		return nil, gateway.InvalidField(b.sieve.field, problem)
	}
	delete(fields, b.sieve.field)
	return fields, nil
}
