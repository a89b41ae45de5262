package media

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/recado-project/recado/internal/gateway"
)

// LimitedFile is a file that takes a number of bytes and no more: what its sender
// says about its size need not be true. It is not safe for concurrent use.
type LimitedFile struct {
	*os.File

	limit int64
}

// NewLimitedFile limits a file to so many bytes; 0 sets no limit. Writing beyond
// them fails with TooLarge (CodePayloadTooLarge) and writes nothing.
func NewLimitedFile(file *os.File, limit int64) *LimitedFile {
	return &LimitedFile{File: file, limit: limit}
}

// Write writes at the file's place.
func (f *LimitedFile) Write(p []byte) (int, error) {
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if err := f.check(at + int64(len(p))); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// WriteAt writes at an offset.
func (f *LimitedFile) WriteAt(p []byte, at int64) (int, error) {
	if err := f.check(at + int64(len(p))); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, at)
}

// WriteString writes a text.
func (f *LimitedFile) WriteString(text string) (int, error) {
	n, err := f.ReadFrom(strings.NewReader(text))
	return int(n), err
}

// ReadFrom writes all that a reader has.
func (f *LimitedFile) ReadFrom(from io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{f}, from) // not past the limit, as the file's own would
}

// Truncate makes the file longer or shorter.
func (f *LimitedFile) Truncate(size int64) error {
	if err := f.check(size); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *LimitedFile) check(size int64) error {
	if f.limit > 0 && size > f.limit {
		return gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the file has more than %d bytes", f.limit)
	}
	return nil
}

// keyLocks let one caller at a time work on a key. The zero value is ready.
type keyLocks struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // closed when the key is given back
}

// take waits until the key is free, and takes it; the caller gives it back.
func (l *keyLocks) take(ctx context.Context, key string) (release func(), err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.mu.Lock()
		other, busy := l.taken[key]
		if !busy {
			break
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
		}
	}
	defer l.mu.Unlock()
	if l.taken == nil {
		l.taken = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	l.taken[key] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.taken, key)
		close(mine)
	}, nil
}

// readerUntil reads for as long as its context lasts.
type readerUntil struct {
	ctx  context.Context //nolint:containedctx // it lasts as long as the call that makes it
	from io.Reader
}

// Read reads on.
func (r readerUntil) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
