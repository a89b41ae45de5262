package media

import (
	"context"
	"io"

	"github.com/recado-project/recado/internal/media/probe"
)

// measureTracks reads the headers of the containers that are cheap to read, and
// asks ffprobe, if there is one, about all others. A file that neither can read is
// no error; it has no tracks.
func (s *Service) measureTracks(ctx context.Context, file *File, about examined) (probe.Tracks, error) {
	found, err := file.tracks(about.sniffed)
	if err != nil {
		return probe.Tracks{}, err
	}
	if (found.Audio || found.Video) && found.Duration > 0 {
		return found, nil
	}
	probed, err := s.tool.probe(ctx, file.content.path())
	if err != nil {
		return probe.Tracks{}, err
	}
	if probed.Audio || probed.Video {
		return probed, nil
	}
	return found, nil
}

// tracks reads the headers of the content, which is of a media type.
func (f *File) tracks(mimeType string) (found probe.Tracks, err error) {
	err = f.content.read(func(content io.ReadSeeker) (err error) {
		found, err = probe.ReadTracks(content, mimeType)
		return err
	})
	return found, err
}
