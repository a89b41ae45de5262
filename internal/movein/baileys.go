// The store of a program on Baileys: a folder with a JSON file for each key.

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

// OpenBaileys opens the folder of a device of a program on Baileys, or a folder of such
// folders. Its error is an *InUseError if that program seems to run.
func OpenBaileys(_ context.Context, config SourceConfig) (_ *Source, err error) {
	s := &Source{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	found := &baileysFolders{folders: map[string]*stateFolder{}, checkChanges: !config.Stopped}
	s.foreign = found
	if err := s.addFolders(config.From, found); err != nil {
		return s, fmt.Errorf("read the other program's folder: %w", err)
	}
	if len(found.folders) == 0 {
		return s, fmt.Errorf("there is no %s in it, nor in a folder in it: docs/moving-in.md says where each program keeps it", credsFile)
	}
	if !config.Stopped {
		err = checkFolders(config.From, slices.Collect(maps.Values(found.folders)))
	}
	return s, err
}

// addFolders adds the folder of a device, or those in a folder.
func (s *Source) addFolders(path string, found *baileysFolders) error {
	folder, err := openStateFolder(path)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, folder.root.Close)
	if folder.seen.hasCreds {
		name, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		found.folders[filepath.Base(name)] = folder
		return nil
	}
	for _, name := range folder.seen.folders {
		inside, err := folder.inside(name)
		if err != nil {
			return err
		}
		if inside.seen.hasCreds {
			found.folders[name] = inside
		}
	}
	return nil
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

// baileysFolders are the devices of a program on Baileys (foreign).
type baileysFolders struct {
	folders      map[string]*stateFolder
	checkChanges bool
}

var _ foreign = (*baileysFolders)(nil)

// Devices returns the names of the folders.
func (b *baileysFolders) Devices(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(b.folders)), nil
}

// Device reads a folder.
func (b *baileysFolders) Device(ctx context.Context, id string) (keys.ForeignDevice, error) {
	folder := b.folders[id]
	creds, err := folder.read(credsFile)
	if err != nil {
		return keys.ForeignDevice{}, err
	}
	device, err := baileys.Read(creds, folder.entries(ctx, baileys.NeedsValue))
	if !b.checkChanges {
		return device, err
	}
	return device, errors.Join(err, folder.checkUnchanged())
}

// CopyPairs copies the pairs of all folders.
func (b *baileysFolders) CopyPairs(ctx context.Context, to keys.Store) error {
	pairs, err := keys.NewPairCopier(to)
	if err != nil {
		return err
	}
	for _, folder := range b.folders {
		if err := copyPairs(ctx, pairs, folder.entries(ctx, baileys.IsPair)); err != nil {
			return err
		}
	}
	return pairs.Flush(ctx)
}

// copyPairs copies the pairs among entries. It leaves out pairs that can't be read: the device learns them
// again.
func copyPairs(ctx context.Context, pairs *keys.PairCopier, entries iter.Seq2[baileys.Entry, error]) error {
	for entry, err := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pair, ok := baileys.ReadPair(entry)
		if err != nil || !ok {
			continue
		}
		if err := pairs.Add(ctx, pair.LID, pair.Number); err != nil {
			return err
		}
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
