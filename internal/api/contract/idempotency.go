package contract

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/body"
)

// Idempotency is the header that makes a send safe to repeat, embedded in the input
// of an operation.
type Idempotency struct {
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" doc:"Chosen by the client. If the same request is repeated with the same key within 24 hours, nothing is sent and the first answer is returned." example:"order-1234-shipped"`
}

// Resolve refuses a key that a database can't hold.
func (i Idempotency) Resolve(huma.Context) []error {
	if !utf8.ValidString(i.IdempotencyKey) {
		return []error{body.Wrong("Idempotency-Key", "must be UTF-8")}
	}
	return nil
}

// Fingerprint is the hash of a request: of the operation, the instance, and every
// known field of its body, however the body spells them.
func Fingerprint(ctx context.Context, given any) []byte {
	x := exchangeOf(ctx)
	sum := sha256.New()
	for _, part := range []any{x.pattern, x.instance.ID, given} {
		addToHash(sum, reflect.ValueOf(part))
	}
	return sum.Sum(nil)
}

// FingerprintIfSet is what the tag "fingerprint" of a body's field says that came later than the
// first release: it counts only where it is not zero, so that a request from before an upgrade
// is still the same after it.
const FingerprintIfSet = "if set"

// addToHash adds a value of the kinds that bodies are made of. Values of variable
// length begin with their length, so that different requests never have the same
// bytes. Texts may be long media: they are neither copied nor encoded.
func addToHash(sum hash.Hash, value reflect.Value) {
	number := func(n uint64) { _, _ = sum.Write(binary.BigEndian.AppendUint64(nil, n)) } // writing to a hash never fails
	length := func(n int) { number(uint64(n)) }                                          //nolint:gosec // a length is not negative
	if moment, ok := reflect.TypeAssert[time.Time](value); ok {
		number(uint64(moment.UnixNano()))
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		if value.IsNil() {
			return // so that a field that is new to the API leaves earlier hashes as they are
		}
		number(1)
		addToHash(sum, value.Elem())
	case reflect.Struct:
		for field, of := range value.Fields() {
			if field.Tag.Get("fingerprint") == FingerprintIfSet && of.IsZero() {
				continue // likewise
			}
			addToHash(sum, of)
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
