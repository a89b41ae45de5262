package eventlog

import "slices"

// Kind says what an event reports; it is the type in its envelope.
type Kind string

// Description is what the documents say of a kind of event.
type Description struct {
	Data Data   // the zero value of the kind's data
	When string // it is emitted, as the end of a sentence
}

// Descriptions returns those of all kinds there are, in the order of the
// documentation.
func Descriptions() []Description {
	return slices.Concat(instanceKinds(), messageKinds(), peopleKinds(), deliveryKinds())
}

// Kinds returns every kind there is, in the order of the documentation.
func Kinds() []Kind {
	descriptions := Descriptions()
	kinds := make([]Kind, 0, len(descriptions))
	for _, description := range descriptions {
		kinds = append(kinds, description.Data.Kind())
	}
	return kinds
}

// Known reports whether there is such a kind.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// Data is what an event of one kind carries. Each type that implements it belongs
// to one kind, and has a line in the list of its family: instanceKinds,
// messageKinds, peopleKinds or deliveryKinds.
type Data interface {
	Kind() Kind
}
