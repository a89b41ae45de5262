// The file storage, and the programs that measure and convert files.

package doctor

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
)

// files checks whether files can be stored.
func (e *examination) files(ctx context.Context) []Finding {
	const name = "files"
	at := e.config.Server.MediaLocation
	if !at.Shared() {
		if _, err := os.Stat(e.config.Server.DataDir); err != nil {
			return []Finding{ok(name, "they will be in the data folder, which is not there yet")}
		}
	}
	presigned, err := at.Probe(ctx, filestore.Config{DataDir: e.config.Server.DataDir, TempDir: os.TempDir(), Now: e.config.Now})
	switch {
	case errors.Is(err, filestore.ErrPresigned):
		return []Finding{warning(name, "let clients reach the endpoint, or add links=served to --media-url: then the gateway serves the files itself",
			"a file can be written, read and removed, but from this machine %s", err)}
	case err != nil && ctx.Err() != nil:
		return []Finding{wrong(name, "see whether the store of files can be reached from this machine", "there was no answer in time: %s", err)}
	case err != nil:
		return []Finding{wrong(name, "see whether --media-url is right, and whether the gateway may write there", "they can't be kept: %s", err)}
	case presigned:
		return append(e.ownFiles(ctx), ok(name, "a file was written, read, fetched by a presigned URL, and removed"))
	}
	return append(e.ownFiles(ctx), ok(name, "a file was written, read and removed"))
}

// ownFiles checks whether the storage is the one that the database knows.
func (e *examination) ownFiles(ctx context.Context) []Finding {
	const name = "place of files"
	if e.database == nil {
		return nil
	}
	known, err := e.database.FilesOwner(ctx, e.isPostgres())
	if err != nil {
		return []Finding{warning(name, "see to the database first", "whose files are there can't be compared: %s", err)}
	}
	at := e.config.Server.MediaLocation
	if known == "" && !at.Shared() {
		return nil
	}
	owner, err := at.Owner(ctx, filestore.Config{DataDir: e.config.Server.DataDir, TempDir: os.TempDir()})
	const mounted = "mount the folder, or correct --media-url; if the place is new, start once with --media-url-is-new"
	switch {
	case err != nil:
		return []Finding{wrong(name, "see whether --media-url is right, and whether the gateway may read there", "the name of its owner can't be read: %s", err)}
	case known == "":
		return []Finding{ok(name, "the database knows none yet; the next start of the gateway notes it")}
	case owner == "":
		return []Finding{wrong(name, mounted, "the files of this database have a place, and this is not it: a gateway does not start with it, and messages with a file wait")}
	case owner != known:
		return []Finding{wrong(name, mounted, "the files there belong to another database")}
	}
	return []Finding{ok(name, "it is the one that the database knows")}
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
