// The sign of a change to other processes.

package cache

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// Mark is a file that tells other processes of changes: each adds a byte to it. Looking at
// its size costs less than any question to the database. It is safe for concurrent use.
type Mark struct {
	path string

	mu   sync.Mutex
	seen int64 // its size at the last look
}

// NewMark uses the file at path, and makes it if it is missing: made by the first program
// that uses the database, it belongs to the same user.
func NewMark(path string) (*Mark, error) {
	m := &Mark{path: path}
	if err := m.write(nil); err != nil {
		return nil, err
	}
	return m, nil
}

// Changed reports whether anybody has told of a change since the last call. If the file
// can't be looked at, something may have changed.
func (m *Mark) Changed() bool {
	about, err := os.Stat(m.path)
	if err != nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.seen
	m.seen = about.Size()
	return m.seen != before
}

// Tell tells the other processes of a change.
func (m *Mark) Tell() error { return m.write([]byte{'.'}) }

func (m *Mark) write(sign []byte) error {
	file, err := os.OpenFile(m.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cache: tell of a change: %w", err)
	}
	_, err = file.Write(sign)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("cache: tell of a change: %w", err)
	}
	return nil
}
