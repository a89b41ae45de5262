// Package reference is the API as people read about it: its operations with their fields and errors, and
// each request as code in five languages. The API describes itself in these words, and the pages show
// them; the room knows neither of them.
package reference

import "strings"

// Reference is the whole of it. It is read only.
type Reference struct {
	About  []Text // paragraphs
	Groups []Group
	Codes  []Code // of all refusals
}

// Group is the operations about one noun.
type Group struct {
	Name, Anchor string
	Description  Text
	Operations   []Operation
}

// Operation is one request that clients may make.
type Operation struct {
	ID, Method  string
	Path        string // with names in braces: those of parameters
	Summary     string
	Description Text
	Audience    Audience
	Destructive bool // it ends or removes something, and who tries it is asked first

	Parameters []Field
	Body       []Field
	Request    string // an example of the body, in JSON; empty for none

	Status     int // of success
	StatusText string
	Headers    []Field // of the answer
	Answer     []Field
	Example    string // of the answer, in JSON; empty for none
	Stream     bool   // the answer is events, until the client leaves
	Refusals   []Code
}

// Audience is who may use an operation.
type Audience int

// The audiences.
const (
	KeyHolders Audience = iota // who has an API key
	Partners                   // who has a partner key
	Everybody
)

// Field is a parameter, a header or a field of a body. Fields inside of another are named with it
// ("contact.fullName").
type Field struct {
	Name, Type  string
	Where       string // "path", "query" or "header"; empty for one of a body
	Required    bool
	Rules       []Text
	Description Text
	Example     string   // of a parameter; empty for none
	Values      []string // all that a parameter may be; empty: anything that fits the rules
}

// Code is why a request may be refused.
type Code struct {
	Name    string
	Status  int
	Text    string // of the status
	Meaning Text
}

// Find returns the operation of an id with its group, and those before and after it in the order of the
// reference; nil for none.
func (r *Reference) Find(id string) (group *Group, op, before, next *Operation) {
	for g := range r.Groups {
		for o := range r.Groups[g].Operations {
			one := &r.Groups[g].Operations[o]
			switch {
			case op != nil:
				return group, op, before, one
			case one.ID == id:
				group, op = &r.Groups[g], one
			default:
				before = one
			}
		}
	}
	if op == nil {
		return nil, nil, nil, nil
	}
	return group, op, before, nil
}

// Text is a text in English. What stands in backquotes is code.
type Text string

// Part is a piece of a text.
type Part struct {
	Text string
	Code bool
}

// Parts are the pieces of a text, none of which is empty.
func (t Text) Parts() []Part {
	var parts []Part
	for i, piece := range strings.Split(string(t), "`") {
		if piece != "" {
			parts = append(parts, Part{Text: piece, Code: i%2 == 1})
		}
	}
	return parts
}
