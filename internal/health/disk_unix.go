// The space on a disk, as Linux and macOS tell it.

//go:build linux || darwin

package health

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// DiskSpace returns how many bytes the disk of a folder has free for this program, and in all.
func DiskSpace(folder string) (free, all int64, err error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, 0, fmt.Errorf("health: look at the disk: %w", err)
	}
	size := int64(disk.Bsize)                                        //nolint:unconvert,nolintlint // its type is another one on macOS
	return int64(disk.Bavail) * size, int64(disk.Blocks) * size, nil //nolint:gosec // no disk is that large
}
