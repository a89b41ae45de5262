// Systems on which the space on a disk is not known.

//go:build !linux && !darwin && !windows

package health

import "errors"

func diskSpace(string) (free, all int64, err error) {
	return 0, 0, errors.ErrUnsupported
}
