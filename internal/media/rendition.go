// What is made of a picture that is decoded.

package media

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"

	"github.com/recado-project/recado/internal/media/probe"
)

const (
	thumbnailSide    = 100 // pixels, the longer side
	thumbnailQuality = 60

	portraitSide    = 640 // pixels, of a picture in a list or of a group
	portraitQuality = 85

	stickerSide = 512 // pixels, of a square
)

// rendition is what is made of a picture: a JPEG, or a PNG where something in it may be transparent.
type rendition string

const (
	asThumbnail rendition = "thumbnail" // small, on white
	asPortrait  rendition = "portrait"  // as people's and groups' pictures are: the square in the middle, on white
	asSticker   rendition = "sticker"   // in the middle of a square, with nothing around it
	asStill     rendition = "still"     // as large as it is
)

// of makes it of a picture that is stored in an orientation.
func (r rendition) of(full image.Image, turned probe.Orientation) ([]byte, error) {
	var out bytes.Buffer
	var err error
	switch r {
	case asThumbnail:
		return thumbnailOf(full, full.Bounds().Size(), turned)
	case asPortrait:
		err = jpeg.Encode(&out, turnUpright(portrait(full), turned), &jpeg.Options{Quality: portraitQuality})
	case asSticker:
		err = png.Encode(&out, stickerOf(full, turned))
	case asStill:
		if opaque, ok := full.(interface{ Opaque() bool }); ok && opaque.Opaque() {
			err = jpeg.Encode(&out, full, &jpeg.Options{Quality: pictureQuality})
		} else {
			err = png.Encode(&out, full)
		}
	default:
		err = fmt.Errorf("there is no rendition %q", string(r))
	}
	if err != nil {
		return nil, fmt.Errorf("media: make a %s of a picture: %w", r, err)
	}
	return out.Bytes(), nil
}

// thumbnailOf makes a thumbnail of a picture that has a size, and is stored in an orientation, from what is left of it.
func thumbnailOf(left image.Image, size image.Point, turned probe.Orientation) ([]byte, error) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, turnUpright(shrink(left, size), turned), &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("media: make a thumbnail: %w", err)
	}
	return out.Bytes(), nil
}

// shrink makes a picture as small as the thumbnail of one that has a size, on white.
func shrink(full image.Image, size image.Point) *image.RGBA {
	// A careful filter over a whole photograph is slow, so a coarse one shrinks it to
	// four times the size first. The thumbnail looks the same.
	coarse := fit(full.Bounds().Size(), 4*thumbnailSide)
	step := image.NewRGBA(image.Rectangle{Max: coarse})
	draw.Draw(step, step.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.NearestNeighbor.Scale(step, step.Bounds(), full, full.Bounds(), draw.Over, nil)
	small := image.NewRGBA(image.Rectangle{Max: fit(size, thumbnailSide)})
	draw.CatmullRom.Scale(small, small.Bounds(), step, step.Bounds(), draw.Src, nil)
	return small
}

// portrait makes the square in the middle of a picture small, on white.
func portrait(full image.Image) *image.RGBA {
	middle := square(full.Bounds())
	small := image.NewRGBA(image.Rectangle{Max: fit(middle.Size(), portraitSide)})
	draw.Draw(small, small.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.ApproxBiLinear.Scale(small, small.Bounds(), full, middle, draw.Over, nil)
	return small
}

// stickerOf puts a picture upright into the middle of a square that it fills from side to side.
func stickerOf(full image.Image, turned probe.Orientation) *image.RGBA {
	shrunk := image.NewRGBA(image.Rectangle{Max: fit(full.Bounds().Size(), stickerSide)})
	draw.ApproxBiLinear.Scale(shrunk, shrunk.Bounds(), full, full.Bounds(), draw.Src, nil)
	upright := turnUpright(shrunk, turned)
	whole := image.NewRGBA(image.Rect(0, 0, stickerSide, stickerSide))
	draw.CatmullRom.Scale(whole, within(upright.Bounds().Size(), stickerSide), upright, upright.Bounds(), draw.Src, nil)
	return whole
}

// fit returns the largest size with the same shape whose sides are at most side. It
// never enlarges.
func fit(size image.Point, side int) image.Point {
	longer := max(size.X, size.Y)
	if longer <= side {
		return size
	}
	return image.Pt(max(1, size.X*side/longer), max(1, size.Y*side/longer))
}

// square is the largest square in the middle of a picture.
func square(of image.Rectangle) image.Rectangle {
	side := min(of.Dx(), of.Dy())
	corner := of.Min.Add(image.Pt((of.Dx()-side)/2, (of.Dy()-side)/2))
	return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}
}

// within returns the middle of a square that a picture of this size fills, side to side.
func within(size image.Point, side int) image.Rectangle {
	longer := max(size.X, size.Y)
	shown := image.Pt(max(1, size.X*side/longer), max(1, size.Y*side/longer))
	corner := image.Pt(side, side).Sub(shown).Div(2)
	return image.Rectangle{Min: corner, Max: corner.Add(shown)}
}

// turnUpright turns a picture that is stored in an orientation.
func turnUpright(stored *image.RGBA, o probe.Orientation) *image.RGBA {
	if o < 2 || o > 8 {
		return stored
	}
	size := stored.Bounds().Size()
	shown := size
	if o.Sideways() {
		shown = image.Pt(size.Y, size.X)
	}
	upright := image.NewRGBA(image.Rectangle{Max: shown})
	for y := range shown.Y {
		for x := range shown.X {
			from := origin(o, x, y, size)
			upright.SetRGBA(x, y, stored.RGBAAt(from.X, from.Y))
		}
	}
	return upright
}

// origin returns which point of a stored picture of this size is shown at x, y.
func origin(o probe.Orientation, x, y int, size image.Point) image.Point {
	right, bottom := size.X-1, size.Y-1
	switch o {
	case 2:
		return image.Pt(right-x, y)
	case 3:
		return image.Pt(right-x, bottom-y)
	case 4:
		return image.Pt(x, bottom-y)
	case 5:
		return image.Pt(y, x)
	case 6:
		return image.Pt(y, bottom-x)
	case 7:
		return image.Pt(right-y, bottom-x)
	case 8:
		return image.Pt(right-y, x)
	default:
		return image.Pt(x, y)
	}
}
