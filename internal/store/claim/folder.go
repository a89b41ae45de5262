// The claim of a data folder.

package claim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrFolderTaken is the error for a data folder that another process works in.
var ErrFolderTaken = errors.New("the data folder is in use by another recado process")

const (
	lockFile = "lock" // in the folder
	lockMode = 0o600

	// folderMode keeps the sessions' keys from other users of the machine.
	folderMode = 0o700
)

// TakeFolder takes the claim of a data folder, which it creates if it is missing: two
// processes would connect the same sessions, and the platform would disconnect them in
// turn. The system ends the claim when the process ends, however it ends. Its error is
// ErrFolderTaken if another process has it.
func TakeFolder(path string) (release func() error, err error) {
	if err := os.MkdirAll(path, folderMode); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	lock := flock.New(filepath.Join(path, lockFile), flock.SetPermissions(lockMode))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if !locked {
		return nil, ErrFolderTaken
	}
	return lock.Unlock, nil
}
