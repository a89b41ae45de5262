package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"

	"github.com/recado-project/recado/internal/gateway"
)

// Blobs keeps files under keys, which their callers choose: letters, digits,
// dots, dashes, underscores and slashes, up to 255. A key's content never
// changes. Blobs is safe for concurrent use.
type Blobs struct {
	bucket *blob.Bucket
	folder *os.Root // the same files, for what is done to many of them at once
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

// fileNameKey is where the store's own metadata has the file name.
const fileNameKey = "filename"

// OpenBlobs opens the store in a folder, which is made where it does not exist,
// for this user alone.
func OpenBlobs(folder string) (*Blobs, error) {
	bucket, err := fileblob.OpenBucket(folder, &fileblob.Options{
		CreateDir:   true,
		DirFileMode: 0o700,
		// Beside the files, so that renaming into place never crosses file systems.
		NoTempDir: true,
	})
	if err != nil {
		return nil, fmt.Errorf("media: open blob store: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("media: open blob store: %w", err), bucket.Close())
	}
	return &Blobs{bucket: bucket, folder: root}, nil
}

// Close closes the store. Blobs that are open can't be read after it.
func (b *Blobs) Close() error {
	if err := errors.Join(b.bucket.Close(), b.folder.Close()); err != nil {
		return fmt.Errorf("media: close blob store: %w", err)
	}
	return nil
}

// Put stores what content has to give. The file appears under its key when all
// of it is there, and not at all where reading fails, ctx ends, or its size is
// not the one that meta names. A key that is taken keeps what it has: the
// content is not read.
func (b *Blobs) Put(ctx context.Context, key string, content io.Reader, meta BlobMeta) error {
	if !validKey(key) {
		return errBadKey
	}
	taken, err := b.bucket.Exists(ctx, key)
	if err != nil {
		return fmt.Errorf("media: look for blob: %w", err)
	}
	if taken {
		return nil
	}
	if meta.MimeType == "" {
		meta.MimeType = "application/octet-stream"
	}
	// The end of its context is how a writer is told to throw away what it has.
	writing, discard := context.WithCancel(ctx)
	defer discard()
	writer, err := b.bucket.NewWriter(writing, key, &blob.WriterOptions{
		ContentType:                 meta.MimeType,
		DisableContentTypeDetection: true,
		Metadata:                    map[string]string{fileNameKey: meta.FileName},
	})
	if err != nil {
		return fmt.Errorf("media: write blob: %w", err)
	}
	size, err := io.Copy(writer, content)
	if err == nil && meta.Size >= 0 && size != meta.Size {
		err = fmt.Errorf("it has %d bytes, not %d", size, meta.Size)
	}
	if err != nil {
		discard()
		_ = writer.Close() // says only that it was discarded
		return fmt.Errorf("media: write blob: %w", err)
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("media: finish blob: %w", err)
	}
	return nil
}

// Stat tells of a file without opening it. Its error is NotFound where the key
// has none.
func (b *Blobs) Stat(ctx context.Context, key string) (BlobMeta, error) {
	if !validKey(key) {
		return BlobMeta{}, errNoBlob()
	}
	about, err := b.bucket.Attributes(ctx, key)
	if err != nil {
		return BlobMeta{}, blobError(err)
	}
	return BlobMeta{
		MimeType: about.ContentType,
		FileName: about.Metadata[fileNameKey],
		Size:     about.Size,
		Created:  about.ModTime,
	}, nil
}

// Get opens a file for as long as ctx lasts. Its error is NotFound where the key
// has none.
func (b *Blobs) Get(ctx context.Context, key string) (*Blob, error) {
	meta, err := b.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	reader, err := b.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, blobError(err)
	}
	return &Blob{BlobMeta: meta, ReadSeekCloser: reader}, nil
}

// Delete removes a file. Who has it open can read it to its end. A key that has
// none is no error.
func (b *Blobs) Delete(ctx context.Context, key string) error {
	if !validKey(key) {
		return errBadKey
	}
	if err := b.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("media: remove blob: %w", err)
	}
	return nil
}

// Folders returns the first parts of all keys that have more of them, also of
// those whose files are gone.
func (b *Blobs) Folders() ([]string, error) {
	// The bucket would read every file's description to find them.
	entries, err := fs.ReadDir(b.folder.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("media: list folders of blobs: %w", err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() {
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
	// The bucket would leave the empty folder behind, and what a process that was
	// killed had half written.
	if err := b.folder.RemoveAll(name); err != nil {
		return fmt.Errorf("media: remove folder of blobs: %w", err)
	}
	return nil
}

func blobError(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
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
	if key == "" || len(key) > maxKey || strings.HasSuffix(key, ".attrs") {
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
