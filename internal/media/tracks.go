package media

import (
	"context"
	"io"
	"math"
	"os"
	"strings"
	"time"
)

// tracks is what a container of sound and moving pictures holds.
type tracks struct {
	audio, video  bool
	opus          bool // the sound is Opus, and there is nothing else
	duration      time.Duration
	width, height int // as shown
}

// maxSeconds bounds the length that a header may claim: a year.
const maxSeconds = 366 * 24 * 60 * 60

// seconds returns the length in whole seconds, at least 1 where it is known.
func (t tracks) seconds() int {
	if t.duration <= 0 {
		return 0
	}
	return max(1, int(math.Round(t.duration.Seconds())))
}

// seconds makes a duration of what a header claims; 0 for nonsense.
func seconds(units, perSecond float64) time.Duration {
	length := units / perSecond
	if !(length > 0 && length <= maxSeconds) {
		return 0
	}
	return time.Duration(length * float64(time.Second))
}

// measureTracks reads the headers of the containers that are cheap to read, and
// asks ffprobe, where there is one, about all others. What nobody can read is no
// error, and has no tracks.
func (s *Service) measureTracks(ctx context.Context, file *File, about examined) (tracks, error) {
	var found tracks
	if parse := trackParser(about.sniffed); parse != nil {
		if err := file.content.read(func(content *os.File) (err error) {
			found, err = parse(content)
			return err
		}); err != nil {
			return tracks{}, err
		}
	}
	if (found.audio || found.video) && found.duration > 0 {
		return found, nil
	}
	probed, err := s.tool.probe(ctx, file.content.path())
	if err != nil {
		return tracks{}, err
	}
	if probed.audio || probed.video {
		probed.opus = found.opus
		return probed, nil
	}
	return found, nil
}

// trackParser returns the reader of a container's headers. Its error is a
// failure to read the file, never what the file holds.
func trackParser(mimeType string) func(io.ReadSeeker) (tracks, error) {
	switch {
	case mimeType == "audio/ogg", mimeType == "video/ogg", mimeType == "application/ogg":
		return parseOgg
	case mimeType == "audio/wav":
		return parseWAV
	case mimeType == "audio/mp4", mimeType == "video/quicktime", mimeType == "video/mp4", strings.HasPrefix(mimeType, "video/3gpp"):
		return parseMP4
	default:
		return nil
	}
}
