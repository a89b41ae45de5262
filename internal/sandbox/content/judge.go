// What is wrong with a message that a phone has received: what its owner would notice, and the sender
// is never told.

package content

import (
	"bytes"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/recado-project/recado/internal/media/probe"
)

// What phones play of an animated sticker.
const (
	maxMovingBytes   = 500 << 10
	maxMovingSeconds = 10
)

// Problems judges a message as a phone shows it, with its file; nil if the message has none, or it
// could not be fetched. People see what this finds as a file that does not open, a name that is a
// number, or a card that can't be written to.
func Problems(m *waE2E.Message, file []byte) []string {
	var shown Shown
	inner := Unwrap(m)
	Describe(inner, &shown)
	problems := unmentioned(shown)
	part, _ := MediaOf(inner)
	if part == nil {
		return problems
	}
	if file == nil {
		return append(problems, "the file is not there")
	}
	if size := part.GetFileLength(); size != uint64(len(file)) {
		problems = append(problems, fmt.Sprintf("the message says that the file has %d bytes, and it has %d", size, len(file)))
	}
	switch shown.Type {
	case "image":
		problems = append(problems, judgePicture(part, file)...)
	case "video":
		problems = append(problems, judgeVideo(part, file)...)
	case "audio", "voice":
		problems = append(problems, judgeSound(shown.Type, part, file)...)
	case "sticker":
		problems = append(problems, judgeSticker(part, file)...)
	case "document":
		if name := part.(interface{ GetFileName() string }).GetFileName(); path.Ext(name) == "" {
			problems = append(problems, fmt.Sprintf("the file is called %q: without an extension phones do not know what opens it", name))
		}
	}
	return problems
}

// unmentioned finds mentions that name nobody: their number is nowhere in the text.
func unmentioned(shown Shown) (problems []string) {
	for _, who := range shown.Mentions {
		user, _, _ := strings.Cut(who, "@")
		if !strings.Contains(shown.Text+shown.Caption, "@"+user) {
			problems = append(problems, fmt.Sprintf("%s is mentioned, and @%s is nowhere in the text", who, user))
		}
	}
	return problems
}

func judgePicture(part MediaPart, file []byte) []string {
	var kind string
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xd8\xff")):
		kind = "image/jpeg"
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		kind = "image/png"
	default:
		return []string{"the picture is no JPEG or PNG, and not all phones show it"}
	}
	return declared(part, kind)
}

// declared finds a type that the content has not.
func declared(part MediaPart, kinds ...string) []string {
	base, _, _ := strings.Cut(part.GetMimetype(), ";")
	if !slices.Contains(kinds, base) {
		return []string{fmt.Sprintf("the message says that the file is %q, and it is %s", part.GetMimetype(), kinds[0])}
	}
	return nil
}

func judgeVideo(part MediaPart, file []byte) []string {
	const brand = 8 // of an MP4 file: after the size of its first box, and "ftyp"
	if len(file) < brand+4 || string(file[4:brand]) != "ftyp" || string(file[brand:brand+4]) == "qt  " {
		return []string{"the video is no MP4, and not all phones play it"}
	}
	problems := declared(part, "video/mp4", "video/3gpp")
	found, err := probe.ReadTracks(bytes.NewReader(file), "video/mp4")
	if err != nil || !found.Video && found.Audio {
		return append(problems, "there is no picture in the video")
	}
	if found.VideoCodec != "" && found.VideoCodec != "h264" {
		problems = append(problems, "the picture of the video is "+found.VideoCodec+", and not all phones play it")
	}
	if !slices.Contains([]string{"", "aac", "mp3", "amr_nb"}, found.AudioCodec) {
		problems = append(problems, "the sound of the video is "+found.AudioCodec+", and not all phones play it")
	}
	return append(problems, length(part, found)...)
}

func judgeSound(kind string, part MediaPart, file []byte) []string {
	switch {
	case bytes.HasPrefix(file, []byte("OggS")):
		found, err := probe.ReadTracks(bytes.NewReader(file), "audio/ogg")
		if err != nil || found.AudioCodec != "opus" || found.Video {
			return []string{"the sound is an OGG without Opus, and phones do not play it"}
		}
		problems := length(part, found)
		if part.GetMimetype() != "audio/ogg; codecs=opus" {
			problems = append(problems, fmt.Sprintf("the message says that the sound is %q, and not audio/ogg; codecs=opus", part.GetMimetype()))
		}
		return problems
	case kind == "voice":
		return []string{"the voice note is no OGG with Opus, and phones do not play it"}
	case bytes.HasPrefix(file, []byte("ID3")), len(file) > 1 && file[0] == 0xff && file[1]&0xe6 == 0xe2:
		return declared(part, "audio/mpeg")
	case len(file) > 1 && file[0] == 0xff && file[1]&0xf6 == 0xf0:
		return declared(part, "audio/aac")
	case bytes.HasPrefix(file, []byte("#!AMR")):
		return declared(part, "audio/amr")
	case len(file) > 8 && string(file[4:8]) == "ftyp":
		found, err := probe.ReadTracks(bytes.NewReader(file), "audio/mp4")
		if err != nil || found.Video || !slices.Contains([]string{"", "aac", "mp3", "amr_nb"}, found.AudioCodec) {
			return []string{"the sound is an MP4 with " + found.AudioCodec + ", and not all phones play it"}
		}
		return append(declared(part, "audio/mp4"), length(part, found)...)
	default:
		return []string{"the sound is no MP3, AAC, AMR, M4A or OGG with Opus, and not all phones play it"}
	}
}

// length finds a length that is not that of the file.
func length(part MediaPart, found probe.Tracks) []string {
	said := float64(part.(interface{ GetSeconds() uint32 }).GetSeconds())
	if is := found.Duration.Seconds(); is > 0 && math.Abs(is-said) > 2 {
		return []string{fmt.Sprintf("the message says that it takes %.0f seconds, and it takes %.0f", said, is)}
	}
	return nil
}

func judgeSticker(part MediaPart, file []byte) []string {
	found, err := probe.ReadWebP(bytes.NewReader(file))
	if err != nil {
		return []string{"the sticker is no WebP, and phones do not show it"}
	}
	problems := declared(part, "image/webp")
	if found.Animated && len(file) > maxMovingBytes {
		problems = append(problems, fmt.Sprintf("the sticker has %d bytes: phones show its first picture alone", len(file)))
	}
	if found.Animated && found.Duration.Seconds() > maxMovingSeconds {
		problems = append(problems, fmt.Sprintf("the sticker takes %s: phones show its first picture alone", found.Duration))
	}
	return problems
}
