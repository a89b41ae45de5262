package media

import (
	"bytes"
	"context"
	"image/png"
	"runtime"
	"testing"

	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/media/probe"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// A large picture is decoded in a process of its own, bounded, and becomes what it would become here.
func TestLargePicturesAreDecodedApart(t *testing.T) {
	t.Parallel()
	content := mediatest.PNG(t, 2600, 1700)
	decoded, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	about := probe.Picture{Width: 2600, Height: 1700, BytesPerPixel: 4, Orientation: 6}
	for name, made := range cases.Sorted(map[string]rendition{
		"thumbnail": asThumbnail, "portrait": asPortrait, "sticker": asSticker, "still": asStill,
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bound []bounds
			d := unhurried(newDecoders(newPools(0), func(_ context.Context, _ int, by bounds) { bound = append(bound, by) }))
			got, err := d.decode(t.Context(), fileOf(t, content), about, made)
			if err != nil {
				t.Fatal(err)
			}
			want, err := made.of(decoded, about.Orientation)
			if err != nil || len(got) == 0 || !bytes.Equal(got, want) {
				t.Errorf("it became %d bytes; here it becomes %d, %v", len(got), len(want), err)
			}
			if len(bound) != 1 || bound[0].memory != (2600*1700*4+apartMemory)*apartFactor || !bound[0].later {
				t.Errorf("its processes were bound by %+v", bound)
			}
		})
	}
}

// Where the program can't start itself, a large picture is decoded here.
func TestLargePicturesWithoutAProcess(t *testing.T) {
	t.Parallel()
	d := unhurried(newDecoders(newPools(0), unbound))
	d.program = "/nowhere/recado"
	out, err := d.decode(t.Context(), fileOf(t, mediatest.PNG(t, 2600, 1700)), probe.Picture{Width: 2600, Height: 1700, BytesPerPixel: 4}, asThumbnail)
	if err != nil || len(out) == 0 {
		t.Errorf("it became %d bytes, %v", len(out), err)
	}
}

// A process that decodes gets no more memory than its picture was said to need.
func TestDecodersAreBound(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("programs are bound on Linux")
	}
	service := start(t, Config{FFmpeg: NoFFmpeg})
	memory := int64(0)
	d := unhurried(newDecoders(service.pools, func(ctx context.Context, pid int, _ bounds) {
		service.tool.restrain(ctx, pid, bounds{memory: memory})
	}))
	large := probe.Picture{Width: 3000, Height: 2000, BytesPerPixel: 4}
	file := fileOf(t, mediatest.PNG(t, large.Width, large.Height))
	for most, decodes := range cases.Sorted(map[int64]bool{32 << 20: false, (weightOf(large) + apartMemory) * apartFactor: true}) {
		memory = most
		if _, err := file.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		out, started := d.decodeApart(t.Context(), file, large, asThumbnail, weightOf(large))
		if !started || (len(out) > 0) != decodes {
			t.Errorf("with %d bytes of memory it became %d bytes; started %v", memory, len(out), started)
		}
	}
}
