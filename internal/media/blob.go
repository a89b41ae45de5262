package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"os"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/keylock"
	"github.com/recado-project/recado/internal/share"
)

// Blobs keeps files under keys that its callers choose: up to 255 letters, digits,
// dots, dashes, underscores and slashes. The content of a key never changes. Blobs
// is safe for concurrent use.
type Blobs struct {
	store  Store
	config BlobsConfig
	space  space
	busy   keylock.Locks // held, by key, while a file is written
}

// BlobsConfig holds the settings of Blobs. Only Store is required; a limit of zero means no
// limit.
type BlobsConfig struct {
	// Store is where the files are. Blobs closes it.
	Store Store
	// Shared says that other processes use the same place. What they store counts after
	// it was measured anew, which Run does; and what is younger than a few minutes is not
	// deleted to make room.
	Shared bool

	MaxFile int64 // bytes of one file
	// Total limits the bytes of all files, PerFolder those of the files whose keys
	// begin with the same folder. The oldest files are deleted to make room.
	Total, PerFolder int64
	// Keep is how long a file is kept after it was stored.
	Keep time.Duration

	Now    func() time.Time // nil: the wall clock
	Logger *slog.Logger     // nil: nothing is logged
	// RemovalTime says by which time files are old; nil: by Now.
	RemovalTime gateway.RemovalTime
}

// OpenBlobs opens the files of a store. If no other process uses them, it measures them.
func OpenBlobs(ctx context.Context, config BlobsConfig) (*Blobs, error) {
	b := &Blobs{store: config.Store, config: config, space: space{folders: map[string]int64{}}}
	if b.store == nil {
		return nil, errors.New("media: files need a store")
	}
	if b.config.Now == nil {
		b.config.Now = time.Now
	}
	if b.config.RemovalTime == nil {
		b.config.RemovalTime = gateway.Trusting(b.config.Now)
	}
	if b.config.Logger == nil {
		b.config.Logger = slog.New(slog.DiscardHandler)
	}
	if !config.Shared {
		if err := b.tidy(ctx, time.Time{}); err != nil {
			return nil, errors.Join(err, b.store.Close())
		}
	}
	return b, nil
}

// Close closes the store. Blobs that are open can be read to their end.
func (b *Blobs) Close() error { return b.store.Close() }

// Put stores content under a key, once all of it is kept safely. It stores nothing if
// reading fails, ctx ends, or the size is not the one in meta. If the key already has
// a complete file, Put keeps that and does not read content. Its error is TooLarge for
// a file of more than BlobsConfig.MaxFile bytes, or of more than a whole quota.
func (b *Blobs) Put(ctx context.Context, key string, content io.Reader, meta BlobMeta) error {
	return b.Receive(ctx, key, meta, func(file *os.File) error {
		from := share.Yield(readerUntil{ctx, content})
		if limit := b.largest(); limit > 0 {
			from = io.LimitReader(from, limit+1) // one byte more shows that it is too much
		}
		_, err := io.Copy(file, from)
		return err
	})
}

// Receive is Put for content that fetch writes, in any order. fetch must limit what it
// writes: a file that is too large is removed only afterwards. If several callers have
// the same key, one of them fetches and the others wait for it. Callers in several
// processes may all fetch, and must then have the same content.
func (b *Blobs) Receive(ctx context.Context, key string, meta BlobMeta, fetch func(file *os.File) error) error {
	if !validKey(key) {
		return errBadKey
	}
	release, err := b.busy.Lock(ctx, key)
	if err != nil {
		return fmt.Errorf("media: write blob: %w", err)
	}
	defer release()
	if _, err := b.Stat(ctx, key); gateway.KindOf(err) != gateway.NotFound {
		return err // nil if the key is taken
	}
	kept := BlobMeta{MimeType: canonicalType(meta.MimeType), FileName: meta.FileName}
	size, err := b.store.Write(ctx, key, kept, func(file *os.File) error {
		if err := fetch(file); err != nil {
			return err
		}
		return b.checkSize(file, meta.Size)
	})
	if err != nil {
		return fmt.Errorf("media: write blob: %w", err)
	}
	b.grown(ctx, key, size)
	return nil
}

// checkSize reports whether a file that was written may be stored: it is not too large,
// and as large as it was said to be, unless that is -1.
func (b *Blobs) checkSize(file *os.File, said int64) error {
	about, err := file.Stat()
	if err != nil {
		return err
	}
	size := about.Size()
	if limit := b.largest(); limit > 0 && size > limit {
		return gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the file has more than %d bytes", limit)
	}
	if said >= 0 && size != said {
		return fmt.Errorf("the content has %d bytes instead of %d", size, said)
	}
	return nil
}

// canonicalType returns a foreign media type as a header is to have it: valid, and in
// the one spelling that it has.
func canonicalType(declared string) string {
	return mime.FormatMediaType(declaredType(gateway.CleanMimeType(declared)))
}

// Stat describes a file without opening it. Its error is NotFound if the key has no
// file, or an incomplete one, and Unavailable if the store can't be reached.
func (b *Blobs) Stat(ctx context.Context, key string) (BlobMeta, error) {
	if !validKey(key) {
		return BlobMeta{}, NoBlob()
	}
	return b.store.Stat(ctx, key)
}

// Get opens a file. Its errors are those of Stat. ctx must last as long as the file is
// read.
func (b *Blobs) Get(ctx context.Context, key string) (*Blob, error) {
	if !validKey(key) {
		return nil, NoBlob()
	}
	return b.store.Get(ctx, key)
}

// Delete removes a file. A key without a file is no error.
func (b *Blobs) Delete(ctx context.Context, key string) error {
	if !validKey(key) {
		return errBadKey
	}
	freed, err := b.store.Delete(ctx, key)
	b.space.add(key, -freed)
	return err
}

// Folders returns the folders that keys begin with, which may include some whose files
// are all gone.
func (b *Blobs) Folders(ctx context.Context) ([]string, error) { return b.store.Folders(ctx) }

// DeleteFolder removes all files whose keys begin with the folder's name and a
// slash. A folder that does not exist is no error.
func (b *Blobs) DeleteFolder(ctx context.Context, name string) error {
	if !validKey(name) {
		return errBadKey
	}
	b.space.forget(name)
	return b.store.DeleteFolder(ctx, name)
}

// readerUntil reads until its context ends.
type readerUntil struct {
	ctx  context.Context //nolint:containedctx // it lives no longer than the call that makes it
	from io.Reader
}

// Read implements io.Reader.
func (r readerUntil) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
