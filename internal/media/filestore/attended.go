// A place that goes away, and comes back, while the program runs.

package filestore

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/folder"
)

// retryAfter is when a client that met a place which is away may try again.
const retryAfter = 10 * time.Second

// away makes the error for a place that can't be used now.
func away(cause error) error {
	refusal := gateway.Errorf(gateway.Unavailable, gateway.CodeUnavailable, "the store of files can't be used at the moment")
	refusal.RetryAfter, refusal.Cause = retryAfter, cause
	return refusal
}

// attended is a media.Store that finds out with each call whether its place is there and belongs
// to us. While it does not, calls are Unavailable.
type attended struct {
	find  func(ctx context.Context) (media.Store, error)
	judge func(ctx context.Context, err error) error // says what an error of the store means
	close func() error
}

var _ media.Store = attended{}

// Write stores a file (media.Store).
func (a attended) Write(ctx context.Context, key string, meta media.BlobMeta, fill func(file *os.File) error) (int64, error) {
	store, err := a.find(ctx)
	if err != nil {
		return 0, err
	}
	var filled error
	size, err := store.Write(ctx, key, meta, func(file *os.File) error {
		filled = fill(file)
		return filled
	})
	if filled != nil {
		return size, err // it says nothing about the place
	}
	return size, a.judge(ctx, err)
}

// Stat describes a file (media.Store).
func (a attended) Stat(ctx context.Context, key string) (media.BlobMeta, error) {
	store, err := a.find(ctx)
	if err != nil {
		return media.BlobMeta{}, err
	}
	found, err := store.Stat(ctx, key)
	return found, a.judge(ctx, err)
}

// Get opens a file (media.Store).
func (a attended) Get(ctx context.Context, key string) (*media.Blob, error) {
	store, err := a.find(ctx)
	if err != nil {
		return nil, err
	}
	blob, err := store.Get(ctx, key)
	return blob, a.judge(ctx, err)
}

// Delete removes a file (media.Store).
func (a attended) Delete(ctx context.Context, key string) (int64, error) {
	store, err := a.find(ctx)
	if err != nil {
		return 0, err
	}
	freed, err := store.Delete(ctx, key)
	return freed, a.judge(ctx, err)
}

// List goes through the files (media.Store).
func (a attended) List(ctx context.Context, name string) iter.Seq2[media.Stored, error] {
	return func(yield func(media.Stored, error) bool) {
		store, err := a.find(ctx)
		if err != nil {
			yield(media.Stored{}, err)
			return
		}
		for file, err := range store.List(ctx, name) {
			if !yield(file, a.judge(ctx, err)) {
				return
			}
		}
	}
}

// Folders returns the folders that keys begin with (media.Store).
func (a attended) Folders(ctx context.Context) ([]string, error) {
	store, err := a.find(ctx)
	if err != nil {
		return nil, err
	}
	folders, err := store.Folders(ctx)
	return folders, a.judge(ctx, err)
}

// DeleteFolder removes a folder (media.Store).
func (a attended) DeleteFolder(ctx context.Context, name string) error {
	store, err := a.find(ctx)
	if err != nil {
		return err
	}
	return a.judge(ctx, store.DeleteFolder(ctx, name))
}

// Close closes the store (media.Store).
func (a attended) Close() error { return a.close() }

// mounted is one store of a shared folder. What is below its path may change: a file system is
// unmounted, another one is mounted over it, the server of a network file system forgets us.
type mounted struct {
	at     string // the whole place
	config folder.Config
	owner  string
	logger *slog.Logger // nil: nothing is logged

	mu     sync.Mutex
	store  *folder.Store // nil while it is away
	seen   os.FileInfo   // of the folder that store has open
	missed bool          // it was away when it was looked for last
}

// attend opens the store, and returns it as one that comes back.
func (m *mounted) attend(ctx context.Context) (media.Store, error) {
	if _, err := m.find(ctx); err != nil {
		return nil, err
	}
	return attended{find: m.find, judge: m.judge, close: m.close}, nil
}

// find returns the store, and opens it anew if its path leads elsewhere by now.
func (m *mounted) find(ctx context.Context) (media.Store, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store != nil {
		if now, err := os.Stat(m.config.Path); err == nil && os.SameFile(now, m.seen) {
			return m.store, nil
		}
	}
	err := m.reopen(ctx)
	if m.logger != nil && (err != nil) != m.missed {
		if err != nil {
			m.logger.ErrorContext(ctx, "the place of files is away: text goes on, files are refused until it is back",
				slog.String("folder", m.at), slog.Any("error", err))
		} else {
			m.logger.InfoContext(ctx, "the place of files is back", slog.String("folder", m.at))
		}
	}
	m.missed = err != nil
	if err != nil {
		return nil, away(err)
	}
	return m.store, nil
}

func (m *mounted) reopen(ctx context.Context) error {
	m.drop()
	found, err := homeFolder(m.at, true).read(ctx)
	switch {
	case gateway.KindOf(err) == gateway.NotFound:
		return ErrNotThePlace
	case err != nil:
		return err
	case found != m.owner:
		return ErrOthersPlace
	}
	opened, err := folder.Open(m.config)
	if err != nil {
		return err
	}
	seen, err := os.Stat(m.config.Path)
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	m.store, m.seen = opened, seen
	return nil
}

// drop closes the store, whose files that are open can be read to their end.
func (m *mounted) drop() {
	if m.store != nil {
		_ = m.store.Close() // what it had open may be gone
		m.store = nil
	}
}

// judge says what an error of the store means. After one of the file system the place is looked
// for anew.
func (m *mounted) judge(ctx context.Context, err error) error {
	switch {
	case err == nil || gateway.KindOf(err) == gateway.NotFound:
		return err
	case errors.Is(err, fs.ErrNotExist): // a folder has gone while it was used
		if _, lost := m.find(ctx); lost != nil {
			return lost
		}
		return err
	case isLost(err):
		m.mu.Lock()
		m.drop()
		m.mu.Unlock()
		return away(err)
	}
	return err
}

// isLost reports whether an error is that of a file system which does not work, or not any more.
func isLost(err error) bool {
	for _, one := range []error{
		fs.ErrClosed, syscall.EIO, syscall.ESTALE, syscall.ENOTCONN, syscall.ENODEV, syscall.ENXIO, syscall.EHOSTDOWN, syscall.ETIMEDOUT,
	} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

func (m *mounted) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store == nil {
		return nil
	}
	return m.store.Close()
}

// awaited is a bucket that could not be reached at the start, so that nobody knows yet whose
// it is.
type awaited struct {
	at     home
	config Config

	mu    sync.Mutex
	known bool
}

// attend returns a store of the bucket that is not used before the bucket is known to be ours.
func (w *awaited) attend(store media.Store) media.Store {
	return attended{
		find: func(ctx context.Context) (media.Store, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.known {
				return store, nil
			}
			err := claim(ctx, w.at, w.config)
			switch {
			case err == nil:
				w.known = true
				return store, nil
			case gateway.KindOf(err) == gateway.Unavailable:
				return nil, err
			}
			if w.config.Logger != nil {
				w.config.Logger.ErrorContext(ctx, "the place of files can be reached, and can't be used", slog.Any("error", err))
			}
			return nil, away(err)
		},
		judge: func(_ context.Context, err error) error { return err },
		close: store.Close,
	}
}
