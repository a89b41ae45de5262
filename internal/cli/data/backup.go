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
	"github.com/recado-project/recado/internal/movein"
)

// BackupCommand writes a backup while the gateway works.
type BackupCommand struct {
	Place
	File   string `arg:"" help:"File to make, or an existing folder in which a file is made that has the time in its name." type:"path"`
	Verify bool   `help:"Read the backup again afterwards, and compare its checksums." env:"-"`
}

// Run makes the backup, and prints what is in it.
func (c BackupCommand) Run(ctx context.Context, t terminal.Terminal) error {
	if err := c.missing(); err != nil {
		return err
	}
	if info, err := os.Stat(c.File); err == nil && info.IsDir() {
		c.File = filepath.Join(c.File, "recado-"+t.Now().UTC().Format("20060102T150405Z")+".tar.gz")
	}
	config := archive.Config{
		Data: c.config(t.Logger), Folder: c.Data, Program: t.Version, Now: t.Now,
	}
	report, err := archive.Write(ctx, config, c.File)
	if err != nil {
		return err
	}
	if c.Verify {
		if _, err := archive.Verify(ctx, c.File); err != nil {
			return err
		}
	}
	return printBackup(t, c.File, report)
}

// printBackup prints what a backup has.
func printBackup(t terminal.Terminal, file string, report archive.Report) error {
	value := struct {
		archive.Report

		File string `json:"file"`
	}{report, file}
	return t.Print(value, fmt.Sprintf("%s: %d rows and %d files, made at %s by recado %s",
		file, report.Rows, report.Files, report.Created.UTC().Format(time.RFC3339), report.Program))
}

// RestoreCommand restores a backup.
type RestoreCommand struct {
	Place
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
	report, err := archive.Restore(ctx, c.File, config, c.Data)
	if err != nil {
		return err
	}
	t.Notef("what came after the backup is lost here: messages, events, API keys that were revoked since are valid again. " +
		"Devices stay linked; their conversations begin anew, so phones may send a message a second time before it can be read")
	return printBackup(t, c.File, report)
}
