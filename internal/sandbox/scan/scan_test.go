package scan

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/skip2/go-qrcode"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestDrawnCodesAreReadAtEverySize(t *testing.T) {
	t.Parallel()
	for _, size := range []int{-3, 200, 256, 264, 300, 512} {
		for _, level := range []qrcode.RecoveryLevel{qrcode.Low, qrcode.Medium, qrcode.High} {
			text := fmt.Sprintf("https://wa.me/settings/linked_devices#2@%d,%s", size, strings.Repeat("aB3+/=", 22))
			file, err := qrcode.Encode(text, level, size)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read("data:image/png;base64," + base64.StdEncoding.EncodeToString(file))
			if err != nil || got != text {
				t.Errorf("size %d, level %d: %q, %v", size, level, got, err)
			}
		}
	}
}

func TestPhotosAreRead(t *testing.T) {
	t.Parallel()
	code, err := qrcode.New("2@ref,a,b,c", qrcode.Medium)
	if err != nil {
		t.Fatal(err)
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, code.Image(400), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Picture(photo.Bytes()); err != nil || got != "2@ref,a,b,c" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatIsNoCodeIsRefused(t *testing.T) {
	t.Parallel()
	for name, input := range cases.Sorted(map[string]string{
		"no picture":   "data:text/plain;base64,AAAA",
		"no base64":    "data:image/png;base64,!",
		"not encoded":  "data:image/png,AAAA",
		"half a photo": "data:image/jpeg;base64,/9j/4AAQ",
	}) {
		if got, err := Read(input); err == nil {
			t.Errorf("%s was read as %q", name, got)
		}
	}
}

func TestTextIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	if got, err := Read("2@ref,a,b,c"); err != nil || got != "2@ref,a,b,c" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzRead(f *testing.F) {
	file, err := qrcode.Encode("2@ref,a,b,c", qrcode.Low, 64)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte("no picture"))
	f.Fuzz(func(_ *testing.T, file []byte) {
		// It may fail, but it must return.
		_, _ = Read("data:image/png;base64," + base64.StdEncoding.EncodeToString(file))
	})
}
