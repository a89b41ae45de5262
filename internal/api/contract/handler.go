package contract

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
)

// Answered wraps what a use case returns: show makes the answer of it.
//
//	return contract.Answered(newLabel)(r.use.Get(ctx, instanceID, labelID))
func Answered[G, T any](show func(G) T) func(found G, err error) (T, error) {
	return func(found G, err error) (answer T, _ error) {
		if err != nil {
			return answer, err
		}
		return show(found), nil
	}
}

// Listed wraps the page that a use case returns for p: show makes the answer of each item.
func Listed[G, T any](p Paging, show func(G) T) func(page gateway.Page[G], err error) (Envelope[T], error) {
	return Answered(func(page gateway.Page[G]) Envelope[T] { return NewEnvelope(p, page, show) })
}

// Pair is the two endpoints of something that is on or off.
type Pair struct{ On, Off Endpoint }

// Named is what the two operations of a Pair don't share.
type Named struct{ ID, Summary, Description string }

// Switch makes the endpoints of something that is on or off: set turns it on and off. They answer
// nothing, and are idempotent.
func Switch[I any](op Operation, on, off Named, set func(ctx context.Context, in *I, on bool) error) Pair {
	endpoint := func(named Named, wanted bool) Endpoint {
		op.ID, op.Summary, op.Description = named.ID, named.Summary, named.Description
		return Do(op, func(ctx context.Context, in *I) error { return set(ctx, in, wanted) })
	}
	return Pair{On: endpoint(on, true), Off: endpoint(off, false)}
}
