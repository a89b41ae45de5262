package share

import (
	"io"
	"runtime"
)

// Yield returns a reader that lets whoever waits for a processor go first, before each read. A loop over a
// whole file would hold one for 10 ms at a time otherwise, at every step of each request of others.
func Yield(from io.Reader) io.Reader { return yielding{from} }

type yielding struct{ from io.Reader }

// Read implements io.Reader.
func (y yielding) Read(into []byte) (int, error) {
	runtime.Gosched()
	return y.from.Read(into)
}
