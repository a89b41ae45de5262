package media

import (
	"errors"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// drawn has ffmpeg make a file of whatever its arguments say, and returns its path.
func drawn(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if out, err := exec.CommandContext(tb.Context(), "ffmpeg", append(append([]string{"-v", "error"}, args...), path)...).CombinedOutput(); err != nil {
		tb.Fatalf("ffmpeg: %v\n%s", err, out)
	}
	return path
}

// What the headers say decides what a run may take, and usual files fit.
func TestWeightOfConversions(t *testing.T) {
	t.Parallel()
	service := start(t, Config{})
	for _, c := range []struct {
		name  string
		found probe.Tracks
		most  int64 // MiB
		fits  bool
	}{
		{"a video of a messenger", probe.Tracks{VideoCodec: "h264", Width: 848, Height: 480}, 140, true},
		{"full HD", probe.Tracks{VideoCodec: "h264", Width: 1920, Height: 1080}, 230, true},
		{"full HD in VP9", probe.Tracks{VideoCodec: "vp9", Width: 1920, Height: 1080}, 230, true},
		{"4K with ten bits", probe.Tracks{VideoCodec: "hevc", Width: 3840, Height: 2160}, 360, true},
		{"a GIF", probe.Tracks{VideoCodec: "gif", Width: 640, Height: 480, BytesPerPixel: 4}, 120, true},
		{"three colours and sixteen references", probe.Tracks{VideoCodec: "h264 of profile 244", Width: 3072, Height: 3072, BytesPerPixel: 6}, 0, false},
		{"gigapixels", probe.Tracks{VideoCodec: "h264", Width: 1 << 30, Height: 1 << 30}, 0, false},
	} {
		run := service.tool.videoOf(c.found, fit(image.Pt(c.found.Width, c.found.Height), videoSide))
		if fits := service.pools.fits(run); fits != c.fits || c.fits && run.memory > c.most<<20 {
			t.Errorf("%s: %d MiB, fits: %t; want at most %d MiB, %t", c.name, run.memory>>20, fits, c.most, c.fits)
		}
	}
}

// A video of a few kilobytes whose pictures take gigabytes is sent without a thumbnail where phones can
// play it, and is refused as what has to be converted.
func TestHeavyVideosAreNotConverted(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	path := drawn(t, "refs.mp4", "-f", "lavfi", "-i", "color=c=red:s=3072x3072:r=10", "-frames:v", "3", "-pix_fmt", "yuv444p10le",
		"-c:v", "libx264", "-preset", "ultrafast", "-bf", "0", "-refs", "16", "-x264-params", "ref=16:level=6.2:keyint=250")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	service := start(t, Config{})
	for kind, wants := range cases.Sorted(map[gateway.MessageType]string{gateway.TypeVideo: "is too large to convert, with 3072x3072 pixels", gateway.TypeSticker: "too many pixels"}) {
		_, err := service.Open(t.Context(), kind, dataURI("video/mp4", content), Hints{Field: "file", Convert: true})
		if failure, ok := gateway.AsError(err); !ok || failure.Code != gateway.CodeValidation || !strings.Contains(failure.Message, wants) {
			t.Errorf("%s: error %v, want %q", kind, err, wants)
		}
	}
}

// A program gets no more memory than its run was given: what the headers have hidden ends there.
func TestMemoryOfProgramsIsBounded(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	path := drawn(t, "large.avi", "-f", "lavfi", "-i", "testsrc2=s=3840x2160:r=5", "-frames:v", "2", "-c:v", "mpeg4")
	service := start(t, Config{})
	run := service.tool.videoOf(probe.Tracks{VideoCodec: "mpeg4", Width: 3840, Height: 2160}, image.Point{})
	decode := []string{"-f", "null", "-"}
	if err := service.tool.runFFmpeg(t.Context(), nil, path, nil, decode, run); err != nil {
		t.Fatalf("with %d bytes: %v", run.memory, err)
	}
	run.memory = 44 << 20
	if err := service.tool.runFFmpeg(t.Context(), nil, path, nil, decode, run); !errors.Is(err, errTooHeavy) {
		t.Errorf("with %d bytes: %v", run.memory, err)
	}
}

// Sound that plays for hours is refused before anything of it is converted.
func TestLongSoundIsRefused(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	path := drawn(t, "long.flac", "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "2400", "-c:a", "flac")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	service := start(t, Config{ToolTimeout: defaultToolTimeout})
	for _, kind := range []gateway.MessageType{gateway.TypeVoice, gateway.TypeAudio} {
		_, err := service.Open(t.Context(), kind, dataURI("audio/flac", content), Hints{Field: "audio"})
		if failure, ok := gateway.AsError(err); !ok || failure.Code != gateway.CodeValidation || !strings.Contains(failure.Message, "audio is 40m0s long, and sound is converted up to 30m0s") {
			t.Errorf("%s: error %v", kind, err)
		}
	}
}

// Who finds all places taken waits, and is told to come back after that; a file that does not need
// to be converted is sent without its thumbnail.
func TestBusyConversionsAreRefused(t *testing.T) {
	t.Parallel()
	needFFmpeg(t)
	service := start(t, Config{})
	all, err := service.pools.Memory.Take(t.Context(), service.pools.Memory.Largest())
	if err != nil {
		t.Fatal(err)
	}
	run := service.tool.probing()
	run.wait = 10 * time.Millisecond
	err = service.tool.run(t.Context(), nil, service.tool.ffprobe, []string{"-version"}, run)
	if failure, ok := gateway.AsError(err); !ok || failure.Kind != gateway.Unavailable || failure.RetryAfter == 0 {
		t.Errorf("error %v", err)
	}
	all.Release()
	if err = service.tool.run(t.Context(), nil, service.tool.ffprobe, []string{"-version"}, run); err != nil {
		t.Errorf("with room for it: %v", err)
	}
}
