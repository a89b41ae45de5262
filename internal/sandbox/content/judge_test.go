package content

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// sample is a file that the media room is tested with.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.ReadFile("../../media/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A phone says of a message what its owner would see, and nothing of one that is right.
func TestProblems(t *testing.T) {
	t.Parallel()
	image := func(mimeType string, file []byte) (*waE2E.Message, []byte) {
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Mimetype: &mimeType, FileLength: new(uint64(len(file)))}}, file
	}
	video := func(mimeType string, seconds uint32, file []byte) (*waE2E.Message, []byte) {
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{Mimetype: &mimeType, Seconds: &seconds, FileLength: new(uint64(len(file)))}}, file
	}
	sound := func(voice bool, mimeType string, seconds uint32, file []byte) (*waE2E.Message, []byte) {
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{PTT: &voice, Mimetype: &mimeType, Seconds: &seconds, FileLength: new(uint64(len(file)))}}, file
	}
	sticker := func(mimeType string, file []byte) (*waE2E.Message, []byte) {
		return &waE2E.Message{StickerMessage: &waE2E.StickerMessage{Mimetype: &mimeType, FileLength: new(uint64(len(file)))}}, file
	}
	document := func(name string) (*waE2E.Message, []byte) {
		return &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{FileName: &name, FileLength: new(uint64(1))}}, []byte("a")
	}
	text := func(words string, mentions ...string) (*waE2E.Message, []byte) {
		return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: &words, ContextInfo: &waE2E.ContextInfo{MentionedJID: mentions}}}, nil
	}
	jpeg, gif, png := mediatest.JPEG(t, 40, 20, 0, binary.LittleEndian), mediatest.GIF(t, 8, 8), mediatest.PNG(t, 8, 8)
	clip, mp3, ogg := sample(t, "clip.mp4"), sample(t, "tone.mp3"), sample(t, "voice.ogg")
	shorter := func() (*waE2E.Message, []byte) {
		message, file := image("image/jpeg", jpeg)
		return message, file[:len(file)-1]
	}
	lost := func() (*waE2E.Message, []byte) {
		message, _ := image("image/jpeg", jpeg)
		return message, nil
	}
	type made = func() (*waE2E.Message, []byte)
	of := func(message *waE2E.Message, file []byte) made {
		return func() (*waE2E.Message, []byte) { return message, file }
	}
	large := append(sample(t, "animated.webp"), make([]byte, 500<<10)...)
	binary.LittleEndian.PutUint32(large[4:], uint32(len(large)-8))
	for name, c := range cases.Sorted(map[string]struct {
		made made
		want string // a part of the only problem; empty for none
	}{
		"a picture":                    {of(image("image/jpeg", jpeg)), ""},
		"a PNG":                        {of(image("image/png", png)), ""},
		"a picture that is a GIF":      {of(image("image/gif", gif)), "no JPEG or PNG"},
		"a picture of another type":    {of(image("image/png", jpeg)), `is "image/png", and it is image/jpeg`},
		"a file that is cut":           {shorter, "bytes, and it has"},
		"a file that is not there":     {lost, "not there"},
		"a video":                      {of(video("video/mp4", 1, clip)), ""},
		"a video that is WebM":         {of(video("video/webm", 1, sample(t, "clip.webm"))), "no MP4"},
		"a video of another length":    {of(video("video/mp4", 3600, clip)), "takes 3600 seconds"},
		"a video of sound alone":       {of(video("video/mp4", 1, sample(t, "sound.mp4"))), "no picture"},
		"a voice note":                 {of(sound(true, "audio/ogg; codecs=opus", 2, ogg)), ""},
		"a voice note that is MP3":     {of(sound(true, "audio/mpeg", 2, mp3)), "no OGG with Opus"},
		"a voice note without codec":   {of(sound(true, "audio/ogg", 2, ogg)), "codecs=opus"},
		"a voice note of an hour":      {of(sound(true, "audio/ogg; codecs=opus", 3602, ogg)), "takes 3602 seconds"},
		"audio":                        {of(sound(false, "audio/mpeg", 2, mp3)), ""},
		"audio in an MP4":              {of(sound(false, "audio/mp4", 2, sample(t, "tone.m4a"))), ""},
		"audio that is WAV":            {of(sound(false, "audio/wav", 2, mediatest.WAV(2*time.Second))), "no MP3, AAC"},
		"audio with a picture":         {of(sound(false, "audio/mp4", 2, clip)), "an MP4 with"},
		"a sticker":                    {of(sticker("image/webp", sample(t, "sticker.webp"))), ""},
		"a sticker that moves":         {of(sticker("image/webp", sample(t, "animated.webp"))), ""},
		"a sticker that is too large":  {of(sticker("image/webp", large)), "first picture alone"},
		"a sticker that is a PNG":      {of(sticker("image/webp", png)), "no WebP"},
		"a document":                   {of(document("nota.pdf")), ""},
		"a document without extension": {of(document("nota")), "without an extension"},
		"a mention":                    {of(text("Hello @77", "77@lid")), ""},
		"a mention of nobody":          {of(text("Hello @5511988887766", "77@lid")), "@77 is nowhere in the text"},
	}) {
		message, file := c.made()
		got := Problems(message, file)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q, want one about %q", name, got, c.want)
		}
	}
}

// Whatever a file holds, it is judged.
func FuzzProblems(f *testing.F) {
	for _, name := range []string{"clip.mp4", "voice.ogg", "tone.mp3", "animated.webp"} {
		file, err := os.ReadFile("../../media/testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file[:min(len(file), 4096)])
	}
	f.Fuzz(func(_ *testing.T, file []byte) {
		for _, message := range []*waE2E.Message{
			{VideoMessage: &waE2E.VideoMessage{}}, {AudioMessage: &waE2E.AudioMessage{}}, {StickerMessage: &waE2E.StickerMessage{}}, {ImageMessage: &waE2E.ImageMessage{}},
		} {
			Problems(message, file)
		}
	})
}
