// Package archive makes backups of a gateway's data while it works, and restores them, on
// either database. A backup is one compressed tar file: all tables as they were at one
// moment, and the files that messages have, with checksums of everything.
package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/store"
)

// The names in the tar file, in their order.
const (
	headName    = "head.json"
	tableFolder = "tables/" // tables/messages/000001
	fileFolder  = "files/"  // files/media/…
	endName     = "end.json"

	format = 1

	// partBytes is about how many bytes of rows are in one part of a table.
	partBytes = 4 << 20

	fileMode = 0o600

	// storageSecret is the name of the secret that a gateway makes when its files are not in the data folder.
	storageSecret = "files"
)

// head is the beginning of a backup.
type head struct {
	Format  int       `json:"format"`
	Version int       `json:"version"` // of the newest migration
	Created time.Time `json:"created"`
	Program string    `json:"program"`
	Tables  []table   `json:"tables"`
}

type table struct {
	Name    string           `json:"name"`
	Columns []copying.Column `json:"columns"`
}

// end is the last entry: a backup without it is not complete.
type end struct {
	Tables map[string]string `json:"tables"` // the sum of the rows, by name
	Files  map[string]string `json:"files"`  // SHA-256, by name
	// Absent is the SHA-256 of the list of files that are left out; empty if there is none.
	Absent string `json:"absent,omitempty"`
}

// Config says what is backed up.
type Config struct {
	Data   store.Config
	Folder string // of the gateway's files
	// Files are the stores of a bucket where the gateway keeps its files; nil: they are in Folder.
	// Named says that somebody has said where they are.
	Files *filestore.Stores
	Named bool
	// WithoutFiles leaves them out: the backup has only their names and sizes.
	WithoutFiles bool
	Program      string // version of this program
	Now          func() time.Time
}

// Report is what a backup has.
type Report struct {
	Created time.Time `json:"created"`
	Version int       `json:"version"`
	Program string    `json:"program"`
	Rows    int64     `json:"rows"`
	Files   int       `json:"files"`
	// Absent are the files that were left out, Missing those of them that were not where a
	// restored gateway looks for them.
	Absent  int `json:"absent,omitempty"`
	Missing int `json:"missing,omitempty"`

	filesOwner string // of the file storage; empty if the database names none
}

// Write writes a backup to a new file, whole or not at all. A gateway may work with the data
// meanwhile: the tables are as they were at one moment, and the files as they were shortly
// after. A file that was deleted in between is left out.
func Write(ctx context.Context, config Config, path string) (report Report, err error) {
	if _, err := os.Lstat(path); err == nil {
		return report, fmt.Errorf("%s exists already: name a new file", path)
	}
	source, err := copying.OpenSource(ctx, config.Data)
	if err != nil {
		return report, err
	}
	closeSource := sync.OnceValue(func() error { return source.Close(ctx) })
	defer func() { err = errors.Join(err, closeSource()) }()
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, fileMode) //nolint:gosec // the operator names the file
	if err != nil {
		return report, fmt.Errorf("write the backup: %w", err)
	}
	packed, err := gzip.NewWriterLevel(file, gzip.BestSpeed) // files of messages are compressed already
	if err != nil {
		return report, errors.Join(err, file.Close())
	}
	w := &writer{config: config, source: source, closeSource: closeSource, tar: tar.NewWriter(packed), end: end{Tables: map[string]string{}, Files: map[string]string{}}}
	err = w.write(ctx)
	if err == nil {
		err = errors.Join(w.tar.Close(), packed.Close(), file.Sync())
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return report, fmt.Errorf("write the backup: %w", errors.Join(err, os.Remove(part)))
	}
	if err := os.Rename(part, path); err != nil {
		return report, fmt.Errorf("write the backup: %w", err)
	}
	return w.report, syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	folder, err := os.Open(path) //nolint:gosec // the operator names the file in it
	if err != nil {
		return fmt.Errorf("write the backup: %w", err)
	}
	_ = folder.Sync() // not every file system can
	return folder.Close()
}

type writer struct {
	config Config
	source copying.Source
	// closeSource ends the snapshot of the database. It may be called twice.
	closeSource func() error

	tar    *tar.Writer
	end    end
	report Report
	// elsewhere says that the gateway has once kept its files outside of the data folder: its
	// database then has a secret for that.
	elsewhere bool
}

func (w *writer) write(ctx context.Context) error {
	h := head{Format: format, Created: w.config.Now().UTC(), Program: w.config.Program}
	var err error
	if h.Version, err = w.source.Version(ctx); err != nil {
		return err
	}
	if h.Version == 0 {
		return errors.New("there is no gateway data in this database")
	}
	for _, name := range copying.Tables() {
		columns, err := w.source.Columns(ctx, name)
		if err != nil {
			return err
		}
		if columns != nil { // an earlier version has fewer tables
			h.Tables = append(h.Tables, table{name, columns})
		}
	}
	w.report = Report{Created: h.Created, Version: h.Version, Program: h.Program}
	if err := w.encode(headName, h); err != nil {
		return err
	}
	for _, t := range h.Tables {
		if err := w.table(ctx, t); err != nil {
			return err
		}
	}
	// A snapshot keeps the database from clearing up, and files may take hours.
	if err := w.closeSource(); err != nil {
		return err
	}
	if err := w.files(ctx); err != nil {
		return err
	}
	return w.encode(endName, w.end)
}

func (w *writer) encode(name string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return w.entry(name, content)
}

func (w *writer) entry(name string, content []byte) error {
	if err := w.tar.WriteHeader(&tar.Header{Name: name, Mode: fileMode, Size: int64(len(content)), ModTime: w.report.Created}); err != nil {
		return err
	}
	_, err := w.tar.Write(content)
	return err
}

// table writes the rows of a table in parts that fit into memory.
func (w *writer) table(ctx context.Context, t table) error {
	var sum copying.Sum
	var part []byte
	parts := 0
	write := func() error {
		parts++
		err := w.entry(fmt.Sprintf("%s%s/%06d", tableFolder, t.Name, parts), part)
		part = part[:0]
		return err
	}
	for row, err := range w.source.Rows(ctx, t.Name, t.Columns) {
		if err == nil {
			err = sum.Add(row)
		}
		if err == nil {
			w.elsewhere = w.elsewhere || t.Name == "secrets" && slices.Contains(row, any(storageSecret))
			part, err = copying.AppendRow(part, row)
		}
		if err == nil && len(part) >= partBytes {
			err = write()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if len(part) > 0 {
		if err := write(); err != nil {
			return err
		}
	}
	w.end.Tables[t.Name] = sum.Text()
	w.report.Rows += sum.Rows
	return nil
}

// file writes a file of the data folder.
func (w *writer) file(name string) error {
	file, err := os.Open(filepath.Join(w.config.Folder, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was deleted meanwhile
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return w.content(name, info.Size(), info.ModTime(), file)
}

func (w *writer) content(name string, size int64, at time.Time, from io.Reader) error {
	if err := w.tar.WriteHeader(&tar.Header{Name: fileFolder + name, Mode: fileMode, Size: size, ModTime: at}); err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w.tar, sum), from); err != nil {
		return err
	}
	w.end.Files[name] = hex.EncodeToString(sum.Sum(nil))
	w.report.Files++
	return nil
}
