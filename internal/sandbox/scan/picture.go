// Finding of the QR code in a photo.

package scan

import (
	"image"
	"image/color"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/makiuchi-d/gozxing/qrcode/decoder"
)

const (
	finderModules = 7  // the width of the pattern in a QR code's corner
	leastModules  = 21 // of the smallest code; each version has four more
	versionStep   = 4
	mostModules   = 177
)

// scanPicture returns the text of the QR code in a picture.
func scanPicture(picture image.Image) (string, error) {
	// A drawn code is read module by module. The search for a code in a photo fails
	// for one drawn picture in thirty.
	if grid, ok := readGrid(picture); ok {
		if result, err := decoder.NewDecoder().Decode(grid, nil); err == nil {
			return result.GetText(), nil
		}
	}
	hints := map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_TRY_HARDER: true}
	for _, view := range []image.Image{picture, turned{picture}, doubled{picture}} {
		bitmap, err := gozxing.NewBinaryBitmapFromImage(view)
		if err != nil {
			return "", errNoQR
		}
		if result, err := qrcode.NewQRCodeReader().Decode(bitmap, hints); err == nil {
			return result.GetText(), nil
		}
	}
	return "", errNoQR
}

// readGrid reads the modules of a code that is drawn upright and dark on light.
// Nothing else in the picture may be dark.
func readGrid(picture image.Image) (*gozxing.BitMatrix, bool) {
	box := darkBox(picture)
	if box.Dx() < leastModules || box.Dx()-box.Dy() > 2 || box.Dy()-box.Dx() > 2 {
		return nil, false
	}
	run := 0 // the upper edge of the pattern in the corner
	for box.Min.X+run < box.Max.X && dark(picture, box.Min.X+run, box.Min.Y) {
		run++
	}
	modules := nearestSize(float64(box.Dx()) * finderModules / float64(max(run, 1)))
	if modules < leastModules || modules > mostModules {
		return nil, false
	}
	grid, err := gozxing.NewSquareBitMatrix(modules)
	if err != nil {
		return nil, false
	}
	for row := range modules {
		for column := range modules {
			x := box.Min.X + (2*column+1)*box.Dx()/(2*modules)
			y := box.Min.Y + (2*row+1)*box.Dy()/(2*modules)
			if dark(picture, x, y) {
				grid.Set(column, row)
			}
		}
	}
	return grid, true
}

// nearestSize returns the nearest number of modules that a code can have.
func nearestSize(estimate float64) int {
	version := int((estimate-leastModules)/versionStep + 0.5)
	return leastModules + versionStep*version
}

// darkBox returns the smallest rectangle with all dark pixels.
func darkBox(picture image.Image) image.Rectangle {
	var box image.Rectangle
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			if dark(picture, x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// dark reports whether a pixel is dark. Transparent pixels are not.
func dark(picture image.Image, x, y int) bool {
	const half = 0x8000
	r, g, b, a := picture.At(x, y).RGBA()
	return a >= half && (299*r+587*g+114*b)/1000 < half
}

// turned is a picture turned upside down, in which a search that began in the wrong
// corner may succeed.
type turned struct{ image.Image }

func (t turned) At(x, y int) color.Color {
	b := t.Bounds()
	return t.Image.At(b.Max.X-1-(x-b.Min.X), b.Max.Y-1-(y-b.Min.Y))
}

// doubled is a picture at twice its size.
type doubled struct{ image.Image }

func (d doubled) Bounds() image.Rectangle {
	b := d.Image.Bounds()
	return image.Rect(2*b.Min.X, 2*b.Min.Y, 2*b.Max.X, 2*b.Max.Y)
}

func (d doubled) At(x, y int) color.Color { return d.Image.At(x>>1, y>>1) }
