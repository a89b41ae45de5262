package probe

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // image.DecodeConfig knows the formats that are imported; webp.go imports WebP
	"image/jpeg"
	_ "image/png"
	"io"
)

// Picture is what the header of an image says.
type Picture struct {
	Width, Height int // as stored
	Orientation   Orientation
	Scans         int // of a JPEG; MaxScans+1 if there are more
	Progressive   bool
	Interlaced    bool // of a PNG
	BytesPerPixel int  // in memory, once it is decoded; 0 if it can't be decoded
}

// Shown returns the size as a viewer shows it.
func (p Picture) Shown() (width, height int) {
	if p.Orientation.Sideways() {
		return p.Height, p.Width
	}
	return p.Width, p.Height
}

// ReadPicture reads the header of an image. It fails if the header makes no sense. The
// size of a JPEG that can't be decoded here, such as a lossless one, is zero.
func ReadPicture(file io.ReadSeeker) (Picture, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Picture{}, fmt.Errorf("probe: seek in image: %w", err)
	}
	config, format, err := image.DecodeConfig(bufio.NewReader(file))
	if _, unsupported := errors.AsType[jpeg.UnsupportedError](err); unsupported {
		return Picture{}, nil
	}
	if err != nil {
		return Picture{}, fmt.Errorf("probe: read image header: %w", err)
	}
	measured := Picture{Width: config.Width, Height: config.Height, BytesPerPixel: bytesPerPixel(config.ColorModel)}
	if format == "png" {
		measured.Interlaced, err = isInterlaced(file)
		return measured, err
	}
	if format != "jpeg" {
		return measured, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Picture{}, fmt.Errorf("probe: seek in image: %w", err)
	}
	measured.Orientation = jpegOrientation(bufio.NewReader(file))
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return Picture{}, fmt.Errorf("probe: seek in image: %w", err)
	}
	measured.Scans, measured.Progressive, err = countScans(file)
	return measured, err
}

// bytesPerPixel is how many bytes a pixel takes once a file with this colour model is
// decoded: a depth of 16 bits takes twice as much as one of 8.
func bytesPerPixel(model color.Model) int {
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

// isInterlaced reads from the header of a PNG whether it is stored in passes.
func isInterlaced(file io.ReadSeeker) (bool, error) {
	const at = 8 + 8 + 12 // signature, head of the first chunk, the fields before this one
	var header [at + 1]byte
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, fmt.Errorf("probe: seek in image: %w", err)
	}
	if _, err := io.ReadFull(file, header[:]); err != nil {
		return false, fmt.Errorf("probe: read image header: %w", err)
	}
	return header[at] != 0, nil
}
