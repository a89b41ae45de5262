// Content of any kind of the protocol, as JSON: what businesses write, live places, several cards, and
// questions about what only the sender has seen.

package content

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recado-project/recado/internal/sandbox/refusal"
)

//go:embed examples.json
var examples []byte

// Example is content to try out receiving.
type Example struct {
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"`
}

// Examples returns content of many kinds.
func Examples() ([]Example, error) {
	var list []Example
	if err := json.Unmarshal(examples, &list); err != nil {
		return nil, fmt.Errorf("content: read examples: %w", err)
	}
	return list, nil
}

// composeContent builds any message from the JSON of the protocol's own type (waE2E.Message).
func composeContent(m Outgoing) (*waE2E.Message, error) {
	if len(m.Content) == 0 {
		return nil, refusal.Invalidf("content", "is required")
	}
	message := &waE2E.Message{}
	if err := protojson.Unmarshal(m.Content, message); err != nil {
		return nil, refusal.Invalidf("content", "must be the JSON of a message of the protocol: %v", err)
	}
	return message, nil
}

// words are the fields in which messages say something to people.
//
//nolint:gochecknoglobals // a table that nobody writes
var words = map[protoreflect.Name]bool{
	"title": true, "subtitle": true, "text": true, "body": true, "contentText": true, "description": true, "footerText": true, "footer": true,
	"hydratedTitleText": true, "hydratedContentText": true, "hydratedFooterText": true, "displayText": true, "note": true, "caption": true,
	"elementName": true, "params": true, "name": true,
}

// maxWords bounds how much of a message is shown.
const maxWords = 40

// readable collects what a message says to people, from top to bottom. What it answers does not count.
func readable(part protoreflect.Message, found []string, depth int) []string {
	const deepest = 6
	fields := part.Descriptor().Fields()
	for n := range fields.Len() {
		field := fields.Get(n)
		if !part.Has(field) || field.Name() == "contextInfo" || depth > deepest || len(found) >= maxWords {
			continue
		}
		value := part.Get(field)
		values := []protoreflect.Value{value}
		if field.IsList() {
			values = nil
			for at := range value.List().Len() {
				values = append(values, value.List().Get(at))
			}
		}
		for _, one := range values {
			switch {
			case field.IsMap():
			case field.Message() != nil:
				found = readable(one.Message(), found, depth+1)
			case field.Kind() == protoreflect.StringKind && words[field.Name()] && strings.TrimSpace(one.String()) != "" && !slices.Contains(found, one.String()):
				found = append(found, one.String())
			}
		}
	}
	return found
}

// describeOther fills in what a phone shows of a message that has no place of its own here: its words.
func describeOther(m *waE2E.Message, shown *Shown) {
	if text := strings.Join(readable(m.ProtoReflect(), nil, 0), "\n"); text != "" && m.GetProtocolMessage() == nil {
		shown.Type, shown.Text = "other", text
	}
}
