// Systems on which the space on a disk is not known.

//go:build !linux && !darwin && !windows

package health

import "errors"

// DiskSpace says that it does not know.
func DiskSpace(string) (free, all int64, err error) {
	return 0, 0, errors.ErrUnsupported
}
