// The files that belong to the data.

package copying

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folders returns the folders of a data folder whose files belong to the data: those of
// messages that were fetched, and of messages that wait to be sent.
func Folders() []string { return []string{"media", "queue"} }

const (
	folderMode = 0o700
	fileMode   = 0o600
)

// EachFile calls each with the path of every complete file in the folders of a data folder, relative to
// the data folder and with slashes.
func EachFile(ctx context.Context, data string, each func(path string) error) error {
	for _, folder := range Folders() {
		err := filepath.WalkDir(filepath.Join(data, folder), func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // there are no files, or it was deleted meanwhile
			}
			if err != nil || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			if strings.HasPrefix(entry.Name(), ".") { // not complete yet
				if entry.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if !entry.Type().IsRegular() {
				return nil
			}
			below, err := filepath.Rel(data, path)
			if err != nil {
				return err
			}
			return each(filepath.ToSlash(below))
		})
		if err != nil {
			return fmt.Errorf("read the files: %w", err)
		}
	}
	return nil
}

// CopyFiles copies the files of a data folder into another one, and returns how many there
// are. A file that is there already is left alone.
func CopyFiles(ctx context.Context, from, to string) (files int, err error) {
	err = EachFile(ctx, from, func(path string) error {
		files++
		target := filepath.Join(to, filepath.FromSlash(path))
		if _, err := os.Stat(target); err == nil {
			return nil
		}
		source, err := os.Open(filepath.Join(from, filepath.FromSlash(path))) //nolint:gosec // a file in the folder that the operator names
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }()
		return WriteFile(target, source)
	})
	return files, err
}

// WriteFile writes a file, whole or not at all, and its folders where they are missing.
func WriteFile(path string, content io.Reader) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, fileMode) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, path)
}
