// Moving in from a program on whatsmeow, as a whole.

package movein

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/store"
)

// tempFolder is the folder for temporary files in the data folder. A gateway that starts
// empties it.
const tempFolder = "tmp"

// Config says what moves from where to where. All fields are required but the two that say
// yes or no.
type Config struct {
	From    string // a SQLite file, or the URL of a PostgreSQL database
	Stopped bool   // the other program is stopped, whatever it looks like
	DryRun  bool   // nothing is written, and the data need not exist

	Data    store.Config
	Account string // name of the account that gets the instances; it is made if it is missing
	Logger  *slog.Logger
	Now     func() time.Time
}

// FromWhatsmeow imports all devices of a program on whatsmeow (Import), while no gateway
// works with the data. Its error is ErrGatewayRuns if one does, and an *InUseError if the
// other program seems to run.
func FromWhatsmeow(ctx context.Context, config Config, report func(Result)) (err error) {
	source := SourceConfig{From: config.From, Stopped: config.Stopped, Logger: config.Logger}
	to := ImportConfig{Now: config.Now}
	if !config.DryRun {
		release, refused := Take(ctx, config.Data)
		if refused != nil {
			return refused
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	if folder := filepath.Dir(config.Data.Path); config.Data.Path != "" {
		if _, err := os.Stat(folder); err == nil { // a dry run makes none
			source.TempDir = filepath.Join(folder, tempFolder)
		}
	}
	if to.Source, err = OpenWhatsmeow(ctx, source); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Source.Close()) }()
	if config.DryRun {
		return Import(ctx, to, report)
	}
	opened, err := store.Open(ctx, config.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	service, err := access.New(access.Config{Store: opened, Now: config.Now})
	if err != nil {
		return err
	}
	account, err := service.EnsureAccount(ctx, config.Account)
	if err != nil {
		return err
	}
	to.Store, to.AccountID = opened, account.ID
	return Import(ctx, to, report)
}
