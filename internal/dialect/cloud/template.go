// Templates, which are the gateway's own: all of them count as approved.

package cloud

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/dialect"
)

// template is a template as Meta's API shows it, and as it is made.
type template struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	Language   string              `json:"language"`
	Status     string              `json:"status"`
	Category   string              `json:"category"`
	Naming     string              `json:"parameter_format"`
	Components []templateComponent `json:"components"`
}

type templateComponent struct {
	Type    string           `json:"type"`
	Format  string           `json:"format,omitempty"`
	Text    string           `json:"text,omitempty"`
	Buttons []templateButton `json:"buttons,omitempty"`
}

type templateButton struct {
	Type    string   `json:"type"`
	Text    string   `json:"text,omitempty"`
	URL     string   `json:"url,omitempty"`
	Phone   loose    `json:"phone_number,omitempty"`
	Example examples `json:"example,omitempty"`
}

// examples are what may stand for a parameter: a list, or a single text.
type examples []loose

// UnmarshalJSON reads a list, or a single one.
func (e *examples) UnmarshalJSON(encoded []byte) error {
	var list []loose
	if json.Unmarshal(encoded, &list) == nil {
		*e = list
		return nil
	}
	var one loose
	if err := json.Unmarshal(encoded, &one); err != nil {
		return err
	}
	*e = examples{one}
	return nil
}

// approved is the status of every template: there is nobody who would have to approve one.
const approved = "APPROVED"

func newTemplate(of client.Template) template {
	shown := template{ID: of.ID, Name: of.Name, Language: of.Language, Status: approved, Category: of.Category, Naming: of.ParameterFormat}
	for _, c := range of.Components {
		part := templateComponent{Type: c.Type, Format: orEmpty(c.Format), Text: c.Text}
		for _, b := range c.Buttons {
			button := templateButton{Type: b.Type, Text: b.Text, URL: orEmpty(b.URL), Phone: loose(orEmpty(b.PhoneNumber))}
			if b.Example != nil {
				button.Example = examples{loose(*b.Example)}
			}
			part.Buttons = append(part.Buttons, button)
		}
		shown.Components = append(shown.Components, part)
	}
	return shown
}

// templatePage is a page of templates.
type templatePage struct {
	Data   []template     `json:"data"`
	Paging templatePaging `json:"paging"`
}

type templatePaging struct {
	Cursors *cursors `json:"cursors,omitempty"`
	Next    string   `json:"next,omitempty"` // the address of the next page, with all that it needs
}

// cursors say where a page is: by its number.
type cursors struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// The sizes of pages, and how many there may be.
const (
	usualPage = 25
	maxPage   = 100
	maxPages  = 10_000
)

func listTemplates(c *call) (any, error) {
	query := c.http.URL.Query()
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit < 1 {
		limit = usualPage
	}
	number := 1
	if after := query.Get("after"); after != "" {
		last, err := strconv.Atoi(after)
		if err != nil || last < 1 || last > maxPages {
			return nil, invalid("after is not a cursor of this list")
		}
		number = last + 1
	}
	found, err := c.api.ListTemplates(c.http.Context(), client.ListTemplatesParams{Name: query.Get("name")}, number, min(limit, maxPage))
	if err != nil {
		return nil, err
	}
	shown := templatePage{Data: []template{}}
	for _, each := range found.Data {
		shown.Data = append(shown.Data, newTemplate(each))
	}
	if len(shown.Data) > 0 {
		here := strconv.Itoa(number)
		shown.Paging.Cursors = &cursors{here, here}
		// Older clients follow it as it is, without a header: a token that was in the address stays.
		if base, usable := c.cloud.config.BaseURL(c.http); usable && !found.IsLastPage {
			query.Set("after", here)
			shown.Paging.Next = base + (&url.URL{Path: c.http.URL.Path, RawQuery: query.Encode()}).String()
		}
	}
	return shown, nil
}

// createTemplate makes a template. What Meta's API has for those who approve them is passed over.
func createTemplate(c *call) (any, error) {
	var given template
	if err := c.decode(&given); err != nil {
		return nil, err
	}
	made := client.NewTemplate{
		Name: given.Name, Language: given.Language, Category: strings.ToUpper(given.Category), ParameterFormat: strings.ToUpper(given.Naming),
		Components: []client.NewTemplateComponent{},
	}
	for _, part := range given.Components {
		component := client.NewTemplateComponent{Type: strings.ToUpper(part.Type), Format: strings.ToUpper(part.Format), Text: part.Text}
		for _, b := range part.Buttons {
			button := client.NewTemplateButton{Type: strings.ToUpper(b.Type), Text: b.Text, URL: b.URL, PhoneNumber: string(b.Phone)}
			if button.Type == client.TypeCopyCode && len(b.Example) > 0 {
				button.Example = string(b.Example[0])
			}
			component.Buttons = append(component.Buttons, button)
		}
		made.Components = append(made.Components, component)
	}
	created, err := c.api.CreateTemplate(c.http.Context(), made)
	if err != nil {
		return nil, err
	}
	return struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		Category string `json:"category"`
	}{created.ID, approved, created.Category}, nil
}

// deleteTemplates deletes a template in all its languages, or the one that hsm_id names.
func deleteTemplates(c *call) (any, error) {
	name, id := c.http.URL.Query().Get("name"), c.http.URL.Query().Get("hsm_id")
	if name == "" {
		return nil, missing("name")
	}
	var ids []string
	for each, err := range c.api.Templates(c.http.Context(), client.ListTemplatesParams{Name: name}) {
		if err != nil {
			return nil, err
		}
		if id == "" || each.ID == id {
			ids = append(ids, each.ID)
		}
	}
	if len(ids) == 0 {
		return nil, &graphError{status: http.StatusNotFound, code: numberUnknownTemplate, title: titleUnknownTemplate, details: "The account has no such template."}
	}
	for _, each := range ids {
		if err := c.api.DeleteTemplate(c.http.Context(), each); err != nil {
			return nil, err
		}
	}
	return success{true}, nil
}

// usedTemplate is the template of a message.
type usedTemplate struct {
	Name     string `json:"name"`
	Language struct {
		Code string `json:"code"`
	} `json:"language"`
	Components []dialect.TemplateComponent `json:"components"`
}

func sendTemplate(c *call, out *outgoing, to string) (client.Sent, error) {
	switch {
	case out.Template == nil || out.Template.Name == "":
		return client.Sent{}, missing("template.name")
	case out.Template.Language.Code == "":
		return client.Sent{}, missing("template.language.code")
	}
	message := client.TemplateMessage{To: to, Name: out.Template.Name, Language: out.Template.Language.Code, QuoteMessageID: out.quoted(), ClientData: string(out.Data)}
	if err := dialect.FillTemplate(&message, out.Template.Components); err != nil {
		return client.Sent{}, wrongFormat(err.Error())
	}
	sent, err := c.api.SendTemplate(c.http.Context(), c.instance.InstanceID, message)
	return sent, ofTemplate(err)
}

func wrongFormat(details string) *graphError {
	return &graphError{status: http.StatusBadRequest, code: numberTemplateFormat, title: "Parameter format does not match format in the created template", details: details}
}

// ofTemplate makes a refusal of parameters, as a refusal of the message would blame the wrong thing.
func ofTemplate(err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Code != client.CodeValidationError || len(refused.Details) == 0 {
		return err
	}
	details := refused.Message // it names the first of them, of which there may be as many as the client has made up
	counts := true
	for _, detail := range refused.Details {
		missing := strings.HasPrefix(detail.Message, "is missing")
		switch field, _, _ := strings.Cut(detail.Field, "."); {
		case field == "media" && (missing || strings.HasPrefix(detail.Message, "must be left out")):
			return wrongFormat(details)
		case field == "headerParameters" || field == "bodyParameters" || field == "buttonParameters":
			counts = counts && (missing || strings.HasPrefix(detail.Message, "is no parameter"))
		default:
			return ofFile(err, "media")
		}
	}
	if !counts {
		return wrongFormat(details)
	}
	return &graphError{status: http.StatusBadRequest, code: numberTemplateCount, title: "Number of parameters does not match the expected number of params", details: details}
}
