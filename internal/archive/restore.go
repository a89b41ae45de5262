// A backup is read: to check it, or to restore it.

package archive

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// ErrDamaged is the error for a file that is not a whole backup.
var ErrDamaged = errors.New("this is not a whole backup")

// maxJSON bounds the head and the end of a backup.
const maxJSON = 256 << 20

// Verify reads a whole backup and compares its checksums. Its error is ErrDamaged if
// anything is missing or not as it was written.
func Verify(ctx context.Context, path string) (Report, error) {
	return read(ctx, path, nil)
}

// Restore fills an empty database with a backup, and a folder with its files, or the stores of a bucket if
// files is not nil. It restores the tables in one transaction, all of them or none, and can be repeated
// after an interruption. It leaves out what a device must not use again (keys.KeptOverRestore). No gateway
// may work with the data. If own is not nil and the database names an owner of the file storage, Restore
// calls own before it writes anything.
func Restore(
	ctx context.Context, path string, to store.Config, folder string, files *filestore.Stores, own func(ctx context.Context, owner string) error,
) (Report, error) {
	// Whatever is wrong with it is found before anything is written.
	found, err := Verify(ctx, path)
	if err == nil && found.filesOwner != "" && own != nil {
		err = own(ctx, found.filesOwner)
	}
	if err != nil {
		return Report{}, err
	}
	return read(ctx, path, &restoring{to: to, folder: folder, files: files, undescribed: map[string]undescribed{}})
}

// restoring is where a backup goes.
type restoring struct {
	to     store.Config
	folder string
	files  *filestore.Stores // nil: the files go into the folder
	target copying.Target
	// undescribed are the files whose description has not come yet.
	undescribed map[string]undescribed
}

func read(ctx context.Context, path string, to *restoring) (report Report, err error) {
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return report, fmt.Errorf("read the backup: %w", err)
	}
	defer func() { _ = file.Close() }()
	packed, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return report, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r := &reader{ctx: ctx, packed: packed, tar: tar.NewReader(packed), to: to, found: end{Tables: map[string]string{}, Files: map[string]string{}}}
	if to != nil {
		defer func() {
			if to.target != nil {
				err = errors.Join(err, to.target.Close(ctx))
			}
			err = errors.Join(err, to.discard())
		}()
	}
	if err := r.read(); err != nil {
		return report, err
	}
	return r.report, nil
}

type reader struct {
	ctx    context.Context //nolint:containedctx // of the one call that it exists for
	packed io.Reader
	tar    *tar.Reader
	next   *tar.Header // the entry that is read next
	head   head
	found  end
	to     *restoring // nil: nothing is written
	report Report
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

// advance goes to the next entry; there always is one, because the end is the last.
func (r *reader) advance() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	entry, err := r.tar.Next()
	if err != nil {
		return damaged("it ends early: %w", err)
	}
	r.next = entry
	return nil
}

func (r *reader) read() error {
	if err := r.advance(); err != nil {
		return err
	}
	if r.next.Name != headName {
		return damaged("it begins with %q", r.next.Name)
	}
	if err := r.decode(&r.head); err != nil {
		return err
	}
	if r.head.Format != format {
		return fmt.Errorf("the backup has the format %d, and this program knows %d: it was made by a newer one", r.head.Format, format)
	}
	r.report = Report{Created: r.head.Created, Version: r.head.Version, Program: r.head.Program}
	if err := r.begin(); err != nil {
		return err
	}
	if err := r.advance(); err != nil {
		return err
	}
	for _, t := range r.head.Tables {
		if err := r.table(t); err != nil {
			return err
		}
	}
	for strings.HasPrefix(r.next.Name, fileFolder) {
		if err := r.file(strings.TrimPrefix(r.next.Name, fileFolder)); err != nil {
			return err
		}
		if err := r.advance(); err != nil {
			return err
		}
	}
	if r.next.Name == absentName {
		if err := r.absent(); err != nil {
			return err
		}
		if err := r.advance(); err != nil {
			return err
		}
	}
	return r.finish()
}

func (r *reader) decode(into any) error {
	content, err := io.ReadAll(io.LimitReader(r.tar, maxJSON))
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		return damaged("%s: %w", r.next.Name, err)
	}
	return nil
}

// begin opens the database to fill.
func (r *reader) begin() (err error) {
	for _, t := range r.head.Tables {
		if !slices.Contains(copying.Tables(), t.Name) {
			return fmt.Errorf("the backup has the table %q, which this program does not know: it was made by a newer one", t.Name)
		}
	}
	if r.to == nil {
		return nil
	}
	if err := r.to.isEmpty(r.ctx); err != nil {
		return err
	}
	if err := store.MigrateTo(r.ctx, r.to.to, r.head.Version); err != nil {
		return err
	}
	r.to.target, err = copying.OpenTarget(r.ctx, r.to.to)
	return err
}

// isEmpty returns copying.ErrNotEmpty if the database has data already, of whatever version.
func (r *restoring) isEmpty(ctx context.Context) (err error) {
	source, err := copying.OpenSource(ctx, r.to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close(ctx)) }()
	empty, err := copying.Empty(ctx, source)
	if err == nil && !empty {
		err = copying.ErrNotEmpty
	}
	return err
}

// table reads the rows of a table, and fills it with them.
func (r *reader) table(t table) error {
	var sum copying.Sum
	rows := func(yield func(copying.Row, error) bool) {
		sum = copying.Sum{}
		for strings.HasPrefix(r.next.Name, tableFolder+t.Name+"/") {
			if !r.part(t, &sum, yield) {
				return
			}
			if err := r.advance(); err != nil {
				yield(nil, err)
				return
			}
		}
	}
	if err := r.fill(t, rows); err != nil {
		return err
	}
	r.found.Tables[t.Name] = sum.Text()
	r.report.Rows += sum.Rows
	return nil
}

func (r *reader) fill(t table, rows copying.Rows) error {
	if r.to != nil {
		_, err := copying.FillTable(r.ctx, r.to.target, t.Name, t.Columns, rows)
		return err
	}
	for _, err := range rows {
		if err != nil {
			return err
		}
	}
	return nil
}

// part reads a part of a table, and reports whether to go on. It adds all rows to the sum,
// and yields those that are restored.
func (r *reader) part(t table, sum *copying.Sum, yield func(copying.Row, error) bool) bool {
	content := bufio.NewReader(r.tar)
	for {
		row, err := copying.ReadRow(content, len(t.Columns))
		if errors.Is(err, io.EOF) {
			return true
		}
		if err == nil {
			err = sum.Add(row)
		}
		if err == nil && t.Name == "file_place" {
			r.report.filesOwner = textIn(t, row, "owner")
		}
		if err != nil {
			yield(nil, damaged("%s: %w", r.next.Name, err))
			return false
		}
		if isRestored(t, row) && !yield(row, nil) {
			return false
		}
	}
}

func isRestored(t table, row copying.Row) bool {
	return t.Name != "device_keys" || keys.KeptOverRestore(textIn(t, row, "kind"))
}

// textIn returns the text that a row has in a column; empty if there is no such column.
func textIn(t table, row copying.Row, name string) string {
	column := slices.IndexFunc(t.Columns, func(column copying.Column) bool { return column.Name == name })
	if column < 0 {
		return ""
	}
	text, _ := row[column].(string)
	return text
}

// file reads a file, and writes it into the folder.
func (r *reader) file(name string) error {
	if !isFileName(name) {
		return damaged("%q is no name of a file", name)
	}
	sum := sha256.New()
	content := io.TeeReader(r.tar, sum)
	var err error
	if r.to == nil {
		if _, err := io.Copy(io.Discard, content); err != nil {
			return damaged("%s: %w", name, err)
		}
	} else {
		err = r.to.write(r.ctx, name, content)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.found.Files[name] = hex.EncodeToString(sum.Sum(nil))
	r.report.Files++
	return nil
}

// finish compares the checksums, and makes everything last.
func (r *reader) finish() error {
	if r.next.Name != endName {
		return damaged("%q is not expected", r.next.Name)
	}
	var wanted end
	if err := r.decode(&wanted); err != nil {
		return err
	}
	if !maps.Equal(wanted.Tables, r.found.Tables) || !maps.Equal(wanted.Files, r.found.Files) || wanted.Absent != r.found.Absent {
		return damaged("a checksum is another one")
	}
	if _, err := r.tar.Next(); !errors.Is(err, io.EOF) {
		return damaged("something is behind its end")
	}
	// At its end, the compressed stream has a checksum of everything.
	if _, err := io.Copy(io.Discard, r.packed); err != nil {
		return damaged("its last checksum: %w", err)
	}
	if r.to == nil {
		return nil
	}
	if err := r.to.target.Finish(r.ctx); err != nil {
		return err
	}
	return r.to.target.Commit(r.ctx)
}
