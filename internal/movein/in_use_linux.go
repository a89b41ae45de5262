// Who uses a SQLite file.

package movein

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ofdGetlk asks for locks of every process, and of other files of this one (fcntl(2)).
const ofdGetlk = 36

// inUse says in what way somebody uses a SQLite file, as far as it can be seen: by its
// locks, and by the processes that have it open. Empty means that nobody was seen.
//
// A program that is connected in WAL mode holds a lock all the time; any other only while
// it reads or writes. Processes of other users are seen by root alone, and those outside
// of this container never, but for their locks.
func inUse(path string) (why string, err error) {
	for _, part := range []struct {
		suffix        string
		start, length int64 // of the bytes that SQLite locks
	}{{"", 0x40000000, 512}, {"-shm", 120, 9}} {
		locked, err := isLocked(path+part.suffix, part.start, part.length)
		if err != nil {
			return "", err
		}
		if locked {
			return "another process has locked this file", nil
		}
	}
	return openedBy(path)
}

// isLocked reports whether there is a lock within some bytes of a file. A file that does
// not exist has none.
func isLocked(path string, start, length int64) (bool, error) {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it was only looked at
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: start, Len: length}
	if err := syscall.FcntlFlock(file.Fd(), ofdGetlk, &lock); err != nil {
		return false, fmt.Errorf("look for locks: %w", err)
	}
	return lock.Type != syscall.F_UNLCK, nil
}

// openedBy names a process that has the file open; empty if none is seen.
func openedBy(path string) (string, error) {
	about, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	opened, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return "", err
	}
	for _, descriptor := range opened {
		other, err := os.Stat(descriptor)
		if err != nil || !os.SameFile(about, other) {
			continue // it was closed, or is not ours to see
		}
		process := strings.Split(descriptor, "/")[2]
		name, err := os.ReadFile("/proc/" + process + "/comm") //nolint:gosec // it is a number
		if err != nil {
			continue // it has ended
		}
		return fmt.Sprintf("process %s (%s) has this file open", process, strings.TrimSpace(string(name))), nil
	}
	return "", nil
}
