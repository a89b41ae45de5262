// The files of a gateway in a backup, from the data folder or from a bucket. They look the same in a
// backup, so that it can be restored to either.

package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/media/folder"
)

// absentName is the entry that lists the files that are left out: a size, a space and a name on each line.
const absentName = "absent"

// ErrFilesElsewhere is the error for a gateway whose files are not in its data folder, if nobody has said
// where they are.
var ErrFilesElsewhere = errors.New("this gateway has kept files at a place of its own (--media-url): name it here as well, also to leave them out with --without-files; " +
	"if they are in the data folder again, name that: --media-url file:///PATH")

const maxDescription = 64 << 10

// storeOf returns the store that a name belongs to, and its key there.
func storeOf(stores *filestore.Stores, name string) (media.Store, string) {
	first, key, _ := strings.Cut(name, "/")
	if first == copying.Folders()[0] {
		return stores.Fetched, key
	}
	return stores.Queued, key
}

// spool returns a temporary file, for what does not fit into memory.
func spool() (file *os.File, remove func() error, err error) {
	// In the image the gateway makes this folder, but it may never have run on this volume.
	if err := os.MkdirAll(os.TempDir(), 0o700); err != nil {
		return nil, nil, err
	}
	if file, err = os.CreateTemp("", "recado-archive-*"); err != nil {
		return nil, nil, err
	}
	return file, func() error { return errors.Join(file.Close(), os.Remove(file.Name())) }, nil
}

// files writes the files, or their names.
func (w *writer) files(ctx context.Context) error {
	if w.elsewhere && w.config.Files == nil && !w.config.Named {
		return ErrFilesElsewhere
	}
	if w.config.Files == nil && !w.config.WithoutFiles {
		return copying.EachFile(ctx, w.config.Folder, w.file)
	}
	// A listing must not take as long as copying the files does, so it comes first.
	names, remove, err := spool()
	if err != nil {
		return err
	}
	err = w.list(ctx, names)
	if err == nil {
		_, err = names.Seek(0, io.SeekStart)
	}
	if err == nil && w.config.WithoutFiles {
		err = w.absent(names)
	} else if err == nil {
		lines := bufio.NewScanner(names)
		for err == nil && lines.Scan() {
			_, name, _ := strings.Cut(lines.Text(), " ")
			err = w.stored(ctx, name)
		}
		err = errors.Join(err, lines.Err())
	}
	return errors.Join(err, remove())
}

// list writes the size and the name of each file.
func (w *writer) list(ctx context.Context, to io.Writer) error {
	lines := bufio.NewWriter(to)
	if w.config.Files == nil {
		err := copying.EachFile(ctx, w.config.Folder, func(name string) error {
			info, err := os.Stat(filepath.Join(w.config.Folder, filepath.FromSlash(name)))
			if errors.Is(err, fs.ErrNotExist) || strings.HasSuffix(name, media.Described) {
				return nil
			}
			if err == nil {
				_, err = fmt.Fprintf(lines, "%d %s\n", info.Size(), name)
			}
			return err
		})
		return errors.Join(err, lines.Flush())
	}
	for _, first := range copying.Folders() {
		store, _ := storeOf(w.config.Files, first+"/")
		for file, err := range store.List(ctx, "") {
			if err == nil {
				_, err = fmt.Fprintf(lines, "%d %s\n", file.Size, path.Join(first, file.Key))
			}
			if err != nil {
				return fmt.Errorf("list the files: %w", err)
			}
		}
	}
	return lines.Flush()
}

// absent writes which files are left out.
func (w *writer) absent(names *os.File) error {
	info, err := names.Stat()
	if err != nil {
		return err
	}
	if err := w.tar.WriteHeader(&tar.Header{Name: absentName, Mode: fileMode, Size: info.Size(), ModTime: w.report.Created}); err != nil {
		return err
	}
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(names, io.MultiWriter(w.tar, sum)))
	for lines.Scan() {
		w.report.Absent++
	}
	w.end.Absent = hex.EncodeToString(sum.Sum(nil))
	return lines.Err()
}

// stored writes a file of a store, and its description as a folder has it. It fetches the whole file first,
// so that one that is deleted meanwhile does not break the backup.
func (w *writer) stored(ctx context.Context, name string) (err error) {
	store, key := storeOf(w.config.Files, name)
	blob, err := store.Get(ctx, key)
	if gateway.KindOf(err) == gateway.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	content, remove, err := spool()
	if err != nil {
		return errors.Join(err, blob.Close())
	}
	defer func() { err = errors.Join(err, remove()) }()
	size, err := io.Copy(content, blob)
	err = errors.Join(err, blob.Close())
	if gateway.KindOf(err) == gateway.NotFound {
		return nil
	}
	if err == nil && size != blob.Size {
		err = fmt.Errorf("%s has %d bytes instead of %d", name, size, blob.Size)
	}
	if err == nil {
		_, err = content.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	if err := w.content(name, size, blob.Created, content); err != nil {
		return err
	}
	about, err := folder.Describe(blob.BlobMeta)
	if err != nil {
		return err
	}
	return w.content(name+media.Described, int64(len(about)), blob.Created, bytes.NewReader(about))
}

// undescribed is a file from a backup whose description has not come yet.
type undescribed struct {
	file   *os.File
	remove func() error
}

// write writes a file from a backup into the folder, or into a store as soon as its description has come. A
// file without a description is not complete.
func (r *restoring) write(ctx context.Context, name string, content io.Reader) error {
	if r.files == nil {
		return copying.WriteFile(filepath.Join(r.folder, filepath.FromSlash(name)), content)
	}
	described, is := strings.CutSuffix(name, media.Described)
	if !is {
		file, remove, err := spool()
		if err != nil {
			return err
		}
		r.undescribed[name] = undescribed{file, remove}
		_, err = io.Copy(file, content)
		return err
	}
	text, err := io.ReadAll(io.LimitReader(content, maxDescription))
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, content) // the rest belongs to the checksum too
	from, found := r.undescribed[described]
	if !found {
		return nil
	}
	delete(r.undescribed, described)
	return errors.Join(r.store(ctx, described, text, from.file), from.remove())
}

func (r *restoring) store(ctx context.Context, name string, description []byte, from *os.File) error {
	meta, err := folder.ReadDescription(description)
	if err != nil {
		return err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	store, key := storeOf(r.files, name)
	_, err = store.Write(ctx, key, meta, func(file *os.File) error {
		_, err := io.Copy(file, from)
		return err
	})
	return err
}

func (r *restoring) discard() error {
	var errs []error
	for _, one := range r.undescribed {
		errs = append(errs, one.remove())
	}
	clear(r.undescribed)
	return errors.Join(errs...)
}

// absent reads the names of the files that the backup leaves out, and counts those that are missing.
func (r *reader) absent() error {
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(r.tar, sum))
	for lines.Scan() {
		size, name, found := strings.Cut(lines.Text(), " ")
		length, err := strconv.ParseInt(size, 10, 64)
		if !found || err != nil || !isFileName(name) {
			return damaged("%q is no line of the files that are left out", lines.Text())
		}
		r.report.Absent++
		if r.to == nil {
			continue
		}
		there, err := r.to.has(r.ctx, name, length)
		if err != nil {
			return err
		}
		if !there {
			r.report.Missing++
		}
	}
	r.found.Absent = hex.EncodeToString(sum.Sum(nil))
	return lines.Err()
}

// has reports whether a file is where the gateway will look for it, with its size.
func (r *restoring) has(ctx context.Context, name string, size int64) (bool, error) {
	if r.files == nil {
		info, err := os.Stat(filepath.Join(r.folder, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil && info.Size() == size, err
	}
	store, key := storeOf(r.files, name)
	meta, err := store.Stat(ctx, key)
	if gateway.KindOf(err) == gateway.NotFound {
		return false, nil
	}
	return err == nil && meta.Size == size, err
}

// isFileName reports whether a backup may have a file of that name.
func isFileName(name string) bool {
	first, _, found := strings.Cut(name, "/")
	return found && filepath.IsLocal(filepath.FromSlash(name)) && slices.Contains(copying.Folders(), first)
}
