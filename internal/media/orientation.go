package media

import (
	"bufio"
	"encoding/binary"
	"image"
	"io"
)

// orientation says how a stored picture has to be turned to be seen upright, in
// EXIF's numbers from 1 to 8. Its zero value is upright.
type orientation int

// sideways reports whether width and height change places.
func (o orientation) sideways() bool { return o >= 5 && o <= 8 }

// apply turns a picture upright.
func (o orientation) apply(stored *image.RGBA) *image.RGBA {
	if o < 2 || o > 8 {
		return stored
	}
	size := stored.Bounds().Size()
	shown := size
	if o.sideways() {
		shown = image.Pt(size.Y, size.X)
	}
	upright := image.NewRGBA(image.Rectangle{Max: shown})
	for y := range shown.Y {
		for x := range shown.X {
			from := o.origin(x, y, size)
			upright.SetRGBA(x, y, stored.RGBAAt(from.X, from.Y))
		}
	}
	return upright
}

// origin returns where in the stored picture of the size the point lies that is
// shown at x, y.
func (o orientation) origin(x, y int, size image.Point) image.Point {
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

// maxSegments bounds the segments of a JPEG that are looked at.
const maxSegments = 64

// jpegOrientation looks for the EXIF segment among those that come before the
// picture. What it does not find or understand is upright.
func jpegOrientation(reader *bufio.Reader) orientation {
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

// exifOrientation reads the orientation of an EXIF segment; 0 where it has none.
func exifOrientation(segment []byte) orientation {
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
			if value := orientation(order.Uint16(entries[8:])); value >= 1 && value <= 8 {
				return value
			}
			return 0
		}
		entries = entries[entryLen:]
	}
	return 0
}
