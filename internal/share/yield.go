// How work that nobody waits for leaves room to what somebody waits for.

package share

import (
	"context"
	"io"
	"runtime"
	"time"
)

// Rested does a piece of work that nobody waits for, and then rests for as long as it took, or until ctx ends. A loop of
// such pieces leaves half of the time, of the processors and of the database's writer, to what somebody
// waits for. It returns the error of the work.
func Rested(ctx context.Context, work func() error) error {
	began := time.Now() //nolint:forbidigo // only the time that passes counts
	err := work()
	rest := time.NewTimer(time.Since(began))
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	}
	return err
}

// Yield returns a reader that lets whoever waits for a processor go first, before each read. A loop over a
// whole file would hold one for 10 ms at a time otherwise, at every step of each request of others.
func Yield(from io.Reader) io.Reader { return yielding{from} }

type yielding struct{ from io.Reader }

// Read implements io.Reader.
func (y yielding) Read(into []byte) (int, error) {
	runtime.Gosched()
	return y.from.Read(into)
}
