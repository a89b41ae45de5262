package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/media/probe"
)

// made has ffmpeg make a file of two seconds, of a test picture and a tone.
func made(t *testing.T, extension string, options ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made."+extension)
	args := []string{
		"-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=duration=2:size=160x120:rate=10",
		"-f", "lavfi", "-i", "sine=frequency=440:duration=2",
	}
	if said, err := exec.CommandContext(t.Context(), "ffmpeg", append(append(args, options...), path)...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, said)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// asItIs says that the content is not changed.
const asItIs = "as it is"

// What is sent can be opened: for each kind of message, and each container and codec, a file is sent
// as it is, converted, or refused with a sentence that says what to do; with ffmpeg and without.
func TestPhonesCanOpenWhatIsSent(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	with, without := start(t, Config{}), start(t, Config{FFmpeg: NoFFmpeg})
	video := func(codec string, more ...string) []string { return append([]string{"-an", "-c:v", codec}, more...) }
	sound := func(codec string, more ...string) []string {
		return append([]string{"-vn", "-c:a", codec, "-strict", "-2"}, more...)
	}
	both := func(video, sound string, more ...string) []string {
		return append([]string{"-c:v", video, "-c:a", sound, "-strict", "-2", "-pix_fmt", "yuv420p"}, more...)
	}
	const (
		picture, clip, voice, audio, document, sticker = gateway.TypeImage, gateway.TypeVideo, gateway.TypeVoice, gateway.TypeAudio, gateway.TypeDocument, gateway.TypeSticker

		noVideo = "send an MP4 with H.264 and AAC, or send it as a document, or install ffmpeg"
		noGIF   = "send an MP4 with H.264, or send it as a document, or install ffmpeg"
		noVoice = "as a voice note: send an OGG with Opus, or send it as an audio file, or install ffmpeg"
		noAudio = "send an MP3, M4A or AAC, or an OGG with Opus, or send it as a document, or install ffmpeg"
	)
	// A file that waits two seconds for its thumbnail's turn goes out without, and the tests of one
	// account take turns: so there is one at a time.
	var turn sync.Mutex
	// An outcome is asItIs, the media type of what it is converted to, or a part of the refusal.
	for _, test := range []struct {
		name          string
		kind          gateway.MessageType
		content       []byte
		with, without string
	}{
		{"JPEG", picture, mediatest.JPEG(t, 400, 200, 0, binary.LittleEndian), asItIs, asItIs},
		{"PNG", picture, mediatest.PNG(t, 40, 20), asItIs, asItIs},
		{"WebP", picture, sample(t, "sticker.webp"), "image/jpeg", "image/jpeg"},
		{"GIF with a hole", picture, holedGIF(t, 1), "image/png", "image/png"},
		{"animated GIF with a hole", picture, holedGIF(t, 20), mp4Video, "image/png"},
		{"animated WebP", picture, sample(t, "animated.webp"), "send a JPEG, a PNG, or a video", "send a JPEG, a PNG, or a video"},
		{"still GIF", picture, mediatest.GIF(t, 64, 64), "image/jpeg", "image/jpeg"},
		{"animated GIF", picture, made(t, "gif", "-an"), mp4Video, "image/jpeg"},
		{"HEIC", picture, []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), "JPEG, PNG, WebP or GIF", "JPEG, PNG, WebP or GIF"},

		{"animated GIF", clip, made(t, "gif", "-an"), mp4Video, noGIF},
		{"MP4", clip, made(t, "mp4", both("libx264", "aac")...), asItIs, asItIs},
		{"silent MP4", clip, sample(t, "clip.mp4"), asItIs, asItIs},
		{"MP4 of ten bits", clip, made(t, "mp4", video("libx264", "-pix_fmt", "yuv420p10le")...), mp4Video, "h264 of profile 110"},
		{"MP4 with HEVC", clip, made(t, "mp4", video("libx265")...), mp4Video, "video/mp4 with hevc, which not all phones play: " + noVideo},
		{"MP4 with VP9 and Opus", clip, made(t, "mp4", both("libvpx-vp9", "libopus")...), mp4Video, "with vp9 and opus"},
		{"MP4 with AV1", clip, made(t, "mp4", video("libaom-av1", "-cpu-used", "8")...), mp4Video, "with av1"},
		{"MP4 with MPEG-4", clip, made(t, "mp4", both("mpeg4", "aac")...), mp4Video, "with mpeg4 and aac"},
		{"MP4 with AC-3", clip, made(t, "mp4", both("libx264", "ac3")...), mp4Video, "with h264 and ac3"},
		{"3GP", clip, made(t, "3gp", both("libx264", "aac")...), asItIs, asItIs},
		{"QuickTime", clip, made(t, "mov", both("libx264", "aac")...), mp4Video, "video/quicktime with h264 and aac"},
		{"Matroska", clip, made(t, "mkv", both("libx264", "aac")...), mp4Video, noVideo},
		{"Matroska with VP8 and Vorbis", clip, made(t, "mkv", both("libvpx", "libvorbis")...), mp4Video, noVideo},
		{"WebM", clip, made(t, "webm", both("libvpx-vp9", "libopus")...), mp4Video, "is video/webm"},
		{"transport stream", clip, made(t, "ts", both("libx264", "aac")...), mp4Video, "is video/mp2t"},
		{"AVI", clip, made(t, "avi", both("mpeg4", "libmp3lame")...), mp4Video, "is video/x-msvideo"},
		{"FLV", clip, made(t, "flv", both("flv", "aac")...), mp4Video, "is video/x-flv"},
		{"MPEG", clip, made(t, "mpg", both("mpeg1video", "mp2", "-r", "25")...), mp4Video, "is video/mpeg"},
		{"WMV", clip, made(t, "wmv", both("wmv2", "wmav2")...), mp4Video, "is video/x-ms-"},
		{"only sound", clip, made(t, "mp4", sound("aac")...), "must hold a video", "must hold a video"},

		{"OGG with Opus", voice, sample(t, "voice.ogg"), asItIs, asItIs},
		{"OGG with Vorbis", voice, made(t, "ogg", sound("libvorbis")...), oggOpus, "audio/ogg with vorbis"},
		{"OGG with FLAC", voice, made(t, "ogg", sound("flac")...), oggOpus, "audio/ogg with flac"},
		{"MP3", voice, sample(t, "tone.mp3"), oggOpus, noVoice},
		{"M4A", voice, sample(t, "tone.m4a"), oggOpus, "audio/mp4 with aac"},
		{"WAV", voice, mediatest.WAV(2 * time.Second), oggOpus, noVoice},
		{"FLAC", voice, made(t, "flac", sound("flac")...), oggOpus, noVoice},
		{"WebM of a browser", voice, sample(t, "tone.webm"), oggOpus, noVoice},
		{"AMR", voice, amr(), oggOpus, noVoice},
		{"video", voice, sample(t, "clip.mp4"), "must hold audio", "must hold audio"},

		{"MP3", audio, sample(t, "tone.mp3"), asItIs, asItIs},
		{"MPEG of the second layer", audio, made(t, "mp2", sound("mp2")...), mp4Audio, "audio/mpeg with mp2"},
		{"OGG with Speex", audio, made(t, "spx", sound("libspeex")...), mp4Audio, "audio/ogg with speex"},
		{"CAF", audio, made(t, "caf", sound("pcm_s16le")...), mp4Audio, "audio/x-caf"},
		{"AC-3", audio, made(t, "ac3", sound("ac3")...), mp4Audio, "audio/ac3"},
		{"Matroska of sound", audio, made(t, "mka", sound("libopus")...), mp4Audio, noAudio},
		{"M4A", audio, sample(t, "tone.m4a"), asItIs, asItIs},
		{"MP4 of sound", audio, sample(t, "sound.mp4"), asItIs, asItIs},
		{"AAC", audio, made(t, "aac", sound("aac")...), asItIs, asItIs},
		{"AMR", audio, amr(), asItIs, asItIs},
		{"OGG with Opus", audio, sample(t, "voice.ogg"), asItIs, asItIs},
		{"OGG with Vorbis", audio, made(t, "ogg", sound("libvorbis")...), mp4Audio, "audio/ogg with vorbis"},
		{"OGG with FLAC", audio, made(t, "ogg", sound("flac")...), mp4Audio, "audio/ogg with flac"},
		{"M4A with ALAC", audio, made(t, "m4a", sound("alac")...), mp4Audio, "audio/mp4 with alac"},
		{"FLAC", audio, made(t, "flac", sound("flac")...), mp4Audio, noAudio},
		{"WAV", audio, mediatest.WAV(2 * time.Second), mp4Audio, noAudio},
		{"WMA", audio, made(t, "wma", sound("wmav2")...), mp4Audio, noAudio},
		{"AIFF", audio, made(t, "aiff", sound("pcm_s16be")...), mp4Audio, noAudio},
		{"WebM of sound", audio, sample(t, "tone.webm"), mp4Audio, noAudio},

		{"anything", document, made(t, "mkv", both("libx264", "aac")...), asItIs, asItIs},

		{"WebP", sticker, sample(t, "sticker.webp"), asItIs, asItIs},
		{"animated WebP", sticker, sample(t, "animated.webp"), asItIs, asItIs},
		{"animated WebP of many bytes", sticker, bytes.Join([][]byte{sample(t, "animated.webp"), make([]byte, maxMovingBytes)}, nil), "phones play at most 512000", "phones play at most 512000"},
		{"animated WebP of many seconds", sticker, slowly(t, sample(t, "animated.webp")), "phones play at most 10s", "phones play at most 10s"},
		{"PNG", sticker, mediatest.PNG(t, 40, 20), "must hold a WebP picture", "must hold a WebP picture"},
	} {
		t.Run(string(test.kind)+" of "+test.name, func(t *testing.T) {
			t.Parallel()
			turn.Lock()
			defer turn.Unlock()
			for _, service := range []*Service{with, without} {
				want := test.with
				if service == without {
					want = test.without
				}
				declared := ""
				if test.kind == audio || test.kind == voice {
					declared = "audio/x-of-a-browser" // only WebM of sound depends on it, without ffprobe
				}
				file, err := service.Open(t.Context(), test.kind, dataURI(declared, test.content), Hints{Field: "file"})
				if err != nil {
					if failure := wantCode(t, err, gateway.Invalid, gateway.CodeValidation); !strings.Contains(failure.Message, want) {
						t.Errorf("refused with %q, want %q", failure.Message, want)
					}
					continue
				}
				wantOpened(t, file, test.kind, test.content, want)
				if err := file.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// wantOpened checks a file that was taken, by what its content says itself.
func wantOpened(t *testing.T, file *File, kind gateway.MessageType, original []byte, want string) {
	t.Helper()
	content := contentOf(t, file)
	if unchanged := content == string(original); unchanged != (want == asItIs) || !unchanged && file.MimeType != want {
		t.Errorf("it is %s, and unchanged: %v; want %s", file.MimeType, unchanged, want)
		return
	}
	base, _, _ := strings.Cut(file.MimeType, ";")
	found, err := probe.ReadTracks(strings.NewReader(content), base)
	if err != nil {
		t.Fatal(err)
	}
	if !plays(file.Kind, base, found) {
		t.Errorf("phones do not play %s with %+v", base, found)
	}
	switch {
	case want == mp4Video:
		if found.VideoCodec != codecH264 || file.Seconds != 2 || file.Width != 160 || file.Height != 120 || len(file.Thumbnail) == 0 {
			t.Errorf("%+v in %+v", found, file)
		}
		if isGIF := kind == gateway.TypeImage || bytes.HasPrefix(original, []byte("GIF")); file.Animated != isGIF || file.Kind != gateway.TypeVideo {
			t.Errorf("it plays without end: %v; it is a %s", file.Animated, file.Kind)
		}
	case want != asItIs && (kind == gateway.TypeVoice || kind == gateway.TypeAudio):
		if file.Seconds != 2 {
			t.Errorf("it takes %d s", file.Seconds)
		}
	}
}

// What is not measured with ffmpeg is measured here.
func TestAudioAndVideoAreMeasured(t *testing.T) {
	t.Parallel()
	service := start(t, Config{FFmpeg: NoFFmpeg})
	type outcome struct {
		mimeType               string
		seconds, width, height int
	}
	for _, test := range []struct {
		name     string
		kind     gateway.MessageType
		declared string
		want     outcome
	}{
		{"voice.ogg", gateway.TypeVoice, "", outcome{oggOpus, 2, 0, 0}},
		{"tone.mp3", gateway.TypeAudio, "", outcome{"audio/mpeg", 0, 0, 0}},
		{"tone.m4a", gateway.TypeAudio, "", outcome{mp4Audio, 2, 0, 0}},
		{"sound.mp4", gateway.TypeAudio, "", outcome{mp4Audio, 2, 0, 0}},
		{"voice.ogg", gateway.TypeAudio, "", outcome{oggOpus, 2, 0, 0}},
		{"tone.mp3", gateway.TypeAudio, "Audio/MPEG; codecs=mp3; x=y", outcome{"audio/mpeg; codecs=mp3", 0, 0, 0}},
		{"tone.mp3", gateway.TypeAudio, "audio/wav; codecs=1", outcome{"audio/mpeg", 0, 0, 0}},
		{"clip.mp4", gateway.TypeVideo, "", outcome{mp4Video, 2, 160, 120}},
		{"turned.mp4", gateway.TypeVideo, "", outcome{mp4Video, 2, 120, 160}},
	} {
		file := opened(t, service, test.kind, dataURI(test.declared, sample(t, test.name)), Hints{})
		if got := (outcome{file.MimeType, file.Seconds, file.Width, file.Height}); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
		if (len(file.Waveform) == waveformLength) != (test.kind == gateway.TypeVoice) {
			t.Errorf("%s: the waveform has %d values", test.name, len(file.Waveform))
		}
	}
}

// What becomes too large by being converted is refused, and not cut off.
func TestConversionsKeepTheLimit(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{MaxBytes: 6_000})
	_, err := service.Open(t.Context(), gateway.TypeAudio, dataURI("", sample(t, "tone.webm")), Hints{Field: "audio"})
	if err != nil {
		wantCode(t, err, gateway.TooLarge, gateway.CodePayloadTooLarge)
	} else {
		t.Error("it was taken")
	}
}

// amr is two seconds of silence as telephones record it.
func amr() []byte {
	return append([]byte("#!AMR\n"), bytes.Repeat(append([]byte{0x3c}, make([]byte, 31)...), 100)...)
}

// holedGIF is a GIF of so many pictures, a tenth of a second each, of which a half is transparent.
func holedGIF(t *testing.T, pictures int) []byte {
	t.Helper()
	var file gif.GIF
	for range pictures {
		one := image.NewPaletted(image.Rect(0, 0, 160, 120), color.Palette{color.Transparent, color.RGBA{R: 255, A: 255}})
		for n := range len(one.Pix) / 2 {
			one.Pix[n] = 1
		}
		file.Image, file.Delay = append(file.Image, one), append(file.Delay, 10)
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, &file); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// slowly makes every picture of an animated WebP stay for a minute.
func slowly(t *testing.T, file []byte) []byte {
	t.Helper()
	file = bytes.Clone(file)
	for at := 0; ; {
		next := bytes.Index(file[at:], []byte("ANMF"))
		if next < 0 {
			return file
		}
		at += next + 8
		copy(file[at+12:], []byte{0x60, 0xea, 0})
	}
}
