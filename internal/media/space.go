// The space that fetched files take, and the removal of the oldest.

package media

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// sweepEvery is how often files that were kept long enough are deleted.
	sweepEvery = time.Hour
	// roomMade is the part of a quota, in per cent, that is freed at once: going
	// through all files for each new one would take too long.
	roomMade = 10
)

// space counts the bytes of the stored files, for each folder that keys begin with.
type space struct {
	making sync.Mutex // held while room is made

	mu      sync.Mutex
	folders map[string]int64
}

func (s *space) add(key string, size int64) {
	folder, _, _ := strings.Cut(key, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folders[folder] = max(0, s.folders[folder]+size)
}

func (s *space) forget(folder string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.folders, folder)
}

// recount replaces the count of a folder by what its files have; of all folders if
// folder is "".
func (s *space) recount(folder string, files []stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if folder == "" {
		s.folders = map[string]int64{}
	}
	delete(s.folders, folder)
	for _, file := range files {
		of, _, _ := strings.Cut(file.key, "/")
		s.folders[of] += file.size
	}
}

// used returns the bytes in a folder, and in all folders.
func (s *space) used(folder string) (here, all int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for size := range maps.Values(s.folders) {
		all += size
	}
	return s.folders[folder], all
}

// Used returns how many bytes the stored files have, and how many they may have together;
// 0 means no limit.
func (b *Blobs) Used() (used, limit int64) {
	_, used = b.space.used("")
	return used, b.config.Total
}

// stored is a file in the store.
type stored struct {
	key     string
	size    int64
	created time.Time
}

// list returns the files of a folder, or all files if folder is "".
func (b *Blobs) list(folder string) ([]stored, error) {
	var files []stored
	err := fs.WalkDir(b.root.FS(), cmp.Or(folder, "."), func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it was removed just now
		case err != nil:
			return err
		case entry.IsDir() && name == incoming:
			return fs.SkipDir
		case !entry.Type().IsRegular() || strings.HasSuffix(name, attributes):
			return nil
		}
		about, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			files = append(files, stored{key: name, size: about.Size(), created: about.ModTime()})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("media: list blobs: %w", err)
	}
	return files, nil
}

// measure counts the bytes of all files.
func (b *Blobs) measure() error {
	files, err := b.list("")
	if err != nil {
		return err
	}
	b.space.recount("", files)
	return nil
}

// largest is how many bytes a file may have; 0 means no limit.
func (b *Blobs) largest() int64 {
	var smallest int64
	for _, limit := range []int64{b.config.MaxFile, b.config.PerFolder, b.config.Total} {
		if limit > 0 && (smallest == 0 || limit < smallest) {
			smallest = limit
		}
	}
	return smallest
}

// grown counts a new file, and deletes old ones if a quota is exceeded now. The new
// file stays even if that fails.
func (b *Blobs) grown(ctx context.Context, key string, size int64) {
	b.space.add(key, size)
	folder, _, _ := strings.Cut(key, "/")
	b.space.making.Lock()
	defer b.space.making.Unlock()
	here, all := b.space.used(folder)
	var err error
	if limit := b.config.PerFolder; limit > 0 && here > limit && folder != key {
		err = b.makeRoom(ctx, folder, key, limit)
		_, all = b.space.used(folder)
	}
	if limit := b.config.Total; limit > 0 && all > limit {
		err = errors.Join(err, b.makeRoom(ctx, "", key, limit))
	}
	if err != nil {
		b.config.Logger.ErrorContext(ctx, "old media could not be deleted to make room: check the media folder", slog.Any("error", err))
	}
}

// makeRoom deletes the oldest files, of one folder or of all, but never the file
// except, for which the room is made.
func (b *Blobs) makeRoom(ctx context.Context, folder, except string, limit int64) error {
	files, err := b.list(folder)
	if err != nil {
		return err
	}
	b.space.recount(folder, files)
	var used int64
	for _, file := range files {
		used += file.size
	}
	slices.SortFunc(files, func(a, c stored) int { return a.created.Compare(c.created) })
	removed := 0
	for _, file := range files {
		if used <= limit-limit/100*roomMade {
			break
		}
		if file.key == except {
			continue
		}
		if err := b.Delete(ctx, file.key); err != nil {
			return err
		}
		used -= file.size
		removed++
	}
	b.config.Logger.InfoContext(ctx, "deleted the oldest media to make room: they are fetched again when they are requested",
		slog.String("folder", folder), slog.Int("removed", removed))
	return nil
}

// Sweep deletes the files that were stored before a time, and returns how many there were.
func (b *Blobs) Sweep(ctx context.Context, before time.Time) (removed int, err error) {
	files, err := b.list("")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		if !file.created.Before(before) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return removed, fmt.Errorf("media: sweep blobs: %w", err)
		}
		if err := b.Delete(ctx, file.key); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// Run deletes files that were kept long enough, until ctx ends. It returns nil.
func (b *Blobs) Run(ctx context.Context) error {
	if b.config.Keep <= 0 {
		<-ctx.Done()
		return nil
	}
	again := time.NewTicker(sweepEvery)
	defer again.Stop()
	for {
		if _, err := b.Sweep(ctx, b.config.Now().Add(-b.config.Keep)); err != nil && ctx.Err() == nil {
			b.config.Logger.ErrorContext(ctx, "old media could not be deleted: will try again in an hour", slog.Any("error", err))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}
