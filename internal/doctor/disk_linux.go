// The file system of a folder, as Linux tells it.

package doctor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lookAtFileSystem looks at the file system of a folder.
func lookAtFileSystem(folder string) (fileSystem, error) {
	var counts unix.Statfs_t
	if err := unix.Statfs(folder, &counts); err != nil {
		return fileSystem{}, fmt.Errorf("look at the file system: %w", err)
	}
	var about unix.Stat_t
	if err := unix.Stat(folder, &about); err != nil {
		return fileSystem{}, fmt.Errorf("look at the file system: %w", err)
	}
	device := fmt.Sprintf("%d:%d", unix.Major(about.Dev), unix.Minor(about.Dev))
	found := fileSystem{Inodes: counts.Files, FreeInodes: counts.Ffree}
	mounts, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return found, nil // then its kind is not known
	}
	defer func() { _ = mounts.Close() }()
	if found.Kind, found.Options, err = mounted(mounts, device); err != nil {
		return found, fmt.Errorf("look at the file system: %w", err)
	}
	found.Cache = cache(device)
	return found, nil
}

// mounted finds the kind of a device's file system and how it is mounted (proc_pid_mountinfo(5)).
func mounted(mounts io.Reader, device string) (kind string, options []string, err error) {
	lines := bufio.NewScanner(mounts)
	for lines.Scan() {
		// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
		own, whole, found := strings.Cut(lines.Text(), " - ")
		first, second := strings.Fields(own), strings.Fields(whole)
		if !found || len(first) < 6 || len(second) < 3 || first[2] != device {
			continue
		}
		kind, options = second[0], append(strings.Split(first[5], ","), strings.Split(second[2], ",")...)
	}
	return kind, options, lines.Err()
}

// cache reads the disk's write-cache mode; for a partition, its disk's.
func cache(device string) string {
	at, err := filepath.EvalSymlinks("/sys/dev/block/" + device)
	if err != nil {
		return "" // it has no disk of its own, or this is not shown
	}
	for _, folder := range []string{at, filepath.Dir(at)} {
		said, err := os.ReadFile(filepath.Join(folder, "queue", "write_cache")) //nolint:gosec // a file of the system
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		return strings.TrimSpace(string(said))
	}
	return ""
}
