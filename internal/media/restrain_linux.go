// The bounds that the system keeps for programs that we run.

package media

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// The priorities of programs, behind that of requests that only wait for the processor: of a short
// first run of an account, and of those that are longer or beside it.
const (
	toolPriority  = 10
	laterPriority = 19
)

// restrain bounds a program that has just begun, and lets others go first. It may have ended already.
func restrain(pid int, by bounds) error {
	limit := &unix.Rlimit{Cur: uint64(by.memory), Max: uint64(by.memory)} //nolint:gosec // it is never negative
	err := unix.Prlimit(pid, unix.RLIMIT_DATA, limit, nil)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	priority := toolPriority
	if by.later {
		priority = laterPriority
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, pid, priority) // it works without
	if err != nil {
		return fmt.Errorf("media: bound the memory of a program: %w", err)
	}
	return nil
}
