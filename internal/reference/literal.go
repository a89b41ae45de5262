// JSON as values of other languages, in the order in which it was written.

package reference

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// maxDepth is how deep a body is that is written as a value: what is deeper is a text, since each level
// moves it further to the right.
const maxDepth = 20

// value is one of JSON.
type value struct {
	object bool
	list   bool
	items  []item
	plain  any // of all others: a string, a json.Number, a bool or nil
}

// item is a field of an object, or an item of a list.
type item struct {
	name string
	value
}

// parse reads a body.
func parse(body string) (value, bool) {
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	read, err := readValue(decoder, 0)
	if err != nil {
		return value{}, false
	}
	_, err = decoder.Token()
	return read, errors.Is(err, io.EOF)
}

var errTooDeep = errors.New("reference: the body is too deep")

func readValue(decoder *json.Decoder, depth int) (value, error) {
	token, err := decoder.Token()
	if err != nil {
		return value{}, err
	}
	opened, ok := token.(json.Delim)
	if !ok {
		return value{plain: token}, nil
	}
	if depth == maxDepth {
		return value{}, errTooDeep
	}
	made := value{object: opened == '{', list: opened == '['}
	for decoder.More() {
		var one item
		if made.object {
			name, err := decoder.Token()
			if err != nil {
				return value{}, err
			}
			one.name, _ = name.(string) // the decoder takes no other name
		}
		if one.value, err = readValue(decoder, depth+1); err != nil {
			return value{}, err
		}
		made.items = append(made.items, one)
	}
	_, err = decoder.Token()
	return made, err
}

// language is how a language writes what JSON has too.
type language struct {
	object, list [2]string // what opens and closes it
	empty        string    // an object without fields
	between      string    // a field's name and its value
	quote        func(string) string
	words        map[any]string
	step         string // of the indentation
}

//nolint:gochecknoglobals // tables
var (
	javascript = language{
		[2]string{"{", "}"}, [2]string{"[", "]"}, "{}", ": ", jsonString, map[any]string{true: "true", false: "false", nil: "null"}, "  ",
	}
	python = language{
		[2]string{"{", "}"}, [2]string{"[", "]"}, "{}", ": ", jsonString, map[any]string{true: "True", false: "False", nil: "None"}, "    ",
	}
	php = language{
		[2]string{"[", "]"}, [2]string{"[", "]"}, "new stdClass", " => ", phpString, map[any]string{true: "true", false: "false", nil: "null"}, "    ",
	}
)

// write writes the value. The lines after the first begin with an indentation.
func (v value) write(in language, indent string) string {
	switch plain := v.plain.(type) {
	case string:
		return in.quote(plain)
	case json.Number:
		return plain.String()
	}
	if !v.object && !v.list {
		return in.words[v.plain]
	}
	around := in.list
	if v.object {
		around = in.object
	}
	if len(v.items) == 0 {
		if v.object {
			return in.empty
		}
		return around[0] + around[1]
	}
	var code strings.Builder
	code.WriteString(around[0] + "\n")
	for _, one := range v.items {
		code.WriteString(indent + in.step)
		if v.object {
			code.WriteString(in.quote(one.name) + in.between)
		}
		code.WriteString(one.write(in, indent+in.step) + ",\n")
	}
	code.WriteString(indent + around[1])
	return code.String()
}
