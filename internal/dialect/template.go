// Templates, whose parameters other tools send in Meta's form.

package dialect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/recado-project/recado/client"
)

// Loose is a text that some tools write as a number.
type Loose string

// UnmarshalJSON reads a text or a number.
func (l *Loose) UnmarshalJSON(encoded []byte) error {
	if bytes.Equal(encoded, []byte("null")) {
		return nil
	}
	var number json.Number // a text must be a number for it, so it comes second
	var text string
	if err := json.Unmarshal(encoded, &text); err == nil {
		*l = Loose(text)
		return nil
	}
	if err := json.Unmarshal(encoded, &number); err != nil {
		return err
	}
	*l = Loose(number)
	return nil
}

// TemplateComponent is what a message has for the parameters of a part of its template: of the header, the body, or
// a button.
type TemplateComponent struct {
	Type       string              `json:"type"`
	SubType    string              `json:"sub_type"` // what the button does
	Index      Loose               `json:"index"`    // its place, from 0
	Parameters []TemplateParameter `json:"parameters"`
}

// TemplateParameter is a parameter; its type says which of the others it has.
type TemplateParameter struct {
	Type     string        `json:"type"`
	Name     string        `json:"parameter_name"` // empty: its place counts
	Text     Loose         `json:"text"`
	Payload  Loose         `json:"payload"`
	Code     Loose         `json:"coupon_code"`
	Currency *fallback     `json:"currency"`
	DateTime *fallback     `json:"date_time"`
	Image    *TemplateFile `json:"image"`
	Video    *TemplateFile `json:"video"`
	Document *TemplateFile `json:"document"`
}

// fallback is what is said in place of a value that would be written as the reader's language has it.
type fallback struct {
	Value Loose `json:"fallback_value"`
}

// TemplateFile is the file of a header: behind a link, or uploaded before.
type TemplateFile struct {
	Link     string `json:"link"`
	ID       Loose  `json:"id"`
	FileName string `json:"filename"`
}

// TemplateError says what no message can be made of.
type TemplateError struct{ Field, Message string }

// Error says it for people.
func (f *TemplateError) Error() string { return f.Field + " " + f.Message }

func faulty(field, message string) error {
	return &TemplateError{field, message}
}

// FillTemplate puts components into a message. Those that say nothing that a template could take are a *TemplateError;
// whether this template takes them, the API says.
func FillTemplate(message *client.TemplateMessage, components []TemplateComponent) error {
	message.HeaderParameters, message.BodyParameters, message.ButtonParameters = map[string]string{}, map[string]string{}, map[string]string{}
	for n, c := range components {
		field := "components[" + strconv.Itoa(n) + "]"
		var err error
		switch strings.ToLower(c.Type) {
		case "header":
			err = c.fillHeader(message, field)
		case "body":
			err = c.fillTexts(message.BodyParameters, field)
		case "button":
			err = c.fillButton(message.ButtonParameters, field)
		default:
			err = faulty(field+".type", "must be header, body or button")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fillTexts reads parameters that are texts.
func (c *TemplateComponent) fillTexts(into map[string]string, field string) error {
	for n, p := range c.Parameters {
		text, err := p.text(field + ".parameters[" + strconv.Itoa(n) + "]")
		if err != nil {
			return err
		}
		into[cmp.Or(p.Name, strconv.Itoa(n+1))] = text
	}
	return nil
}

func (p *TemplateParameter) text(field string) (string, error) {
	switch kind := strings.ToLower(p.Type); {
	case kind == "text" || kind == "":
		return string(p.Text), nil
	case kind == "currency" && p.Currency != nil:
		return string(p.Currency.Value), nil
	case kind == "date_time" && p.DateTime != nil:
		return string(p.DateTime.Value), nil
	default:
		return "", faulty(field, "must be a text")
	}
}

// fillHeader reads a file, or a text.
func (c *TemplateComponent) fillHeader(message *client.TemplateMessage, field string) error {
	if len(c.Parameters) != 1 {
		return c.fillTexts(message.HeaderParameters, field)
	}
	p := c.Parameters[0]
	var file *TemplateFile
	switch strings.ToLower(p.Type) {
	case "image":
		file = p.Image
	case "video":
		file = p.Video
	case "document":
		file = p.Document
	default:
		return c.fillTexts(message.HeaderParameters, field)
	}
	switch {
	case file != nil && file.Link != "":
		message.Media = file.Link
	case file != nil && file.ID != "":
		message.Media = "upload:" + string(file.ID)
	default:
		return faulty(field+".parameters[0]", "must have a link, or the id of an upload")
	}
	message.FileName = file.FileName
	return nil
}

// fillButton reads what a button has: a parameter, a code, or what a quick reply answers with.
func (c *TemplateComponent) fillButton(into map[string]string, field string) error {
	if len(c.Parameters) == 0 {
		return nil
	}
	place, err := strconv.Atoi(strings.TrimSpace(string(c.Index)))
	if err != nil || place < 0 {
		return faulty(field+".index", "must be the place of the button, from 0")
	}
	if len(c.Parameters) > 1 {
		return faulty(field+".parameters", "must be one: a button has no more")
	}
	p := c.Parameters[0]
	into[strconv.Itoa(place)] = string(cmp.Or(p.Text, p.Code, p.Payload))
	return nil
}
