// Backups, and what is restored from them.

package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/archive"
	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/copying"
	"github.com/recado-project/recado/internal/media/filestore"
	"github.com/recado-project/recado/internal/movein"
)

// BackupCommand writes a backup while the gateway works.
type BackupCommand struct {
	Location
	filesFlag
	WithoutFiles bool   `help:"Leave the files out: the backup has only their names and sizes. For files in a bucket that has copies of its own." env:"-"`
	File         string `arg:"" help:"File to make, or an existing folder in which a file is made that has the time in its name." type:"path"`
	Verify       bool   `help:"Read the backup again afterwards, and compare its checksums." env:"-"`
}

// Run makes the backup, and prints what is in it.
func (c BackupCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if err := c.missing(); err != nil {
		return err
	}
	if info, err := os.Stat(c.File); err == nil && info.IsDir() {
		c.File = filepath.Join(c.File, "recado-"+t.Now().UTC().Format("20060102T150405Z")+".tar.gz")
	}
	if err := c.ours(ctx, c.Location); err != nil {
		return err
	}
	folder, files, err := c.open(ctx, c.Data)
	if err != nil {
		return err
	}
	config := archive.Config{
		Data: c.config(t.Logger), Folder: folder, Program: t.Version, Now: t.Now,
		Files: files, Named: c.MediaURL != "", WithoutFiles: c.WithoutFiles,
	}
	report, err := archive.Write(ctx, config, c.File)
	if err := errors.Join(err, closeFiles(files)); err != nil {
		return err
	}
	if c.Verify {
		if _, err := archive.Verify(ctx, c.File); err != nil {
			return err
		}
	}
	if err := copying.NoteBackup(ctx, config.Data, t.Now()); err != nil {
		t.Notef("the backup is made; %s, so the metrics don't know of it", err)
	}
	return printBackup(t, c.File, report)
}

// printBackup prints the content of a backup.
func printBackup(t terminal.Terminal, file string, report archive.Report) error {
	value := struct {
		archive.Report

		File string `json:"file"`
	}{report, file}
	without := ""
	if report.Absent > 0 {
		without = fmt.Sprintf(", without %d files", report.Absent)
	}
	return t.Print(value, fmt.Sprintf("%s: %d rows and %d files%s, made at %s by recado %s",
		file, report.Rows, report.Files, without, report.Created.UTC().Format(time.RFC3339), report.Program))
}

// filesFlag says where the files are if they are not in the data folder.
type filesFlag struct {
	MediaURL string `help:"Where files are kept instead of in the data folder, as for recado serve." name:"media-url"`
}

// ours fails if the database knows another owner of the file storage: a backup of a wrong folder would be one
// without files.
func (f filesFlag) ours(ctx context.Context, data Location) error {
	if f.MediaURL == "" {
		return nil // archive.ErrFilesElsewhere
	}
	known, err := data.filesOwner(ctx)
	if err != nil || known == "" {
		return err
	}
	return f.claim(ctx, filestore.Config{DataDir: data.Data, Owner: known, Known: true})
}

// claim makes a file storage that of a database.
func (f filesFlag) claim(ctx context.Context, config filestore.Config) error {
	at, err := f.location()
	if err != nil {
		return err
	}
	return at.Claim(ctx, config)
}

// location is where the files are. It makes the folder of temporary files: in the image the gateway does, but it may
// never have run on this volume.
func (f filesFlag) location() (filestore.Location, error) {
	at, err := filestore.Parse(f.MediaURL)
	if err != nil {
		return at, terminal.WrongUsage("--media-url %s", err)
	}
	return at, os.MkdirAll(os.TempDir(), 0o700)
}

// open returns the folder of the files, or for a bucket its stores, which the caller closes.
func (f filesFlag) open(ctx context.Context, data string) (folder string, files *filestore.Stores, err error) {
	at, err := f.location()
	if err != nil {
		return "", nil, err
	}
	if folder = at.Folder(data); folder == "" {
		opened, err := at.Open(ctx, filestore.Config{})
		return "", &opened, err
	}
	if f.MediaURL != "" {
		if _, err := os.Stat(folder); err != nil {
			return "", nil, fmt.Errorf("the shared folder of files can't be used (is it mounted?): %w", err)
		}
	}
	return folder, nil, nil
}

func closeFiles(files *filestore.Stores) error {
	if files == nil {
		return nil
	}
	return errors.Join(files.Fetched.Close(), files.Queued.Close())
}

// RestoreCommand restores a backup.
type RestoreCommand struct {
	Location
	filesFlag
	File   string `arg:"" help:"The backup." type:"existingfile"`
	Verify bool   `help:"Only read the backup and compare its checksums; nothing is written." env:"-"`
}

// Run restores, and says what is lost.
func (c RestoreCommand) Run(ctx context.Context, t terminal.Terminal) (err error) {
	if c.Verify {
		report, err := archive.Verify(ctx, c.File)
		if err != nil {
			return err
		}
		return printBackup(t, c.File, report)
	}
	config := c.config(t.Logger)
	release, err := movein.Take(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	folder, files, err := c.open(ctx, c.Data)
	if err != nil {
		return err
	}
	own := func(ctx context.Context, owner string) error {
		return c.claim(ctx, filestore.Config{DataDir: c.Data, Owner: owner, New: true})
	}
	report, err := archive.Restore(ctx, c.File, config, folder, files, own)
	if err := errors.Join(err, closeFiles(files)); err != nil {
		return err
	}
	if report.Missing > 0 {
		t.Notef("%d of the %d files that the backup leaves out are not where the gateway looks for them: those of messages are fetched again "+
			"if the platform still has them, those that wait to be sent fail", report.Missing, report.Absent)
	}
	t.Notef("what came after the backup is lost here: messages, events, API keys that were revoked since are valid again. " +
		"Devices stay linked; their conversations begin anew, so phones may send a message a second time before it can be read")
	return printBackup(t, c.File, report)
}
