package reference

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/recado-project/recado/internal/api/contract"
)

// page is what the reference page shows.
type page struct {
	Title, Version string
	About          []string // paragraphs
	Groups         []group
	Events         []event
	Codes          []code
}

type group struct {
	Name, Anchor, Description string
	Operations                []operation
}

type operation struct {
	ID, Method, Path, Summary string
	Description               string
	Audience                  string
	Parameters                []field
	Body                      []field
	Request                   string // a command line
	Status                    int    // of success
	StatusText                string
	Headers                   []field // of the answer
	Answer                    []field
	Example                   string // of the answer
	Stream                    bool   // whether the answer is a stream
	Refusals                  []code
}

// field is a parameter or a field. Fields inside of another are named with it
// ("contact.fullName").
type field struct {
	Name, Where, Type string
	Required          bool
	Rules             []string
	Description       string
}

type code struct {
	Name    string
	Status  int
	Text    string // of the status
	Meaning string
}

// newPage makes the page of an API's document.
func newPage(document *contract.Document) (page, error) {
	made := page{
		Title: document.Info.Title, Version: document.Info.Version,
		About: strings.Split(document.Info.Description, "\n\n"), Events: newEvents(),
	}
	for _, tag := range document.Tags {
		shown := group{
			Name: tag.Name, Anchor: strings.ToLower(strings.ReplaceAll(tag.Name, " ", "-")), Description: tag.Description,
		}
		for _, op := range tagged(document, tag.Name) {
			described, err := newOperation(document, op)
			if err != nil {
				return page{}, err
			}
			shown.Operations = append(shown.Operations, described)
		}
		made.Groups = append(made.Groups, shown)
	}
	for _, code := range contract.Codes() {
		made.Codes = append(made.Codes, newCode(code))
	}
	return made, nil
}

// Operations are the operations of a document that the page shows, in its order.
func Operations(document *contract.Document) []contract.Operation {
	var shown []contract.Operation
	for _, tag := range document.Tags {
		shown = append(shown, tagged(document, tag.Name)...)
	}
	return shown
}

// tagged are the operations of one group.
func tagged(document *contract.Document, tag string) []contract.Operation {
	var shown []contract.Operation
	for _, op := range document.Operations() {
		if op.Tag == tag {
			shown = append(shown, op)
		}
	}
	return shown
}

func newCode(explained contract.Code) code {
	status := contract.StatusOf(explained.Kind)
	return code{Name: explained.Name, Status: status, Text: http.StatusText(status), Meaning: explained.Meaning}
}

// prose makes HTML of a text of the document: text in backquotes is code.
func prose(text string) template.HTML {
	var out strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			out.WriteString("<code>" + template.HTMLEscapeString(part) + "</code>")
			continue
		}
		out.WriteString(template.HTMLEscapeString(part))
	}
	return template.HTML(out.String()) //nolint:gosec // every part of it was escaped
}
