// A folder with the files of a device of a program on Baileys, read within bounds.

package movein

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/whatsapp/baileys"
)

// Bounds of what is read of somebody else's files. A device that has written to twenty
// thousand people is far below them.
const (
	mostFiles      = 1 << 20   // in a folder
	largestFile    = 64 << 20  // bytes
	largestFolder  = 512 << 20 // bytes of all files that are read
	filesInOneRead = 1000
)

// stateFolder is a folder with JSON files, as it was when it was opened. Nothing outside
// of it is read, whatever links are in it.
type stateFolder struct {
	path    string // for people
	root    *os.Root
	files   map[string]string // what tells whether a JSON file was changed, by name
	folders []string
	newest  time.Time // when one of the files was written last
}

// openStateFolder opens a folder. The caller closes its root.
func openStateFolder(path string) (*stateFolder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f := &stateFolder{path: path, root: root}
	if err := f.look(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// inside opens a folder in a folder.
func (f *stateFolder) inside(name string) (*stateFolder, error) {
	root, err := f.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	inside := &stateFolder{path: filepath.Join(f.path, name), root: root}
	if err := inside.look(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return inside, nil
}

// look notes which files there are. Only files and folders themselves count, no links and
// nothing else.
func (f *stateFolder) look() (err error) {
	f.files, f.folders, f.newest = map[string]string{}, nil, time.Time{}
	folder, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	for {
		found, err := folder.ReadDir(filesInOneRead)
		if errors.Is(err, io.EOF) {
			slices.Sort(f.folders)
			return nil
		}
		if err != nil {
			return err
		}
		for _, entry := range found {
			if err := f.note(entry); err != nil {
				return err
			}
		}
		if len(f.files) > mostFiles || len(f.folders) > mostFiles {
			return fmt.Errorf("there are more than %d files in %s", mostFiles, f.path)
		}
	}
}

// note notes what is in the folder.
func (f *stateFolder) note(entry os.DirEntry) error {
	if entry.IsDir() {
		f.folders = append(f.folders, entry.Name())
		return nil
	}
	if !entry.Type().IsRegular() || !strings.HasSuffix(entry.Name(), ".json") {
		return nil
	}
	about, err := entry.Info()
	if errors.Is(err, os.ErrNotExist) {
		return nil // it has just been removed, which is a change
	}
	if err != nil {
		return err
	}
	f.files[entry.Name()] = fmt.Sprint(about.Size(), about.ModTime().UnixNano())
	if about.ModTime().After(f.newest) {
		f.newest = about.ModTime()
	}
	return nil
}

// has reports whether there is a file of a name.
func (f *stateFolder) has(name string) bool {
	_, ok := f.files[name]
	return ok
}

// checkUnchanged returns an *InUseError if a file is not what it was when the folder was
// opened.
func (f *stateFolder) checkUnchanged() error {
	now := &stateFolder{path: f.path, root: f.root}
	if err := now.look(); err != nil {
		return err
	}
	if !maps.Equal(f.files, now.files) {
		return &InUseError{fmt.Sprintf("the files in %s were changed while they were read", f.path)}
	}
	return nil
}

// read reads a file.
func (f *stateFolder) read(name string) (content []byte, err error) {
	before, err := f.root.Lstat(name)
	if err != nil {
		return nil, notExist(err)
	}
	if !before.Mode().IsRegular() { // to open something else may wait for ever
		return nil, fmt.Errorf("%s is no file", name)
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, notExist(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err = io.ReadAll(io.LimitReader(file, largestFile+1))
	switch {
	case err != nil:
		return nil, notExist(err)
	case len(content) > largestFile:
		return nil, fmt.Errorf("%s has more than %d bytes", name, largestFile)
	default:
		return content, nil
	}
}

// entries are what Baileys keeps in the folder but the credentials; the value of an entry
// is only read if its name needs one.
func (f *stateFolder) entries(ctx context.Context, needsValue func(name string) bool) iter.Seq2[baileys.Entry, error] {
	return func(yield func(baileys.Entry, error) bool) {
		total := 0
		for _, file := range slices.Sorted(maps.Keys(f.files)) {
			if file == credsFile {
				continue
			}
			entry := baileys.Entry{Name: strings.TrimSuffix(file, ".json")}
			err := ctx.Err()
			if err == nil && needsValue(entry.Name) {
				entry.Value, err = f.read(file)
			}
			if total += len(entry.Value); total > largestFolder {
				err = fmt.Errorf("its files have more than %d bytes", largestFolder)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}
