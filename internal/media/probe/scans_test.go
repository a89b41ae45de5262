package probe

import (
	"bytes"
	"testing"

	"github.com/recado-project/recado/internal/media/mediatest"
	"github.com/recado-project/recado/internal/testkit/cases"
)

func TestCountScans(t *testing.T) {
	t.Parallel()
	few := mediatest.ProgressiveJPEG(64, 64, 7)
	for name, c := range cases.Sorted(map[string]struct {
		content     []byte
		scans       int
		progressive bool
	}{
		"baseline":                 {mediatest.JPEG(t, 40, 20, 0, nil), 1, false},
		"progressive":              {few, 7, true},
		"too many":                 {mediatest.ProgressiveJPEG(64, 64, 5000), MaxScans + 1, true},
		"broken off":               {few[:len(few)-30], 5, true},
		"filled up":                {bytes.ReplaceAll(few, []byte{0xff, 0xda}, []byte{0xff, 0xff, 0xff, 0xda}), 7, true},
		"a thumbnail in a segment": {append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, 6, 0xff, 0xda, 0xff, 0xda}, few[2:]...), 7, true},
		"a segment without a size": {[]byte{0xff, 0xd8, 0xff, 0xda, 0, 0, 0xff, 0xda}, 2, false},
		"nothing":                  {nil, 0, false},
	}) {
		scans, isProgressive, err := countScans(bytes.NewReader(c.content))
		if scans != c.scans || isProgressive != c.progressive || err != nil {
			t.Errorf("%s: %d scans, progressive %t, %v", name, scans, isProgressive, err)
		}
	}
}

// FuzzCountScans: a count is bounded by its limit and by the bytes that could be
// markers.
func FuzzCountScans(f *testing.F) {
	f.Add(mediatest.ProgressiveJPEG(64, 64, 3))
	f.Add(mediatest.JPEG(f, 40, 20, 0, nil))
	f.Add([]byte{0xff, 0xd8, 0xff, 0xda, 0, 0, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, content []byte) {
		scans, _, err := countScans(bytes.NewReader(content))
		if err != nil || scans < 0 || scans > MaxScans+1 || scans > bytes.Count(content, []byte{0xda}) {
			t.Errorf("%d scans, %v", scans, err)
		}
	})
}
