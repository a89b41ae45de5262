// Where files are: what a store of files promises, and how keys are spelled.

package media

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// Store is the place of files: a folder, or a bucket that is reached over the network. Its
// callers give it valid keys alone. It is safe for concurrent use, also by several
// processes if the place is shared. Its errors are NotFound only if a file is certainly
// not there; a place that can't be reached now is Unavailable. It has more than five
// methods because it is all that Blobs asks of the two places.
type Store interface {
	// Write makes an empty file on this machine, lets fill write it in any order, and
	// stores it under key, all or nothing: when it returns nil, the content is where a
	// loss of power does not reach it. It returns the bytes of the content. If several
	// processes write a key at the same time, each must write the same content.
	Write(ctx context.Context, key string, meta BlobMeta, fill func(file *os.File) error) (int64, error)
	// Stat describes a file. Its error is NotFound if there is none, or an incomplete one.
	Stat(ctx context.Context, key string) (BlobMeta, error)
	// Get opens a file. ctx must last as long as the file is read.
	Get(ctx context.Context, key string) (*Blob, error)
	// Delete removes a file, if there is one, and returns how many bytes it had.
	Delete(ctx context.Context, key string) (freed int64, err error)
	// List goes through the files of a folder, or through all files if folder is "", in
	// no order. It ends with the first error.
	List(ctx context.Context, folder string) iter.Seq2[Stored, error]
	// Folders returns the folders that keys begin with.
	Folders(ctx context.Context) ([]string, error)
	// DeleteFolder removes all files whose keys begin with name and a slash.
	DeleteFolder(ctx context.Context, name string) error
	// Close ends the use of the place. Blobs that are open can be read to their end.
	Close() error
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

	// Presign makes a URL from which everybody can read the content for a few minutes,
	// without this program. It is nil if the content is served from here alone.
	Presign func(ctx context.Context, as Answer) (url string, err error)
}

// Answer is how a presigned URL is to be answered.
type Answer struct {
	ContentType, ContentDisposition, CacheControl string
}

// Stored is a file in the list of a store.
type Stored struct {
	Key     string
	Size    int64
	Created time.Time
}

// Described is the suffix that no key has: a folder keeps what is known of a file under
// the file's key with this suffix.
const Described = ".attrs"

// UploadFolder is the folder of the uploads, beside those of the messages that wait to be sent.
const UploadFolder = "uploads"

// UploadKey is the key of an upload of an account. No ID of an upload has a dash.
func UploadKey(accountID, id string) string { return UploadFolder + "/" + accountID + "-" + id }

// UploadAccount returns the account whose upload a key is, and whether it is one.
func UploadAccount(key string) (accountID string, is bool) {
	name, is := strings.CutPrefix(key, UploadFolder+"/")
	return name[:max(0, strings.LastIndexByte(name, '-'))], is
}

// NoBlob is the error of a store for a file that is certainly not there.
func NoBlob() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeMediaNotFound, "the file does not exist any more")
}

var errBadKey = errors.New("media: malformed blob key")

const maxKey = 255

// validKey reports whether a key can be used, unescaped, as the path of a file and in
// a URL.
func validKey(key string) bool {
	if key == "" || len(key) > maxKey || strings.HasSuffix(key, Described) {
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
