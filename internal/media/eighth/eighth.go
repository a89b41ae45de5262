// Package eighth decodes JPEGs at an eighth of their size: of each block of 8x8 pixels it takes the mean, which is the first of
// the 64 numbers that the block is stored as, and skips the others. Nothing is transformed, and the picture needs a
// 64th of the memory. The files come from strangers, so what is read is checked, and work is bounded by the size of the file and
// of the picture. It is a room so that nobody takes it for a decoder of everything that a JPEG may be: package media, which calls it, has
// another one for what is unusual.
package eighth

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
)

var (
	errMalformed   = errors.New("eighth: malformed JPEG")
	errUnsupported = errors.New("eighth: an unusual JPEG")
)

// The markers of segments.
const (
	markerBaseline    = 0xc0
	markerSequential  = 0xc1
	markerProgressive = 0xc2
	markerTables      = 0xc4
	markerRestart     = 0xd0 // to 0xd7
	markerStart       = 0xd8
	markerScan        = 0xda
	markerQuantities  = 0xdb
	markerInterval    = 0xdd
	markerAdobe       = 0xee
	markerTemporary   = 0x01
)

// bufferBytes is how much is read at a time.
const bufferBytes = 16 << 10

// decoder is a picture that is being decoded.
type decoder struct {
	bits

	most          int // bytes of a picture
	progressive   bool
	width, height int
	across, down  int // how many units there are: a unit has one block or more of each component
	components    []component
	tables        [2][4]*table // of means, and of all other numbers
	quantities    [4]int32     // by which means were divided
	interval      int          // units between two restarts; 0: there are none
}

// component is a channel of the picture.
type component struct {
	id, quantity byte
	h, v         int    // blocks in a unit
	means        []byte // of its blocks
	stride       int
	done         bool

	table, others *table // of the scan that is being decoded
	scale         int32
	mean          int32 // of the block before
}

// Decode decodes a JPEG of one component or three at an eighth of its size, rounded up. Its picture is an *image.Gray or an *image.YCbCr of
// at most so many bytes. It reads no further than it needs to. It fails for what is unusual, too, which other decoders
// may be able to decode.
func Decode(from io.Reader, most int) (image.Image, error) {
	d := &decoder{bits: bits{Reader: bufio.NewReaderSize(from, bufferBytes)}, most: most}
	for !d.isWhole() {
		marker, err := d.marker()
		if err != nil {
			return nil, err
		}
		if marker == markerStart || marker&^7 == markerRestart || marker == markerTemporary {
			continue // nothing belongs to them
		}
		var size [2]byte
		if _, err := io.ReadFull(d, size[:]); err != nil {
			return nil, fmt.Errorf("eighth: read JPEG: %w", err)
		}
		content := make([]byte, max(2, binary.BigEndian.Uint16(size[:]))-2)
		if _, err := io.ReadFull(d, content); err != nil {
			return nil, fmt.Errorf("eighth: read JPEG: %w", err)
		}
		if err := d.take(marker, content); err != nil {
			return nil, err
		}
	}
	return d.picture(), nil
}

// marker skips to the next marker, and returns it.
func (d *decoder) marker() (byte, error) {
	d.next, d.count, d.padded = 0, 0, 0
	for before := byte(0); ; {
		one, err := d.ReadByte()
		if err != nil {
			return 0, fmt.Errorf("eighth: read JPEG: %w", err)
		}
		if before == 0xff && one != 0 && one != 0xff {
			return one, nil
		}
		before = one
	}
}

// take takes a segment.
func (d *decoder) take(marker byte, content []byte) error {
	switch marker {
	case markerBaseline, markerSequential, markerProgressive:
		d.progressive = marker == markerProgressive
		return d.takeFrame(content)
	case markerTables:
		return d.takeTables(content)
	case markerQuantities:
		return d.takeQuantities(content)
	case markerInterval:
		if len(content) != 2 {
			return errMalformed
		}
		d.interval = int(binary.BigEndian.Uint16(content))
	case markerAdobe:
		if len(content) >= 12 && string(content[:5]) == "Adobe" && content[11] == 0 {
			return errUnsupported // red, green and blue, or something else
		}
	case markerScan:
		return d.takeScan(content)
	default:
		if marker < 0xe0 { // another way to encode
			return errUnsupported
		}
	}
	return nil
}

func (d *decoder) takeFrame(content []byte) error {
	if len(content) < 9 || d.components != nil {
		return errMalformed
	}
	d.height, d.width = int(binary.BigEndian.Uint16(content[1:])), int(binary.BigEndian.Uint16(content[3:]))
	count := int(content[5])
	switch {
	case content[0] != 8, count != 1 && count != 3, d.width == 0, d.height == 0:
		return errUnsupported
	case len(content) != 6+3*count:
		return errMalformed
	}
	for one := content[6:]; len(one) > 0; one = one[3:] {
		d.components = append(d.components, component{id: one[0], h: int(one[1] >> 4), v: int(one[1] & 15), quantity: one[2]})
		if one[2] > 3 {
			return errMalformed
		}
	}
	if count == 1 { // whose blocks come one by one
		d.components[0].h, d.components[0].v = 1, 1
	} else if _, ok := d.ratio(); !ok || d.components[0].id == 'R' && d.components[1].id == 'G' {
		return errUnsupported
	}
	first := d.components[0]
	d.across, d.down = (d.width+8*first.h-1)/(8*first.h), (d.height+8*first.v-1)/(8*first.v)
	size := 0
	for _, c := range d.components {
		size += d.across * c.h * d.down * c.v
	}
	if size > d.most {
		return errUnsupported
	}
	for n := range d.components {
		c := &d.components[n]
		c.stride = d.across * c.h
		c.means = make([]byte, c.stride*d.down*c.v)
	}
	return nil
}

// ratio is how much smaller the planes of colours are, if that is usual.
func (d *decoder) ratio() (image.YCbCrSubsampleRatio, bool) {
	grey, blue, red := d.components[0], d.components[1], d.components[2]
	if blue.h != red.h || blue.v != red.v || blue.h < 1 || blue.v < 1 || grey.h > 4 || grey.v > 4 || grey.h%blue.h != 0 || grey.v%blue.v != 0 {
		return 0, false
	}
	ratio, ok := map[[2]int]image.YCbCrSubsampleRatio{
		{1, 1}: image.YCbCrSubsampleRatio444, {1, 2}: image.YCbCrSubsampleRatio440, {2, 1}: image.YCbCrSubsampleRatio422,
		{2, 2}: image.YCbCrSubsampleRatio420, {4, 1}: image.YCbCrSubsampleRatio411, {4, 2}: image.YCbCrSubsampleRatio410,
	}[[2]int{grey.h / blue.h, grey.v / blue.v}]
	return ratio, ok
}

func (d *decoder) takeTables(content []byte) error {
	for len(content) > 0 {
		if len(content) < 1+maxCode || content[0]>>4 > 1 || content[0]&15 > 3 {
			return errMalformed
		}
		counts, symbols, sum := content[1:1+maxCode], content[1+maxCode:], 0
		for _, count := range counts {
			sum += int(count)
		}
		if sum > len(symbols) {
			return errMalformed
		}
		class, known := content[0]>>4, ofMean
		if class == 1 {
			known = ofOther
		}
		to := &d.tables[class][content[0]&15]
		if *to == nil {
			*to = new(table)
		}
		if err := (*to).set(counts, symbols, known); err != nil {
			return err
		}
		content = symbols[sum:]
	}
	return nil
}

// ofMean is what a table knows of the symbol of a mean: how many bits the difference to the one before has.
func ofMean(symbol byte, length uint) uint32 {
	if symbol >= maxCode {
		return 0
	}
	return uint32(symbol)<<8 | uint32(length) //nolint:gosec // it is small
}

// ofOther is what a table knows of the symbol of another number: how many numbers are done with it.
func ofOther(symbol byte, length uint) uint32 {
	zeros, bits := uint32(symbol>>4), uint32(symbol&15)
	switch {
	case bits == 0 && zeros == 0: // the rest of the block is zero
		zeros = 63
	case bits == 0 && zeros < 15: // which are for progressive files
		return 0
	}
	return (zeros+1)<<8 | (uint32(length) + bits) //nolint:gosec // it is small
}

func (d *decoder) takeQuantities(content []byte) error {
	for len(content) > 0 {
		if content[0] > 3 || len(content) < 1+64 { // or they have 16 bits
			return errUnsupported
		}
		d.quantities[content[0]] = int32(content[1])
		content = content[1+64:]
	}
	return nil
}

func (d *decoder) isWhole() bool {
	for _, c := range d.components {
		if !c.done {
			return false
		}
	}
	return len(d.components) > 0
}

// picture returns what was decoded.
func (d *decoder) picture() image.Image {
	size := image.Rect(0, 0, (d.width+7)/8, (d.height+7)/8)
	grey := d.components[0]
	if len(d.components) == 1 {
		return &image.Gray{Pix: grey.means, Stride: grey.stride, Rect: size}
	}
	ratio, _ := d.ratio() // which is known to be usual
	blue, red := d.components[1], d.components[2]
	return &image.YCbCr{
		Y: grey.means, Cb: blue.means, Cr: red.means, YStride: grey.stride, CStride: blue.stride, SubsampleRatio: ratio, Rect: size,
	}
}
