package eighth_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/recado-project/recado/internal/media/eighth"
	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/cases"
)

// plenty is more than the pictures of these tests have, an eighth in size.
const plenty = 1 << 20

// samples are the JPEGs that Go tests its own decoder with: all ratios of colours, progressive ones, one with restarts, one
// whose components come one after another.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	root, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output() // a test that is built with -trimpath does not know it
	if err != nil {
		tb.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(root)), "src", "image", "testdata")
	paths, err := filepath.Glob(filepath.Join(folder, "*.jpeg"))
	if err != nil || len(paths) < 20 {
		tb.Fatalf("there are %d samples in %s (%v)", len(paths), folder, err)
	}
	found := map[string][]byte{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		found[filepath.Base(path)] = content
	}
	return found
}

// Each pixel is the mean of the 64 that another decoder finds, as nearly as rounding allows, and that no pixel is blacker than
// black; of a progressive file the last bits are not read.
func TestPixelsAreMeans(t *testing.T) {
	t.Parallel()
	pictures := samples(t)
	pictures["noise"] = mediatest.Photograph(t, 331, 203)
	pictures["turned"] = mediatest.JPEG(t, 400, 200, 6, binary.BigEndian)
	for name, content := range cases.Sorted(pictures) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			small, err := eighth.Decode(iotest.HalfReader(bytes.NewReader(content)), plenty)
			if strings.Contains(name, "cmyk") || strings.Contains(name, "rgb") {
				if err == nil {
					t.Error("it is decoded, though its components are not those of a usual file")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			whole, err := jpeg.Decode(bytes.NewReader(bytes.Join([][]byte{content, {0xff, 0xd9}}, nil)))
			if strings.Contains(name, "truncated") {
				return // the other one refuses it
			}
			if err != nil {
				t.Fatal(err)
			}
			tolerance := 3
			if strings.Contains(name, "progressive") {
				tolerance = 5
			}
			if worst := compare(t, small, whole); worst > tolerance {
				t.Errorf("a pixel differs by %d", worst)
			}
		})
	}
}

// compare returns by how much a picture differs from the means of another one at most.
func compare(t *testing.T, small, whole image.Image) (worst int) {
	t.Helper()
	size := whole.Bounds().Size()
	if got, want := small.Bounds(), image.Rect(0, 0, (size.X+7)/8, (size.Y+7)/8); got != want {
		t.Fatalf("it is %v, want %v", got, want)
	}
	plane := func(got []byte, stride int, want []byte, wantStride, width, height int) {
		for y := range height / 8 { // those at the border may stand for less
			for x := range width / 8 {
				sum := 0
				for n := range 64 {
					sum += int(want[(8*y+n/8)*wantStride+8*x+n%8])
				}
				difference := int(got[y*stride+x]) - (sum+32)/64
				worst = max(worst, difference, -difference)
			}
		}
	}
	switch whole := whole.(type) {
	case *image.Gray:
		small := small.(*image.Gray)
		plane(small.Pix, small.Stride, whole.Pix, whole.Stride, size.X, size.Y)
	case *image.YCbCr:
		small := small.(*image.YCbCr)
		if small.SubsampleRatio != whole.SubsampleRatio {
			t.Fatalf("its ratio is %s, want %s", small.SubsampleRatio, whole.SubsampleRatio)
		}
		plane(small.Y, small.YStride, whole.Y, whole.YStride, size.X, size.Y)
		across, down := size.X*whole.CStride/whole.YStride, size.Y*len(whole.Cb)/whole.CStride/(len(whole.Y)/whole.YStride)
		plane(small.Cb, small.CStride, whole.Cb, whole.CStride, across, down)
		plane(small.Cr, small.CStride, whole.Cr, whole.CStride, across, down)
	}
	return worst
}

// A file that is cut off, or larger than allowed, is refused.
func TestWhatIsNotDecoded(t *testing.T) {
	t.Parallel()
	whole := mediatest.Photograph(t, 331, 203)
	for cut := 0; cut < len(whole)*9/10; cut += 1 + cut/50 {
		if _, err := eighth.Decode(bytes.NewReader(whole[:cut]), plenty); err == nil {
			t.Fatalf("%d bytes of %d are decoded", cut, len(whole))
		}
	}
	blocks := 42*26 + 2*21*13 // 331x203 pixels in units of 16x16
	if _, err := eighth.Decode(bytes.NewReader(whole), blocks-1); err == nil {
		t.Error("it is decoded, though it is too large")
	}
	if _, err := eighth.Decode(bytes.NewReader(whole), blocks); err != nil {
		t.Error(err)
	}
}

// The scans of a progressive file behind the first ones are not read.
func TestProgressiveFilesAreReadAsFarAsNeeded(t *testing.T) {
	t.Parallel()
	content := mediatest.ProgressiveJPEG(640, 480, 100)
	const behind, ahead = 1 << 20, 32 << 10
	from := bytes.NewReader(append(content, make([]byte, behind)...))
	if _, err := eighth.Decode(from, plenty); err != nil || from.Len() < behind-ahead {
		t.Errorf("%d bytes are left (%v)", from.Len(), err)
	}
}

// FuzzDecode: whatever the file says, the picture is no larger than allowed, and can be looked at.
func FuzzDecode(f *testing.F) {
	for _, content := range samples(f) {
		f.Add(content)
	}
	f.Add(mediatest.ProgressiveJPEG(64, 64, 3))
	f.Fuzz(func(t *testing.T, content []byte) {
		const most = 10_000
		small, err := eighth.Decode(bytes.NewReader(content), most)
		if err != nil {
			return
		}
		size := small.Bounds().Size()
		if size.X*size.Y > most || size.X <= 0 || size.Y <= 0 {
			t.Fatalf("it is %v", size)
		}
		for y := range size.Y {
			for x := range size.X {
				small.At(x, y)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	content := mediatest.Photograph(b, 2200, 1640)
	for name, decode := range cases.Sorted(map[string]func() (image.Image, error){
		"an eighth": func() (image.Image, error) { return eighth.Decode(bytes.NewReader(content), plenty) },
		"the whole": func() (image.Image, error) { return jpeg.Decode(bytes.NewReader(content)) },
	}) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
