package media

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"golang.org/x/image/webp"
)

// webPicture is what the header of a WebP file tells.
type webPicture struct {
	width, height int
	animated      bool
}

var errNotWebP = errors.New("media: not a webp file")

// parseWebP reads the header of a WebP file, from its start.
func parseWebP(file io.ReadSeeker) (webPicture, error) {
	const animation = 0x02
	// RIFF, size, WEBP; the first chunk's name and size; flags, three spare
	// bytes, and 24 bits each of width and height, less one.
	var header [30]byte
	if _, err := io.ReadFull(file, header[:]); err != nil {
		return webPicture{}, fmt.Errorf("media: read webp header: %w", err)
	}
	if string(header[:4]) != "RIFF" || string(header[8:12]) != "WEBP" {
		return webPicture{}, errNotWebP
	}
	if string(header[12:16]) == "VP8X" {
		return webPicture{
			width:    1 + int(binary.LittleEndian.Uint32(header[23:])>>8),
			height:   1 + int(binary.LittleEndian.Uint32(header[26:])>>8),
			animated: header[20]&animation != 0,
		}, nil
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return webPicture{}, fmt.Errorf("media: seek in webp: %w", err)
	}
	config, err := webp.DecodeConfig(bufio.NewReader(file))
	if err != nil {
		return webPicture{}, fmt.Errorf("media: read webp header: %w", err)
	}
	return webPicture{width: config.Width, height: config.Height}, nil
}
