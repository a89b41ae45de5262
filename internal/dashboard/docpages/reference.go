// The API's reference: a list of all operations, and a page for each.

package docpages

import (
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/dashboard/frame"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/reference"
	"github.com/recado-project/recado/internal/web"
)

const (
	// Reference is the address of the list. The page of an operation is below it, under the operation's id.
	Reference = Root + "/api"
	// errorsName is the page of all errors there: no operation is called so.
	errorsName = "errors"
	// eventsAddress is the document that describes the kinds of events.
	eventsAddress = Root + "/events"
	// maxSample bounds the form that samples are made of.
	maxSample = 256 << 10
)

// referenceView is what the list of all operations shows.
type referenceView struct {
	view

	About []reference.Text
	Nouns []noun
	Kinds []kind
}

// noun is a group of operations in the list.
type noun struct {
	reference.Group

	Lines []line
}

// line is an operation in the list.
type line struct {
	ID, Method, Path, Summary string
	Words                     string // that find it, beside these
}

// kind is one of events in the list.
type kind struct {
	Name, To string
}

// showReference shows the list of all operations.
func (p *pages) showReference(r *frame.Request) error {
	b, all, err := p.referenceFor()
	if err != nil {
		return err
	}
	shown := referenceView{view: view{Groups: b.groups(r.Lang()), Here: Reference}, About: all.About}
	for _, group := range all.Groups {
		listed := noun{Group: group}
		for _, op := range group.Operations {
			listed.Lines = append(listed.Lines, line{op.ID, op.Method, op.Path, op.Summary, wordsOf(op)})
		}
		shown.Nouns = append(shown.Nouns, listed)
	}
	taken := anchors{}
	for _, name := range eventlog.Kinds() {
		shown.Kinds = append(shown.Kinds, kind{string(name), eventsAddress + "#" + taken.add(string(name))})
	}
	return p.page(r, "reference", r.Text(web.Word("API reference")), shown)
}

// wordsOf are the id of an operation and the names of its fields, each once.
func wordsOf(op reference.Operation) string {
	names := []string{op.ID}
	for _, fields := range [][]reference.Field{op.Parameters, op.Body, op.Answer} {
		for _, field := range fields {
			last := field.Name[strings.LastIndex(field.Name, ".")+1:]
			if !slices.Contains(names, last) {
				names = append(names, last)
			}
		}
	}
	return strings.Join(names, " ")
}

// errorsView is what the page of all errors shows.
type errorsView struct {
	view

	Codes []reference.Code
}

// showErrors shows all errors.
func (p *pages) showErrors(r *frame.Request) error {
	b, all, err := p.referenceFor()
	if err != nil {
		return err
	}
	return p.page(r, "errors", r.Text(web.Word("Errors of the API")), errorsView{
		view: view{Groups: b.groups(r.Lang()), Here: Reference + "/" + errorsName}, Codes: all.Codes,
	})
}

// operationView is what the page of an operation shows.
type operationView struct {
	view

	Operation    *reference.Operation
	Group        *reference.Group
	Nouns        []reference.Group
	Before, Next *reference.Operation // nil for none
	Samples      []sampleView
	Try          *tryView // nil where it can't be tried
}

// sampleView is a request in one language. Between its pieces stands the API key.
type sampleView struct {
	ID, Language string
	Pieces       []string
}

// showOperation shows the page of an operation.
func (p *pages) showOperation(r *frame.Request) error {
	b, all, err := p.referenceFor()
	if err != nil {
		return err
	}
	group, op, before, next := all.Find(r.PathValue("operation"))
	if op == nil {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such page")
	}
	shown := operationView{
		view:      view{Groups: b.groups(r.Lang()), Here: Reference + "/" + op.ID},
		Operation: op, Group: group, Nouns: all.Groups, Before: before, Next: next,
	}
	value := reference.ExampleOf
	if p.Try != nil {
		if shown.Try, err = p.Try.view(r, op); err != nil {
			return err
		}
		value = shown.Try.value
	}
	shown.Samples = samplesOf(op.RequestTo(p.Origin(r.Request), value, op.Request))
	return p.page(r, "operation", op.Summary, shown)
}

// showSamples answers with the samples for the values of a form.
func (p *pages) showSamples(r *frame.Request) error {
	_, all, err := p.referenceFor()
	if err != nil {
		return err
	}
	_, op, _, _ := all.Find(r.PathValue("operation"))
	if op == nil {
		return gateway.Errorf(gateway.NotFound, gateway.CodeNotFound, "there is no such page")
	}
	if err := r.ParseForm(); err != nil {
		return gateway.Errorf(gateway.Invalid, gateway.CodeValidation, "the form can't be read")
	}
	given := func(parameter reference.Field) string { return r.PostForm.Get(formName(parameter)) }
	return r.Fragment("operation", "samples", samplesOf(op.RequestTo(p.Origin(r.Request), given, r.PostForm.Get("body"))))
}

// formName is the name of a parameter in the form: two may have one name in different places.
func formName(parameter reference.Field) string { return parameter.Where + "." + parameter.Name }

func samplesOf(request reference.Request) []sampleView {
	var shown []sampleView
	for _, sample := range request.Samples() {
		shown = append(shown, sampleView{sample.ID, sample.Language, strings.Split(sample.Code, reference.KeyMark)})
	}
	return shown
}

// referenceFor returns what all pages of the reference are made of.
func (p *pages) referenceFor() (*book, *reference.Reference, error) {
	b, err := p.book()
	if err != nil {
		return nil, nil, err
	}
	all, err := p.Reference()
	return b, all, err
}
