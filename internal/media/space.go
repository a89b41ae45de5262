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
	// sweepEvery is how often files are looked for that are kept long enough.
	sweepEvery = time.Hour
	// roomMade is the share of a quota, in per cent, that is free once room was
	// made: to look through all files for each new one would take too long.
	roomMade = 10
)

// space knows how many bytes the files have, by the folder that their keys begin
// with.
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

// know replaces what is known by what was found: all files of one folder, or all
// there are where folder is "".
func (s *space) know(folder string, files []stored) {
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

// used returns the bytes of a folder, and of all.
func (s *space) used(folder string) (here, all int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for size := range maps.Values(s.folders) {
		all += size
	}
	return s.folders[folder], all
}

// stored is a file in the store.
type stored struct {
	key     string
	size    int64
	created time.Time
}

// list returns all files, those of one folder where that is not "".
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

// measure finds out how many bytes there are.
func (b *Blobs) measure() error {
	files, err := b.list("")
	if err != nil {
		return err
	}
	b.space.know("", files)
	return nil
}

// largest is how many bytes a file may have; 0 for any number.
func (b *Blobs) largest() int64 {
	var smallest int64
	for _, limit := range []int64{b.config.MaxFile, b.config.PerFolder, b.config.Total} {
		if limit > 0 && (smallest == 0 || limit < smallest) {
			smallest = limit
		}
	}
	return smallest
}

// grown notes a new file, and makes room where there is too much now. The new
// file stays whether or not that works.
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
		b.config.Logger.ErrorContext(ctx, "no room made for media: look at the media folder", slog.Any("error", err))
	}
}

// makeRoom removes the oldest files, of one folder or of all, but never the one
// that the room is for.
func (b *Blobs) makeRoom(ctx context.Context, folder, except string, limit int64) error {
	files, err := b.list(folder)
	if err != nil {
		return err
	}
	b.space.know(folder, files)
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
	b.config.Logger.InfoContext(ctx, "made room for media: the oldest files are fetched anew when they are asked for",
		slog.String("folder", folder), slog.Int("removed", removed))
	return nil
}

// Sweep removes the files that were stored before a time, and returns how many.
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

// Run removes files that were kept long enough, until ctx ends. It returns nil.
func (b *Blobs) Run(ctx context.Context) error {
	if b.config.Keep <= 0 {
		<-ctx.Done()
		return nil
	}
	again := time.NewTicker(sweepEvery)
	defer again.Stop()
	for {
		if _, err := b.Sweep(ctx, b.config.Now().Add(-b.config.Keep)); err != nil && ctx.Err() == nil {
			b.config.Logger.ErrorContext(ctx, "old media not removed: tried again in an hour", slog.Any("error", err))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}
