package probe

import (
	"bufio"
	"encoding/binary"
	"io"
)

// Orientation says how a stored picture has to be turned to be seen upright, in
// EXIF's numbers from 1 to 8. Its zero value is upright.
type Orientation int

// Sideways reports whether turning the picture upright swaps its width and height.
func (o Orientation) Sideways() bool { return o >= 5 && o <= 8 }

// maxSegments bounds how many segments of a JPEG are read.
const maxSegments = 64

// jpegOrientation looks for the EXIF segment among those that come before the
// picture. A picture without one, or with one that makes no sense, is upright.
func jpegOrientation(reader *bufio.Reader) Orientation {
	const (
		startOfImage = 0xd8
		startOfScan  = 0xda
		app1         = 0xe1
	)
	var marker [4]byte
	if _, err := io.ReadFull(reader, marker[:2]); err != nil || marker[0] != 0xff || marker[1] != startOfImage {
		return 0
	}
	for range maxSegments {
		if _, err := io.ReadFull(reader, marker[:]); err != nil || marker[0] != 0xff || marker[1] == startOfScan {
			return 0
		}
		size := int(binary.BigEndian.Uint16(marker[2:])) - 2
		if size < 0 {
			return 0
		}
		if marker[1] != app1 {
			if _, err := reader.Discard(size); err != nil {
				return 0
			}
			continue
		}
		segment := make([]byte, size)
		if _, err := io.ReadFull(reader, segment); err != nil {
			return 0
		}
		if found := exifOrientation(segment); found != 0 {
			return found
		}
	}
	return 0
}

// exifOrientation reads the orientation from an EXIF segment; 0 if it has none.
func exifOrientation(segment []byte) Orientation {
	const (
		head     = "Exif\x00\x00"
		tag      = 0x0112
		short    = 3
		entryLen = 12
	)
	if len(segment) < len(head)+8 || string(segment[:len(head)]) != head {
		return 0
	}
	tiff := segment[len(head):]
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 0
	}
	start := int64(order.Uint32(tiff[4:]))
	if start+2 > int64(len(tiff)) {
		return 0
	}
	entries := tiff[start+2:]
	for range order.Uint16(tiff[start:]) {
		if len(entries) < entryLen {
			return 0
		}
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short {
			if value := Orientation(order.Uint16(entries[8:])); value >= 1 && value <= 8 {
				return value
			}
			return 0
		}
		entries = entries[entryLen:]
	}
	return 0
}
