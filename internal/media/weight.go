// What work on media takes, which is known before it begins, and what all of it shares.

package media

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"math"
	"runtime"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media/probe"
	"github.com/recado-project/recado/internal/share"
)

const (
	// DefaultMaxMemory is enough for one account to convert a video of 3840x2160 pixels with ten bits.
	DefaultMaxMemory = 480 << 20
	// fetchesAtOnce is how many files are fetched at a time, from the platform and from URLs.
	fetchesAtOnce = 64
	// smallRoom is the memory for small pictures, which never wait for large ones: for one at least of
	// an account that comes after another has taken all it may.
	smallRoom = 4 * smallWeight
)

// Pools are what all work on media shares. It is safe for concurrent use.
type Pools struct {
	Work     *share.Pool // places of conversions
	Decoding *share.Pool // places of pictures that are decoded, in this process
	Memory   *share.Pool // bytes that both take
	Small    *share.Pool // bytes that small pictures take
	Fetches  *share.Pool // places of files that are fetched
}

// newPools makes pools with so many bytes of memory; 0 means DefaultMaxMemory.
func newPools(memory int64) Pools {
	return Pools{
		Work: share.New(share.Config{
			Name: "work", Total: int64(runtime.GOMAXPROCS(0)/toolThreads() + 1), Whole: true,
			What: "files in conversion", Advice: "try again in a moment, or send what phones open as it is",
		}),
		// One account leaves a processor to the requests of the others.
		Decoding: share.New(share.Config{
			Name: "decoding", Total: int64(max(2, runtime.GOMAXPROCS(0))), Whole: true,
			What: "pictures being decoded", Advice: "try again in a moment",
		}),
		Memory: share.New(share.Config{
			Name: "media_memory", Total: cmp.Or(memory, DefaultMaxMemory), Whole: true,
			What: "bytes of memory in use for pictures and conversions", Advice: "try again in a moment, or send smaller files",
		}),
		Small: share.New(share.Config{
			Name: "small_pictures", Total: smallRoom, Whole: true,
			What: "bytes of memory in use for small pictures", Advice: "try again in a moment",
		}),
		Fetches: share.New(share.Config{
			Name: "fetches", Total: fetchesAtOnce,
			What: "files being fetched", Advice: "wait until some of them are there",
		}),
	}
}

// Pools are what the service shares among its callers.
func (s *Service) Pools() Pools { return s.pools }

// toolThreads is how many threads a run of ffmpeg has: as many runs as there are places, but one, keep all
// processors busy.
func toolThreads() int { return min(max(1, runtime.GOMAXPROCS(0)/4), 4) }

// need is what a run of ffmpeg or ffprobe may take.
type need struct {
	memory int64         // in bytes; it can't have more
	time   time.Duration // it is stopped then
	wait   time.Duration // for its turn; 0 means as long as the pools allow
}

const (
	// soundMemory is what ffmpeg takes for sound, and ffprobe for anything.
	soundMemory = 64 << 20
	// videoMemory is what ffmpeg takes for a video beside its pictures, and leastVideoMemory the least that
	// it gets: headers may say less than there is.
	videoMemory      = 48 << 20
	leastVideoMemory = 96 << 20

	// startTime is the usual tool.start.
	startTime = 10 * time.Second
	// soundSpeed is how much faster than it plays sound is converted at least.
	soundSpeed = 30
	// longRun is what a run may take for its length that those of others go before: of sound of three minutes, for example.
	longRun = 6 * time.Second
	// drawSpeed is the same where sound is only read, for a waveform.
	drawSpeed = 300
	// thumbnailWait is how long a file may wait for its thumbnail, or its waveform. It is sent without.
	thumbnailWait = 2 * time.Second
)

// probing is the need of ffprobe.
func (t *tool) probing() need { return need{memory: soundMemory, time: t.within(t.start)} }

// soundOf is the need of a conversion of sound that plays so long.
func (t *tool) soundOf(length time.Duration) need {
	run := need{memory: soundMemory, time: t.timeout}
	if length > 0 {
		run.time = t.within(t.start + length/soundSpeed)
	}
	return run
}

// longestSound is how long sound may play that is converted: longer ones would take too long.
func (t *tool) longestSound() time.Duration { return t.timeout * soundSpeed }

// within is a time that is not longer than any run may take.
func (t *tool) within(wanted time.Duration) time.Duration { return min(wanted, t.timeout) }

// videoOf is the need of a run that reads a video and makes one of that size.
func (t *tool) videoOf(found probe.Tracks, made image.Point) need {
	const (
		madeBytes    = 100 // of a pixel that is encoded: pictures that the encoder looks ahead at
		convertSpeed = 1 << 20
	)
	pixels := float64(found.Width) * float64(found.Height)
	kept := float64(referencePictures(found) + toolThreads() + 1)
	memory := float64(videoMemory) + pixels*bytesPerPixel(found)*kept + float64(made.X)*float64(made.Y)*madeBytes
	run := need{memory: max(leastVideoMemory, int64(min(memory, math.MaxInt32*1024))), time: t.timeout}
	if found.Duration > 0 && found.Duration < t.timeout {
		run.time = t.within(t.start + time.Duration(float64(found.Duration)*max(1, pixels/convertSpeed)))
	}
	return run
}

// referencePictures is how many pictures of a video a decoder keeps to make others of them.
func referencePictures(found probe.Tracks) int {
	const (
		macroblock = 16 * 16
		mostBlocks = 184_320 // that decoders of level 5.1 keep (H.264, table A-1)
		most       = 16
	)
	least := 4
	switch codec := found.Codec(); codec {
	case codecH264:
	case "hevc", "vp9", "av1":
		least = 6
	case "gif":
		return 1
	default:
		return 2
	}
	return min(max(least, mostBlocks*macroblock/max(1, found.Width*found.Height)), most)
}

// bytesPerPixel is what a pixel of a video takes, where its header does not say so: that of 4:2:0, with ten
// bits where that is usual.
func bytesPerPixel(found probe.Tracks) float64 {
	switch {
	case found.BytesPerPixel > 0:
		return found.BytesPerPixel
	case found.Codec() == "hevc":
		return 3
	default:
		return 1.5
	}
}

// errTooHeavy is the error for a file that takes more memory than there is for it.
var errTooHeavy = errors.New("media: the file takes too much memory")

// fits reports whether there can ever be room for a run.
func (p Pools) fits(run need) bool { return run.memory <= p.Memory.Largest() }

// tooLargeToConvert says how large a video may not be.
func tooLargeToConvert(found probe.Tracks) string {
	return fmt.Sprintf("is too large to convert, with %dx%d pixels: make it smaller", found.Width, found.Height)
}

// isBusy reports whether work was refused because others have the room for it now.
func isBusy(err error) bool { return gateway.KindOf(err) == gateway.Unavailable }
