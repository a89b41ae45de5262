package messaging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

// DownloadLink is a URL that serves the file of a message for a while (contract, "Media
// download link").
type DownloadLink struct {
	URL       string
	ExpiresIn int // seconds
	FileName  string
}

// MediaLink returns a download link to the file of a message. base is the address under
// which the client reaches this program. The first time the file is fetched from the
// platform, for which the instance has to be connected; then it is kept. Its error is
// NotFound, also for a message that was deleted and for a file that does not exist any
// more, or Invalid for a message without a file.
func (s *Service) MediaLink(ctx context.Context, instanceID string, ref gateway.MessageRef, base string) (DownloadLink, error) {
	message, err := s.Find(ctx, instanceID, ref)
	if err != nil {
		return DownloadLink{}, err
	}
	key, name, err := s.fetched(ctx, message)
	if err != nil {
		return DownloadLink{}, err
	}
	lifetime := s.limits().LinkLifetime
	return DownloadLink{
		URL:       s.config.Links.URL(base, key, name, lifetime),
		ExpiresIn: int(lifetime / time.Second),
		FileName:  name,
	}, nil
}

// fetched returns the key and the name of the file of a message, which is fetched from the
// platform if it is not kept yet. Its error is that of MediaLink.
func (s *Service) fetched(ctx context.Context, message gateway.Message) (key, name string, err error) {
	if !message.DeletedAt.IsZero() {
		s.removeFile(ctx, message.InstanceID, message.ID)
		return "", "", fileDeleted()
	}
	about, found, err := s.config.Encoder.MediaOf(message.Payload)
	if err != nil {
		return "", "", fmt.Errorf("messaging: read message: %w", err)
	}
	if !found {
		return "", "", gateway.Errorf(gateway.Invalid, gateway.CodeMessageHasNoMedia,
			"the message has no file; its type is %s", message.Type)
	}
	name = about.FileName
	if name == "" {
		name = media.DefaultName(message.Type, about.MimeType, message.SentAt)
	}
	key = FileKey(message.InstanceID, message.ID)
	_, err = s.config.Blobs.Stat(ctx, key)
	if gateway.KindOf(err) == gateway.NotFound {
		err = s.fetch(ctx, message, key, media.BlobMeta{MimeType: about.MimeType, FileName: name, Size: -1})
		if err == nil {
			// A deletion of the message meanwhile found no file to remove yet.
			err = s.CheckFile(ctx, key, false)
		}
	}
	return key, name, err
}

// EventLinks signs the links to files that events carry. It is safe for concurrent use.
type EventLinks struct {
	links  *media.Links
	base   string
	limits func() Limits
}

// NewEventLinks makes links that begin with base, the address where clients reach this
// program. limits is asked for each.
func NewEventLinks(links *media.Links, base string, limits func() Limits) *EventLinks {
	return &EventLinks{links: links, base: strings.TrimRight(base, "/"), limits: limits}
}

// MediaLink returns a link to the file of a message, which is named by its internal
// identifier, and when it ends. Its first reader waits until the file is fetched.
func (l *EventLinks) MediaLink(instanceID, messageID string) (link string, expires time.Time) {
	return l.links.LazyURL(l.base, FileKey(instanceID, messageID), l.limits().OrUsual().LinkLifetime)
}

// FileKey is the key of a message's file in the blob store: all files of an instance are
// in one folder, which is removed with it.
func FileKey(instanceID, messageID string) string { return instanceID + "/" + messageID }

// CheckFile reports whether the file under a key of the blob store may still be served. If
// its message was deleted for everyone, or with its instance, the file is removed and the
// error is NotFound. With fetch, a file that is not kept yet is fetched from the platform; the
// error may be any of MediaLink then.
func (s *Service) CheckFile(ctx context.Context, key string, fetch bool) error {
	instanceID, messageID, _ := strings.Cut(key, "/")
	found, err := s.config.Store.FindMessages(ctx, instanceID, messageID)
	if err != nil {
		return fmt.Errorf("messaging: find the message of a file: %w", err)
	}
	for _, message := range found {
		// The sender chose the platform's identifier, which may look like an internal one.
		if message.ID == messageID && message.DeletedAt.IsZero() {
			if fetch {
				_, _, err = s.fetched(ctx, message)
			}
			return err
		}
	}
	s.removeFile(ctx, instanceID, messageID)
	return fileDeleted()
}

// OpenFile opens the file of a message, which is named by its internal identifier, and says how many bytes it has. It is
// fetched from the platform if it is not kept yet. ctx must last as long as the file is read. Its error is that of MediaLink.
func (s *Service) OpenFile(ctx context.Context, instanceID, messageID string) (file io.ReadCloser, size int64, err error) {
	key := FileKey(instanceID, messageID)
	if err := s.CheckFile(ctx, key, true); err != nil {
		return nil, 0, err
	}
	kept, err := s.config.Blobs.Get(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("messaging: open the file of a message: %w", err)
	}
	return kept, kept.Size, nil
}

// removeFile removes the file of a message that was deleted, if there is one. The caller
// gets no error; the next request for the file tries again.
func (s *Service) removeFile(ctx context.Context, instanceID, messageID string) {
	// The file must be removed even if the client leaves.
	if err := s.config.Blobs.Delete(context.WithoutCancel(ctx), FileKey(instanceID, messageID)); err != nil {
		s.config.Logger.ErrorContext(ctx, "file of a deleted message not removed: remove it from the media folder",
			slog.String("instance_id", instanceID), slog.String("message_id", messageID), slog.Any("error", err))
	}
}

func fileDeleted() error {
	return gateway.Errorf(gateway.NotFound, gateway.CodeMessageNotFound,
		"the message was deleted; it has no file any more")
}

// fetch brings a file from the platform into the blob store: it is decrypted in place and
// never held whole in memory. If several requests need it at the same time, one fetches
// it and the others wait.
func (s *Service) fetch(ctx context.Context, message gateway.Message, key string, meta media.BlobMeta) error {
	session, err := s.config.Sessions.Session(ctx, message.InstanceID)
	if err != nil {
		return err
	}
	return s.config.Blobs.Receive(ctx, key, meta, func(file *os.File) error {
		place, err := s.config.Media.Pools().Fetches.Wait(ctx, 1)
		if err != nil {
			return err
		}
		defer place.Release()
		if err := session.Files().Download(ctx, message.Key(), message.Payload, file); err != nil {
			return err
		}
		if about, err := file.Stat(); err == nil { // else storing it fails too
			s.config.Watcher.Fetched(about.Size())
		}
		return nil
	})
}
