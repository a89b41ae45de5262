package account

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Files are the decrypted files that phones keep: the media of their messages, and
// profile pictures. A file is named by the hash of its content, so that many phones
// can share it.
type Files struct{ root *os.Root }

// OpenFiles opens the folder. It creates the folder if it does not exist.
func OpenFiles(folder string) (*Files, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("account: create folder: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("account: open folder: %w", err)
	}
	return &Files{root: root}, nil
}

// Put keeps a file under its hash. It writes the file under another name and
// renames it, so that a file with its final name is complete.
func (f *Files) Put(hash string, content []byte) error {
	if _, err := f.root.Stat(hash); err == nil {
		return nil
	}
	aside := hash + "." + wire.NewID()
	if err := f.root.WriteFile(aside, content, 0o600); err != nil {
		return fmt.Errorf("account: keep file: %w", err)
	}
	if err := f.root.Rename(aside, hash); err != nil {
		return errors.Join(fmt.Errorf("account: keep file: %w", err), f.root.Remove(aside))
	}
	return nil
}

// KeepPicture keeps the file of a picture and returns its hash. It returns "" for
// an empty file, which means no picture.
func (f *Files) KeepPicture(file []byte) (string, error) {
	if len(file) == 0 {
		return "", nil
	}
	sum := sha256.Sum256(file)
	hash := hex.EncodeToString(sum[:])
	return hash, f.Put(hash, file)
}

// Open opens a file for reading. It returns nil if there is none.
func (f *Files) Open(hash string) (*os.File, error) {
	file, err := f.root.Open(hash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("account: open file: %w", err)
	}
	return file, nil
}

// Get returns a file, or nil if there is none.
func (f *Files) Get(hash string) ([]byte, error) {
	content, err := f.root.ReadFile(hash)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("account: read file: %w", err)
	}
	return content, nil
}

// Close closes the folder.
func (f *Files) Close() error { return f.root.Close() }
