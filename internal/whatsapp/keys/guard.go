// The app state is read where its reader can be stopped.

package keys

import (
	"context"
	"errors"

	"go.mau.fi/whatsmeow/store"
)

// ErrLater is what whatsmeow gets when it begins to read the app state by itself. It would do so
// in a goroutine of its own, where a panic ends the process, and it panics about entries that any
// device of the account can write. The session reads the same soon.
var ErrLater = errors.New("keys: the session reads the app state")

type guarded struct{}

// Guarded marks a context: whoever reads or changes the app state with it recovers from a panic.
func Guarded(ctx context.Context) context.Context { return context.WithValue(ctx, guarded{}, true) }

// guardedState is the app state of a session.
type guardedState struct {
	store.AppStateStore

	wanted func(collection string)
}

// GetAppStateVersion is what every reading of a collection begins with.
func (s guardedState) GetAppStateVersion(ctx context.Context, name string) (version uint64, hash [128]byte, err error) {
	if ctx.Value(guarded{}) == nil {
		s.wanted(name)
		return 0, hash, ErrLater
	}
	return s.AppStateStore.GetAppStateVersion(ctx, name)
}
