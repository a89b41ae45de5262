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

	"github.com/recado-project/recado/internal/media/probe"
	"github.com/recado-project/recado/internal/share"
)

const (
	// maxPicture bounds the memory, in bytes, of one picture that is decoded. A picture
	// that needs more is sent without a thumbnail: a file of a few bytes can claim gigapixels.
	maxPicture = 96 << 20
	// smallWeight is more than most pictures from phones' messengers take. Pictures
	// below it have memory of their own, so that they never wait for large ones.
	smallWeight = 12 << 20

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
	pools          Pools
	wait, complete time.Duration
	needed         bool // a picture that others keep from being decoded is refused
}

func newDecoders(pools Pools) *decoders {
	return &decoders{pools: pools, wait: waitTime, complete: decodeTime}
}

// patient are the same decoders for a picture that can't be sent without being decoded.
func (d *decoders) patient() *decoders {
	return &decoders{pools: d.pools, wait: 10 * d.wait, complete: 10 * d.complete, needed: true} //nolint:mnd // still within the time of a request
}

// decode decodes an image and calls use with it; the image's memory is counted until
// use returns. It does neither if the image is too large, can't be decoded, or takes
// too long: such an image is sent without a thumbnail. Its error is the end of ctx, or
// that of use; of patient decoders also Unavailable, while others have all the room.
func (d *decoders) decode(ctx context.Context, file *os.File, about probe.Picture, use func(image.Image) error) error {
	weight := weightOf(about)
	if weight == 0 {
		return nil
	}
	room := d.pools.Memory
	if weight <= smallWeight {
		room = d.pools.Small
	}
	if room.Largest() < weight {
		return nil
	}
	holds, err := d.admit(ctx, room, weight)
	defer func() {
		for _, hold := range holds {
			hold.Release()
		}
	}()
	switch {
	case err == nil:
	case d.needed && isBusy(err):
		return err
	default:
		return ended(ctx)
	}
	if room == d.pools.Memory {
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

// admit waits for the turn of a picture of a weight. The caller releases what it returns, also after
// an error.
func (d *decoders) admit(ctx context.Context, room *share.Pool, weight int64) ([]*share.Hold, error) {
	place, err := d.pools.Decoding.WaitAtMost(ctx, 1, d.wait)
	if err != nil {
		return nil, err
	}
	memory, err := room.WaitAtMost(ctx, weight, d.wait)
	return []*share.Hold{place, memory}, err
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
	if p.Width <= 0 || p.Height <= 0 || p.Width > maxPicture/p.Height || p.Scans > probe.MaxScans {
		return 0
	}
	weight := int64(p.Width) * int64(p.Height) * int64(max(p.BytesPerPixel, 1))
	if p.Progressive {
		weight *= 5 // four bytes of coefficients for each of the picture
	}
	if p.Interlaced {
		weight *= 2 // the passes, and the whole
	}
	if weight > maxPicture {
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
