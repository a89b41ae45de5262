// Package probe reads the headers of media files: their length, their size and their
// tracks. The files come from strangers, so everything that it reads is bounded, and a
// header that makes no sense leads to zero values. It decodes no content. Package media
// calls it.
package probe

import (
	"io"
	"math"
	"strings"
	"time"
)

// Tracks is what a container of audio and video holds.
type Tracks struct {
	Audio, Video bool
	// AudioCodec and VideoCodec are how they are written, by the names that ffmpeg has for them, such
	// as aac, opus and h264; empty if that is not known. One that few devices can play, such as H.264
	// with ten bits, has more words in its name.
	AudioCodec, VideoCodec string

	Duration      time.Duration
	Width, Height int // as a viewer shows the video
	// BytesPerPixel is what a pixel of the video takes in memory; 0 if that is not known.
	BytesPerPixel float64
}

// Codec is the first word of VideoCodec.
func (t Tracks) Codec() string {
	codec, _, _ := strings.Cut(t.VideoCodec, " ")
	return codec
}

// ReadTracks reads the headers of an Ogg, WAV, MP4, QuickTime or 3GPP file. It returns
// no tracks for other media types, and for a file that can't be understood. Its error
// is a failure to read the file.
func ReadTracks(file io.ReadSeeker, mimeType string) (Tracks, error) {
	switch {
	case mimeType == "audio/ogg", mimeType == "video/ogg", mimeType == "application/ogg":
		return readOgg(file)
	case mimeType == "audio/wav":
		return readWAV(file)
	case mimeType == "audio/mpeg":
		return readMPEG(file)
	case mimeType == "audio/mp4", mimeType == "video/quicktime", mimeType == "video/mp4", strings.HasPrefix(mimeType, "video/3gpp"):
		return readMP4(file)
	default:
		return Tracks{}, nil
	}
}

// Seconds returns the duration in whole seconds, at least 1 if it is known.
func (t Tracks) Seconds() int {
	if t.Duration <= 0 {
		return 0
	}
	return max(1, int(math.Round(t.Duration.Seconds())))
}

// maxSeconds bounds the length that a header may claim: a year.
const maxSeconds = 366 * 24 * 60 * 60

// Duration returns how long so many units last; 0 for a length that makes no sense,
// such as a negative one or one of more than a year.
func Duration(units, perSecond float64) time.Duration {
	seconds := units / perSecond
	if !(seconds > 0 && seconds <= maxSeconds) {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}
