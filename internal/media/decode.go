package media

import (
	"bufio"
	"context"
	"fmt"
	"image"
	_ "image/gif" // image.Decode knows the formats that are imported
	_ "image/jpeg"
	_ "image/png"
	"io"
	"os"
	"runtime"
	"time"

	_ "golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"

	"github.com/recado-project/recado/internal/media/probe"
)

const (
	// largeRoom bounds the memory of all large pictures that are decoded at a time, in
	// bytes. A picture that needs more is sent without a thumbnail: a few bytes can
	// claim gigapixels.
	largeRoom = 96 << 20
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
func (d *decoders) decode(ctx context.Context, file *os.File, about probe.Picture, use func(image.Image) error) error {
	weight := weightOf(about)
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

// weightOf returns how many bytes of memory it takes to decode a picture; 0 for one that
// is not decoded because it would take too much.
func weightOf(p probe.Picture) int64 {
	if p.Width <= 0 || p.Height <= 0 || p.Width > largeRoom/p.Height || p.Scans > probe.MaxScans {
		return 0
	}
	weight := int64(p.Width) * int64(p.Height) * int64(max(p.BytesPerPixel, 1))
	if p.Progressive {
		weight *= 5 // four bytes of coefficients for each of the picture
	}
	if p.Interlaced {
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
