// What becomes of a change that the platform refuses.

package chatstate

import (
	"errors"
	"fmt"
	"testing"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/appstate"

	"github.com/recado-project/recado/internal/testkit/cases"
)

// A change is made again if another device was faster, and not if what that device has written can't
// be verified.
func TestRefusedChangesAreMadeAgain(t *testing.T) {
	t.Parallel()
	conflict := fmt.Errorf("%w (regular_low): <error code=\"409\" text=\"conflict\"/>", whatsmeow.ErrAppStateUpdate)
	for name, c := range cases.Sorted(map[string]struct {
		err   error
		code  int
		again bool
	}{
		"another device was faster": {conflict, 409, true},
		"it can't be verified":      {fmt.Errorf("%w (also, applying patches in the response failed: %w)", conflict, appstate.ErrMismatchingLTHash), 409, false},
		"it is not accepted":        {fmt.Errorf("%w (regular): <error code=\"400\" text=\"bad-request\"/>", whatsmeow.ErrAppStateUpdate), 400, false},
		"the code is no number":     {fmt.Errorf("%w: <error code=\"many\"/>", whatsmeow.ErrAppStateUpdate), 0, false},
		"there is no code":          {errors.New("websocket not connected"), 0, false},
	}) {
		if got := refusalCode(c.err); got != c.code {
			t.Errorf("%s: the code is %d, want %d", name, got, c.code)
		}
		if got := wasFaster(c.err); got != c.again {
			t.Errorf("%s: made again: %t, want %t", name, got, c.again)
		}
	}
}
