package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// files are what phones keep, decrypted: the media of their messages and their
// profile pictures. A file is named by the hash of its content, so that many
// phones can have the same one.
type files struct{ root *os.Root }

func openFiles(folder string) (*files, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("platform: create folder: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("platform: open folder: %w", err)
	}
	return &files{root: root}, nil
}

// put keeps a file under its hash, written aside and renamed: a name that exists
// has all of the content.
func (f *files) put(hash string, content []byte) error {
	if _, err := f.root.Stat(hash); err == nil {
		return nil
	}
	aside := hash + "." + newID()
	if err := f.root.WriteFile(aside, content, 0o600); err != nil {
		return fmt.Errorf("platform: keep file: %w", err)
	}
	if err := f.root.Rename(aside, hash); err != nil {
		return errors.Join(fmt.Errorf("platform: keep file: %w", err), f.root.Remove(aside))
	}
	return nil
}

// get returns a file, nil if there is none.
func (f *files) get(hash string) ([]byte, error) {
	content, err := f.root.ReadFile(hash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("platform: read file: %w", err)
	}
	return content, nil
}
