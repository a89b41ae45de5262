// Decoding of pictures: how many at a time, how large, and where.

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
	// wait for others. A picture that takes longer is sent without a thumbnail. One that is
	// decoded apart comes after everything else that the machine has to do.
	decodeTime = time.Second
	apartTime  = 4 * decodeTime
	waitTime   = time.Second

	// readAtOnce is how many bytes a decoder gets between two checks of its deadline.
	// Fewer bytes can cause less work.
	readAtOnce = 256
)

// decoders limits the decoding of pictures, for all callers together.
type decoders struct {
	pools                 Pools
	bind                  func(ctx context.Context, pid int, by bounds)
	program               string // that decodes large pictures
	wait, complete, apart time.Duration
	needed                bool // a picture that others keep from being decoded is refused
}

// newDecoders makes decoders; bind bounds a program that they have started.
func newDecoders(pools Pools, bind func(ctx context.Context, pid int, by bounds)) *decoders {
	return &decoders{pools: pools, bind: bind, program: ownProgram(), wait: waitTime, complete: decodeTime, apart: apartTime}
}

// patient are the same decoders for a picture that can't be sent without being decoded.
func (d *decoders) patient() *decoders {
	patient := *d
	patient.wait, patient.complete, patient.needed = 10*d.wait, 10*d.complete, true //nolint:mnd // still within the time of a request
	patient.apart = max(d.apart, patient.complete)
	return &patient
}

// decode makes something of a picture. It returns nothing for a picture that is too large, can't be
// decoded, or takes too long: such a picture is sent without a thumbnail. Its error is the end of ctx;
// of patient decoders also Unavailable, while others have all the room.
func (d *decoders) decode(ctx context.Context, file *os.File, about probe.Picture, made rendition) ([]byte, error) {
	weight := weightOf(about)
	if weight == 0 {
		return nil, nil
	}
	room, takes, apart := d.pools.Memory, weight+apartHeap, weight > smallWeight
	if !apart {
		room, takes = d.pools.Small, weight
	}
	if room.Largest() < takes {
		return nil, nil
	}
	place, memory, err := d.admit(ctx, room, takes)
	defer place.Release()
	defer memory.Release()
	switch {
	case err == nil:
	case d.needed && isBusy(err):
		return nil, err
	default:
		return nil, ended(ctx)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("media: seek in image: %w", err)
	}
	if apart {
		out, started := d.decodeApart(ctx, file, about, made, weight)
		if started {
			return out, ended(ctx)
		}
	}
	deadline, stop := context.WithTimeout(ctx, d.complete)
	defer stop()
	decoded, _, err := image.Decode(&stoppableReader{from: share.Yield(bufio.NewReaderSize(file, 64<<10)), stopped: deadline.Err})
	if err != nil {
		// It took too long, or it is an animated WebP, an unknown variant, or
		// incomplete.
		return nil, ended(ctx)
	}
	return made.of(decoded, about.Orientation)
}

// admit waits for the turn of a picture that takes so much memory. The caller releases what it returns, also after
// an error.
func (d *decoders) admit(ctx context.Context, room *share.Pool, takes int64) (place, memory *share.Taken, err error) {
	if place, err = d.pools.Decoding.WaitAtMost(ctx, 1, d.wait); err != nil {
		return place, nil, err
	}
	memory, err = room.WaitAtMost(ctx, takes, d.wait)
	return place, memory, err
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
