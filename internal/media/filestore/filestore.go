// Package filestore reads where files are kept, as an operator names it, and opens it: the data
// folder, or a location that several processes share. The program that puts itself together
// calls it.
package filestore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/bucket"
	"github.com/recado-project/recado/internal/media/folder"
)

// The names of what is kept at a place.
const (
	fetched = "media"
	queued  = "queue"
)

// Location is where files are kept. Its zero value is the data folder.
type Location struct {
	folder string // a folder that is shared; "" for none
	bucket bucket.Config
	prefix string // in the bucket; "" or with a slash at its end
}

// Parse reads the address of a place. "" is the data folder, file:///path a folder that
// processes share, s3://bucket/prefix a bucket (parseBucket). The error says what is wrong with an address, without the address: it
// may have a secret.
func Parse(address string) (Location, error) {
	if address == "" {
		return Location{}, nil
	}
	parsed, err := url.Parse(address)
	if err != nil {
		return Location{}, errors.New("is not a URL")
	}
	switch parsed.Scheme {
	case "file":
		return parseFolder(parsed)
	case "s3":
		return parseBucket(parsed)
	default:
		return Location{}, errors.New("must begin with s3:// or file:///")
	}
}

func parseFolder(address *url.URL) (Location, error) {
	switch {
	case address.Host != "" || !filepath.IsAbs(address.Path) || filepath.Clean(address.Path) == "/":
		return Location{}, errors.New("must name a folder by its whole path, as in file:///srv/recado")
	case address.User != nil || address.RawQuery != "" || address.Fragment != "":
		return Location{}, errors.New("must be a path and nothing else, as in file:///srv/recado")
	}
	return Location{folder: filepath.Clean(address.Path)}, nil
}

// Shared reports whether several processes may use the place at the same time.
func (p Location) Shared() bool { return p.folder != "" || p.bucket.Bucket != "" }

// Folder is the folder in which the files are, given the data folder; empty for a bucket.
func (p Location) Folder(data string) string {
	switch {
	case p.bucket.Bucket != "":
		return ""
	case p.folder != "":
		return p.folder
	default:
		return data
	}
}

// Config is what a place needs to be opened.
type Config struct {
	DataDir string                   // the data folder
	TempDir string                   // the folder for temporary files
	Owner   string                   // names the database whose files they are; "": nothing is checked
	Known   bool                     // that database has a place already: one that nobody owns is not it
	New     bool                     // but somebody has said that this is a new one
	Logger  *slog.Logger             // nil: nothing is logged
	Now     func() time.Time         // nil: the wall clock
	Synced  func(took time.Duration) // of each wait for the disk of a folder; nil: nobody is told
}

// Stores are what is kept at a place. Who opened them closes both.
type Stores struct {
	Fetched media.Store // files of messages that were fetched
	Queued  media.Store // files of messages that wait to be sent
	// Owned says that the place has the name of its owner. It is false if nothing was checked, or
	// if the place can't be reached now.
	Owned bool
}

// Open opens the place. A shared folder must exist: one that is missing is more likely a
// file system that is not mounted. A bucket must be there for us, if its store can be
// reached at all. A place with an owner must be ours: else the error is ErrNotThePlace or
// ErrOthersPlace. If a shared place goes away afterwards, or is another one by then, its stores
// are Unavailable until it is back.
func (p Location) Open(ctx context.Context, config Config) (Stores, error) {
	if p.bucket.Bucket != "" {
		return p.openBucket(ctx, config)
	}
	at := p.Folder(config.DataDir)
	if p.folder != "" {
		if _, err := os.Stat(at); err != nil {
			return Stores{}, fmt.Errorf("media: the shared folder of files can't be used (is it mounted?): %w", err)
		}
	}
	if config.Owner != "" {
		if err := claim(ctx, homeFolder(at, p.Shared()), config); err != nil {
			return Stores{}, err
		}
	}
	open := func(name string) (media.Store, error) {
		settings := folder.Config{Path: filepath.Join(at, name), Shared: p.Shared(), Now: config.Now, Synced: config.Synced}
		if config.Owner == "" || !p.Shared() {
			return folder.Open(settings)
		}
		return (&mounted{at: at, config: settings, owner: config.Owner, logger: config.Logger}).attend(ctx)
	}
	first, err := open(fetched)
	if err != nil {
		return Stores{}, err
	}
	second, err := open(queued)
	if err != nil {
		return Stores{}, errors.Join(err, first.Close())
	}
	return Stores{Fetched: first, Queued: second, Owned: config.Owner != ""}, nil
}
