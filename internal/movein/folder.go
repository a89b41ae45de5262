// A folder with the files of a device of a program on Baileys, read within bounds.

package movein

import (
	"context"
	"crypto/sha256"
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

// Bounds of what is read of another program's files. A device that has written to twenty thousand people
// is far below them.
const (
	maxFiles       = 1 << 20   // in a folder
	maxFileBytes   = 64 << 20  // bytes
	maxFolderBytes = 512 << 20 // bytes of all files that are read
	readBatch      = 1000
)

// stateFolder is a folder with JSON files, as it was when it was opened. Links never lead out of it.
type stateFolder struct {
	path string   // for people
	root *os.Root // of this folder, or of the one that it is in
	name string   // in the root
	seen listing  // without the names of files: there may be thousands in each of many folders
}

type listing struct {
	files    []string // with JSON, in order
	folders  []string // in order
	hasCreds bool
	newest   time.Time         // when one of the files was written last
	mark     [sha256.Size]byte // differs when a file was written, made or removed
}

// openStateFolder opens a folder. The caller closes its root.
func openStateFolder(path string) (*stateFolder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f := &stateFolder{path: path, root: root, name: "."}
	if f.seen, err = f.look(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	f.seen.files = nil
	return f, nil
}

// inside opens a folder in a folder, which shares its root.
func (f *stateFolder) inside(name string) (_ *stateFolder, err error) {
	inside := &stateFolder{path: filepath.Join(f.path, name), root: f.root, name: name}
	inside.seen, err = inside.look()
	inside.seen.files = nil
	return inside, err
}

// look lists the files and folders in the folder, and ignores links and everything else.
func (f *stateFolder) look() (found listing, err error) {
	folder, err := f.root.Open(f.name)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	states := map[string]string{} // of files
	for {
		entries, err := folder.ReadDir(readBatch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return found, err
		}
		for _, entry := range entries {
			if err := found.note(entry, states); err != nil {
				return found, err
			}
		}
		if len(states) > maxFiles || len(found.folders) > maxFiles {
			return found, fmt.Errorf("there are more than %d files in %s", maxFiles, f.path)
		}
	}
	slices.Sort(found.folders)
	found.files = slices.Sorted(maps.Keys(states))
	_, found.hasCreds = states[credsFile]
	mark := sha256.New()
	for _, name := range found.files {
		_, _ = fmt.Fprintf(mark, "%q %s\n", name, states[name]) // it never fails
	}
	mark.Sum(found.mark[:0])
	return found, nil
}

// note adds an entry of the folder to the listing, and the state of a file to states.
func (l *listing) note(entry os.DirEntry, states map[string]string) error {
	if entry.IsDir() {
		l.folders = append(l.folders, entry.Name())
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
	states[entry.Name()] = fmt.Sprint(about.Size(), about.ModTime().UnixNano())
	if about.ModTime().After(l.newest) {
		l.newest = about.ModTime()
	}
	return nil
}

// checkUnchanged returns an *InUseError if a file has changed since the folder was opened.
func (f *stateFolder) checkUnchanged() error {
	now, err := f.look()
	if err != nil {
		return err
	}
	if now.mark != f.seen.mark {
		return &InUseError{fmt.Sprintf("the files in %s were changed while they were read", f.path)}
	}
	return nil
}

func (f *stateFolder) read(name string) (content []byte, err error) {
	path := filepath.Join(f.name, name)
	before, err := f.root.Lstat(path)
	if err != nil {
		return nil, notExist(err)
	}
	if !before.Mode().IsRegular() { // to open something else may wait for ever
		return nil, fmt.Errorf("%s is no file", name)
	}
	file, err := f.root.Open(path)
	if err != nil {
		return nil, notExist(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	content, err = io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, notExist(err)
	case len(content) > maxFileBytes:
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFileBytes)
	default:
		return content, nil
	}
}

// entries yields what Baileys stores in the folder, without the credentials. It reads the value of an entry
// only if needsValue says so.
func (f *stateFolder) entries(ctx context.Context, needsValue func(name string) bool) iter.Seq2[baileys.Entry, error] {
	return func(yield func(baileys.Entry, error) bool) {
		now, err := f.look()
		if err != nil {
			yield(baileys.Entry{}, err)
			return
		}
		total := 0
		for _, file := range now.files {
			if file == credsFile {
				continue
			}
			entry := baileys.Entry{Name: strings.TrimSuffix(file, ".json")}
			err := ctx.Err()
			if err == nil && needsValue(entry.Name) {
				entry.Value, err = f.read(file)
			}
			if total += len(entry.Value); total > maxFolderBytes {
				err = fmt.Errorf("its files have more than %d bytes", maxFolderBytes)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}
