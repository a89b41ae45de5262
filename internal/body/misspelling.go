// Names of fields that were probably misspelt.

package body

import (
	"slices"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/gateway"
)

const (
	// maxMisspelt bounds how many misspelt names are noted.
	maxMisspelt = 20
	// alike is how many letters two names must share at their beginnings.
	alike = 6
)

// misspelling is the name of an unknown field, and the field that was probably meant.
type misspelling struct{ given, meant string }

// noteMisspelt notes a name of the body itself that looks like one of its fields.
func (r *fieldReader) noteMisspelt(schema *huma.Schema, field, name string) {
	if field != "" || len(r.notes.misspelt) == maxMisspelt {
		return
	}
	for meant := range schema.Properties {
		if resembles(name, meant) {
			r.notes.misspelt = append(r.notes.misspelt, misspelling{given: name, meant: meant})
			return
		}
	}
}

// resembles reports whether two names differ only in case, punctuation or their end.
func resembles(name, other string) bool {
	name, other = letters(name), letters(other)
	shorter := min(len(name), len(other))
	return name == other || shorter >= alike && name[:shorter] == other[:shorter]
}

func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name[:min(len(name), gateway.MaxID)])
}

// noteUnknown notes the name of a field that the body has and the operation has not.
func (r *fieldReader) noteUnknown(name string) {
	if len(r.notes.unknown) < maxMisspelt {
		r.notes.unknown = append(r.notes.unknown, gateway.CleanName(name))
	}
}

// RefuseUnknown refuses a body with fields that the operation does not have; its error is
// Invalid. Other operations ignore them. An operation that changes only what it is given
// refuses them: what was meant would silently stay as it is.
func (n *Notes) RefuseUnknown() error {
	if err := n.RefuseMisspelt(); err != nil || len(n.unknown) == 0 {
		return err
	}
	wrong := make([]gateway.FieldError, len(n.unknown))
	for i, name := range n.unknown {
		wrong[i] = gateway.FieldError{Field: name, Message: "is not a field of this operation"}
	}
	slices.SortFunc(wrong, func(a, b gateway.FieldError) int { return strings.Compare(a.Field, b.Field) })
	return gateway.InvalidFields(wrong...)
}

// RefuseMisspelt refuses a body with misspelt fields; its error is Invalid. Other
// operations ignore them as unknown fields. An operation refuses them where a field
// restricts what is granted: to ignore it would grant everything.
func (n *Notes) RefuseMisspelt() error {
	if len(n.misspelt) == 0 {
		return nil
	}
	wrong := make([]gateway.FieldError, len(n.misspelt))
	for i, m := range n.misspelt {
		wrong[i] = gateway.FieldError{Field: gateway.CleanName(m.given), Message: "is not a field of this operation; did you mean " + m.meant + "?"}
	}
	slices.SortFunc(wrong, func(a, b gateway.FieldError) int { return strings.Compare(a.Field, b.Field) })
	return gateway.InvalidFields(wrong...)
}
