// Files of messages: uploaded, downloaded, asked for again.

package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/transport"
	"github.com/recado-project/recado/internal/whatsapp/wire"
)

// retryWait is how long the phone may take to upload a file again.
const retryWait = 20 * time.Second

// Upload leaves a file with the platform (gateway.Files). It is encrypted into
// a temporary file, never held whole in memory.
func (s *session) Upload(ctx context.Context, kind gateway.MessageType, file io.ReadSeeker) (gateway.Upload, error) {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return gateway.Upload{}, fmt.Errorf("whatsapp: read file: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return gateway.Upload{}, fmt.Errorf("whatsapp: read file: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, transport.TransferTime(size))
	defer cancel()
	encrypted, err := os.CreateTemp(s.connector.config.TempDir, "recado-upload-*")
	if err != nil {
		return gateway.Upload{}, fmt.Errorf("whatsapp: make room for a file: %w", err)
	}
	defer func() { _, _ = encrypted.Close(), os.Remove(encrypted.Name()) }() // it is of no more use
	response, err := s.current().UploadReader(ctx, file, encrypted, wire.MediaType(kind))
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

// Download fetches the file of a message (gateway.Files).
func (s *session) Download(ctx context.Context, key gateway.MessageKey, payload []byte, target *os.File) error {
	message, err := wire.Decode(payload)
	if err != nil {
		return err
	}
	content := wire.Unwrap(message)
	pointer := wire.FileOf(content)
	if pointer == nil {
		return errors.New("whatsapp: download the file of a message that has none")
	}
	limit := s.connector.config.MaxMediaBytes
	ctx, cancel := context.WithTimeout(ctx, transport.TransferTime(limit)+retryWait)
	defer cancel()
	limited := transport.Limited(target, limit+encryptionBytes, errTooLarge)
	err = s.current().DownloadToFile(ctx, pointer, limited)
	if !wire.IsGone(err) {
		return downloadError(ctx, err, limit)
	}
	path, err := s.askPhone(ctx, key, pointer.GetMediaKey())
	if err != nil {
		return err
	}
	wire.SetDirectPath(content, path)
	if err := target.Truncate(0); err != nil {
		return fmt.Errorf("whatsapp: empty file: %w", err)
	}
	if _, err := target.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("whatsapp: empty file: %w", err)
	}
	return downloadError(ctx, s.current().DownloadToFile(ctx, wire.FileOf(content), limited), limit)
}

// encryptionBytes is how much longer an encrypted file is: its padding and its
// authentication code.
const encryptionBytes = 16 + 10

// errTooLarge says that a file is larger than the limit.
var errTooLarge = errors.New("whatsapp: the file is larger than the limit")

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
		return fmt.Errorf("whatsapp: keep file: %w", err)
	}
	return gateway.Errorf(gateway.NotFound, gateway.CodeMediaNotFound,
		"there is no file that fits what the message says of it: its path, its keys or its hashes are wrong")
}

// askPhone asks the account's phone to upload a file again, and returns its new path.
func (s *session) askPhone(ctx context.Context, key gateway.MessageKey, mediaKey []byte) (path string, err error) {
	chat, err := wire.ToJID(key.Chat.Address())
	if err != nil {
		return "", err
	}
	sender, err := wire.ToJID(key.Sender.Address())
	if err != nil {
		return "", err
	}
	answers, done := s.retries.expect(key.PlatformID)
	defer done()
	err = s.current().SendMediaRetryReceipt(ctx, &types.MessageInfo{
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

// mediaRetries are the requests to the phone that wait for its answer.
type mediaRetries struct {
	mu      sync.Mutex
	waiting map[string]chan *events.MediaRetry
}

// expect registers a request. The caller calls done when it no longer waits.
func (r *mediaRetries) expect(messageID string) (answers <-chan *events.MediaRetry, done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = map[string]chan *events.MediaRetry{}
	}
	channel := make(chan *events.MediaRetry, 1)
	r.waiting[messageID] = channel
	return channel, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.waiting[messageID] == channel {
			delete(r.waiting, messageID)
		}
	}
}

// answer passes the phone's answer to the request that waits for it.
func (r *mediaRetries) answer(event *events.MediaRetry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if channel, ok := r.waiting[event.MessageID]; ok {
		select {
		case channel <- event:
		default: // one answer is enough
		}
	}
}
