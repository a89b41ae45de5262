package media

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"os"
	"path"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/keylock"
)

// Blobs keeps files under keys that its callers choose: up to 255 letters, digits,
// dots, dashes, underscores and slashes. The content of a key never changes. Blobs
// is safe for concurrent use. Only one process at a time may have a folder open.
type Blobs struct {
	root   *os.Root
	config BlobsConfig
	space  space
	busy   keylock.Locks        // held, by key, while a file is written
	sync   func(*os.File) error // waits until a file or folder is on the disk
}

// BlobsConfig holds the settings of a store. Only Folder is required; a limit of
// zero means no limit.
type BlobsConfig struct {
	// Folder is where the files are. It is made if it does not exist, for this
	// user alone.
	Folder string

	MaxFile int64 // bytes of one file
	// Total limits the bytes of all files, PerFolder those of the files whose keys
	// begin with the same folder. The oldest files are deleted to make room.
	Total, PerFolder int64
	// Keep is how long a file is kept after it was stored.
	Keep time.Duration

	// Synced is told how long each wait for the disk took; nil: nobody is. It must not block.
	Synced func(took time.Duration)
	Now    func() time.Time // nil: the wall clock
	Logger *slog.Logger     // nil: nothing is logged
}

// BlobMeta describes a stored file.
type BlobMeta struct {
	MimeType string
	FileName string
	Size     int64     // in bytes; -1 in Put if it is not known yet
	Created  time.Time // set by Get and Stat
}

// Blob is a stored file that is open for reading, from its start.
type Blob struct {
	BlobMeta
	io.ReadSeekCloser
}

const (
	// incoming is the folder of files that are not complete yet. No key begins with
	// a dot.
	incoming = ".incoming"
	// attributes is the suffix of the file that describes another file.
	attributes = ".attrs"
)

// description is the content of the file that describes another file.
type description struct {
	MimeType string `json:"mimeType"`
	FileName string `json:"fileName"`
	Size     int64  `json:"size"`
}

// OpenBlobs opens the store. Files that were left incomplete by a process that was
// killed are removed.
func OpenBlobs(config BlobsConfig) (*Blobs, error) {
	b := &Blobs{config: config, sync: (*os.File).Sync}
	if b.config.Now == nil {
		b.config.Now = time.Now
	}
	if b.config.Logger == nil {
		b.config.Logger = slog.New(slog.DiscardHandler)
	}
	if config.Synced != nil {
		b.sync = b.syncWatched
	}
	if err := os.MkdirAll(config.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("media: make blob store: %w", err)
	}
	root, err := os.OpenRoot(config.Folder)
	if err != nil {
		return nil, fmt.Errorf("media: open blob store: %w", err)
	}
	b.root = root
	err = root.RemoveAll(incoming)
	if err == nil {
		err = root.Mkdir(incoming, 0o700)
	}
	if err == nil {
		err = b.measure()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("media: open blob store: %w", err), root.Close())
	}
	return b, nil
}

// Close closes the store. Blobs that are open can be read to their end.
func (b *Blobs) Close() error {
	if err := b.root.Close(); err != nil {
		return fmt.Errorf("media: close blob store: %w", err)
	}
	return nil
}

// Put stores content under a key, once all of it is on the disk. It stores nothing if
// reading fails, ctx ends, or the size is not the one in meta. If the key already has
// a complete file, Put keeps that and does not read content. Its error is TooLarge for
// a file of more than BlobsConfig.MaxFile bytes, or of more than a whole quota.
func (b *Blobs) Put(ctx context.Context, key string, content io.Reader, meta BlobMeta) error {
	return b.Receive(ctx, key, meta, func(file *os.File) error {
		from := io.Reader(readerUntil{ctx, content})
		if limit := b.largest(); limit > 0 {
			from = io.LimitReader(from, limit+1) // one byte more shows that it is too much
		}
		_, err := io.Copy(file, from)
		return err
	})
}

// Receive is Put for content that fetch writes, in any order. fetch must limit what it
// writes: a file that is too large is removed only afterwards. If several callers have
// the same key, one of them fetches and the others wait for it.
func (b *Blobs) Receive(ctx context.Context, key string, meta BlobMeta, fetch func(file *os.File) error) (err error) {
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
	aside := path.Join(incoming, rand.Text())
	file, err := b.root.OpenFile(aside, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("media: write blob: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.remove(aside))
		}
	}()
	err = fetch(file)
	var size int64
	if err == nil {
		size, err = sizeOf(file)
	}
	if limit := b.largest(); err == nil && limit > 0 && size > limit {
		err = gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge, "the file has more than %d bytes", limit)
	}
	if err == nil && meta.Size >= 0 && size != meta.Size {
		err = fmt.Errorf("the content has %d bytes instead of %d", size, meta.Size)
	}
	if err == nil {
		err = b.sync(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("media: write blob: %w", err)
	}
	if err := b.name(aside, key, description{MimeType: meta.MimeType, FileName: meta.FileName, Size: size}); err != nil {
		return fmt.Errorf("media: finish blob: %w", err)
	}
	b.grown(ctx, key, size)
	return nil
}

func sizeOf(file *os.File) (int64, error) {
	about, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return about.Size(), nil
}

// name gives its key to a file that is complete and on the disk. The description is
// named first: a file without a description does not count.
func (b *Blobs) name(aside, key string, about description) error {
	about.MimeType = canonicalType(about.MimeType)
	encoded, err := json.Marshal(about)
	if err != nil {
		return err
	}
	folder := path.Dir(key)
	if err := b.root.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	now := b.config.Now()
	described := aside + attributes
	err = b.writeSynced(described, encoded)
	if err == nil {
		err = b.root.Rename(described, key+attributes)
	}
	if err == nil {
		err = b.root.Chtimes(aside, now, now)
	}
	if err == nil {
		err = b.root.Rename(aside, key)
	}
	if err != nil {
		return errors.Join(err, b.remove(described))
	}
	// The two names have to be on the disk too, and that of the folder, which may be new.
	return errors.Join(b.syncFolder(folder), b.syncFolder("."))
}

// canonicalType returns a foreign media type as a header is to have it: valid, and in
// the one spelling that it has.
func canonicalType(declared string) string {
	return mime.FormatMediaType(declaredType(gateway.CleanMimeType(declared)))
}

func (b *Blobs) writeSynced(name string, content []byte) error {
	file, err := b.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, b.sync(file), file.Close())
}

func (b *Blobs) syncFolder(name string) error {
	folder, err := b.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(b.sync(folder), folder.Close())
}

// syncWatched waits until a file or folder is on the disk, and tells how long it took.
func (b *Blobs) syncWatched(file *os.File) error {
	began := b.config.Now()
	err := file.Sync()
	b.config.Synced(b.config.Now().Sub(began))
	return err
}

func (b *Blobs) remove(name string) error {
	if err := b.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("media: remove blob: %w", err)
	}
	return nil
}

// Stat describes a file without opening it. Its error is NotFound if the key has no
// file, or an incomplete one.
func (b *Blobs) Stat(_ context.Context, key string) (BlobMeta, error) {
	if !validKey(key) {
		return BlobMeta{}, errNoBlob()
	}
	about, err := b.root.Stat(key)
	if err != nil {
		return BlobMeta{}, blobError(err)
	}
	encoded, err := b.root.ReadFile(key + attributes)
	if err != nil {
		return BlobMeta{}, blobError(err)
	}
	var found description
	if json.Unmarshal(encoded, &found) != nil || found.Size != about.Size() || !about.Mode().IsRegular() || found.MimeType == "" {
		return BlobMeta{}, errNoBlob() // a part was lost, as when the power failed
	}
	return BlobMeta{MimeType: found.MimeType, FileName: found.FileName, Size: found.Size, Created: about.ModTime()}, nil
}

// Get opens a file. Its error is NotFound if the key has no file, or an incomplete
// one.
func (b *Blobs) Get(ctx context.Context, key string) (*Blob, error) {
	meta, err := b.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	file, err := b.root.Open(key)
	if err != nil {
		return nil, blobError(err)
	}
	return &Blob{BlobMeta: meta, ReadSeekCloser: file}, nil
}

// Delete removes a file. A caller that has it open can read it to its end. A key
// without a file is no error.
func (b *Blobs) Delete(_ context.Context, key string) error {
	if !validKey(key) {
		return errBadKey
	}
	about, err := b.root.Stat(key)
	if err == nil {
		b.space.add(key, -about.Size())
	}
	return errors.Join(b.remove(key), b.remove(key+attributes))
}

// Folders returns the folders that keys begin with, including those whose files are
// all gone.
func (b *Blobs) Folders() ([]string, error) {
	entries, err := fs.ReadDir(b.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("media: list folders of blobs: %w", err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != incoming {
			folders = append(folders, entry.Name())
		}
	}
	return folders, nil
}

// DeleteFolder removes all files whose keys begin with the folder's name and a
// slash. A folder that does not exist is no error.
func (b *Blobs) DeleteFolder(name string) error {
	if !validKey(name) {
		return errBadKey
	}
	b.space.forget(name)
	if err := b.root.RemoveAll(name); err != nil {
		return fmt.Errorf("media: remove folder of blobs: %w", err)
	}
	return nil
}

func blobError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errNoBlob()
	}
	return fmt.Errorf("media: read blob: %w", err)
}

func errNoBlob() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeMediaNotFound, "the file does not exist any more")
}

var errBadKey = errors.New("media: malformed blob key")

const maxKey = 255

// validKey reports whether a key can be used, unescaped, as the path of a file and in
// a URL.
func validKey(key string) bool {
	if key == "" || len(key) > maxKey || strings.HasSuffix(key, attributes) {
		return false
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part[0] == '.' || strings.ContainsFunc(part, isNoKeyRune) {
			return false
		}
	}
	return true
}

func isNoKeyRune(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
		return false
	default:
		return true
	}
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
