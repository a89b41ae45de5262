package platform

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
)

// mediaFolder lies beside the database: in it the media host's files, and those
// that phones keep.
const mediaFolder = "sandbox-media"

// openMedia opens the folders.
func openMedia(database string) (*mediahost.Host, *files, error) {
	folder := filepath.Join(filepath.Dir(database), mediaFolder)
	host, err := mediahost.New(filepath.Join(folder, "host"))
	if err != nil {
		return nil, nil, fmt.Errorf("platform: %w", err)
	}
	kept, err := openFiles(filepath.Join(folder, "phones"))
	if err != nil {
		return nil, nil, errors.Join(err, host.Close())
	}
	return host, kept, nil
}

func (s *Server) closeMedia() error { return errors.Join(s.media.Close(), s.files.root.Close()) }

// mediaPart is the part of a message that points to a file.
type mediaPart interface {
	GetURL() string
	GetDirectPath() string
	GetMediaKey() []byte
	GetFileSHA256() []byte
	GetFileEncSHA256() []byte
	GetFileLength() uint64
	GetMimetype() string
	GetContextInfo() *waE2E.ContextInfo
}

// mediaOf returns the part of a message that points to a file, nil where it has
// none, and what kind of file the media crypto takes it for.
func mediaOf(m *waE2E.Message) (mediaPart, mediahost.Kind) {
	inner, _ := viewOnce(unwrap(m))
	switch {
	case inner.GetImageMessage() != nil:
		return inner.GetImageMessage(), mediahost.Image
	case inner.GetVideoMessage() != nil:
		return inner.GetVideoMessage(), mediahost.Video
	case inner.GetAudioMessage() != nil:
		return inner.GetAudioMessage(), mediahost.Audio
	case inner.GetDocumentMessage() != nil:
		return inner.GetDocumentMessage(), mediahost.Document
	case inner.GetStickerMessage() != nil:
		return inner.GetStickerMessage(), mediahost.Image
	default:
		return nil, ""
	}
}

// pointerOf is what the media host needs to find the file.
func pointerOf(part mediaPart) mediahost.Pointer {
	path := part.GetDirectPath()
	if path == "" {
		if location, err := url.Parse(part.GetURL()); err == nil {
			path = location.Path
		}
	}
	return mediahost.Pointer{
		URL: part.GetURL(), DirectPath: path, Key: part.GetMediaKey(), SHA256: part.GetFileSHA256(),
		EncryptedSHA256: part.GetFileEncSHA256(), Size: part.GetFileLength(),
	}
}

// savedFile is a file that a phone has fetched and decrypted. The zero value is
// none.
type savedFile struct {
	sha256 string
	size   int
}

// fetch gets the file of a message from the media host, as the phone's owner
// does who looks at it. A file that cannot be had is a message without one.
func (p *phone) fetch(ctx context.Context, message *waE2E.Message) (savedFile, error) {
	part, kind := mediaOf(message)
	if part == nil {
		return savedFile{}, nil
	}
	plain, err := p.s.media.Get(kind, pointerOf(part))
	if err != nil {
		p.s.logger.LogAttrs(ctx, slog.LevelWarn, "a phone could not fetch the file of a message", slog.Any("error", err))
		return savedFile{}, nil
	}
	if err := p.s.files.put(hex.EncodeToString(part.GetFileSHA256()), plain); err != nil {
		return savedFile{}, err
	}
	return savedFile{sha256: hex.EncodeToString(part.GetFileSHA256()), size: len(plain)}, nil
}

// ForgetMedia makes the media host forget the file of a message, as the platform
// does after a while; with everywhere, all phones that show the message as well.
func (s *Server) ForgetMedia(ctx context.Context, number, messageID string, everywhere bool) error {
	_, kept, err := s.shownMessage(ctx, number, messageID)
	if err != nil {
		return err
	}
	message, err := kept.message()
	if err != nil {
		return err
	}
	part, _ := mediaOf(message)
	if part == nil {
		return invalidf("", "the message has no file")
	}
	if err := s.media.Drop(pointerOf(part).DirectPath); err != nil {
		return fmt.Errorf("platform: %w", err)
	}
	if !everywhere {
		return nil
	}
	u := s.newUnit()
	u.exec("UPDATE messages SET media_forgotten = 1 WHERE id = $1", messageID)
	return u.commit(ctx)
}
