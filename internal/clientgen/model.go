package main

// model is what a client of the API consists of, in no language.
type model struct {
	operations []operation // by their names
	objects    []object    // by their names
	events     []event     // by their types
	words      []words     // by their names
}

// operation is one operation whose answer is JSON, or empty.
type operation struct {
	id, method, path     string
	summary, description string
	codes                []string // of its refusals, without those of every operation with a key; sorted
	inPath, query        []parameter
	headers              []parameter // that the request may have
	paged                bool        // it has page and limit, which are not in query
	body                 string      // the object that it takes; empty for none
	takesFile            bool        // in a form, with the other fields of the body
	answer               string      // the object, or the page, that it answers; empty for none
	answerHeaders        []parameter // that are set, or not
	accepts              string      // describes the answer 202 that it may give as well; empty if it never does
	waits                bool        // for the platform
}

// parameter is a parameter of an operation, or a header of its answer.
type parameter struct {
	name, description string
	kind              kind
}

// object is a schema with properties.
type object struct {
	name, description string
	uses              []use
	includes          []string    // the objects whose properties it has as well
	item              string      // of a page: the object on it; empty if it is no page
	fields            []field     // without those of includes, and of a page
	headers           []parameter // that the operation may be given with it
	takesFile         bool
	answerHeaders     []parameter
	accepts           string
}

// use is a place of the document that names an object.
type use struct {
	role  role
	of    string // an operation, or the object that has the field
	field string // of asField
}

// role is what an object is used as.
type role int

// The roles.
const (
	asBody role = iota
	asAnswer
	asItem
	asField
	asPart // of an object that includes it
)

// field is a property of an object.
type field struct {
	name, description string
	kind              kind
	// optional fields may be left out. ambiguous says that zero would be something else.
	optional, ambiguous bool
	// orFile fields are optional only because a file may be there in their place.
	orFile bool
	// clearable fields of a request may be null, which is something else than left out.
	clearable bool
}

// kind is the type of a value.
type kind struct {
	base     base
	object   string // of base anObject
	element  *kind  // of base aList and aMap
	nullable bool
	values   []string // of base aString: the only ones; empty if there may be others
}

// base is what a kind is without its details.
type base int

// The bases.
const (
	aString base = iota
	aTime
	anInteger
	aNumber
	aBoolean
	aBooleanInText // it is written "true" or "false"
	aList
	aMap
	anObject
	anyObject // whose properties are not described
)

// event is a kind of event.
type event struct {
	name, kind, when string // its name ends in Event
	data             object
}

// words are the values that properties of a name may have.
type words struct {
	name   string
	of     []string // the objects that have the property
	open   bool     // there may be others
	values []word
}

// word is one value.
type word struct{ value, description string }

// object returns the object of a name; the zero one if there is none.
func (m model) object(name string) object {
	for _, o := range m.objects {
		if o.name == name {
			return o
		}
	}
	return object{}
}

// asked returns the names of the objects that requests have, which no answer has.
func (m model) asked() map[string]bool {
	asked := map[string]bool{}
	var note func(name string)
	note = func(name string) {
		if name == "" || asked[name] {
			return
		}
		asked[name] = true
		for _, f := range m.object(name).fields {
			note(innermost(f.kind).object)
		}
	}
	for _, op := range m.operations {
		note(op.body)
	}
	return asked
}
