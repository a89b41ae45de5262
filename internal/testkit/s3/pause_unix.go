//go:build unix

// How a process is stopped for a while.

package s3

import "syscall"

func pause(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

func resume(pid int) {
	_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
}
