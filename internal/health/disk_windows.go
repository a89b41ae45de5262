// The space on a disk, as Windows tells it.

package health

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// DiskSpace returns how many bytes the disk of a folder has free for this program, and in all.
func DiskSpace(folder string) (free, all int64, err error) {
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, 0, fmt.Errorf("health: look at the disk: %w", err)
	}
	var available, total uint64
	if err := windows.GetDiskFreeSpaceEx(path, &available, &total, nil); err != nil {
		return 0, 0, fmt.Errorf("health: look at the disk: %w", err)
	}
	return int64(available), int64(total), nil //nolint:gosec // no disk is that large
}
