//go:build unix

// How a process is stopped for a while.

package s3

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

func pause(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// stopped reports whether every thread of the process has stopped: the signal alone returns
// before, and a thread that still runs may answer one more request. Where threads have no files,
// as on macOS, the signal has to do.
func stopped(pid int) bool {
	threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/stat") // the pattern is sound
	for _, thread := range threads {
		// The state comes after the name, which stands in brackets. A thread may have ended.
		state, err := os.ReadFile(thread) //nolint:gosec // a file of the kernel's
		if err == nil && !bytes.HasPrefix(state[bytes.LastIndexByte(state, ')')+1:], []byte(" T")) {
			return false
		}
	}
	return true
}

func resume(pid int) { _ = syscall.Kill(pid, syscall.SIGCONT) } // it may have ended
