package wire

import (
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/gateway"
)

// newMediaMessage makes a message that points to an uploaded file.
func newMediaMessage(content gateway.Content, about *waE2E.ContextInfo) *waE2E.Message {
	m := content.Media
	size := uint64(m.Size) //nolint:gosec // a size is not negative
	message := &waE2E.Message{}
	switch content.Type {
	case gateway.TypeImage:
		message.ImageMessage = &waE2E.ImageMessage{
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			Caption: optional(content.Text), Width: pixels(m.Width), Height: pixels(m.Height),
			JPEGThumbnail: m.Thumbnail, ViewOnce: flag(content.ViewOnce), ContextInfo: about,
		}
	case gateway.TypeVideo:
		message.VideoMessage = &waE2E.VideoMessage{
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			Caption: optional(content.Text), Width: pixels(m.Width), Height: pixels(m.Height), Seconds: seconds(m.Length),
			GifPlayback: flag(m.Animated), JPEGThumbnail: m.Thumbnail, ViewOnce: flag(content.ViewOnce), ContextInfo: about,
		}
	case gateway.TypeVoice, gateway.TypeAudio:
		message.AudioMessage = &waE2E.AudioMessage{
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			Seconds: seconds(m.Length), PTT: flag(content.Type == gateway.TypeVoice), Waveform: m.Waveform,
			ViewOnce: flag(content.ViewOnce), ContextInfo: about,
		}
	case gateway.TypeDocument:
		message.DocumentMessage = &waE2E.DocumentMessage{
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			FileName: &m.FileName, Title: &m.FileName, Caption: optional(content.Text),
			JPEGThumbnail: m.Thumbnail, ContextInfo: about,
		}
		if content.Text != "" {
			setUpload(message, m.Upload)
			// Clients show the caption of a document only in this wrapping.
			return &waE2E.Message{DocumentWithCaptionMessage: &waE2E.FutureProofMessage{Message: message}}
		}
	case gateway.TypeSticker:
		message.StickerMessage = &waE2E.StickerMessage{
			Mimetype: &m.MimeType, FileSHA256: m.SHA256, FileLength: &size,
			Width: pixels(m.Width), Height: pixels(m.Height), IsAnimated: flag(m.Animated), ContextInfo: about,
		}
	default: // newMessage asks for no other
	}
	if content.Note {
		message.PtvMessage, message.VideoMessage = message.VideoMessage, nil
	}
	setUpload(message, m.Upload)
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

// MediaType is the kind of media as which the platform stores the files of a message type.
func MediaType(kind gateway.MessageType) whatsmeow.MediaType {
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

// newAlbum is the frame of pictures and videos that phones show together: each of them names it.
func newAlbum(album gateway.Album, about *waE2E.ContextInfo) *waE2E.Message {
	return &waE2E.Message{AlbumMessage: &waE2E.AlbumMessage{
		ExpectedImageCount: new(uint32(album.Images)), ExpectedVideoCount: new(uint32(album.Videos)), ContextInfo: about, //nolint:gosec // 30 at most
	}}
}

// intoAlbum says which album a picture or a video belongs to.
func intoAlbum(message *waE2E.Message, album *gateway.AlbumRef) *waE2E.Message {
	if album == nil {
		return message
	}
	message.MessageContextInfo = &waE2E.MessageContextInfo{MessageAssociation: &waE2E.MessageAssociation{
		AssociationType:  waE2E.MessageAssociation_MEDIA_ALBUM.Enum(),
		ParentMessageKey: &waCommon.MessageKey{RemoteJID: new(string(album.Chat)), FromMe: new(true), ID: &album.PlatformID},
	}}
	return message
}
