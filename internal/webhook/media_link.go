// The files of messages, and links to them, in the events of webhooks that want them.

package webhook

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/share"
)

// MediaLinks signs links to the files of messages. It may be called concurrently.
type MediaLinks interface {
	// MediaLink returns a link to the file of a message, which is named by the gateway's
	// identifier, and when it ends. The link needs no API key. The file is fetched from the
	// platform when somebody follows the link, if it was not before.
	MediaLink(instanceID, messageID string) (link string, expires time.Time)
}

// mediaLinkOf returns the link to the file of an event's message; nil if the event is not about
// a new message with a file.
func mediaLinkOf(links MediaLinks, event eventlog.Event) *eventlog.MediaLink {
	message, ok := messageWithFile(event)
	if !ok {
		return nil
	}
	link, expires := links.MediaLink(event.InstanceID, message.ID)
	return &eventlog.MediaLink{URL: link, ExpiresAt: eventlog.Time(expires)}
}

// withFile is what is known of a new message with a file.
type withFile struct {
	ID    string `json:"id"`
	Media *struct {
		Size int64 `json:"size"` // as its sender says
	} `json:"media"`
}

// messageWithFile returns the message of an event; ok is false if the event is not about a new one with a file.
func messageWithFile(event eventlog.Event) (message withFile, ok bool) {
	if event.Kind != eventlog.KindMessageReceived && event.Kind != eventlog.KindMessageSent {
		return message, false
	}
	ok = json.Unmarshal(event.Data, &message) == nil && message.ID != "" && message.Media != nil
	return message, ok
}

// OpenFile opens the file of a message, which is named by the gateway's identifier, and says how large it is. A file that
// is not kept is fetched from the platform first. ctx lasts as long as the file is read.
type OpenFile func(ctx context.Context, instanceID, messageID string) (file io.ReadCloser, size int64, err error)

const (
	// maxFile is how large a file in an event may be; of a larger one the event has the link alone.
	maxFile = 8 << 20
	// maxFilesHeld is how many bytes of files are held at the same time: each in base64, and once more in its event.
	maxFilesHeld = 64 << 20
)

// files reads the files of messages into events. It is safe for concurrent use.
type files struct {
	open   OpenFile
	wait   time.Duration
	held   *share.Pool
	logger *slog.Logger
}

func newFiles(open OpenFile, wait time.Duration, logger *slog.Logger) *files {
	return &files{open: open, wait: wait, logger: logger, held: share.New(share.Config{
		Name: "webhook_files", Total: maxFilesHeld, What: "bytes of files in events", Advice: "wait until they are delivered", Patience: wait,
	})}
}

// read returns the file of an event's message in base64, and the memory that it takes, which the caller releases. Both are
// nil for an event without a file, and where the file is too large or can't be had in time.
func (f *files) read(ctx context.Context, of gateway.Instance, event eventlog.Event) (encoded []byte, held *share.Taken) {
	message, ok := messageWithFile(event)
	if !ok || message.Media.Size > maxFile {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(gateway.WithRequester(ctx, gateway.Requester{AccountID: of.AccountID, ID: of.ID}), f.wait)
	defer cancel()
	encoded, held, err := f.encode(ctx, event.InstanceID, message.ID)
	if err != nil {
		held.Release()
		f.logger.LogAttrs(ctx, slog.LevelInfo, "event delivered without its file", slog.String("instance_id", event.InstanceID),
			slog.String("event_id", event.ID), slog.Any("error", err))
		return nil, nil
	}
	return encoded, held
}

// errFileSize is the error of a file that is too large, or not as large as it should be.
var errFileSize = errors.New("webhook: the file has not the size that it may have")

func (f *files) encode(ctx context.Context, instanceID, messageID string) (encoded []byte, held *share.Taken, err error) {
	file, size, err := f.open(ctx, instanceID, messageID)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	if size > maxFile {
		return nil, nil, errFileSize
	}
	length := base64.StdEncoding.EncodedLen(int(size))
	if held, err = f.held.Wait(ctx, 2*int64(length)); err != nil {
		return nil, held, err
	}
	into := bytes.NewBuffer(make([]byte, 0, length))
	encoder := base64.NewEncoder(base64.StdEncoding, into)
	n, err := io.Copy(encoder, io.LimitReader(file, size))
	if err == nil {
		err = encoder.Close()
	}
	if err == nil && n != size {
		err = errFileSize
	}
	return into.Bytes(), held, err
}
