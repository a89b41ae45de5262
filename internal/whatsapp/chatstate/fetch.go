// The app state is read where nothing that is in it can stop the process.

package chatstate

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"go.mau.fi/whatsmeow/appstate"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// Wanted reads a collection soon, of which the platform says that it has changed, or that may be
// read now. It only notes that, and may be called by anybody.
func (c *Chats) Wanted(ctx context.Context, collection string) {
	name := appstate.WAPatchName(collection)
	if !slices.Contains(appstate.AllPatchNames[:], name) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, already := c.wanted[name]; already {
		return
	}
	if c.tasks.Add(func() { c.fetchWanted(ctx, name) }) {
		c.wanted[name] = struct{}{}
	}
}

func (c *Chats) fetchWanted(ctx context.Context, name appstate.WAPatchName) {
	// What changes from now on is read once more.
	c.mu.Lock()
	delete(c.wanted, name)
	c.mu.Unlock()
	c.logFetch(ctx, name, c.fetch(ctx, name, false))
}

// fetch reads a collection, from its beginning or on from where it is.
func (c *Chats) fetch(ctx context.Context, name appstate.WAPatchName, whole bool) error {
	return Guard(ctx, func(ctx context.Context) error { return c.line.Client().FetchAppState(ctx, name, whole, false) })
}

func (c *Chats) logFetch(ctx context.Context, name appstate.WAPatchName, err error) {
	if err != nil && ctx.Err() == nil {
		c.line.Logger.WarnContext(ctx, "app state not read", slog.String("collection", string(name)), slog.Any("error", err))
	}
}

// Guard runs what reads or changes the app state. whatsmeow panics about entries that any device
// of the account can write: that is an error here.
func Guard(ctx context.Context, do func(ctx context.Context) error) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			refused := gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "an entry in the account's settings can't be read")
			refused.Cause = fmt.Errorf("chatstate: panic while the app state was read: %v\n%s", failure, debug.Stack())
			err = refused
		}
	}()
	return do(keys.Guarded(ctx))
}
