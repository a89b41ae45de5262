// Package mediatest makes the pictures and sounds that the tests of media and its
// rooms read.
package mediatest

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
	"time"
)

// Quarters makes a picture whose upper left quarter is red and the rest blue.
func Quarters(width, height int) image.Image {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			if x < width/2 && y < height/2 {
				picture.SetRGBA(x, y, color.RGBA{R: 255, A: 255})
			} else {
				picture.SetRGBA(x, y, color.RGBA{B: 255, A: 255})
			}
		}
	}
	return picture
}

// PNG makes a PNG of Quarters.
func PNG(tb testing.TB, width, height int) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, Quarters(width, height)); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// GIF makes a GIF of Quarters.
func GIF(tb testing.TB, width, height int) []byte {
	tb.Helper()
	// With its palette it has not to be looked for in each of the pixels, of which there may be many.
	picture := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.RGBA{B: 255, A: 255}, color.RGBA{R: 255, A: 255}})
	for y := range height / 2 {
		for x := range width / 2 {
			picture.SetColorIndex(x, y, 1)
		}
	}
	var out bytes.Buffer
	if err := gif.Encode(&out, picture, nil); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// JPEG makes a JPEG of Quarters with an EXIF orientation, in bytes of the order; 0 makes
// one without.
func JPEG(tb testing.TB, width, height, orientation int, order binary.ByteOrder) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, Quarters(width, height), nil); err != nil {
		tb.Fatal(err)
	}
	if orientation == 0 {
		return out.Bytes()
	}
	segment := exifSegment(orientation, order)
	head := []byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(segment) + 2)} //nolint:gosec // it is small
	return bytes.Join([][]byte{head, segment, out.Bytes()[2:]}, nil)
}

func exifSegment(orientation int, order binary.ByteOrder) []byte {
	mark := "II*\x00"
	if order == binary.BigEndian {
		mark = "MM\x00*"
	}
	tiff := []byte(mark)
	tiff = order.(binary.AppendByteOrder).AppendUint32(tiff, 8)
	entry := func(tag, kind, value uint16) {
		tiff = order.(binary.AppendByteOrder).AppendUint16(tiff, tag)
		tiff = order.(binary.AppendByteOrder).AppendUint16(tiff, kind)
		tiff = order.(binary.AppendByteOrder).AppendUint32(tiff, 1)
		tiff = order.(binary.AppendByteOrder).AppendUint16(tiff, value)
		tiff = append(tiff, 0, 0)
	}
	tiff = order.(binary.AppendByteOrder).AppendUint16(tiff, 2)
	entry(0x0100, 3, 7)
	entry(0x0112, 3, uint16(orientation)) //nolint:gosec // it is small
	return append([]byte("Exif\x00\x00"), tiff...)
}

// ProgressiveJPEG makes a grey progressive JPEG of so many scans. Each of them says in a
// few bytes that it adds nothing to the whole picture.
func ProgressiveJPEG(width, height, scans int) []byte {
	out := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}
	out = append(out, bytes.Repeat([]byte{1}, 64)...)                                                                  // quantisation
	out = append(out, 0xff, 0xc2, 0, 11, 8, byte(height>>8), byte(height), byte(width>>8), byte(width), 1, 1, 0x11, 0) //nolint:gosec // it is small
	for class, symbol := range []byte{0, 0xe0} {                                                                       // a table with one code, "0": no difference; 2^14 blocks of nothing
		out = append(out, 0xff, 0xc4, 0, 20, byte(class<<4), 1)
		out = append(out, make([]byte, 15)...)
		out = append(out, symbol)
	}
	blocks := (width + 7) / 8 * ((height + 7) / 8)
	out = append(out, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0)
	out = append(out, make([]byte, (blocks+7)/8)...)
	for range scans - 1 {
		out = append(out, 0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0)
		out = append(out, make([]byte, ((blocks+1<<14-1)>>14*15+7)/8)...)
	}
	return append(out, 0xff, 0xd9)
}

// WAV makes a tone that is loud in its second half only.
func WAV(length time.Duration) []byte {
	const rate = 8000
	samples := int(length.Seconds() * rate)
	out := []byte("RIFF")
	out = binary.LittleEndian.AppendUint32(out, uint32(36+2*samples)) //nolint:gosec // it is small
	out = append(out, "WAVEfmt "...)
	out = binary.LittleEndian.AppendUint32(out, 16)
	for _, field := range []any{uint16(1), uint16(1), uint32(rate), uint32(2 * rate), uint16(2), uint16(16)} {
		out, _ = binary.Append(out, binary.LittleEndian, field)
	}
	out = append(out, "data"...)
	out = binary.LittleEndian.AppendUint32(out, uint32(2*samples)) //nolint:gosec // it is small
	for i := range samples {
		loud := int16(1000)
		if i >= samples/2 {
			loud = 20000
		}
		if i/8%2 == 1 {
			loud = -loud
		}
		out = binary.LittleEndian.AppendUint16(out, uint16(loud)) //nolint:gosec // its bits are what is written
	}
	return out
}
