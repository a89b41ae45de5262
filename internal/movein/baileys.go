// Programs on Baileys, and their own store: a folder with a JSON file for each key.

package movein

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/whatsapp/baileys"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// credsFile is the file with the credentials of a device: its folder is one with it.
const credsFile = "creds.json"

// recentWrite: if a file was written within this time, somebody seems to be writing.
const recentWrite = 5 * time.Second

// keyStore is where the keys of devices on Baileys are.
type keyStore interface {
	// entries are what Baileys keeps, without the credentials; values are only read if
	// the name needs one.
	entries(ctx context.Context, id string, needsValue func(name string) bool) iter.Seq2[baileys.Entry, error]
	// creds are the credentials that Evolution API keeps with the keys, nil if they are not there.
	creds(ctx context.Context, id string) ([]byte, error)
	// check returns an *InUseError if something seems to use the keys of devices.
	check(ctx context.Context, ids []string) error
	// checkUnchanged returns one if the keys were changed since.
	checkUnchanged(id string) error
}

// baileysDevices are the devices of a program on Baileys (foreign).
type baileysDevices struct {
	keys         keyStore
	creds        func(ctx context.Context, id string) ([]byte, error)
	ids          map[string]string // of the devices, by their names
	named        bool              // the names are those that people have given
	checkChanges bool
}

var _ foreign = (*baileysDevices)(nil)

// check returns an *InUseError if something seems to use the keys.
func (b *baileysDevices) check(ctx context.Context) error {
	if !b.checkChanges {
		return nil
	}
	return b.keys.check(ctx, slices.Collect(maps.Values(b.ids)))
}

// Devices returns the names of the devices.
func (b *baileysDevices) Devices(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(b.ids)), nil
}

// Device reads a device.
func (b *baileysDevices) Device(ctx context.Context, name string) (keys.ForeignDevice, error) {
	id := b.ids[name]
	creds, err := b.creds(ctx, id)
	if err != nil {
		return keys.ForeignDevice{}, err
	}
	device, err := baileys.Read(creds, b.keys.entries(ctx, id, baileys.NeedsValue))
	if b.named {
		device.Name = name
	}
	if b.checkChanges {
		err = errors.Join(err, b.keys.checkUnchanged(id))
	}
	return device, err
}

// Pairs calls add with the pairs of all devices. It leaves out pairs that can't be read: the device learns
// them again.
func (b *baileysDevices) Pairs(ctx context.Context, add func(lid, number string) error) error {
	for _, id := range b.ids {
		for entry, err := range b.keys.entries(ctx, id, baileys.IsPair) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			pair, ok := baileys.ReadPair(entry)
			if err != nil || !ok {
				continue
			}
			if err := add(pair.LID, pair.Number); err != nil {
				return err
			}
		}
	}
	return nil
}

// stateFolders are folders with the keys of a device each (keyStore).
type stateFolders struct {
	path    string                  // of the one that they are in
	folders map[string]*stateFolder // by the id of the device
}

var _ keyStore = (*stateFolders)(nil)

// openBaileys opens the folder of a device of a program on Baileys, or a folder of such
// folders. Its error is an *InUseError if that program seems to run.
func (s *source) openBaileys(ctx context.Context, config Config) (foreign, error) {
	around, err := s.openFolder(config.From)
	if err != nil {
		return nil, fmt.Errorf("read the other program's folder: %w", err)
	}
	found := &stateFolders{path: config.From, folders: map[string]*stateFolder{}}
	if around.seen.hasCreds {
		name, err := filepath.Abs(config.From)
		if err != nil {
			return nil, fmt.Errorf("read the other program's folder: %w", err)
		}
		found.folders[filepath.Base(name)] = around
	} else if err := found.addAll(around); err != nil {
		return nil, fmt.Errorf("read the other program's folder: %w", err)
	}
	devices := &baileysDevices{keys: found, ids: map[string]string{}, checkChanges: !config.Stopped}
	devices.creds = func(_ context.Context, id string) ([]byte, error) { return found.folders[id].read(credsFile) }
	for name, folder := range found.folders {
		if folder.seen.hasCreds {
			devices.ids[name] = name
		}
	}
	if len(devices.ids) == 0 {
		return nil, fmt.Errorf("there is no %s in it, nor in a folder in it: docs/moving-in.md says where each program keeps it", credsFile)
	}
	if err := devices.check(ctx); err != nil {
		return nil, err
	}
	return devices, nil
}

func (s *source) openFolder(path string) (*stateFolder, error) {
	folder, err := openStateFolder(path)
	if err == nil {
		s.closers = append(s.closers, folder.root.Close)
	}
	return folder, err
}

func (f *stateFolders) addAll(around *stateFolder) (err error) {
	for _, name := range around.seen.folders {
		if f.folders[name], err = around.inside(name); err != nil {
			return err
		}
	}
	return nil
}

func (f *stateFolders) entries(ctx context.Context, id string, needsValue func(name string) bool) iter.Seq2[baileys.Entry, error] {
	folder, ok := f.folders[id]
	if !ok {
		return func(yield func(baileys.Entry, error) bool) {
			yield(baileys.Entry{}, fmt.Errorf("there is no folder %s with its keys", id))
		}
	}
	return folder.entries(ctx, needsValue)
}

// creds returns none: a creds.json of Evolution API would be that of an older version.
func (f *stateFolders) creds(context.Context, string) ([]byte, error) { return nil, nil }

func (f *stateFolders) check(_ context.Context, ids []string) error {
	var used []*stateFolder
	for _, id := range ids {
		if folder, ok := f.folders[id]; ok {
			used = append(used, folder)
		}
	}
	return checkFolders(f.path, used)
}

func (f *stateFolders) checkUnchanged(id string) error {
	folder, ok := f.folders[id]
	if !ok {
		return nil
	}
	return folder.checkUnchanged()
}

// checkFolders returns an *InUseError if somebody seems to use folders.
func checkFolders(path string, folders []*stateFolder) error {
	for _, folder := range folders {
		if ago := time.Since(folder.seen.newest); ago.Abs() < recentWrite {
			return &InUseError{fmt.Sprintf("a file in %s was written just now", folder.path)}
		}
	}
	why, err := folderInUse(path, folders)
	if err != nil {
		return fmt.Errorf("see who uses the folder: %w", err)
	}
	if why != "" {
		return &InUseError{why}
	}
	return nil
}

// notExist says that there is no file, in words without its path.
func notExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("a file of it is gone")
	}
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return fmt.Errorf("%s: %w", filepath.Base(pathErr.Path), pathErr.Err)
	}
	return err
}
