// Package files is the part of a session that transfers the files of messages (gateway.Files):
// it uploads and downloads them, and asks the phone for those that the platform no longer has.
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/cache"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
	"github.com/recado-project/recado/internal/whatsapp/line"
	"github.com/recado-project/recado/internal/whatsapp/transport"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// retryWait is how long the phone may take to upload a file again.
const retryWait = 20 * time.Second

// An upload serves other messages with the same file for so long: the platform keeps files for weeks, and those who get
// the last of these messages shall have almost as long as the first ones.
const (
	reuseFor  = 24 * time.Hour
	mostReuse = 32 // files of a session
)

// A file of so many bytes is encrypted in memory, if there is a Place for it: of the usual pictures, voice notes and documents
// nothing encrypted is written to the disk.
const (
	mostInMemory = 2 << 20
	placesAtOnce = 8
)

// Places are for files that are encrypted in memory, of all sessions together.
type Places chan struct{}

// NewPlaces returns places of which none is taken.
func NewPlaces() Places { return make(Places, placesAtOnce) }

// maxHandle bounds the handle of an upload in bytes.
const maxHandle = 1024

// Files transfers files. It is safe for concurrent use.
type Files struct {
	line     *line.Line
	places   Places // for files that are encrypted in memory
	tempDir  string // for others that are being encrypted
	maxBytes int64  // of a file that is downloaded
	uploads  *cache.Cache[uploadKey, gateway.Upload]

	mu      sync.Mutex
	waiting map[string][]chan *events.MediaRetry // requests to the phone that wait for its answer
}

// uploadKey is for what an upload can be used again: a file has another key for each type of media.
type uploadKey struct {
	media whatsmeow.MediaType
	hash  string
}

var _ gateway.Files = (*Files)(nil)

// New returns the files of a session. Files are encrypted in memory, as long as there are places, or
// in tempDir. Those of more than maxBytes are not downloaded.
func New(of *line.Line, places Places, tempDir string, maxBytes int64) *Files {
	return &Files{
		line: of, places: places, tempDir: tempDir, maxBytes: maxBytes, waiting: map[string][]chan *events.MediaRetry{},
		uploads: cache.New[uploadKey, gateway.Upload](cache.Config{Most: mostReuse, Age: reuseFor, Now: func() time.Time { return of.Now() }}),
	}
}

// Upload leaves a file with the platform (gateway.Files). As the platform's own clients do for a message that is forwarded,
// a message with the same file as one before points to the same upload, with its key. The session forgets them when it ends. In
// channels every post has its own handle.
func (f *Files) Upload(ctx context.Context, chat gateway.JID, kind gateway.MessageType, file gateway.File) (gateway.Upload, error) {
	if chat.IsChannel() || file.SHA256 == nil {
		return f.upload(ctx, chat, kind, file.Content)
	}
	reused := true
	upload, _, err := f.uploads.Find(uploadKey{wire.MediaType(kind), string(file.SHA256)}, func() (gateway.Upload, bool, error) {
		reused = false
		made, err := f.upload(ctx, chat, kind, file.Content)
		return made, true, err
	})
	upload.Reused = reused
	return upload, err
}

// upload leaves a file with the platform. A large one is encrypted into a temporary file, never held
// whole in memory. In channels everybody reads, so nothing is encrypted there.
func (f *Files) upload(ctx context.Context, chat gateway.JID, kind gateway.MessageType, file io.ReadSeeker) (gateway.Upload, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return gateway.Upload{}, fmt.Errorf("files: read file: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return gateway.Upload{}, fmt.Errorf("files: read file: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, transport.TransferTime(size))
	defer cancel()
	if chat.IsChannel() {
		return f.uploadOpen(ctx, kind, file)
	}
	encrypted, done, err := f.makeRoom(size)
	if err != nil {
		return gateway.Upload{}, err
	}
	defer done()
	response, err := f.line.Client().UploadReader(ctx, share.Yield(file), encrypted, wire.MediaType(kind))
	if err != nil {
		return gateway.Upload{}, wire.MediaFailure(err)
	}
	return gateway.Upload{
		URL:             response.URL,
		DirectPath:      response.DirectPath,
		Key:             response.MediaKey,
		EncryptedSHA256: response.FileEncSHA256,
	}, nil
}

// makeRoom makes room for a file of a size that is encrypted. The caller calls done when it is of no more use.
func (f *Files) makeRoom(size int64) (room io.ReadWriteSeeker, done func(), err error) {
	if size <= mostInMemory {
		select {
		case f.places <- struct{}{}:
			inMemory := new(memory)
			inMemory.Grow(int(size + encryptionBytes))
			return inMemory, func() { <-f.places }, nil
		default:
		}
	}
	file, err := os.CreateTemp(f.tempDir, "recado-upload-*")
	if err != nil {
		return nil, nil, fmt.Errorf("files: make room for a file: %w", err)
	}
	return file, func() { _, _ = file.Close(), os.Remove(file.Name()) }, nil
}

// memory is a file in memory that is written once, and then read once.
type memory struct{ bytes.Buffer }

// Seek goes to the start, where reading begins anyway.
func (*memory) Seek(int64, int) (int64, error) { return 0, nil }

// uploadOpen leaves a file with the platform as it is.
func (f *Files) uploadOpen(ctx context.Context, kind gateway.MessageType, file io.ReadSeeker) (gateway.Upload, error) {
	// A request closes what it has read if it can; the file is the caller's.
	response, err := f.line.Client().UploadNewsletterReader(ctx, struct {
		io.Reader
		io.Seeker
	}{share.Yield(file), file}, wire.MediaType(kind))
	if err != nil {
		return gateway.Upload{}, wire.MediaFailure(err)
	}
	if response.Handle == "" || len(response.Handle) > maxHandle {
		return gateway.Upload{}, gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError,
			"the platform's media host took the file without a handle, which a channel needs")
	}
	return gateway.Upload{URL: response.URL, DirectPath: response.DirectPath, Handle: response.Handle}, nil
}

// Download fetches the file of a message (gateway.Files).
func (f *Files) Download(ctx context.Context, key gateway.MessageKey, payload []byte, target *os.File) error {
	message, err := wire.Decode(payload)
	if err != nil {
		return err
	}
	content := wire.Unwrap(message)
	pointer := wire.FileOf(content)
	if pointer == nil {
		return errors.New("files: download the file of a message that has none")
	}
	limit := f.maxBytes
	ctx, cancel := context.WithTimeout(ctx, transport.TransferTime(limit)+retryWait)
	defer cancel()
	limited := transport.Limited(target, limit+encryptionBytes, errTooLarge)
	err = f.line.Client().DownloadToFile(ctx, pointer, limited)
	if !wire.IsGone(err) {
		return downloadError(ctx, err, limit)
	}
	if key.Chat.Address().IsChannel() { // whose files no phone uploads again
		return gateway.Errorf(gateway.NotFound, gateway.CodeMediaNotFound, "the file of the post is not on the platform, or no longer")
	}
	path, err := f.askPhone(ctx, key, pointer.GetMediaKey())
	if err != nil {
		return err
	}
	wire.SetDirectPath(content, path)
	if err := target.Truncate(0); err != nil {
		return fmt.Errorf("files: empty file: %w", err)
	}
	if _, err := target.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("files: empty file: %w", err)
	}
	return downloadError(ctx, f.line.Client().DownloadToFile(ctx, wire.FileOf(content), limited), limit)
}

// encryptionBytes is how much longer an encrypted file is: its padding and its
// authentication code.
const encryptionBytes = 16 + 10

// errTooLarge says that a file is larger than the limit.
var errTooLarge = errors.New("files: the file is larger than the limit")

// downloadError says in the gateway's words why a file could not be fetched. A path that
// leads nowhere and keys that don't fit were chosen by the sender, so they are not
// internal errors.
func downloadError(ctx context.Context, err error, limit int64) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTooLarge):
		return gateway.Errorf(gateway.TooLarge, gateway.CodePayloadTooLarge,
			"the file is larger than %d bytes; --max-download allows more", limit)
	case errors.Is(err, transport.ErrSilent), ctx.Err() != nil:
		return gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout,
			"the platform's media host did not send the file in time")
	}
	if _, ok := errors.AsType[whatsmeow.DownloadHTTPError](err); ok {
		return wire.MediaFailure(err)
	}
	if failure := wire.Failure(err); gateway.KindOf(failure) != gateway.Internal {
		return failure
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError, "the platform's media host can't be reached")
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok { // a full disk
		return fmt.Errorf("files: keep file: %w", err)
	}
	return gateway.Errorf(gateway.NotFound, gateway.CodeMediaNotFound,
		"there is no file that fits what the message says of it: its path, its keys or its hashes are wrong")
}

// askPhone asks the account's phone to upload a file again, and returns its new path.
func (f *Files) askPhone(ctx context.Context, key gateway.MessageKey, mediaKey []byte) (path string, err error) {
	chat, err := wire.ToJID(key.Chat.Address())
	if err != nil {
		return "", err
	}
	sender, err := wire.ToJID(key.Sender.Address())
	if err != nil {
		return "", err
	}
	answers, done := f.expect(key.PlatformID)
	defer done()
	err = f.line.Client().SendMediaRetryReceipt(ctx, &types.MessageInfo{
		ID: key.PlatformID,
		MessageSource: types.MessageSource{
			Chat: chat, Sender: sender, IsFromMe: key.FromMe, IsGroup: chat.Server == types.GroupServer,
		},
	}, mediaKey)
	if err != nil {
		return "", wire.Failure(err)
	}
	timer := time.NewTimer(retryWait)
	defer timer.Stop()
	select {
	case answer := <-answers:
		retry, err := whatsmeow.DecryptMediaRetryNotification(answer, mediaKey)
		if err != nil || retry.GetResult() != waMmsRetry.MediaRetryNotification_SUCCESS {
			return "", gateway.Errorf(gateway.NotFound, gateway.CodeMediaNotFound,
				"the file is no longer on the platform, nor on the phone")
		}
		return retry.GetDirectPath(), nil
	case <-timer.C:
		return "", gateway.Errorf(gateway.PlatformTimeout, gateway.CodePlatformTimeout,
			"the file is no longer on the platform, and the phone did not give it again in time")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// expect registers a request. The caller calls done when it no longer waits.
func (f *Files) expect(messageID string) (answers <-chan *events.MediaRetry, done func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	channel := make(chan *events.MediaRetry, 1)
	f.waiting[messageID] = append(f.waiting[messageID], channel)
	return channel, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		others := slices.DeleteFunc(f.waiting[messageID], func(c chan *events.MediaRetry) bool { return c == channel })
		if f.waiting[messageID] = others; len(others) == 0 {
			delete(f.waiting, messageID)
		}
	}
}

// Answered passes the phone's answer to all requests that wait for it: several may ask for one file.
func (f *Files) Answered(event *events.MediaRetry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, channel := range f.waiting[event.MessageID] {
		select {
		case channel <- event:
		default: // one answer is enough
		}
	}
}
