package probe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/image/webp"
)

// WebP is what the header of a WebP file says.
type WebP struct {
	Width, Height int
	Animated      bool
	Duration      time.Duration // of one that is animated
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
		found := WebP{
			Width:    1 + int(binary.LittleEndian.Uint32(header[23:])>>8),
			Height:   1 + int(binary.LittleEndian.Uint32(header[26:])>>8),
			Animated: header[20]&animation != 0,
		}
		if !found.Animated {
			return found, nil
		}
		var err error
		found.Duration, err = webPDuration(file)
		return found, err
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

// webPDuration adds up how long the pictures of an animation are shown.
func webPDuration(file io.ReadSeeker) (time.Duration, error) {
	const (
		begin = 12 // of the chunks, after RIFF, size, WEBP
		at    = 12 // of the duration in a picture's chunk, after its place and size
	)
	if _, err := file.Seek(begin, io.SeekStart); err != nil {
		return 0, fmt.Errorf("probe: seek in webp: %w", err)
	}
	from := bufio.NewReader(file)
	var milliseconds float64
	for {
		var head [8]byte
		var picture [at + 4]byte
		_, err := io.ReadFull(from, head[:])
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		size += size & 1 // chunks are padded
		if err == nil && string(head[:4]) == "ANMF" && size >= int64(len(picture)) {
			_, err = io.ReadFull(from, picture[:])
			size -= int64(len(picture))
			milliseconds += float64(binary.LittleEndian.Uint32(picture[at-1:]) >> 8)
		}
		if err == nil {
			_, err = io.CopyN(io.Discard, from, size)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return Duration(milliseconds, 1000), nil //nolint:mnd // milliseconds
		}
		if err != nil {
			return 0, fmt.Errorf("probe: read webp: %w", err)
		}
	}
}
