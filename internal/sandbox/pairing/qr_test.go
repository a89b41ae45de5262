package pairing

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/recado-project/recado/internal/testkit/cases"
)

func encoded(fill byte, size int) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, size))
}

func TestParseQR(t *testing.T) {
	t.Parallel()
	a, b, c := encoded(1, 32), encoded(2, 32), encoded(3, 32)
	bare := strings.Join([]string{"2@ref==", a, b, c}, ",")
	for name, raw := range cases.Sorted(map[string]string{
		"bare":        bare + ",1",
		"link":        "https://wa.me/settings/linked_devices#" + bare + ",1",
		"with spaces": "\n" + bare + ",1 \n",
	}) {
		qr, err := ParseQR(raw)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if qr.Ref != "2@ref==" || qr.NoiseKey[0] != 1 || qr.IdentityKey[0] != 2 ||
			!bytes.Equal(qr.AdvSecret, bytes.Repeat([]byte{3}, 32)) || qr.ClientType != "1" {
			t.Errorf("%s: read as %+v", name, qr)
		}
	}
	if qr, err := ParseQR(bare); err != nil || qr.ClientType != "" {
		t.Errorf("four parts: %+v, %v", qr, err)
	}
}

func TestParseQRRefuses(t *testing.T) {
	t.Parallel()
	a, b, c := encoded(1, 32), encoded(2, 32), encoded(3, 32)
	for raw, says := range cases.Sorted(map[string]string{
		"":                                     "1 parts",
		"hello":                                "1 parts",
		strings.Join([]string{"r", a, b}, ","): "3 parts",
		strings.Join([]string{"r", a, b, c, "1", "2"}, ","):    "6 parts",
		strings.Join([]string{"", a, b, c}, ","):               "reference is empty",
		strings.Join([]string{"r", "%%", b, c}, ","):           "noise key is not base64",
		strings.Join([]string{"r", a, encoded(2, 31), c}, ","): "identity key has 31 bytes",
		strings.Join([]string{"r", a, b, encoded(3, 33)}, ","): "secret has 33 bytes",
		"https://wa.me/settings/linked_devices":                "no fragment",
		strings.Repeat("x", maxQR+1):                           "4097 bytes",
	}) {
		_, err := ParseQR(raw)
		if !errors.Is(err, ErrQR) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v, want an ErrQR about %q", raw, err, says)
		}
	}
}

func FuzzParseQR(f *testing.F) {
	f.Add("https://wa.me/settings/linked_devices#2@ref," + encoded(1, 32) + "," + encoded(2, 32) + "," + encoded(3, 32) + ",1")
	f.Add("ref,,,,")
	f.Add("#,,,")
	f.Fuzz(func(t *testing.T, raw string) {
		qr, err := ParseQR(raw)
		if err != nil {
			if !errors.Is(err, ErrQR) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		if qr.Ref == "" || len(qr.AdvSecret) != 32 || strings.Contains(qr.ClientType, ",") {
			t.Fatalf("read as %+v", qr)
		}
	})
}
