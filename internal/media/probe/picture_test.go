package probe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/recado-project/recado/internal/media/mediatest"
)

func FuzzOrientation(f *testing.F) {
	f.Add(mediatest.JPEG(f, 2, 2, 6, binary.LittleEndian))
	f.Add(mediatest.JPEG(f, 2, 2, 3, binary.BigEndian))
	f.Add([]byte{0xff, 0xd8, 0xff, 0xe1, 0, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		if found := jpegOrientation(bufio.NewReader(bytes.NewReader(content))); found < 0 || found > 8 {
			t.Errorf("the orientation is %d", found)
		}
		if found := exifOrientation(content); found < 0 || found > 8 {
			t.Errorf("the orientation is %d", found)
		}
	})
}

func FuzzWebP(f *testing.F) {
	f.Add(sample(f, "sticker.webp")[:40])
	f.Add(sample(f, "animated.webp")[:40])
	f.Fuzz(func(t *testing.T, content []byte) {
		found, err := ReadWebP(bytes.NewReader(content))
		if err == nil && (found.Width < 0 || found.Width > 1<<24 || found.Height < 0 || found.Height > 1<<24) {
			t.Errorf("the picture is %+v", found)
		}
	})
}
