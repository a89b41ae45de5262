package media

import (
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

func TestDefaultName(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 11, 22, 10, 0, time.FixedZone("", -3*60*60))
	for _, test := range []struct {
		kind           gateway.MessageType
		mimeType, want string
	}{
		{gateway.TypeImage, "image/jpeg", "image-20261120-142210.jpg"},
		{gateway.TypeImage, "image/png", "image-20261120-142210.png"},
		{gateway.TypeVideo, "video/mp4", "video-20261120-142210.mp4"},
		{gateway.TypeVideo, "video/3gpp", "video-20261120-142210.3gp"},
		{gateway.TypeVoice, oggOpus, "voice-20261120-142210.ogg"},
		{gateway.TypeAudio, "audio/mpeg", "audio-20261120-142210.mp3"},
		{gateway.TypeAudio, "audio/mp4", "audio-20261120-142210.m4a"},
		{gateway.TypeSticker, "image/webp", "sticker-20261120-142210.webp"},
		{gateway.TypeDocument, "application/pdf", "document-20261120-142210.pdf"},
		{gateway.TypeDocument, "application/octet-stream", "document-20261120-142210.bin"},
		{gateway.TypeDocument, "made/up", "document-20261120-142210.bin"},
		{gateway.TypeDocument, "", "document-20261120-142210.bin"},
	} {
		if got := DefaultName(test.kind, test.mimeType, at); got != test.want {
			t.Errorf("%s of %q is called %s, want %s", test.kind, test.mimeType, got, test.want)
		}
	}
}
