package content

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // the pictures that phones send
	_ "image/jpeg" // are of these
	_ "image/png"  // three formats
	"math"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// composeMedia puts the file on the media host and builds a message that points to
// it.
func composeMedia(m Outgoing, reply *waE2E.ContextInfo, put PutFile) (*waE2E.Message, error) {
	if len(m.Media) == 0 {
		return nil, refusal.Invalidf("media", "is required")
	}
	message, kind := mediaTemplate(m, reply)
	// The pointer has no host: clients may reach the media host under another name
	// than the caller does.
	pointer, err := put("", kind, m.Media)
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	point(message, pointer)
	if m.VideoNote && message.VideoMessage != nil {
		message.PtvMessage, message.VideoMessage = message.VideoMessage, nil
	}
	if m.Type == "document" && m.Caption != "" {
		message = &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: message}}
	}
	if !m.ViewOnce {
		return message, nil
	}
	once := &waE2E.FutureProofMessage{Message: message}
	if m.Type == "voice" {
		return &waE2E.Message{ViewOnceMessageV2Extension: once}, nil
	}
	return &waE2E.Message{ViewOnceMessageV2: once}, nil
}

// mediaTemplate builds a message that lacks only the place of its file.
func mediaTemplate(m Outgoing, reply *waE2E.ContextInfo) (*waE2E.Message, mediahost.Kind) {
	size, once := new(uint64(len(m.Media))), optionalFlag(m.ViewOnce)
	width, height := dimensions(m.Media)
	switch m.Type {
	case "image":
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{
			Mimetype: &m.MimeType, FileLength: size, Caption: optional(m.Caption), ViewOnce: once,
			Width: width, Height: height, ContextInfo: reply,
		}}, mediahost.Image
	case "sticker":
		return &waE2E.Message{StickerMessage: &waE2E.StickerMessage{
			Mimetype: &m.MimeType, FileLength: size, Width: width, Height: height, IsAnimated: optionalFlag(isAnimated(m.Media)), ContextInfo: reply,
		}}, mediahost.Image
	case "video":
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{
			Mimetype: &m.MimeType, FileLength: size, Caption: optional(m.Caption), ViewOnce: once, ContextInfo: reply,
		}}, mediahost.Video
	case "voice", "audio":
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{
			Mimetype: &m.MimeType, FileLength: size, PTT: new(m.Type == "voice"), ViewOnce: once, ContextInfo: reply,
		}}, mediahost.Audio
	default:
		return &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{
			Mimetype: &m.MimeType, FileLength: size, Caption: optional(m.Caption),
			FileName: optional(m.FileName), Title: optional(m.FileName), ContextInfo: reply,
		}}, mediahost.Document
	}
}

// point sets the place of a message's file.
func point(message *waE2E.Message, to mediahost.Pointer) {
	switch {
	case message.ImageMessage != nil:
		v := message.ImageMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	case message.StickerMessage != nil:
		v := message.StickerMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	case message.VideoMessage != nil:
		v := message.VideoMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	case message.AudioMessage != nil:
		v := message.AudioMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	case message.DocumentMessage != nil:
		v := message.DocumentMessage
		v.DirectPath, v.MediaKey, v.FileSHA256, v.FileEncSHA256 = &to.DirectPath, to.Key, to.SHA256, to.EncryptedSHA256
	}
}

// isAnimated reports whether a file is a WebP that moves: its extended header says so.
func isAnimated(file []byte) bool {
	const flags, animation = 20, 0x02
	return len(file) > flags && string(file[8:16]) == "WEBPVP8X" && file[flags]&animation != 0
}

// dimensions returns the size of a picture in pixels, or nil for any other file.
func dimensions(file []byte) (width, height *uint32) {
	config, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || config.Width <= 0 || config.Height <= 0 || config.Width > math.MaxInt32 || config.Height > math.MaxInt32 {
		return nil, nil
	}
	return new(uint32(config.Width)), new(uint32(config.Height))
}
