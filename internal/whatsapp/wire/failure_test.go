package wire_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/testkit/cases"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// whatsmeow does not say that the keys of a recipient came too late, only that there is no session.
func TestKeysThatCameTooLateAreATimeout(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	noSession := fmt.Errorf("%w with 5511988887766:0", whatsmeow.ErrNoSession)
	tests := map[string]struct {
		ctx  context.Context //nolint:containedctx // it is the case
		err  error
		kind gateway.Kind
	}{
		"in time":            {t.Context(), noSession, gateway.Internal},
		"too late":           {ended, noSession, gateway.PlatformTimeout},
		"too late, not kept": {ended, fmt.Errorf("the disk is full: %w", context.Canceled), gateway.Internal},
	}
	for name, c := range cases.Sorted(tests) {
		if got := gateway.KindOf(wire.Failure(wire.OutOfTime(c.ctx, c.err))); got != c.kind {
			t.Errorf("%s: %v, want %v", name, got, c.kind)
		}
	}
}
