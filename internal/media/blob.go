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

// Blobs keeps files under keys, which their callers choose: letters, digits,
// dots, dashes, underscores and slashes, up to 255. A key's content never
// changes. Blobs is safe for concurrent use; one process at a time may have a
// folder open.
type Blobs struct {
	root   *os.Root
	config BlobsConfig
	space  space
	busy   keylock.Locks        // of files that are being written
	sync   func(*os.File) error // brings a file, or a folder, to the disk
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

	Now    func() time.Time // nil: the wall clock
	Logger *slog.Logger     // nil: nothing is logged
}

// BlobMeta is what is kept of a file besides its content.
type BlobMeta struct {
	MimeType string
	FileName string
	Size     int64     // in bytes; -1 in Put where it is not known beforehand
	Created  time.Time // set by Get and Stat
}

// Blob is a stored file that is open for reading, from its start.
type Blob struct {
	BlobMeta
	io.ReadSeekCloser
}

const (
	// incoming is the folder of what is not whole yet. No key begins with a dot.
	incoming = ".incoming"
	// attributes end the name of the file beside a file that describes it.
	attributes = ".attrs"
)

// kept is what the file beside a file says.
type kept struct {
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

// Put stores what content has to give. The file is under its key when all of it
// is on disk, and not at all where reading fails, ctx ends, or its size is not
// the one that meta names. A key that is taken keeps what it has, and the content
// is not read, unless that is not whole. Its error is TooLarge for more than
// BlobsConfig.MaxFile, and for what no other file can make room for.
func (b *Blobs) Put(ctx context.Context, key string, content io.Reader, meta BlobMeta) error {
	return b.Receive(ctx, key, meta, func(file *os.File) error {
		from := io.Reader(readerUntil{ctx, content})
		if limit := b.largest(); limit > 0 {
			from = io.LimitReader(from, limit+1) // one more, to see that it is too much
		}
		_, err := io.Copy(file, from)
		return err
	})
}

// Receive is Put where the content is written by fetch, in whatever order. fetch
// bounds what it writes; a file that is larger than the store takes is removed. Of
// several callers with one key, one fetches and the others wait for it.
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
		return err // nil where the key is taken
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
		err = fmt.Errorf("it has %d bytes, not %d", size, meta.Size)
	}
	if err == nil {
		err = b.sync(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("media: write blob: %w", err)
	}
	if err := b.name(aside, key, kept{MimeType: meta.MimeType, FileName: meta.FileName, Size: size}); err != nil {
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

// name gives a file that is whole, and on disk, its name. Its description comes
// first: a file without one is none.
func (b *Blobs) name(aside, key string, about kept) error {
	about.MimeType = canonicalType(about.MimeType)
	description, err := json.Marshal(about)
	if err != nil {
		return err
	}
	folder := path.Dir(key)
	if err := b.root.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	now := b.config.Now()
	described := aside + attributes
	err = b.writeSynced(described, description)
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
	// The names themselves, and that of a folder which may be new.
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

func (b *Blobs) remove(name string) error {
	if err := b.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("media: remove blob: %w", err)
	}
	return nil
}

// Stat tells of a file without opening it. Its error is NotFound where the key
// has none, or one that is not whole.
func (b *Blobs) Stat(_ context.Context, key string) (BlobMeta, error) {
	if !validKey(key) {
		return BlobMeta{}, errNoBlob()
	}
	about, err := b.root.Stat(key)
	if err != nil {
		return BlobMeta{}, blobError(err)
	}
	description, err := b.root.ReadFile(key + attributes)
	if err != nil {
		return BlobMeta{}, blobError(err)
	}
	var found kept
	if json.Unmarshal(description, &found) != nil || found.Size != about.Size() || !about.Mode().IsRegular() || found.MimeType == "" {
		return BlobMeta{}, errNoBlob() // the disk has lost some of it
	}
	return BlobMeta{MimeType: found.MimeType, FileName: found.FileName, Size: found.Size, Created: about.ModTime()}, nil
}

// Get opens a file. Its error is NotFound where the key has none, or one that is
// not whole.
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

// Delete removes a file. Who has it open can read it to its end. A key that has
// none is no error.
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

// Folders returns the first parts of all keys that have more of them, also of
// those whose files are gone.
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

// validKey reports whether a key is one: it also is a path below a folder and
// of a URL, as it stands.
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

// readerUntil reads for as long as its context lasts.
type readerUntil struct {
	ctx  context.Context //nolint:containedctx // it lasts as long as the call that makes it
	from io.Reader
}

// Read reads on.
func (r readerUntil) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
