// To which database the files of a shared place belong.

package place

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

// ownerKey is the file, beside the stores, that names the owner of a place.
const ownerKey = "owner"

const maxOwner = 100

// claim makes owner the owner of a place that has none, and fails if it has another one:
// each would remove the files of the other's messages. A place that can't be reached now
// is not refused.
func claim(ctx context.Context, at media.Store, owner string) error {
	found, err := readOwner(ctx, at)
	if gateway.KindOf(err) == gateway.NotFound {
		_, err = at.Write(ctx, ownerKey, media.BlobMeta{MimeType: "text/plain"}, func(file *os.File) error {
			_, err := file.WriteString(owner)
			return err
		})
		if err == nil {
			found, err = readOwner(ctx, at) // another one may have come at the same time
		}
	}
	switch {
	case gateway.KindOf(err) == gateway.Unavailable:
		return nil
	case err != nil:
		return fmt.Errorf("media: find out to whom the place of files belongs: %w", err)
	case found != owner:
		return errors.New("media: the files at --media-url belong to another database, and each would remove the files of the other: " +
			"choose another folder or prefix, or remove the file \"" + ownerKey + "\" there if that database is no longer used")
	}
	return nil
}

func readOwner(ctx context.Context, at media.Store) (owner string, err error) {
	file, err := at.Get(ctx, ownerKey)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err := io.ReadAll(io.LimitReader(file, maxOwner))
	return string(content), err
}
