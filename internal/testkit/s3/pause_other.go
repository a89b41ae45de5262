//go:build !unix

// How a process is stopped for a while, where it can't be.

package s3

import "errors"

func pause(int) error { return errors.ErrUnsupported }

func stopped(int) bool { return true }

func resume(int) {}
