// The length of a WAV file.

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxChunks bounds how many chunks of a RIFF file are read.
const maxChunks = 256

// readWAV reads the length of a WAV file from its headers.
func readWAV(file io.ReadSeeker) (Tracks, error) {
	found := Tracks{Audio: true}
	if _, err := file.Seek(12, io.SeekStart); err != nil {
		return Tracks{}, fmt.Errorf("probe: seek in wav: %w", err)
	}
	var bytesPerSecond uint32
	for range maxChunks {
		var header [8]byte
		if _, err := io.ReadFull(file, header[:]); err != nil {
			return found, ignoreEnd(err)
		}
		size := int64(binary.LittleEndian.Uint32(header[4:]))
		next := size + size%2
		switch string(header[:4]) {
		case "fmt ":
			var format [12]byte
			if _, err := io.ReadFull(file, format[:]); err != nil {
				return found, ignoreEnd(err)
			}
			bytesPerSecond = binary.LittleEndian.Uint32(format[8:])
			next -= int64(len(format))
		case "data":
			if bytesPerSecond > 0 {
				found.Duration = Duration(float64(size), float64(bytesPerSecond))
			}
			return found, nil
		}
		if next < 0 {
			return found, nil
		}
		if _, err := file.Seek(next, io.SeekCurrent); err != nil {
			return Tracks{}, fmt.Errorf("probe: seek in wav: %w", err)
		}
	}
	return found, nil
}

// ignoreEnd returns failures to read, but no error for a file that ends early.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("probe: read header: %w", err)
}
