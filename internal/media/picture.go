package media

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // the formats that image.Decode knows are those that are imported
	"image/jpeg"
	_ "image/png"
	"io"
	"os"

	"golang.org/x/image/draw"
)

const (
	thumbnailSide    = 100 // pixels, the longer side
	thumbnailQuality = 60
)

// picture is what the header of an image tells.
type picture struct {
	width, height int // as stored
	orientation   orientation
	scans         int // of a JPEG, maxScans+1 for more
	progressive   bool
	interlaced    bool // of a PNG
	bytesAPixel   int  // once it is decoded; 0 where it can't be
}

// shown returns the size as a viewer shows it.
func (p picture) shown() (width, height int) {
	if p.orientation.sideways() {
		return p.height, p.width
	}
	return p.width, p.height
}

// measurePicture reads the header of an image. It fails where there is none that
// makes sense; of a variety that can't be decoded here it knows no size.
func measurePicture(file io.ReadSeeker) (picture, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return picture{}, fmt.Errorf("media: seek in image: %w", err)
	}
	config, format, err := image.DecodeConfig(bufio.NewReader(file))
	if _, unsupported := errors.AsType[jpeg.UnsupportedError](err); unsupported {
		return picture{}, nil
	}
	if err != nil {
		return picture{}, fmt.Errorf("media: read image header: %w", err)
	}
	measured := picture{width: config.Width, height: config.Height, bytesAPixel: bytesAPixel(config.ColorModel)}
	if format == "png" {
		measured.interlaced, err = isInterlaced(file)
		return measured, err
	}
	if format != "jpeg" {
		return measured, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return picture{}, fmt.Errorf("media: seek in image: %w", err)
	}
	measured.orientation = jpegOrientation(bufio.NewReader(file))
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return picture{}, fmt.Errorf("media: seek in image: %w", err)
	}
	measured.scans, measured.progressive, err = countScans(file)
	return measured, err
}

// bytesAPixel is how many bytes a pixel takes in the image that is made of a file with
// this colour model: a depth of 16 bits takes twice as much as one of 8.
func bytesAPixel(model color.Model) int {
	if _, ok := model.(color.Palette); ok { // which can't be compared
		return 1
	}
	switch model {
	case color.GrayModel, color.AlphaModel:
		return 1
	case color.Gray16Model, color.Alpha16Model:
		return 2
	case color.YCbCrModel:
		return 3
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	default:
		return 4
	}
}

// isInterlaced reads from the header of a PNG whether it comes in passes.
func isInterlaced(file io.ReadSeeker) (bool, error) {
	const at = 8 + 8 + 12 // signature, head of the first chunk, what stands before it
	var header [at + 1]byte
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, fmt.Errorf("media: seek in image: %w", err)
	}
	if _, err := io.ReadFull(file, header[:]); err != nil {
		return false, fmt.Errorf("media: read image header: %w", err)
	}
	return header[at] != 0, nil
}

// thumbnail makes a small JPEG of an image, and nothing of one that is too much
// work to decode or can't be decoded: the platform shows it all the same.
func (s *Service) thumbnail(ctx context.Context, file *os.File, about picture) ([]byte, error) {
	var small []byte
	err := s.decoders.decode(ctx, file, about, func(full image.Image) (err error) {
		small, err = encodeThumbnail(full, about.orientation)
		return err
	})
	return small, err
}

func encodeThumbnail(full image.Image, turned orientation) ([]byte, error) {
	small := shrink(full)
	var out bytes.Buffer
	if err := jpeg.Encode(&out, turned.apply(small), &jpeg.Options{Quality: thumbnailQuality}); err != nil {
		return nil, fmt.Errorf("media: encode thumbnail: %w", err)
	}
	return out.Bytes(), nil
}

// shrink makes a picture as small as a thumbnail, on white.
func shrink(full image.Image) *image.RGBA {
	size := full.Bounds().Size()
	// A careful filter over a whole photograph is slow: it gets a coarse one of
	// four times the size, which nobody can tell from the photograph.
	coarse := fit(size, 4*thumbnailSide)
	step := image.NewRGBA(image.Rectangle{Max: coarse})
	draw.Draw(step, step.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.NearestNeighbor.Scale(step, step.Bounds(), full, full.Bounds(), draw.Over, nil)
	small := image.NewRGBA(image.Rectangle{Max: fit(size, thumbnailSide)})
	draw.CatmullRom.Scale(small, small.Bounds(), step, step.Bounds(), draw.Src, nil)
	return small
}

// fit returns the largest size with the same shape whose sides are at most side;
// it never enlarges.
func fit(size image.Point, side int) image.Point {
	longer := max(size.X, size.Y)
	if longer <= side {
		return size
	}
	return image.Pt(max(1, size.X*side/longer), max(1, size.Y*side/longer))
}
