// The file system of a folder: what kind it is, how it is mounted, and whether it waits for the disk
// when it is asked to.

package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// fileSystem is the file system of a folder.
type fileSystem struct {
	Kind string // as the system names it: ext4, nfs4, tmpfs …; empty if it is not known
	// Options are those that it is mounted with.
	Options []string
	// Inodes and FreeInodes are how many files it can have, and how many more; 0 and 0 if
	// there is no limit, or it is not known.
	Inodes, FreeInodes uint64
	// Cache is what the disk says of its cache: "write back" if that is volatile, "write
	// through" if there is none; empty if it is not known.
	Cache string
}

// isRemote reports whether the files are on another machine, whose locks and syncs are that
// machine's affair.
func (s fileSystem) isRemote() bool {
	return slices.Contains([]string{
		"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.glusterfs", "fuse.sshfs", "fuse.s3fs", "fuse.rclone",
	}, s.Kind)
}

// isMemory reports whether the files are gone when the machine stops.
func (s fileSystem) isMemory() bool { return s.Kind == "tmpfs" || s.Kind == "ramfs" }

// isLayer reports whether the files are in the layer of a container, and gone with it.
func (s fileSystem) isLayer() bool { return s.Kind == "overlay" || s.Kind == "aufs" }

// skipsCache reports whether the file system was told not to make the disk write its cache.
func (s fileSystem) skipsCache() bool {
	return slices.Contains(s.Options, "nobarrier") || slices.Contains(s.Options, "barrier=0")
}

const (
	// syncs and enough bound how often measureSync measures, and for how long.
	syncs  = 32
	enough = 1500 * time.Millisecond

	blockSize = 4096
	probeMode = 0o600
)

// measureSync writes to a new file in a folder as a commit does, waits for the disk each time, and
// removes the file. It returns how long that took in the middle and at most.
func measureSync(ctx context.Context, folder string, now func() time.Time) (median, longest time.Duration, err error) {
	file, err := os.CreateTemp(folder, ".doctor-*")
	if err != nil {
		return 0, 0, fmt.Errorf("make a file: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	block := make([]byte, blockSize)
	began := now()
	var took []time.Duration
	for n := range syncs {
		block[0] = byte(n)
		if _, err := file.Write(block); err != nil {
			return 0, 0, fmt.Errorf("write a file: %w", err)
		}
		before := now()
		if err := file.Sync(); err != nil {
			return 0, 0, fmt.Errorf("wait for the disk: %w", err)
		}
		after := now()
		took = append(took, after.Sub(before))
		if ctx.Err() != nil || after.Sub(began) > enough {
			break
		}
	}
	slices.SortFunc(took, cmp.Compare[time.Duration])
	return took[len(took)/2], took[len(took)-1], nil
}
