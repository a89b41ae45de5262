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
	"time"

	_ "golang.org/x/image/webp"

	"github.com/recado-project/recado/internal/media/eighth"
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

// decode makes something of a picture: a thumbnail of an eighth of it, if that is large enough. It
// returns nothing for a picture that is too large, can't be decoded, or takes too long: such a picture is sent without a thumbnail. Its error is the end of ctx;
// of patient decoders also Unavailable, while others have all the room.
func (d *decoders) decode(ctx context.Context, file io.ReadSeeker, about probe.Picture, made rendition) ([]byte, error) {
	if weight := weightOfEighth(about); weight > 0 && made == asThumbnail {
		if out, done, err := d.decodeEighth(ctx, file, about, weight); done || err != nil {
			return out, err
		}
	}
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
	decoded, _, err := image.Decode(readUntil(deadline, file))
	if err != nil {
		// It took too long, or it is an animated WebP, an unknown variant, or
		// incomplete.
		return nil, ended(ctx)
	}
	return made.of(decoded, about.Orientation)
}

// decodeEighth makes a thumbnail of a JPEG without decoding most of it. done is false for an unusual file, which may be decoded as
// a whole.
func (d *decoders) decodeEighth(ctx context.Context, file io.ReadSeeker, about probe.Picture, weight int64) (out []byte, done bool, err error) {
	place, memory, err := d.admit(ctx, d.pools.Small, weight)
	defer place.Release()
	defer memory.Release()
	if err != nil {
		return nil, true, ended(ctx)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, false, fmt.Errorf("media: seek in image: %w", err)
	}
	deadline, stop := context.WithTimeout(ctx, d.complete)
	defer stop()
	small, err := eighth.Decode(readUntil(deadline, file), int(weight))
	if err != nil {
		return nil, deadline.Err() != nil, ended(ctx)
	}
	out, err = thumbnailOf(small, image.Pt(about.Width, about.Height), about.Orientation)
	return out, true, err
}

// weightOfEighth returns how many bytes of memory it takes to decode a JPEG at an eighth of its size; 0 for a picture of which
// that is too small for a thumbnail, or too large.
func weightOfEighth(p probe.Picture) int64 {
	const more = 4 // blocks that the last unit may have beyond the picture
	if p.Scans < 1 || p.Scans > probe.MaxScans || max(p.Width, p.Height) < 8*thumbnailSide {
		return 0
	}
	weight := 3 * int64(p.Width/8+more) * int64(p.Height/8+more)
	if weight > smallWeight {
		return 0
	}
	return weight
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

// readUntil reads a file until a context ends.
func readUntil(ctx context.Context, file io.Reader) io.Reader {
	return &stoppableReader{from: share.Yield(bufio.NewReaderSize(file, 64<<10)), stopped: ctx.Err}
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
