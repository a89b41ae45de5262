// The app state is read and changed where nothing that is in it can stop the process.

package chatstate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/keys"
	"github.com/recado-project/recado/internal/whatsapp/line"
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
	return Guard(ctx, c.line, func(ctx context.Context) error { return c.line.Client().FetchAppState(ctx, name, whole, false) })
}

func (c *Chats) logFetch(ctx context.Context, name appstate.WAPatchName, err error) {
	if err != nil && ctx.Err() == nil {
		c.line.Logger.WarnContext(ctx, "app state not read", slog.String("collection", string(name)), slog.Any("error", err))
	}
}

// Guard runs what reads or changes the app state of a session, one after another: whatsmeow would
// put a change together while it reads another one, and no device could verify that change. It
// panics about entries that any device of the account can write: that is an error here.
func Guard(ctx context.Context, of *line.Line, do func(ctx context.Context) error) (err error) {
	if err := of.AppState.Acquire(ctx, 1); err != nil {
		return err
	}
	defer of.AppState.Release(1)
	defer func() {
		if failure := recover(); failure != nil {
			refused := gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "an entry in the account's settings can't be read")
			refused.Cause = fmt.Errorf("chatstate: panic while the app state was read: %v\n%s", failure, debug.Stack())
			err = refused
		}
	}()
	return do(keys.Guarded(ctx))
}

// maxTries is how often a change is made that other devices were faster than: whatsmeow makes each
// of them twice.
const maxTries = 5

// Change changes the app state of a session. Its error is a whatsmeow.ErrAppStateUpdate with the
// platform's code if the platform does not accept the change, or if another device was faster each
// time.
func Change(ctx context.Context, of *line.Line, patch appstate.PatchInfo) error {
	client := of.Client()
	return Guard(ctx, of, func(ctx context.Context) error {
		for try := 1; ; try++ {
			err := client.SendAppState(ctx, patch)
			if !errors.Is(err, whatsmeow.ErrAppStateUpdate) {
				return err
			}
			if !wasFaster(err) || try == maxTries {
				return fmt.Errorf("%w (code %d)", whatsmeow.ErrAppStateUpdate, refusalCode(err))
			}
		}
	})
}

// wasFaster reports whether a change was refused for one that another device has made, and that could
// be read. What can't be verified now can't be the next time.
func wasFaster(err error) bool {
	return refusalCode(err) == http.StatusConflict && !errors.Is(err, appstate.ErrMismatchingLTHash)
}

// refusalCode is the platform's code, which the library has only in a text; 0 if there is none.
func refusalCode(err error) int {
	_, after, _ := strings.Cut(err.Error(), `code="`)
	text, _, _ := strings.Cut(after, `"`)
	code, _ := strconv.Atoi(text) // 0 for what is no number
	return code
}
