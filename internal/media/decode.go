// Decoding of pictures: how many at a time, and how large.

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
	// largeRoom bounds the memory, in bytes, of all large pictures that are decoded at
	// the same time. A picture that needs more is sent without a thumbnail: a file of
	// a few bytes can claim gigapixels.
	largeRoom = 96 << 20
	// smallWeight is more than most pictures from phones' messengers take. Pictures
	// below it have memory of their own, so that they never wait for large ones.
	smallWeight = 12 << 20
	smallRoom   = 36 << 20

	// decodeTime is how long one picture may take, and waitTime how long it may
	// wait for others. A picture that takes longer is sent without a thumbnail.
	decodeTime = time.Second
	waitTime   = time.Second

	// readAtOnce is how many bytes a decoder gets between two checks of its deadline.
	// Fewer bytes can cause less work.
	readAtOnce = 256
)

// decoders limits the decoding of pictures, for all callers together.
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

// patient are the same decoders for a picture that can't be sent without being decoded.
func (d *decoders) patient() *decoders {
	return &decoders{small: d.small, large: d.large, wait: 20 * d.wait, complete: 10 * d.complete} //nolint:mnd // still within the time of a request
}

// decode decodes an image and calls use with it; the image's memory is counted until
// use returns. It does neither if the image is too large, can't be decoded, or takes
// too long: such an image is sent without a thumbnail. Its error is the end of ctx, or
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
		runtime.GC() // else the picture before would still take memory
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("media: seek in image: %w", err)
	}
	deadline, stop := context.WithTimeout(ctx, d.complete)
	defer stop()
	decoded, _, err := image.Decode(&stoppableReader{from: bufio.NewReaderSize(file, 64<<10), stopped: deadline.Err})
	if err != nil {
		// It took too long, or it is an animated WebP, an unknown variant, or
		// incomplete.
		return ended(ctx)
	}
	return use(decoded)
}

// ended returns the error of a context that has ended; nil if it has not.
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

// stoppableReader reads a few bytes at a time, and fails once it is stopped. Decoders
// take no context, but they do have to read.
type stoppableReader struct {
	from    io.Reader
	stopped func() error
}

// Read implements io.Reader.
func (r *stoppableReader) Read(p []byte) (int, error) {
	if err := r.stopped(); err != nil {
		return 0, err
	}
	return r.from.Read(p[:min(len(p), readAtOnce)])
}
