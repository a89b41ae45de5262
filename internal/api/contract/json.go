package contract

import (
	"errors"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/recado-project/recado/internal/body"
)

// JSON is the JSON body of a request, embedded in the input of an operation that
// reads one.
type JSON[T any] struct {
	body.Notes

	given T
}

// bodied is an input that embeds JSON.
type bodied interface{ bodyType() reflect.Type }

func (*JSON[T]) bodyType() reflect.Type { return reflect.TypeFor[T]() }

// Given returns the body.
func (b *JSON[T]) Given() T { return b.given }

// Resolve decodes the body that the gate has read. Huma calls it, and adds what is
// wrong with parameters.
func (b *JSON[T]) Resolve(ctx huma.Context) []error {
	rules, ok := ctx.Operation().Metadata[metaRules].(body.Rules)
	if !ok {
		return []error{errors.New("contract: the operation reads no body")}
	}
	var errs []error
	b.Notes, errs = rules.Decode(exchangeOf(ctx.Context()).body, &b.given)
	return errs
}
