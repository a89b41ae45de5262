// Files move from one place to another.

package filestore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
)

// Copy copies all files of one place to another, and returns how many there are. A file that is
// there already, with its size, is left alone, so a call that was interrupted can be repeated.
func Copy(ctx context.Context, from, to Stores) (files int, err error) {
	for _, both := range [][2]media.Store{{from.Fetched, to.Fetched}, {from.Queued, to.Queued}} {
		copied, err := copyStore(ctx, both[0], both[1])
		files += copied
		if err != nil {
			return files, fmt.Errorf("media: copy files: %w", err)
		}
	}
	return files, nil
}

// copyStore writes the names into a file first: a store is listed in one go, which the copies
// would take too long for, and there may be too many for the memory.
func copyStore(ctx context.Context, from, to media.Store) (files int, err error) {
	names, err := os.CreateTemp("", "recado-copy-*")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, names.Close(), os.Remove(names.Name())) }()
	list := bufio.NewWriter(names)
	for file, err := range from.List(ctx, "") {
		if err == nil {
			_, err = list.WriteString(file.Key + "\n") // a key has no line break
		}
		if err != nil {
			return 0, err
		}
	}
	if err := list.Flush(); err != nil {
		return 0, err
	}
	if _, err := names.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(names)
	for lines.Scan() {
		if err := copyFile(ctx, from, to, lines.Text()); err != nil {
			return files, err
		}
		files++
	}
	return files, lines.Err()
}

func copyFile(ctx context.Context, from, to media.Store, key string) (err error) {
	blob, err := from.Get(ctx, key)
	if gateway.KindOf(err) == gateway.NotFound {
		return nil // it was not complete, or is gone
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blob.Close()) }()
	there, err := to.Stat(ctx, key)
	switch {
	case err == nil && there.Size == blob.Size:
		return nil
	case err != nil && gateway.KindOf(err) != gateway.NotFound:
		return err
	}
	size, err := to.Write(ctx, key, media.BlobMeta{MimeType: blob.MimeType, FileName: blob.FileName}, func(file *os.File) error {
		_, err := io.Copy(file, blob)
		return err
	})
	if err == nil && size != blob.Size {
		err = fmt.Errorf("%s has %d bytes instead of %d", key, size, blob.Size)
	}
	return err
}
