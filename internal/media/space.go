// The space that fetched files take, and the removal of the oldest.

package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// sweepEvery is how often files that were kept long enough are deleted, and
	// measureEvery how often that is done, and all files are measured, if other
	// processes store files too.
	sweepEvery   = time.Hour
	measureEvery = 15 * time.Minute
	// roomMade is the part of a quota, in per cent, that is freed at once: going
	// through all files for each new one would take too long.
	roomMade = 10
	// justStored is the age up to which a file of a shared store is not deleted to make
	// room: another process may be about to serve it. It is longer than clocks of
	// machines should differ.
	justStored = 10 * time.Minute
)

// space counts the bytes of the stored files, for each folder that keys begin with.
type space struct {
	making sync.Mutex // held while room is made

	mu      sync.Mutex
	folders map[string]int64
}

func (s *space) add(key string, size int64) {
	folder := folderOf(key)
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
func (s *space) recount(folder string, counted map[string]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if folder == "" {
		s.folders = maps.Clone(counted)
		return
	}
	s.folders[folder] = counted[folder]
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

func folderOf(key string) string {
	folder, _, _ := strings.Cut(key, "/")
	return folder
}

// Used returns how many bytes the stored files have, and how many they may have together;
// 0 means no limit. If other processes store files too, it is what was last measured and
// what this one has stored since.
func (b *Blobs) Used() (used, limit int64) {
	_, used = b.space.used("")
	return used, b.config.Total
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
	if err := b.keepToQuotas(ctx, folderOf(key), key); err != nil {
		b.config.Logger.ErrorContext(ctx, "old media could not be deleted to make room: check the place of media", slog.Any("error", err))
	}
}

// keepToQuotas deletes old files if the quota of a folder, or that of all files, is
// exceeded, but never the file except.
func (b *Blobs) keepToQuotas(ctx context.Context, folder, except string) error {
	b.space.making.Lock()
	defer b.space.making.Unlock()
	here, all := b.space.used(folder)
	var err error
	if limit := b.config.PerFolder; limit > 0 && here > limit && folder != except {
		err = b.makeRoom(ctx, folder, except, limit)
		_, all = b.space.used(folder)
	}
	if limit := b.config.Total; limit > 0 && all > limit {
		err = errors.Join(err, b.makeRoom(ctx, "", except, limit))
	}
	return err
}

// makeRoom deletes the oldest files, of one folder or of all, but never the file
// except, for which the room is made.
func (b *Blobs) makeRoom(ctx context.Context, folder, except string, limit int64) error {
	var files []Stored
	var used int64
	counted := map[string]int64{}
	for file, err := range b.store.List(ctx, folder) {
		if err != nil {
			return err
		}
		files = append(files, file)
		counted[folderOf(file.Key)] += file.Size
		used += file.Size
	}
	b.space.recount(folder, counted)
	slices.SortFunc(files, func(a, c Stored) int { return a.Created.Compare(c.Created) })
	removed := 0
	for _, file := range files {
		if used <= limit-limit/100*roomMade {
			break
		}
		if file.Key == except || b.config.Shared && b.config.Now().Sub(file.Created) < justStored {
			continue
		}
		if err := b.Delete(ctx, file.Key); err != nil {
			return err
		}
		used -= file.Size
		removed++
	}
	b.config.Logger.InfoContext(ctx, "deleted the oldest media to make room: they are fetched again when they are requested",
		slog.String("folder", folder), slog.Int("removed", removed))
	return nil
}

// tidy deletes the files that were stored before a time. It measures what stays if other
// processes store files too, or if before is zero.
func (b *Blobs) tidy(ctx context.Context, before time.Time) error {
	counted := map[string]int64{}
	for file, err := range b.store.List(ctx, "") {
		if err != nil {
			return err
		}
		if !file.Created.Before(before) {
			counted[folderOf(file.Key)] += file.Size
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("media: delete old blobs: %w", err)
		}
		if err := b.Delete(ctx, file.Key); err != nil {
			return err
		}
	}
	if b.config.Shared || before.IsZero() {
		b.space.recount("", counted)
	}
	return nil
}

// Run deletes files that were kept long enough, until ctx ends. If other processes store
// files too, it measures what there is, and keeps it to the quotas. It returns nil.
func (b *Blobs) Run(ctx context.Context) error {
	if b.config.Keep <= 0 && !b.config.Shared {
		<-ctx.Done()
		return nil
	}
	every := sweepEvery
	if b.config.Shared {
		every = measureEvery
	}
	again := time.NewTicker(every)
	defer again.Stop()
	for {
		if err := b.Sweep(ctx); err != nil && ctx.Err() == nil {
			b.config.Logger.ErrorContext(ctx, "old media could not be deleted: will try again later",
				slog.Duration("in", every), slog.Any("error", err))
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Sweep deletes files that were kept long enough, and keeps those that others store to the quotas.
func (b *Blobs) Sweep(ctx context.Context) error {
	var before time.Time
	if b.config.Keep > 0 {
		if now, ok := b.config.RemovalTime(ctx); ok {
			before = now.Add(-b.config.Keep)
		}
	}
	if err := b.tidy(ctx, before); err != nil || !b.config.Shared {
		return err
	}
	b.space.mu.Lock()
	folders := slices.Collect(maps.Keys(b.space.folders))
	b.space.mu.Unlock()
	for _, folder := range folders {
		if err := b.keepToQuotas(ctx, folder, ""); err != nil {
			return err
		}
	}
	return nil
}
