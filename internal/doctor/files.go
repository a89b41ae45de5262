// The place of files, and the programs that measure and convert them.

package doctor

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/place"
)

// files says whether files can be kept.
func (e *examination) files(ctx context.Context) []Finding {
	const name = "files"
	at := e.config.Server.MediaPlace
	if !at.Shared() {
		if _, err := os.Stat(e.config.Server.DataDir); err != nil {
			return []Finding{ok(name, "they will be in the data folder, which is not there yet")}
		}
	}
	presigned, err := at.Probe(ctx, place.Config{DataDir: e.config.Server.DataDir, TempDir: os.TempDir(), Now: e.config.Now})
	switch {
	case errors.Is(err, place.ErrPresigned):
		return []Finding{warning(name, "let clients reach the endpoint, or add links=served to --media-url: then the gateway serves the files itself",
			"a file can be written, read and removed, but from this machine %s", err)}
	case err != nil && ctx.Err() != nil:
		return []Finding{wrong(name, "see whether the store of files can be reached from this machine", "there was no answer in time: %s", err)}
	case err != nil:
		return []Finding{wrong(name, "see whether --media-url is right, and whether the gateway may write there", "they can't be kept: %s", err)}
	case presigned:
		return []Finding{ok(name, "a file was written, read, fetched by a presigned URL, and removed")}
	}
	return []Finding{ok(name, "a file was written, read and removed")}
}

// ffmpeg says whether media can be measured and converted.
func (*examination) ffmpeg(ctx context.Context) []Finding {
	const name = "ffmpeg"
	const install = "install it: apt install ffmpeg; the image of recado has it, but for the one called slim"
	tools, err := media.CheckTools(ctx)
	switch {
	case err != nil:
		return []Finding{warning(name, install, "%s", err)}
	case tools.FFmpeg == "":
		return []Finding{warning(name, install, "there is none: files that phones do not play are refused, and videos have no thumbnail")}
	case len(tools.Missing) > 0:
		return []Finding{warning(name, "install one that was built with them", "%s lacks %s: some files are not converted", tools.FFmpeg, strings.Join(tools.Missing, ", "))}
	case tools.FFprobe == "":
		return []Finding{warning(name, "install ffprobe beside it", "%s has no ffprobe beside it: videos are sent without their length", tools.FFmpeg)}
	}
	return []Finding{ok(name, "%s, version %s", tools.FFmpeg, tools.Version)}
}
