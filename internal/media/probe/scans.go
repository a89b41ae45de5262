// The scans of a progressive JPEG, counted before it is decoded.

package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// MaxScans is how many scans of a JPEG are counted. Encoders make about ten. Each
// scan goes over the whole picture, and may be as short as fifty bytes.
const MaxScans = 100

// The markers of a JPEG that countScans distinguishes.
const (
	markerStart       = 0xd8
	markerEnd         = 0xd9
	markerScan        = 0xda
	markerProgressive = 0xc2
	markerRestart     = 0xd0 // to 0xd7
	markerTemporary   = 0x01
)

// countScans counts the scans of a JPEG, MaxScans+1 at most, and reports whether it is
// progressive. If the file breaks off, the result is about the part before that.
func countScans(file io.Reader) (scans int, progressive bool, err error) {
	from := bufio.NewReaderSize(file, 64<<10)
	for scans <= MaxScans {
		marker, err := nextMarker(from)
		if err != nil {
			return scans, progressive, brokenOff(err)
		}
		switch {
		case marker == 0, marker == markerStart, marker == markerTemporary, marker&^7 == markerRestart:
			continue // data follows them
		case marker == markerEnd:
			return scans, progressive, nil
		case marker == markerScan:
			scans++
		case marker == markerProgressive:
			progressive = true
		}
		var length [2]byte
		if _, err := io.ReadFull(from, length[:]); err != nil {
			return scans, progressive, brokenOff(err)
		}
		if _, err := from.Discard(max(0, int(length[0])<<8+int(length[1])-len(length))); err != nil {
			return scans, progressive, brokenOff(err)
		}
	}
	return scans, progressive, nil
}

// nextMarker skips to the next marker and returns it; 0 stands for a data byte 0xff.
func nextMarker(from *bufio.Reader) (byte, error) {
	for {
		switch _, err := from.ReadSlice(0xff); {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return 0, err
		}
		for {
			marker, err := from.ReadByte()
			if err != nil || marker != 0xff { // any number of 0xff may come before a marker
				return marker, err
			}
		}
	}
}

func brokenOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("probe: read image: %w", err)
}
