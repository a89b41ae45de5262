// Values in Baileys' JSON.

package baileys

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// errFormat is the error for every value that is not as Baileys writes it. The errors of
// package json would show a part of the value, which may be a key.
var errFormat = errors.New("it is not what Baileys writes")

func decode(encoded []byte, into any) error {
	if json.Unmarshal(encoded, into) != nil {
		return errFormat
	}
	return nil
}

// buffer is some bytes. There are five ways in which versions of Baileys have written
// them, and an entry may have several: {"type":"Buffer","data":…} with a text in base64 or
// a list of numbers, only the one or the other, and an object with the places as names.
type buffer []byte

// UnmarshalJSON reads bytes.
func (b *buffer) UnmarshalJSON(encoded []byte) error {
	encoded = bytes.TrimSpace(encoded)
	*b = nil
	if len(encoded) == 0 || string(encoded) == "null" {
		return nil
	}
	switch encoded[0] {
	case '"':
		var text string
		if err := decode(encoded, &text); err != nil {
			return err
		}
		decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
		if err != nil {
			return errFormat
		}
		*b = decoded
		return nil
	case '[':
		var numbers []byteNumber // package json takes []byte for a text
		err := decode(encoded, &numbers)
		for _, number := range numbers {
			*b = append(*b, byte(number))
		}
		return err
	case '{':
		return b.readObject(encoded)
	default:
		return errFormat
	}
}

// byteNumber is a byte that is written as a number.
type byteNumber uint8

// readObject reads the forms that are objects.
func (b *buffer) readObject(encoded []byte) error {
	var fields ordered[json.RawMessage]
	if err := decode(encoded, &fields); err != nil {
		return err
	}
	inside, isBuffer := json.RawMessage(nil), false
	for _, field := range fields {
		switch field.name {
		case "type", "buffer":
			isBuffer = true
		case "data", "value":
			inside = field.value
		default:
		}
	}
	if isBuffer {
		if bytes.HasPrefix(bytes.TrimSpace(inside), []byte("{")) {
			return errFormat // bytes have no depth
		}
		return b.UnmarshalJSON(inside)
	}
	*b = make(buffer, len(fields))
	for n, field := range fields { // JavaScript writes such names in order
		var number byte
		if field.name != strconv.Itoa(n) || decode(field.value, &number) != nil {
			return errFormat
		}
		(*b)[n] = number
	}
	return nil
}

// unwrapped is a JSON document that may be inside of a buffer.
func unwrapped(encoded []byte) ([]byte, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if _ = decode(encoded, &kind); kind.Type != "Buffer" { // a list has no type
		return encoded, nil
	}
	var inside buffer
	err := decode(encoded, &inside)
	return inside, err
}

// ordered is an object whose fields are kept in their order, which says their age.
type ordered[V any] []field[V]

type field[V any] struct {
	name  string
	value V
}

// UnmarshalJSON reads the fields.
func (o *ordered[V]) UnmarshalJSON(encoded []byte) error {
	*o = nil
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errFormat
	}
	for decoder.More() {
		token, err := decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return errFormat
		}
		var value V
		if decoder.Decode(&value) != nil {
			return errFormat
		}
		*o = append(*o, field[V]{name, value})
	}
	return nil
}

// publicKey is a public key with the byte that names its curve, which some versions leave
// out.
func publicKey(key []byte) ([]byte, bool) {
	const curve = 5
	switch {
	case len(key) == 33 && key[0] == curve:
		return key, true
	case len(key) == 32:
		return append([]byte{curve}, key...), true
	default:
		return nil, false
	}
}
