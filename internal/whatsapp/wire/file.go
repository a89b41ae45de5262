package wire

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recado-project/recado/internal/gateway"
)

// File is the part of a message that points to a file.
type File interface {
	whatsmeow.DownloadableMessage
	GetMimetype() string
	GetFileLength() uint64
}

// FileOf returns the part of a message that points to a file, nil for none.
func FileOf(message *waE2E.Message) File {
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
	}
	if shown := offerOf(message); shown != nil && shown.head != nil {
		return FileOf(shown.head)
	}
	return nil
}

// SetDirectPath changes where the file of a message lies.
func SetDirectPath(message *waE2E.Message, path string) {
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
	default:
		if shown := offerOf(message); shown != nil && shown.head != nil {
			SetDirectPath(shown.head, path)
		}
	}
}

// setUpload writes where the file of a message lies, and reports whether the message has
// one.
func setUpload(message *waE2E.Message, up gateway.Upload) bool {
	switch {
	case message.ImageMessage != nil:
		m := message.ImageMessage
		m.URL, m.DirectPath, m.MediaKey, m.FileEncSHA256 = &up.URL, &up.DirectPath, up.Key, up.EncryptedSHA256
	case message.VideoMessage != nil:
		m := message.VideoMessage
		m.URL, m.DirectPath, m.MediaKey, m.FileEncSHA256 = &up.URL, &up.DirectPath, up.Key, up.EncryptedSHA256
	case message.PtvMessage != nil:
		m := message.PtvMessage
		m.URL, m.DirectPath, m.MediaKey, m.FileEncSHA256 = &up.URL, &up.DirectPath, up.Key, up.EncryptedSHA256
	case message.AudioMessage != nil:
		m := message.AudioMessage
		m.URL, m.DirectPath, m.MediaKey, m.FileEncSHA256 = &up.URL, &up.DirectPath, up.Key, up.EncryptedSHA256
	case message.DocumentMessage != nil:
		m := message.DocumentMessage
		m.URL, m.DirectPath, m.MediaKey, m.FileEncSHA256 = &up.URL, &up.DirectPath, up.Key, up.EncryptedSHA256
	case message.StickerMessage != nil:
		m := message.StickerMessage
		m.URL, m.DirectPath, m.MediaKey, m.FileEncSHA256 = &up.URL, &up.DirectPath, up.Key, up.EncryptedSHA256
	default:
		return false
	}
	return true
}

// The numbers of the fields that payloads have in the database alone. They have to last as long
// as the payload, whose message may be sent again after a crash. The platform has no place for
// them in a message, so it must not get them there.
const (
	handleField   protowire.Number = 60_001 // the handle of a file for a channel
	audienceField protowire.Number = 60_002 // whom a status post is shown to, with spaces between
)

// setHandle keeps the handle of a file with its message; "" drops it.
func setHandle(message *waE2E.Message, handle string) { setLocalField(message, handleField, handle) }

// setAudience keeps with a status post whom it is shown to.
func setAudience(message *waE2E.Message, people []gateway.JID) {
	addresses := make([]string, len(people))
	for n, who := range people {
		addresses[n] = string(who)
	}
	setLocalField(message, audienceField, strings.Join(addresses, " "))
}

// dropLocalFields drops what belongs to the message alone that it was given for.
func dropLocalFields(message *waE2E.Message) {
	setHandle(message, "")
	setAudience(message, nil)
}

// TakeHandle takes the handle of its file out of a message, which can be sent then; "" if it has
// none.
func TakeHandle(message *waE2E.Message) string { return takeLocalField(message, handleField) }

// TakeAudience takes out of a status post, which can be sent then, whom it is shown to; nil if
// that is everybody who may see it.
func TakeAudience(message *waE2E.Message) (people []gateway.JID) {
	for address := range strings.FieldsSeq(takeLocalField(message, audienceField)) {
		people = append(people, gateway.JID(address))
	}
	return people
}

func setLocalField(message *waE2E.Message, field protowire.Number, value string) {
	takeLocalField(message, field)
	if value == "" {
		return
	}
	unknown := protowire.AppendTag(slices.Clone(message.ProtoReflect().GetUnknown()), field, protowire.BytesType)
	message.ProtoReflect().SetUnknown(protowire.AppendString(unknown, value))
}

func takeLocalField(message *waE2E.Message, field protowire.Number) (value string) {
	all := message.ProtoReflect().GetUnknown()
	var others []byte
	for rest := []byte(all); len(rest) > 0; {
		number, kind, length := protowire.ConsumeField(rest)
		if length < 0 {
			return value // what was decoded is whole
		}
		if number != field || kind != protowire.BytesType {
			others = append(others, rest[:length]...)
		} else if _, _, tag := protowire.ConsumeTag(rest); tag > 0 {
			value, _ = protowire.ConsumeString(rest[tag:length])
		}
		rest = rest[length:]
	}
	if len(others) < len(all) {
		message.ProtoReflect().SetUnknown(others)
	}
	return value
}

func mediaOf(pointer File) gateway.Media {
	media := gateway.Media{
		MimeType: gateway.CleanMimeType(pointer.GetMimetype()),
		Size:     int64(min(pointer.GetFileLength(), math.MaxInt64)),
		SHA256:   pointer.GetFileSHA256(),
	}
	if named, ok := pointer.(interface{ GetFileName() string }); ok {
		media.FileName = gateway.CleanFileName(named.GetFileName())
	}
	if lasting, ok := pointer.(interface{ GetSeconds() uint32 }); ok {
		media.Length = time.Duration(lasting.GetSeconds()) * time.Second
	}
	if sized, ok := pointer.(interface {
		GetWidth() uint32
		GetHeight() uint32
	}); ok {
		media.Width, media.Height = int(sized.GetWidth()), int(sized.GetHeight())
	}
	if moving, ok := pointer.(interface{ GetIsAnimated() bool }); ok {
		media.Animated = moving.GetIsAnimated()
	}
	if playing, ok := pointer.(interface{ GetGifPlayback() bool }); ok {
		media.Animated = playing.GetGifPlayback()
	}
	return media
}
