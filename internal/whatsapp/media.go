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
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waMmsRetry"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/whatsapp/transport"
)

// retryWait is how long the phone may take to give a file to the platform again.
const retryWait = 20 * time.Second

// MediaOf describes the file of a message (gateway.Connector).
func (c *Connector) MediaOf(payload []byte) (gateway.Media, bool, error) {
	message, err := decode(payload)
	if err != nil {
		return gateway.Media{}, false, err
	}
	file := fileOf(unwrap(message))
	if file == nil {
		return gateway.Media{}, false, nil
	}
	return mediaOf(file), true, nil
}

// file is what all messages with media have.
type file interface {
	whatsmeow.DownloadableMessage
	GetMimetype() string
	GetFileLength() uint64
}

// fileOf returns the part of a message that points to a file, nil for none.
func fileOf(message *waE2E.Message) file {
	switch {
	case message == nil:
		return nil
	case message.ImageMessage != nil:
		return message.ImageMessage
	case message.VideoMessage != nil:
		return message.VideoMessage
	case message.PtvMessage != nil:
		return message.PtvMessage
	case message.AudioMessage != nil:
		return message.AudioMessage
	case message.DocumentMessage != nil:
		return message.DocumentMessage
	case message.StickerMessage != nil:
		return message.StickerMessage
	default:
		return nil
	}
}

// newMediaMessage points to an uploaded file.
func newMediaMessage(content gateway.Content, about *waE2E.ContextInfo) *waE2E.Message {
	m, up := content.Media, content.Media.Upload
	size := uint64(m.Size) //nolint:gosec // a size is not negative
	message := &waE2E.Message{}
	switch content.Type {
	case gateway.TypeImage:
		message.ImageMessage = &waE2E.ImageMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.Key, FileEncSHA256: up.EncryptedSHA256,
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			Caption: optional(content.Text), Width: pixels(m.Width), Height: pixels(m.Height),
			JPEGThumbnail: m.Thumbnail, ViewOnce: flag(content.ViewOnce), ContextInfo: about,
		}
	case gateway.TypeVideo:
		message.VideoMessage = &waE2E.VideoMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.Key, FileEncSHA256: up.EncryptedSHA256,
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			Caption: optional(content.Text), Width: pixels(m.Width), Height: pixels(m.Height), Seconds: seconds(m.Length),
			JPEGThumbnail: m.Thumbnail, ViewOnce: flag(content.ViewOnce), ContextInfo: about,
		}
	case gateway.TypeVoice, gateway.TypeAudio:
		message.AudioMessage = &waE2E.AudioMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.Key, FileEncSHA256: up.EncryptedSHA256,
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			Seconds: seconds(m.Length), PTT: flag(content.Type == gateway.TypeVoice), Waveform: m.Waveform,
			ViewOnce: flag(content.ViewOnce), ContextInfo: about,
		}
	case gateway.TypeDocument:
		message.DocumentMessage = &waE2E.DocumentMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.Key, FileEncSHA256: up.EncryptedSHA256,
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			FileName: &m.FileName, Title: &m.FileName, Caption: optional(content.Text),
			JPEGThumbnail: m.Thumbnail, ContextInfo: about,
		}
		if content.Text != "" {
			// Clients show the caption of a document only in this wrapping.
			return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: message}}
		}
	case gateway.TypeSticker:
		message.StickerMessage = &waE2E.StickerMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.Key, FileEncSHA256: up.EncryptedSHA256,
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			Width: pixels(m.Width), Height: pixels(m.Height), IsAnimated: flag(m.Animated), ContextInfo: about,
		}
	default: // newMessage asks for no other
	}
	if !content.ViewOnce {
		return message
	}
	once := &waE2E.FutureProofMessage{Message: message}
	if content.Type == gateway.TypeVoice {
		return &waE2E.Message{ViewOnceMessageV2Extension: once}
	}
	return &waE2E.Message{ViewOnceMessageV2: once}
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func flag(set bool) *bool {
	if !set {
		return nil
	}
	return &set
}

func pixels(n int) *uint32 {
	if n <= 0 {
		return nil
	}
	return new(uint32(n)) //nolint:gosec // the side of a picture
}

// seconds rounds up: half a second is shown as one, not as none.
func seconds(length time.Duration) *uint32 {
	if length <= 0 {
		return nil
	}
	return new(uint32((length + time.Second - 1) / time.Second)) //nolint:gosec // the length of a recording
}

// Upload leaves a file with the platform (gateway.Session). It is encrypted into
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
	response, err := s.current().UploadReader(ctx, file, encrypted, mediaType(kind))
	if err != nil {
		return gateway.Upload{}, mediaError(err)
	}
	return gateway.Upload{
		URL:             response.URL,
		DirectPath:      response.DirectPath,
		Key:             response.MediaKey,
		EncryptedSHA256: response.FileEncSHA256,
	}, nil
}

func mediaType(kind gateway.MessageType) whatsmeow.MediaType {
	switch kind {
	case gateway.TypeVideo:
		return whatsmeow.MediaVideo
	case gateway.TypeVoice, gateway.TypeAudio:
		return whatsmeow.MediaAudio
	case gateway.TypeDocument:
		return whatsmeow.MediaDocument
	default: // stickers travel as images
		return whatsmeow.MediaImage
	}
}

// Download fetches the file of a message (gateway.Session).
func (s *session) Download(ctx context.Context, key gateway.MessageKey, payload []byte, target *os.File) error {
	message, err := decode(payload)
	if err != nil {
		return err
	}
	content := unwrap(message)
	pointer := fileOf(content)
	if pointer == nil {
		return errors.New("whatsapp: download the file of a message that has none")
	}
	limit := s.connector.config.MaxMediaBytes
	ctx, cancel := context.WithTimeout(ctx, transport.TransferTime(limit)+retryWait)
	defer cancel()
	limited := transport.Limited(target, limit+encryptionBytes, errTooLarge)
	err = s.current().DownloadToFile(ctx, pointer, limited)
	if !isGone(err) {
		return downloadError(ctx, err, limit)
	}
	path, err := s.askPhone(ctx, key, pointer.GetMediaKey())
	if err != nil {
		return err
	}
	setDirectPath(content, path)
	if err := target.Truncate(0); err != nil {
		return fmt.Errorf("whatsapp: empty file: %w", err)
	}
	if _, err := target.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("whatsapp: empty file: %w", err)
	}
	return downloadError(ctx, s.current().DownloadToFile(ctx, fileOf(content), limited), limit)
}

// encryptionBytes is how much longer a file is while it is encrypted: its padding
// and its seal.
const encryptionBytes = 16 + 10

// errTooLarge says that a file is larger than what is fetched.
var errTooLarge = errors.New("whatsapp: the file is larger than the limit")

// downloadError says in the gateway's words why a file could not be fetched. What
// its sender chose is never a fault of ours: a path that leads nowhere, keys that
// open nothing.
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
		return mediaError(err)
	}
	if failure := sendError(err); gateway.KindOf(failure) != gateway.Internal {
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

func setDirectPath(message *waE2E.Message, path string) {
	switch {
	case message.ImageMessage != nil:
		message.ImageMessage.DirectPath = &path
	case message.VideoMessage != nil:
		message.VideoMessage.DirectPath = &path
	case message.PtvMessage != nil:
		message.PtvMessage.DirectPath = &path
	case message.AudioMessage != nil:
		message.AudioMessage.DirectPath = &path
	case message.DocumentMessage != nil:
		message.DocumentMessage.DirectPath = &path
	case message.StickerMessage != nil:
		message.StickerMessage.DirectPath = &path
	}
}

// isGone reports whether the platform no longer has a file.
func isGone(err error) bool {
	return errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404) ||
		errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410)
}

// askPhone asks the account's phone to give a file to the platform again, and
// returns where it lies now.
func (s *session) askPhone(ctx context.Context, key gateway.MessageKey, mediaKey []byte) (path string, err error) {
	chat, err := toJID(key.Chat.Address())
	if err != nil {
		return "", err
	}
	sender, err := toJID(key.Sender.Address())
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
		return "", sendError(err)
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

func mediaError(err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[whatsmeow.DownloadHTTPError](err); ok {
		return gateway.Errorf(gateway.PlatformFailed, gateway.CodePlatformError,
			"the platform's media host answered %d", refusal.StatusCode)
	}
	return sendError(err)
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

// answer hands the phone's answer to who waits for it.
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
