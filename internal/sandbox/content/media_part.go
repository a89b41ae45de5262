package content

import (
	"net/url"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
)

// MediaPart is the part of a message that points to a file. It has the eight getters
// that the messages' own types share.
type MediaPart interface {
	GetURL() string
	GetDirectPath() string
	GetMediaKey() []byte
	GetFileSHA256() []byte
	GetFileEncSHA256() []byte
	GetFileLength() uint64
	GetMimetype() string
	GetContextInfo() *waE2E.ContextInfo
}

// MediaOf returns the part of a message that points to a file, or nil if it has
// none, and the kind of file that its encryption depends on.
func MediaOf(m *waE2E.Message) (MediaPart, mediahost.Kind) {
	inner, _ := ViewOnce(Unwrap(m))
	switch {
	case inner.GetImageMessage() != nil:
		return inner.GetImageMessage(), mediahost.Image
	case inner.GetVideoMessage() != nil:
		return inner.GetVideoMessage(), mediahost.Video
	case inner.GetPtvMessage() != nil:
		return inner.GetPtvMessage(), mediahost.Video
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

// PointerOf returns what the media host needs to find the file.
func PointerOf(part MediaPart) mediahost.Pointer {
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
