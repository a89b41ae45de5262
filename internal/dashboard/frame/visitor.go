// Who looks at a page.

package frame

import (
	"context"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/user"
)

// Visitor is the user who made a request.
type Visitor struct {
	Actor user.Actor

	// Key is what the use cases are called with: a key of the user's account.
	Key gateway.Key
	// Watch returns a channel that is closed when the user is signed out or may do less,
	// for streams. The caller calls stop once.
	Watch func() (ended <-chan struct{}, stop func())
}

// May reports whether the visitor may do what a role is needed for.
func (v Visitor) May(role gateway.Role) bool { return v.Actor.Role.Covers(role) }

type visitorKey struct{}

// WithVisitor returns a context that knows who made the request.
func WithVisitor(ctx context.Context, visitor Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, visitor)
}

// VisitorOf returns who made the request and whether anybody is signed in.
func VisitorOf(ctx context.Context) (Visitor, bool) {
	visitor, ok := ctx.Value(visitorKey{}).(Visitor)
	return visitor, ok
}
