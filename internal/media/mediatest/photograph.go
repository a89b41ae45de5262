package mediatest

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"testing"
)

// Photograph returns a JPEG that has as much detail as a good camera's: noise over a sky. It is the same each time, and
// one of 2200x1640 pixels has 1.35 MB.
func Photograph(tb testing.TB, width, height int) []byte {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same noise each time
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			grain := uint8(random.IntN(48))                                                                                          //nolint:gosec // under 48
			picture.SetRGBA(x, y, color.RGBA{R: uint8(x*180/width) + grain, G: uint8(y*180/height) + grain, B: 120 + grain, A: 255}) //nolint:gosec // under 228
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: 87}); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}
