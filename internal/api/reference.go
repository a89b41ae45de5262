package api

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/docs"
)

// referenceFiles are the reference page: a template, its style and its script. It
// asks for nothing from elsewhere, so it works offline.
//
//go:embed reference
var referenceFiles embed.FS

// referencePolicy lets the page do nothing but show itself.
const referencePolicy = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// reference is what the page shows.
type reference struct {
	Title, Version string
	About          []string // paragraphs
	Groups         []referenceGroup
	Events         []referenceEvent
	Codes          []referenceCode
}

type referenceGroup struct {
	Name, Anchor, Description string
	Operations                []referenceOperation
}

type referenceOperation struct {
	ID, Method, Path, Summary string
	Description               string
	Audience                  string
	Parameters                []referenceField
	Body                      []referenceField
	Request                   string // a command line
	Status                    int    // of success
	StatusText                string
	Headers                   []referenceField // of the answer
	Answer                    []referenceField
	Example                   string // of the answer
	Stream                    bool   // whether the answer is a stream
	Refusals                  []referenceCode
}

// referenceField is a parameter or a field; the fields inside of one are named
// with it ("contact.fullName").
type referenceField struct {
	Name, Where, Type string
	Required          bool
	Rules             []string
	Description       string
}

type referenceCode struct {
	Name    string
	Status  int
	Text    string // of the status
	Meaning string
}

// serveReference answers the reference page, which is made of the document.
func (s *service) serveReference() error {
	parsed, err := template.New("page.html").Funcs(template.FuncMap{"prose": prose}).ParseFS(referenceFiles, "reference/page.html")
	if err != nil {
		return fmt.Errorf("api: parse reference page: %w", err)
	}
	content, err := s.newReference()
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := parsed.Execute(&page, content); err != nil {
		return fmt.Errorf("api: write reference page: %w", err)
	}
	for path, to := range map[string]string{
		"/{$}": "/docs", "/docs/{$}": "/docs", // what people try first
		"/docs/openapi.yaml": "/openapi.yaml", // where the guides' links lead
	} {
		s.routes.HandleFunc(http.MethodGet+" "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		})
	}
	s.serveStatic("/docs", "text/html; charset=utf-8", page.Bytes())
	for _, file := range []struct {
		path, contentType, name string
		from                    embed.FS
	}{
		{"/docs/style.css", "text/css; charset=utf-8", "reference/style.css", referenceFiles},
		{"/docs/page.js", "text/javascript; charset=utf-8", "reference/page.js", referenceFiles},
	} {
		content, err := file.from.ReadFile(file.name)
		if err != nil {
			return fmt.Errorf("api: read page: %w", err)
		}
		s.serveStatic(file.path, file.contentType, content)
	}
	return s.serveGuides()
}

// serveGuides answers the pages for users, and the files that they show, so that the
// links between them lead somewhere.
func (s *service) serveGuides() error {
	err := fs.WalkDir(docs.Guides, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := docs.Guides.ReadFile(name)
		if err == nil {
			s.serveStatic("/docs/"+name, plainType, content)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("api: read guides: %w", err)
	}
	return nil
}

// plainType is for what browsers show as it is.
const plainType = "text/plain; charset=utf-8"

// serveStatic answers the same to everybody, but for the gateway's own address.
func (s *service) serveStatic(path, contentType string, content []byte) {
	s.routes.HandleFunc(http.MethodGet+" "+path, func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", contentType)
		header.Set("Content-Security-Policy", referencePolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-cache")  // another version of the program has another page
		_, _ = w.Write(s.withOrigin(r, content)) // a client that has gone is nobody to tell
	})
}

func (s *service) newReference() (reference, error) {
	document := s.huma.OpenAPI()
	page := reference{
		Title: document.Info.Title, Version: document.Info.Version,
		About: strings.Split(document.Info.Description, "\n\n"), Events: newReferenceEvents(),
	}
	for _, tag := range document.Tags {
		group := referenceGroup{
			Name: tag.Name, Anchor: strings.ToLower(strings.ReplaceAll(tag.Name, " ", "-")), Description: tag.Description,
		}
		for _, op := range s.operations {
			if op.tag != tag.Name {
				continue
			}
			shown, err := s.newReferenceOperation(op)
			if err != nil {
				return reference{}, err
			}
			group.Operations = append(group.Operations, shown)
		}
		page.Groups = append(page.Groups, group)
	}
	for _, code := range codes() {
		page.Codes = append(page.Codes, newReferenceCode(code))
	}
	return page, nil
}

func newReferenceCode(code code) referenceCode {
	status := statusOf(code.kind)
	return referenceCode{Name: code.name, Status: status, Text: http.StatusText(status), Meaning: code.meaning}
}

func (s *service) newReferenceOperation(op operation) (referenceOperation, error) {
	documented := op.documented(s.huma.OpenAPI())
	fields := fieldLister{registry: s.huma.OpenAPI().Components.Schemas}
	status := op.successStatus()
	shown := referenceOperation{
		ID: op.id, Method: op.method, Path: op.path, Summary: op.summary, Description: op.description,
		Status: status, StatusText: http.StatusText(status), Headers: fields.headers(documented, status),
		Stream: op.stream != "",
	}
	switch op.audience {
	case partners:
		shown.Audience = "Needs a partner key."
	case everybody:
		shown.Audience = "Needs no API key."
	case keyHolders:
	}
	for _, parameter := range documented.Parameters {
		shown.Parameters = append(shown.Parameters, fields.parameter(parameter))
	}
	var err error
	body := ""
	if op.body {
		shown.Body = fields.list("", op.payload)
		if body, err = prettySample(sampleOf(op.payload)); err != nil {
			return referenceOperation{}, fmt.Errorf("api: write example of %s: %w", op.id, err)
		}
	}
	shown.Request = commandLine(op, documented.Parameters, body)
	if op.answer != nil {
		shown.Answer = fields.list("", op.answer)
		for i := range shown.Answer {
			shown.Answer[i].Required = false // it is for whoever writes them
		}
		if shown.Example, err = prettySample(sampleOf(op.answer)); err != nil {
			return referenceOperation{}, fmt.Errorf("api: write example of %s: %w", op.id, err)
		}
	}
	refused := map[string]bool{}
	for _, name := range op.refusalCodes() {
		refused[name] = true
	}
	for _, code := range codes() {
		if refused[code.name] {
			shown.Refusals = append(shown.Refusals, newReferenceCode(code))
		}
	}
	return shown, nil
}

// commandLine is how curl makes the request, with the examples of the document.
func commandLine(op operation, parameters []*huma.Param, body string) string {
	address := originMark + op.path
	for _, parameter := range parameters {
		if parameter.In == "path" && len(parameter.Schema.Examples) > 0 {
			address = strings.ReplaceAll(address, "{"+parameter.Name+"}", fmt.Sprint(parameter.Schema.Examples[0]))
		}
	}
	var line strings.Builder
	line.WriteString("curl ")
	if op.method != http.MethodGet && (op.method != http.MethodPost || body == "") { // what curl does by itself
		line.WriteString("-X " + op.method + " ")
	}
	line.WriteString(address)
	if op.audience != everybody {
		line.WriteString(" \\\n  -H 'x-api-key: rcd_…'")
	}
	if body != "" {
		line.WriteString(" \\\n  -H 'content-type: application/json' \\\n  -d '" + strings.ReplaceAll(body, "'", `'\''`) + "'")
	}
	return line.String()
}

// prose makes HTML of a text of the document: what stands in backquotes is code.
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
