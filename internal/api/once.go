package api

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"reflect"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/api/body"
)

// Once is the header that makes a send safe to repeat.
type Once struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" doc:"Chosen by the client. A repeat with the same key and the same request, within 24 hours, sends nothing and gets the first answer." example:"order-1234-shipped"`
}

// Resolve refuses what no database can hold.
func (o Once) Resolve(huma.Context) []error {
	if !utf8.ValidString(o.IdempotencyKey) {
		return []error{body.Wrong("Idempotency-Key", "must be UTF-8")}
	}
	return nil
}

// fingerprint is of everything that was asked: the operation, the instance, and
// every field that is known, however the body spells them.
func fingerprint(x *exchange, given any) []byte {
	sum := sha256.New()
	for _, part := range []any{x.pattern, x.instance.ID, given} {
		addToHash(sum, reflect.ValueOf(part))
	}
	return sum.Sum(nil)
}

// addToHash adds a value of the kinds that bodies are made of. What can differ in
// length begins with its length, so that two values never look the same. Media
// is long: it is neither copied nor encoded for it.
func addToHash(sum hash.Hash, value reflect.Value) {
	number := func(n uint64) { _, _ = sum.Write(binary.BigEndian.AppendUint64(nil, n)) } // a hash takes everything
	length := func(n int) { number(uint64(n)) }                                          //nolint:gosec // a length is not negative
	switch value.Kind() {
	case reflect.Struct:
		for _, field := range value.Fields() {
			addToHash(sum, field)
		}
	case reflect.Slice:
		length(value.Len())
		for _, item := range value.Seq2() {
			addToHash(sum, item)
		}
	case reflect.Bool:
		var set uint64
		if value.Bool() {
			set = 1
		}
		number(set)
	case reflect.Float64:
		number(math.Float64bits(value.Float()))
	default:
		text := value.String()
		length(len(text))
		var block [4096]byte
		for text != "" {
			n := copy(block[:], text)
			_, _ = sum.Write(block[:n])
			text = text[n:]
		}
	}
}
