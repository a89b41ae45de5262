//go:build !linux

package postgres

import "syscall"

// limitUnacknowledged does nothing: the system has no such limit. What reads has one of its own.
func limitUnacknowledged(_, _ string, _ syscall.RawConn) error { return nil }
