package media

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/media/probe"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestVideoThumbnail(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	for name, want := range cases.Sorted(map[string][2]int{"clip.mp4": {100, 75}, "turned.mp4": {75, 100}}) {
		file := opened(t, service, gateway.TypeVideo, dataURI("", sample(t, name)), Hints{})
		picture, err := probe.ReadPicture(bytes.NewReader(file.Thumbnail))
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{picture.Width, picture.Height}; got != want {
			t.Errorf("the thumbnail of %s is %v, want %v", name, got, want)
		}
	}
}

func TestWaveform(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	file := opened(t, service, gateway.TypeVoice, dataURI("", mediatest.WAV(3*time.Second)), Hints{})
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
	samples := mediatest.WAV(time.Second)[44:]
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
	err := service.tool.runFFmpeg(t.Context(), &out, file.content.path(), nil, []string{"-f", "s16le", "pipe:1"}, service.tool.soundOf(0))
	if !isUnmeasured(err) || out.Len() != 0 {
		t.Errorf("ffmpeg read %d bytes through the list, %v", out.Len(), err)
	}
}

func TestFFmpegThatSaysTooMuch(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	file := opened(t, service, gateway.TypeAudio, dataURI("", sample(t, "tone.mp3")), Hints{})
	decode := []string{"-f", "s16le", "pipe:1"}
	out := &boundedBuffer{limit: 1000}
	if err := service.tool.runFFmpeg(t.Context(), out, file.content.path(), nil, decode, service.tool.soundOf(0)); err == nil || out.taken.Len() != 1000 {
		t.Errorf("%d bytes were taken, %v; want 1000 and a failure", out.taken.Len(), err)
	}
	out = &boundedBuffer{limit: 1000, drop: true}
	if err := service.tool.runFFmpeg(t.Context(), out, file.content.path(), nil, decode, service.tool.soundOf(0)); err != nil || out.taken.Len() != 1000 {
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
	_, err := service.Open(t.Context(), gateway.TypeVoice, dataURI("", sample(t, "tone.mp3")), Hints{Field: "audio"})
	if failure := wantCode(t, err, gateway.Invalid, gateway.CodeValidation); !strings.Contains(failure.Message, "takes too long") {
		t.Errorf("a voice note that could not be converted in time: %v", err)
	}
}

func TestMissingFFmpegIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	service := start(t, Config{FFmpeg: NoFFmpeg, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		if _, err := service.Open(t.Context(), gateway.TypeVoice, dataURI("", sample(t, "tone.mp3")), Hints{}); err == nil {
			t.Error("a voice note in MP3 was taken")
		}
	}
	if said := strings.Count(log.String(), "ffmpeg not found"); said != 1 {
		t.Errorf("the log says it %d times", said)
	}
}
