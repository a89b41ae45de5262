package media

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// largeRoom bounds the memory of all large pictures that are decoded at a time, in
	// bytes. A picture that needs more is sent without a thumbnail: a few bytes can
	// claim gigapixels.
	largeRoom = 96 << 20
	// maxScans bounds the scans of a JPEG. Encoders make about ten; each goes over
	// the whole picture, and fifty bytes are enough for one.
	maxScans = 100

	// smallWeight is what pictures from most phones' messengers stay below. These
	// have room of their own, so that large ones never hold them up.
	smallWeight = 12 << 20
	smallRoom   = 36 << 20

	// decodeTime is how long one picture may take, and waitTime how long it may
	// wait for others. What takes longer is sent without a thumbnail.
	decodeTime = time.Second
	waitTime   = time.Second

	// readAtOnce is how much a decoder gets before its time is looked at. The
	// fewer bytes, the less work they can mean.
	readAtOnce = 256
)

// decoders bounds the decoding of pictures, over all callers.
type decoders struct {
	small, large   *semaphore.Weighted
	wait, complete time.Duration
}

func newDecoders() *decoders {
	return &decoders{
		small: semaphore.NewWeighted(smallRoom), large: semaphore.NewWeighted(largeRoom),
		wait: waitTime, complete: decodeTime,
	}
}

// decode decodes an image and hands it to use, while which it counts as decoded.
// It does neither where the image is too large, or can't be decoded, or takes too
// long: an image is sent without a thumbnail then. Its error is the end of ctx, or
// that of use.
func (d *decoders) decode(ctx context.Context, file *os.File, about picture, use func(image.Image) error) error {
	weight := about.weight()
	if weight == 0 {
		return nil
	}
	room := d.large
	if weight <= smallWeight {
		room = d.small
	}
	waiting, enough := context.WithTimeout(ctx, d.wait)
	defer enough()
	if err := room.Acquire(waiting, weight); err != nil {
		return ended(ctx)
	}
	defer room.Release(weight)
	if room == d.large {
		runtime.GC() // what the one before has left would count twice
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("media: seek in image: %w", err)
	}
	deadline, stop := context.WithTimeout(ctx, d.complete)
	defer stop()
	decoded, _, err := image.Decode(&stoppableReader{from: bufio.NewReaderSize(file, 64<<10), stopped: deadline.Err})
	if err != nil {
		// It took too long; or is an animated WebP, a variety that is unknown here,
		// a file that breaks off.
		return ended(ctx)
	}
	return use(decoded)
}

// ended is the error of a context that has ended, nil before.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("media: decode image: %w", context.Cause(ctx))
}

// weight is how many bytes of memory it takes to decode a picture; 0 where it is not
// decoded.
func (p picture) weight() int64 {
	if p.width <= 0 || p.height <= 0 || p.width > largeRoom/p.height || p.scans > maxScans {
		return 0
	}
	weight := int64(p.width) * int64(p.height) * int64(max(p.bytesAPixel, 1))
	if p.progressive {
		weight *= 5 // four bytes of coefficients for each of the picture
	}
	if p.interlaced {
		weight *= 2 // the passes, and the whole
	}
	if weight > largeRoom {
		return 0
	}
	return weight
}

// stoppableReader gives little at a time, and an error once it is stopped:
// decoders can't be told to stop, but they have to read.
type stoppableReader struct {
	from    io.Reader
	stopped func() error
}

// Read reads on.
func (r *stoppableReader) Read(p []byte) (int, error) {
	if err := r.stopped(); err != nil {
		return 0, err
	}
	return r.from.Read(p[:min(len(p), readAtOnce)])
}

// The markers of a JPEG that are told apart here.
const (
	markerStart       = 0xd8
	markerEnd         = 0xd9
	markerScan        = 0xda
	markerProgressive = 0xc2
	markerRestart     = 0xd0 // to 0xd7
	markerTemporary   = 0x01
)

// countScans counts the scans of a JPEG, maxScans+1 at most, and tells whether it
// is progressive. Of a file that breaks off it tells what came before.
func countScans(file io.Reader) (scans int, progressive bool, err error) {
	from := bufio.NewReaderSize(file, 64<<10)
	for scans <= maxScans {
		marker, err := nextMarker(from)
		if err != nil {
			return scans, progressive, brokenOff(err)
		}
		switch {
		case marker == 0, marker == markerStart, marker == markerTemporary, marker&^7 == markerRestart:
			continue // data goes on behind them
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

// nextMarker skips to a marker and returns it; 0 stands for a data byte 0xff.
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
			if err != nil || marker != 0xff { // any number of them fills up
				return marker, err
			}
		}
	}
}

func brokenOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("media: read image: %w", err)
}
