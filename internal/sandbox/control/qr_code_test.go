package control

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/skip2/go-qrcode"
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
			got, err := readQRCode("data:image/png;base64," + base64.StdEncoding.EncodeToString(file))
			if err != nil || got != text {
				t.Errorf("size %d, level %d: %q, %v", size, level, got, err)
			}
		}
	}
}

func TestTextIsTakenAsItIs(t *testing.T) {
	t.Parallel()
	if got, err := readQRCode("2@ref,a,b,c"); err != nil || got != "2@ref,a,b,c" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzReadQRCode(f *testing.F) {
	file, err := qrcode.Encode("2@ref,a,b,c", qrcode.Low, 64)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte("no picture"))
	f.Fuzz(func(_ *testing.T, file []byte) {
		// It may fail, but it must return.
		_, _ = readQRCode("data:image/png;base64," + base64.StdEncoding.EncodeToString(file))
	})
}
