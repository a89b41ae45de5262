package probe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/image/webp"
)

// WebP is what the header of a WebP file says.
type WebP struct {
	Width, Height int
	Animated      bool
}

var errNotWebP = errors.New("probe: not a webp file")

// ReadWebP reads the header of a WebP file, from its start. It fails if the file is
// no WebP.
func ReadWebP(file io.ReadSeeker) (WebP, error) {
	const animation = 0x02
	// RIFF, size, WEBP; the first chunk's name and size; flags, three spare
	// bytes, and 24 bits each of width and height, less one.
	var header [30]byte
	if _, err := io.ReadFull(file, header[:]); err != nil {
		return WebP{}, fmt.Errorf("probe: read webp header: %w", err)
	}
	if string(header[:4]) != "RIFF" || string(header[8:12]) != "WEBP" {
		return WebP{}, errNotWebP
	}
	if string(header[12:16]) == "VP8X" {
		return WebP{
			Width:    1 + int(binary.LittleEndian.Uint32(header[23:])>>8),
			Height:   1 + int(binary.LittleEndian.Uint32(header[26:])>>8),
			Animated: header[20]&animation != 0,
		}, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return WebP{}, fmt.Errorf("probe: seek in webp: %w", err)
	}
	config, err := webp.DecodeConfig(bufio.NewReader(file))
	if err != nil {
		return WebP{}, fmt.Errorf("probe: read webp header: %w", err)
	}
	return WebP{Width: config.Width, Height: config.Height}, nil
}
