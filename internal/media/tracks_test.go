package media

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// wav makes a tone that is loud in its second half only.
func wav(length time.Duration) []byte {
	const rate = 8000
	samples := int(length.Seconds() * rate)
	out := []byte("RIFF")
	out = binary.LittleEndian.AppendUint32(out, uint32(36+2*samples))
	out = append(out, "WAVEfmt "...)
	out = binary.LittleEndian.AppendUint32(out, 16)
	for _, field := range []any{uint16(1), uint16(1), uint32(rate), uint32(2 * rate), uint16(2), uint16(16)} {
		out, _ = binary.Append(out, binary.LittleEndian, field)
	}
	out = append(out, "data"...)
	out = binary.LittleEndian.AppendUint32(out, uint32(2*samples))
	for i := range samples {
		loud := int16(1000)
		if i >= samples/2 {
			loud = 20000
		}
		if i/8%2 == 1 {
			loud = -loud
		}
		out = binary.LittleEndian.AppendUint16(out, uint16(loud))
	}
	return out
}

func TestTracks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		parse   func(io.ReadSeeker) (tracks, error)
		content []byte
		want    tracks
	}{
		{"ogg", parseOgg, sample(t, "voice.ogg"), tracks{audio: true, opus: true, duration: 2 * time.Second}},
		{"ogg of two parts", parseOgg, slices.Concat(sample(t, "voice.ogg"), sample(t, "voice.ogg")), tracks{audio: true, opus: true, duration: 4 * time.Second}},
		{"ogg that breaks off", parseOgg, sample(t, "voice.ogg")[:100], tracks{audio: true, opus: true}},
		{"wav", parseWAV, wav(3 * time.Second), tracks{audio: true, duration: 3 * time.Second}},
		{"wav that breaks off", parseWAV, wav(3 * time.Second)[:30], tracks{audio: true}},
		{"mp4", parseMP4, sample(t, "clip.mp4"), tracks{video: true, duration: 2 * time.Second, width: 160, height: 120}},
		{"mp4 that is turned", parseMP4, sample(t, "turned.mp4"), tracks{video: true, duration: 2 * time.Second, width: 120, height: 160}},
		{"mp4 of sound", parseMP4, sample(t, "sound.mp4"), tracks{audio: true, duration: 2 * time.Second}},
		{"mp4 that breaks off", parseMP4, sample(t, "clip.mp4")[:200], tracks{}},
		{"mp4 with numbers of 64 bits", parseMP4, longMP4(), tracks{audio: true, video: true, duration: 5000 * time.Second, width: 640, height: 360}},
		{"mp4 of unknown length", parseMP4, box("moov", box("mvhd", make([]byte, 12), []byte{0, 0, 3, 232, 255, 255, 255, 255})), tracks{}},
		{"mp4 without a scale", parseMP4, box("moov", box("mvhd", make([]byte, 16), []byte{0, 0, 0, 1})), tracks{}},
		{"mp4 that nests for ever", parseMP4, nested(1000), tracks{}},
		{"ogg with vorbis", parseOgg, slices.Concat(
			oggPageOf(1, oggFirstPage, 0, "\x01vorbis\x00\x00\x00\x00\x02\x44\xac\x00\x00"), oggPageOf(1, 0, 3*44100, "sound"),
		), tracks{audio: true, duration: 3 * time.Second}},
		{"ogg with a picture", parseOgg, slices.Concat(
			oggPageOf(1, oggFirstPage, 0, "\x80theora"), oggPageOf(2, oggFirstPage, 0, "OpusHead\x01\x01\x38\x01"), oggPageOf(2, 0, 48312, "sound"),
		), tracks{audio: true, video: true, duration: time.Second}},
		{"mp4 without an end", parseMP4, []byte("\x00\x00\x00\x00moov"), tracks{}},
		{"mp4 that is too large", parseMP4, []byte("\x00\x00\x00\x01moov\xff\xff\xff\xff\xff\xff\xff\xff"), tracks{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := test.parse(bytes.NewReader(test.content))
			if err != nil {
				t.Fatal(err)
			}
			got.duration = got.duration.Round(50 * time.Millisecond)
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// box makes a box of an MP4 file.
func box(kind string, content ...[]byte) []byte {
	body := slices.Concat(content...)
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), []byte(kind), body)
}

// longMP4 has its lengths and sizes in 64 bits wherever that is possible.
func longMP4() []byte {
	version1 := []byte{1, 0, 0, 0}
	header := box("mvhd", version1, make([]byte, 16), []byte{0, 15, 66, 64}, binary.BigEndian.AppendUint64(nil, 5_000_000_000))
	size := []byte{2, 128, 0, 0, 1, 104, 0, 0} // 640 and 360, in 16.16
	picture := box("trak", box("tkhd", version1, make([]byte, 48+36), size), box("mdia", box("hdlr", make([]byte, 8), []byte("vide"))))
	sound := box("trak", box("tkhd", version1, make([]byte, 48+36+8)), box("mdia", box("hdlr", make([]byte, 8), []byte("soun"))))
	movie := slices.Concat(header, picture, sound)
	long := binary.BigEndian.AppendUint64([]byte("\x00\x00\x00\x01moov"), uint64(16+len(movie)))
	return slices.Concat(box("ftyp"), long, movie)
}

func nested(depth int) []byte {
	var inner []byte
	for range depth {
		inner = box("moov", inner)
	}
	return inner
}

func oggPageOf(serial uint32, flags byte, granule uint64, content string) []byte {
	page := append([]byte("OggS\x00"), flags)
	page = binary.LittleEndian.AppendUint64(page, granule)
	page = binary.LittleEndian.AppendUint32(page, serial)
	page = append(page, make([]byte, 8)...)
	return append(append(page, 1, byte(len(content))), content...)
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for length, want := range map[time.Duration]int{
		0: 0, -time.Second: 0, time.Millisecond: 1, 1400 * time.Millisecond: 1, 1500 * time.Millisecond: 2, time.Hour: 3600,
	} {
		if got := (tracks{duration: length}).seconds(); got != want {
			t.Errorf("%s is %d seconds, want %d", length, got, want)
		}
	}
}

// Everything that is measured with ffmpeg, and what is left of it without.
func TestAudioAndVideo(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	with, without := start(t, Config{}), start(t, Config{FFmpeg: NoFFmpeg})
	type outcome struct {
		mimeType      string
		seconds       int
		width, height int
	}
	for _, test := range []struct {
		name          string
		kind          gateway.MessageType
		declared      string
		content       []byte
		with, without outcome
	}{
		{"voice note", gateway.TypeVoice, "", sample(t, "voice.ogg"), outcome{oggOpus, 2, 0, 0}, outcome{oggOpus, 2, 0, 0}},
		{"voice note in MP3", gateway.TypeVoice, "", sample(t, "tone.mp3"), outcome{oggOpus, 2, 0, 0}, outcome{"audio/mpeg", 0, 0, 0}},
		{"voice note in WAV", gateway.TypeVoice, "", wav(3 * time.Second), outcome{oggOpus, 3, 0, 0}, outcome{"audio/wav", 3, 0, 0}},
		{"voice note of a browser", gateway.TypeVoice, "audio/webm;codecs=opus", sample(t, "tone.webm"), outcome{oggOpus, 2, 0, 0}, outcome{"audio/webm; codecs=opus", 0, 0, 0}},
		{"MP3", gateway.TypeAudio, "", sample(t, "tone.mp3"), outcome{"audio/mpeg", 2, 0, 0}, outcome{"audio/mpeg", 0, 0, 0}},
		{"M4A", gateway.TypeAudio, "", sample(t, "tone.m4a"), outcome{"audio/mp4", 2, 0, 0}, outcome{"audio/mp4", 2, 0, 0}},
		{"MP4 of sound", gateway.TypeAudio, "", sample(t, "sound.mp4"), outcome{"audio/mp4", 2, 0, 0}, outcome{"audio/mp4", 2, 0, 0}},
		{"OGG", gateway.TypeAudio, "", sample(t, "voice.ogg"), outcome{oggOpus, 2, 0, 0}, outcome{oggOpus, 2, 0, 0}},
		{"type with its codecs", gateway.TypeAudio, "Audio/MPEG; codecs=mp3; x=y", sample(t, "tone.mp3"), outcome{"audio/mpeg; codecs=mp3", 2, 0, 0}, outcome{"audio/mpeg; codecs=mp3", 0, 0, 0}},
		{"type that is a lie", gateway.TypeAudio, "audio/wav; codecs=1", sample(t, "tone.mp3"), outcome{"audio/mpeg", 2, 0, 0}, outcome{"audio/mpeg", 0, 0, 0}},
		{"MP4", gateway.TypeVideo, "", sample(t, "clip.mp4"), outcome{"video/mp4", 2, 160, 120}, outcome{"video/mp4", 2, 160, 120}},
		{"MP4 that is turned", gateway.TypeVideo, "", sample(t, "turned.mp4"), outcome{"video/mp4", 2, 120, 160}, outcome{"video/mp4", 2, 120, 160}},
		{"WebM", gateway.TypeVideo, "", sample(t, "clip.webm"), outcome{"video/webm", 2, 160, 120}, outcome{"video/webm", 0, 0, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			for service, want := range map[*Service]outcome{with: test.with, without: test.without} {
				file := opened(t, service, test.kind, dataURI(test.declared, test.content), Hints{})
				got := outcome{file.MimeType, file.Seconds, file.Width, file.Height}
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if changed := contentOf(t, file) != string(test.content); changed != (test.kind == gateway.TypeVoice && want.mimeType != test.without.mimeType) {
					t.Errorf("the content was changed: %v", changed)
				}
				if (len(file.Waveform) == waveformLength) != (test.kind == gateway.TypeVoice) {
					t.Errorf("the waveform has %d values", len(file.Waveform))
				}
				if (file.Thumbnail != nil) != (test.kind == gateway.TypeVideo && service == with) {
					t.Errorf("the thumbnail has %d bytes", len(file.Thumbnail))
				}
			}
		})
	}
}

func TestVideoThumbnail(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	for name, want := range map[string][2]int{"clip.mp4": {100, 75}, "turned.mp4": {75, 100}} {
		file := opened(t, service, gateway.TypeVideo, dataURI("", sample(t, name)), Hints{})
		picture, err := measurePicture(bytes.NewReader(file.Thumbnail))
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{picture.width, picture.height}; got != want {
			t.Errorf("the thumbnail of %s is %v, want %v", name, got, want)
		}
	}
}

func TestWaveform(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	file := opened(t, service, gateway.TypeVoice, dataURI("", wav(3*time.Second)), Hints{})
	quiet, loud := file.Waveform[:30], file.Waveform[34:]
	if slices.Max(quiet) > 20 || slices.Min(loud[:26]) < 60 || slices.Max(loud) > 100 {
		t.Errorf("the waveform is %v, want quiet, then loud", file.Waveform)
	}
	content := contentOf(t, file)
	if !strings.HasPrefix(content, "OggS") || file.Size != int64(len(content)) {
		t.Errorf("the content has %d bytes, its file says %d", len(content), file.Size)
	}
	size, hash, err := digest(strings.NewReader(content))
	if err != nil || size != file.Size || !bytes.Equal(hash, file.SHA256) {
		t.Errorf("size and hash are not those of the converted content")
	}
}

// Samples may be cut anywhere between two writes.
func TestWaveformInPieces(t *testing.T) {
	t.Parallel()
	samples := wav(time.Second)[44:]
	whole, pieces := newWaveformWriter(8000), newWaveformWriter(8000)
	if _, err := whole.Write(samples); err != nil {
		t.Fatal(err)
	}
	for piece := range slices.Chunk(samples, 333) {
		if _, err := pieces.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(whole.values(), pieces.values()) {
		t.Errorf("in pieces %v, as a whole %v", pieces.values(), whole.values())
	}
	if silence := newWaveformWriter(8000).values(); !bytes.Equal(silence, make([]byte, waveformLength)) {
		t.Errorf("silence is %v", silence)
	}
}

func TestVoiceNoteThatCannotBeRead(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	_, err := service.Open(t.Context(), gateway.TypeVoice, dataURI("", []byte("fLaC\x00\x00\x00\x22 nothing that follows is sound")), Hints{Field: "audio"})
	failure := wantCode(t, err, gateway.Invalid, gateway.CodeValidation)
	if failure.Message != "audio must hold audio that can be read" {
		t.Errorf("refused with %q", failure.Message)
	}
}

// A list of other files is text to us, and would have ffmpeg open them.
func TestFFmpegReadsNoLists(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	other := opened(t, service, gateway.TypeAudio, dataURI("", sample(t, "voice.ogg")), Hints{})
	list := "ffconcat version 1.0\nfile " + other.content.name + "\n"
	file := opened(t, service, gateway.TypeDocument, dataURI("", []byte(list)), Hints{})
	var out bytes.Buffer
	err := service.tool.runFFmpeg(t.Context(), &out, file.content.path(), nil, []string{"-f", "s16le", "pipe:1"})
	if !isUnmeasured(err) || out.Len() != 0 {
		t.Errorf("ffmpeg read %d bytes through the list, %v", out.Len(), err)
	}
}

func TestFFmpegThatSaysTooMuch(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	file := opened(t, service, gateway.TypeAudio, dataURI("", wav(3*time.Second)), Hints{})
	decode := []string{"-f", "s16le", "pipe:1"}
	out := &boundedBuffer{limit: 1000}
	if err := service.tool.runFFmpeg(t.Context(), out, file.content.path(), nil, decode); err == nil || out.taken.Len() != 1000 {
		t.Errorf("%d bytes were taken, %v; want 1000 and a failure", out.taken.Len(), err)
	}
	out = &boundedBuffer{limit: 1000, drop: true}
	if err := service.tool.runFFmpeg(t.Context(), out, file.content.path(), nil, decode); err != nil || out.taken.Len() != 1000 {
		t.Errorf("%d bytes were taken, %v; want 1000", out.taken.Len(), err)
	}
}

func TestFFmpegThatTakesTooLong(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{ToolTimeout: time.Nanosecond})
	file := opened(t, service, gateway.TypeVideo, dataURI("", sample(t, "clip.mp4")), Hints{})
	if file.Thumbnail != nil || file.Seconds != 2 {
		t.Errorf("%d seconds and a thumbnail of %d bytes", file.Seconds, len(file.Thumbnail))
	}
	if _, err := service.Open(t.Context(), gateway.TypeVoice, dataURI("", sample(t, "tone.mp3")), Hints{}); gateway.KindOf(err) != gateway.Internal {
		t.Errorf("a voice note that could not be converted in time: %v", err)
	}
}

func TestMissingFFmpegIsSaidOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	service := start(t, Config{FFmpeg: NoFFmpeg, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		opened(t, service, gateway.TypeVoice, dataURI("", sample(t, "tone.mp3")), Hints{})
	}
	if said := strings.Count(log.String(), "ffmpeg not found"); said != 1 {
		t.Errorf("the log says it %d times", said)
	}
}

func FuzzOgg(f *testing.F) {
	f.Add(sample(f, "voice.ogg")[:300])
	f.Add(oggPageOf(1, oggFirstPage, 0, "\x80theora"))
	f.Add([]byte("OggS\x00\x02"))
	f.Fuzz(func(t *testing.T, content []byte) { wantSane(t, parseOgg, content) })
}

func FuzzMP4(f *testing.F) {
	f.Add(longMP4())
	f.Add(nested(6))
	f.Add(box("moov", box("mvhd", make([]byte, 20))))
	f.Fuzz(func(t *testing.T, content []byte) { wantSane(t, parseMP4, content) })
}

func FuzzWAV(f *testing.F) {
	f.Add(wav(time.Millisecond))
	f.Fuzz(func(t *testing.T, content []byte) { wantSane(t, parseWAV, content) })
}

func wantSane(t *testing.T, parse func(io.ReadSeeker) (tracks, error), content []byte) {
	t.Helper()
	found, err := parse(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("reading from memory failed: %v", err)
	}
	if found.duration < 0 || found.width < 0 || found.height < 0 {
		t.Errorf("found %+v", found)
	}
}
