// To which database the files of a place belong.

package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/bucket"
	"github.com/recado-project/recado/internal/media/folder"
)

// ownerKey is the file, beside the stores, that names the owner of a place.
const ownerKey = "owner"

const maxOwner = 100

var (
	// ErrNotThePlace is the error for a place that nobody owns, where the files of a database are
	// not: they have a place already.
	ErrNotThePlace = errors.New("media: the files of this database have a place, and this is not it: the file \"" + ownerKey + "\" is missing here. Is it mounted? " +
		"If the place is new, start once with --media-url-is-new; messages in the queue wait until their files are there")
	// ErrOthersPlace is the error for a place of another database: each would remove the files
	// of the other's messages.
	ErrOthersPlace = errors.New("media: the files at --media-url belong to another database, and each would remove the files of the other: " +
		"choose another folder or prefix, or remove the file \"" + ownerKey + "\" there if that database is no longer used")
)

// home is where the file with the owner's name is.
type home struct {
	read  func(ctx context.Context) (string, error) // its error is NotFound if there is none
	write func(ctx context.Context, owner string) error
}

// claim makes the owner of config the owner of a place that has none, if it may be one where
// nothing was kept yet. Its error is ErrNotThePlace, ErrOthersPlace, or Unavailable for a place
// that can't be reached now.
func claim(ctx context.Context, at home, config Config) error {
	found, err := at.read(ctx)
	if gateway.KindOf(err) == gateway.NotFound && (config.New || !config.Known) {
		if err = at.write(ctx, config.Owner); err == nil {
			found, err = at.read(ctx) // another one may have come at the same time
		}
	}
	switch {
	case gateway.KindOf(err) == gateway.NotFound:
		return ErrNotThePlace
	case err != nil:
		return fmt.Errorf("media: find out to whom the place of files belongs: %w", err)
	case found != config.Owner:
		return ErrOthersPlace
	}
	return nil
}

// Claim makes the owner of config the owner of the place, and fails if it is not, as Open does.
func (p Location) Claim(ctx context.Context, config Config) error {
	return p.atHome(ctx, config, func(at home) error { return claim(ctx, at, config) })
}

// Owner returns the name of the owner of the place; empty if there is none. The Owner, Known and
// New of config do not matter.
func (p Location) Owner(ctx context.Context, config Config) (owner string, err error) {
	err = p.atHome(ctx, config, func(at home) error {
		owner, err = at.read(ctx)
		if gateway.KindOf(err) == gateway.NotFound {
			return nil
		}
		return err
	})
	return owner, err
}

func (p Location) atHome(ctx context.Context, config Config, do func(at home) error) error {
	if p.bucket.Bucket == "" {
		return do(homeFolder(p.Folder(config.DataDir), p.Shared()))
	}
	connected, err := p.connect(ctx, config)
	if err != nil {
		return err
	}
	defer connected.Close()
	return do(homeBucket(connected.Store(p.prefix, nil)))
}

// homeFolder reads without opening the folder as a store, which would leave something in one
// that is not the place.
func homeFolder(path string, shared bool) home {
	return home{
		read: func(context.Context) (string, error) {
			content, err := os.ReadFile(filepath.Join(path, ownerKey)) //nolint:gosec // the operator names the folder
			if errors.Is(err, fs.ErrNotExist) {
				return "", media.NoBlob()
			}
			return string(content), err
		},
		write: func(ctx context.Context, owner string) error {
			whole, err := folder.Open(folder.Config{Path: path, Shared: shared})
			if err != nil {
				return err
			}
			return errors.Join(writeOwner(ctx, whole, owner), whole.Close())
		},
	}
}

func homeBucket(whole *bucket.Store) home {
	return home{
		read: func(ctx context.Context) (owner string, err error) {
			file, err := whole.Get(ctx, ownerKey)
			if err != nil {
				return "", err
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			content, err := io.ReadAll(io.LimitReader(file, maxOwner))
			return string(content), err
		},
		write: func(ctx context.Context, owner string) error { return writeOwner(ctx, whole, owner) },
	}
}

func writeOwner(ctx context.Context, whole media.Store, owner string) error {
	_, err := whole.Write(ctx, ownerKey, media.BlobMeta{MimeType: "text/plain"}, func(file *os.File) error {
		_, err := file.WriteString(owner)
		return err
	})
	return err
}
