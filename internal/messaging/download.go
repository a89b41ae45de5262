package messaging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

// Link is a temporary way to the file of a message (contract, "Media download
// link").
type Link struct {
	URL       string
	ExpiresIn int // seconds
	FileName  string
}

// MediaLink returns a link to the file of a message. base is the address under
// which the client reaches this program. The file is fetched from the platform
// the first time, and kept; only then the instance has to be connected. Its
// error is NotFound, or Invalid for a message without a file.
func (s *Service) MediaLink(ctx context.Context, instanceID string, ref gateway.MessageRef, base string) (Link, error) {
	message, err := s.Find(ctx, instanceID, ref)
	if err != nil {
		return Link{}, err
	}
	about, found, err := s.Encoder.MediaOf(message.Payload)
	if err != nil {
		return Link{}, fmt.Errorf("messaging: read message: %w", err)
	}
	if !found {
		return Link{}, gateway.Errorf(gateway.Invalid, gateway.CodeMessageHasNoMedia,
			"the message has no file; its type is %s", message.Type)
	}
	name := about.FileName
	if name == "" {
		name = media.DefaultName(message.Type, about.MimeType, message.SentAt)
	}
	key := instanceID + "/" + message.ID
	_, err = s.Blobs.Stat(ctx, key)
	if gateway.KindOf(err) == gateway.NotFound {
		err = s.fetch(ctx, message, key, media.BlobMeta{MimeType: about.MimeType, FileName: name, Size: -1})
	}
	if err != nil {
		return Link{}, err
	}
	return Link{
		URL:       s.Links.URL(base, key, name, s.LinkLifetime),
		ExpiresIn: int(s.LinkLifetime / time.Second),
		FileName:  name,
	}, nil
}

// fetch brings a file from the platform into the blob store, through a temporary
// file: it is decrypted in place and never held whole in memory.
func (s *Service) fetch(ctx context.Context, message gateway.Message, key string, meta media.BlobMeta) (err error) {
	session, err := s.Sessions.Session(ctx, message.InstanceID)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "recado-download-*")
	if err != nil {
		return fmt.Errorf("messaging: fetch media: %w", err)
	}
	defer func() {
		err = errors.Join(err, file.Close(), os.Remove(file.Name()))
	}()
	if err := session.Download(ctx, message.Key(), message.Payload, file); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("messaging: fetch media: %w", err)
	}
	return s.Blobs.Put(ctx, key, file, meta)
}
