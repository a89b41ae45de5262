// Package await waits in tests for what comes true by itself. Only tests import it.
package await

import (
	"context"
	"testing"
	"time"
)

// Patience is how long a condition may take to become true. It is long, so that tests
// don't fail on a busy machine.
const Patience = 90 * time.Second

// Until waits until condition holds, and fails the test where it never does. what names
// the condition in the failure.
func Until(tb testing.TB, what string, condition func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), Patience)
	defer cancel()
	// Who waits for long asks less often: those whom everybody waits for need the machine.
	pause := 2 * time.Millisecond
	for !condition() {
		select {
		case <-time.After(pause):
			pause = min(pause*5/4, 50*time.Millisecond)
		case <-ctx.Done():
			tb.Fatalf("waited %s in vain for %s", Patience, what)
		}
	}
}
