package probe

import (
	"bufio"
	"fmt"
	"io"
)

// IsAnimatedGIF reports whether a GIF holds more than one picture. It is false for a file that makes
// no sense before its second one. Its error is a failure to read the file.
func IsAnimatedGIF(file io.ReadSeeker) (bool, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return false, fmt.Errorf("probe: seek in image: %w", err)
	}
	const (
		extension, picture = 0x21, 0x2c // what the blocks begin with
		header             = 13         // signature, and the description of the screen
		description        = 9          // of a picture
	)
	blocks := gifReader{from: bufio.NewReader(file)}
	screen := blocks.take(header)
	blocks.skipColours(screen[10])
	for pictures := 0; blocks.err == nil; {
		switch blocks.take(1)[0] {
		case extension:
			blocks.take(1)
			blocks.skipParts()
		case picture:
			pictures++
			if pictures > 1 {
				return blocks.failure()
			}
			about := blocks.take(description)
			blocks.skipColours(about[8])
			blocks.take(1)
			blocks.skipParts()
		default: // the end, or nothing that belongs here
			return false, nil
		}
	}
	_, err := blocks.failure()
	return false, err
}

// gifReader reads until its first error.
type gifReader struct {
	from *bufio.Reader
	err  error
	room [16]byte
}

// failure reports whether all could be read; the end of the file is no error.
func (r *gifReader) failure() (ok bool, err error) {
	if r.err == nil {
		return true, nil
	}
	if r.err == io.EOF || r.err == io.ErrUnexpectedEOF { //nolint:errorlint // as io.ReadFull and Discard return them
		return false, nil
	}
	return false, fmt.Errorf("probe: read image: %w", r.err)
}

// take reads a few bytes; zeros after an error.
func (r *gifReader) take(size int) []byte {
	taken := r.room[:size]
	clear(taken)
	if r.err == nil {
		_, r.err = io.ReadFull(r.from, taken)
	}
	return taken
}

func (r *gifReader) skip(size int) {
	if r.err == nil {
		_, r.err = r.from.Discard(size)
	}
}

// skipColours skips a table of colours, if these flags say that there is one.
func (r *gifReader) skipColours(flags byte) {
	const there, bits = 0x80, 0x07
	if flags&there != 0 {
		r.skip(3 << (flags&bits + 1))
	}
}

// skipParts skips parts, each of which begins with its length, up to an empty one.
func (r *gifReader) skipParts() {
	for r.err == nil {
		size := int(r.take(1)[0])
		if size == 0 {
			return
		}
		r.skip(size)
	}
}
