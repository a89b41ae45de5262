// Package folder keeps files in a folder of this machine, or of a file system that several
// machines have mounted. A loss of power leaves no half of a file under its name. It knows
// neither quotas nor ages; media.Blobs does.
package folder

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/media"
)

// incoming is the folder of files that are not complete yet. No key begins with a dot.
const incoming = ".incoming"

// leftAfter is the age from which an incomplete file in a shared folder is nobody's any
// more. It is far longer than a file may take, and than clocks of machines differ.
const leftAfter = 24 * time.Hour

// Config holds the settings of a store. Only Path is required.
type Config struct {
	// Path is where the files are. It is made if it does not exist, for this user alone.
	Path string
	// Shared says that other processes use the folder too. Without it, only one process
	// at a time may have the folder open.
	Shared bool
	Now    func() time.Time         // nil: the wall clock
	Synced func(took time.Duration) // of each wait for the disk; nil: nobody is told. It must not block
}

// Store is a media.Store.
type Store struct {
	root *os.Root
	now  func() time.Time
	sync func(*os.File) error // waits until a file or folder is on the disk
}

var _ media.Store = (*Store)(nil)

// description is the content of the file that describes another file.
type description struct {
	MimeType string `json:"mimeType"`
	FileName string `json:"fileName"`
	Size     int64  `json:"size"`
}

// Open opens the store. Files that were left incomplete by a process that was killed are
// removed, in a shared folder after a day.
func Open(config Config) (*Store, error) {
	s := &Store{now: config.Now, sync: (*os.File).Sync}
	if s.now == nil {
		s.now = time.Now
	}
	if config.Synced != nil {
		s.sync = func(file *os.File) error {
			began := s.now()
			err := file.Sync()
			config.Synced(s.now().Sub(began))
			return err
		}
	}
	if err := os.MkdirAll(config.Path, 0o700); err != nil {
		return nil, fmt.Errorf("media: make folder of files: %w", err)
	}
	root, err := os.OpenRoot(config.Path)
	if err != nil {
		return nil, fmt.Errorf("media: open folder of files: %w", err)
	}
	s.root = root
	left := s.now()
	if config.Shared {
		left = left.Add(-leftAfter)
	}
	if err := s.empty(config.Shared, left); err != nil {
		return nil, errors.Join(fmt.Errorf("media: open folder of files: %w", err), root.Close())
	}
	return s, nil
}

// empty removes incomplete files: all, or in a shared folder those from before a time.
func (s *Store) empty(shared bool, before time.Time) error {
	if !shared {
		if err := s.root.RemoveAll(incoming); err != nil {
			return err
		}
	}
	if err := s.root.MkdirAll(incoming, 0o700); err != nil || !shared {
		return err
	}
	entries, err := fs.ReadDir(s.root.FS(), incoming)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		about, err := entry.Info()
		if err == nil && about.ModTime().Before(before) {
			err = s.remove(path.Join(incoming, entry.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may have done it
			return err
		}
	}
	return nil
}

// Close closes the store.
func (s *Store) Close() error {
	if err := s.root.Close(); err != nil {
		return fmt.Errorf("media: close folder of files: %w", err)
	}
	return nil
}

// Write stores a file (media.Store). fill writes it where it will be: nothing is copied.
func (s *Store) Write(_ context.Context, key string, meta media.BlobMeta, fill func(file *os.File) error) (size int64, err error) {
	aside := path.Join(incoming, rand.Text())
	file, err := s.root.OpenFile(aside, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, fmt.Errorf("media: write file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.remove(aside))
		}
	}()
	err = fill(file)
	if err == nil {
		size, err = sizeOf(file)
	}
	if err == nil {
		err = s.sync(file)
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return 0, err
	}
	if err := s.name(aside, key, description{MimeType: meta.MimeType, FileName: meta.FileName, Size: size}); err != nil {
		return 0, fmt.Errorf("media: finish file: %w", err)
	}
	return size, nil
}

func sizeOf(file *os.File) (int64, error) {
	about, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("media: measure file: %w", err)
	}
	return about.Size(), nil
}

// name gives its key to a file that is complete and on the disk. The description is
// named first: a file without a description does not count.
func (s *Store) name(aside, key string, about description) error {
	encoded, err := json.Marshal(about)
	if err != nil {
		return err
	}
	folder := path.Dir(key)
	if err := s.root.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	now := s.now()
	described := aside + media.Described
	err = s.writeSynced(described, encoded)
	if err == nil {
		err = s.root.Rename(described, key+media.Described)
	}
	if err == nil {
		err = s.root.Chtimes(aside, now, now)
	}
	if err == nil {
		err = s.root.Rename(aside, key)
	}
	if err != nil {
		return errors.Join(err, s.remove(described))
	}
	// The two names have to be on the disk too, and that of the folder, which may be new.
	return errors.Join(s.syncFolder(folder), s.syncFolder("."))
}

func (s *Store) writeSynced(name string, content []byte) error {
	file, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, s.sync(file), file.Close())
}

func (s *Store) syncFolder(name string) error {
	folder, err := s.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(s.sync(folder), folder.Close())
}

func (s *Store) remove(name string) error {
	if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("media: remove file: %w", err)
	}
	return nil
}

// Stat describes a file without opening it (media.Store).
func (s *Store) Stat(_ context.Context, key string) (media.BlobMeta, error) {
	about, err := s.root.Stat(key)
	if err != nil {
		return media.BlobMeta{}, readError(err)
	}
	encoded, err := s.root.ReadFile(key + media.Described)
	if err != nil {
		return media.BlobMeta{}, readError(err)
	}
	var found description
	if json.Unmarshal(encoded, &found) != nil || found.Size != about.Size() || !about.Mode().IsRegular() || found.MimeType == "" {
		return media.BlobMeta{}, media.NoBlob() // a part was lost, as when the power failed
	}
	return media.BlobMeta{MimeType: found.MimeType, FileName: found.FileName, Size: found.Size, Created: about.ModTime()}, nil
}

// Get opens a file (media.Store).
func (s *Store) Get(ctx context.Context, key string) (*media.Blob, error) {
	meta, err := s.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	file, err := s.root.Open(key)
	if err != nil {
		return nil, readError(err)
	}
	return &media.Blob{BlobMeta: meta, ReadSeekCloser: file}, nil
}

func readError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return media.NoBlob()
	}
	return fmt.Errorf("media: read file: %w", err)
}

// Delete removes a file (media.Store). A caller that has it open can read it to its end.
func (s *Store) Delete(_ context.Context, key string) (freed int64, err error) {
	if about, err := s.root.Stat(key); err == nil {
		freed = about.Size()
	}
	return freed, errors.Join(s.remove(key), s.remove(key+media.Described))
}

// List goes through the files (media.Store), incomplete ones among them.
func (s *Store) List(ctx context.Context, folder string) iter.Seq2[media.Stored, error] {
	return func(yield func(media.Stored, error) bool) {
		err := fs.WalkDir(s.root.FS(), cmp.Or(folder, "."), func(name string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // it was removed just now
			case err != nil:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			case entry.IsDir() && name == incoming:
				return fs.SkipDir
			case !entry.Type().IsRegular() || strings.HasSuffix(name, media.Described):
				return nil
			}
			about, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && !yield(media.Stored{Key: name, Size: about.Size(), Created: about.ModTime()}, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(media.Stored{}, fmt.Errorf("media: list files: %w", err))
		}
	}
}

// Folders returns the folders that keys begin with (media.Store), including those whose
// files are all gone.
func (s *Store) Folders(context.Context) ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("media: list folders: %w", err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != incoming {
			folders = append(folders, entry.Name())
		}
	}
	return folders, nil
}

// DeleteFolder removes a folder (media.Store). One that does not exist is no error.
func (s *Store) DeleteFolder(_ context.Context, name string) error {
	if err := s.root.RemoveAll(name); err != nil {
		return fmt.Errorf("media: remove folder: %w", err)
	}
	return nil
}
