// Fields of bodies, read as leniently as that API reads them.

package evolution

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/recado-project/recado/client"
)

// fields are those of a body, or of an object in it. A value of another type counts as left out, and in forms
// everything is a text.
type fields object

// text returns a text, or a number as one; empty if it is left out.
func (f fields) text(name string) string { return textOf(f[name]) }

func textOf(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(value)
	default:
		return ""
	}
}

// first returns the first text of several fields that is given.
func (f fields) first(names ...string) string {
	for _, name := range names {
		if text := f.text(name); text != "" {
			return text
		}
	}
	return ""
}

// number returns a number, also where it is written as a text; 0 if it is left out.
func (f fields) number(name string) float64 {
	number, err := strconv.ParseFloat(f.text(name), 64)
	if err != nil {
		return 0
	}
	return number
}

// count returns a whole number that is not negative and not beyond most.
func (f fields) count(name string, most int) int {
	return int(min(max(f.number(name), 0), float64(most)))
}

// yes returns a truth value, also where it is written as a text.
func (f fields) yes(name string) bool {
	yes, _ := strconv.ParseBool(f.text(name))
	return yes
}

// optional returns a truth value, or nil if it is left out.
func (f fields) optional(name string) *bool {
	yes, err := strconv.ParseBool(f.text(name))
	if err != nil {
		return nil
	}
	return &yes
}

// inner returns an object, also where it is JSON in a text; an empty one if it is left out.
func (f fields) inner(name string) fields {
	value, _ := decoded(f[name]).(object)
	return value
}

// list returns a list, also where it is JSON in a text. A single value is a list of one.
func (f fields) list(name string) []any {
	switch value := decoded(f[name]).(type) {
	case []any:
		return value
	case nil, bool:
		return nil
	default:
		return []any{value}
	}
}

// objects returns the objects of a list.
func (f fields) objects(name string) []fields {
	var all []fields
	for _, item := range f.list(name) {
		if item, ok := item.(object); ok {
			all = append(all, item)
		}
	}
	return all
}

// texts returns the texts of a list.
func (f fields) texts(name string) []string {
	var all []string
	for _, item := range f.list(name) {
		if text := textOf(item); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// decoded returns a value, or what it is the JSON of.
func decoded(value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	text = strings.TrimSpace(text)
	var inner any
	if (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Unmarshal([]byte(text), &inner) == nil {
		return inner
	}
	if text == "" {
		return nil
	}
	return value
}

// need returns a text, or a refusal of a body without it.
func (f fields) need(name string) (string, error) {
	if text := f.text(name); text != "" {
		return text, nil
	}
	return "", missing(name)
}

// The address of a chat.
const (
	personal = "@s.whatsapp.net"
	ofGroup  = "@g.us"
	lid      = "@lid"

	groupDigits  = 18 // of an identifier of a group, at least
	groupOldSize = 24 // of one with a hyphen
)

// chatOf returns the chat that a number in any of that API's forms names.
func chatOf(number string) string {
	number = strings.TrimSpace(number)
	if user, server, ok := strings.Cut(number, "@"); ok {
		user, _, _ = strings.Cut(user, ":") // a device
		return user + "@" + server
	}
	digits := strings.TrimPrefix(number, "+")
	if strings.Trim(digits, "0123456789-") != "" {
		return number
	}
	if len(digits) >= groupOldSize && strings.Contains(digits, "-") || len(digits) >= groupDigits && !strings.Contains(digits, "-") {
		return digits + ofGroup
	}
	return number
}

// chatsOf is chatOf for several.
func chatsOf(numbers []string) []string {
	chats := make([]string, len(numbers))
	for n, number := range numbers {
		chats[n] = chatOf(number)
	}
	return chats
}

// jidOf is the chat of a number that the platform may not know.
func jidOf(number string) string {
	if chat := chatOf(number); strings.Contains(chat, "@") {
		return chat
	}
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number) + personal
}

// number is the chat that a request is about.
func (c *call) number() (string, error) {
	number, err := c.fields.need("number")
	return chatOf(number), err
}

// media returns the media of a field: a file that came with the body, or a text for the API: a URL, or a data URI
// of base64 that is too short to be taken for a file.
func (c *call) media(field string) (text string, file *client.File, err error) {
	if c.file != nil {
		return "", c.file, nil
	}
	text = strings.TrimSpace(c.fields.text(field))
	switch {
	case text == "":
		return "", nil, missing(field)
	case strings.Contains(text, ":"):
		return text, nil, nil
	default:
		return "data:application/octet-stream;base64," + text, nil, nil
	}
}

// maxDelay is how long a request may have itself delayed.
const maxDelay = time.Minute

// delay is how long the request wants to be delayed, within maxDelay.
func (c *call) delay() time.Duration {
	return time.Duration(min(max(c.fields.number("delay"), 0), float64(maxDelay/time.Millisecond))) * time.Millisecond
}

// oneOf returns the value that goes with a text of a body, or a refusal of a text that has none.
func oneOf[T any](f fields, name string, values map[string]T) (value T, err error) {
	text, err := f.need(name)
	if err != nil {
		return value, err
	}
	value, ok := values[text]
	if !ok {
		return value, refuse(http.StatusBadRequest, name+" is not one of the values that there are")
	}
	return value, nil
}
