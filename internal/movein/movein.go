// Moving in from another program, as a whole.

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

// Config says what moves from where to where. Keys and Redis may be empty; all other fields but Stopped and
// DryRun are required.
type Config struct {
	From    string // a file, a folder, or the URL of a PostgreSQL database
	Keys    string // where Evolution API keeps keys: its folder instances
	Redis   string // or the URL of its Redis server
	Stopped bool   // the operator says that the other program is stopped
	DryRun  bool   // nothing is written, and the data need not exist

	Data    store.Config
	Account string // name of the account that gets the instances; it is made if it is missing
	Logger  *slog.Logger
	Now     func() time.Time
}

// FromWhatsmeow imports all devices of a program on whatsmeow (Import), while no gateway
// works with the data. Its error is ErrGatewayRuns if one does, and an *InUseError if the
// other program seems to run.
func FromWhatsmeow(ctx context.Context, config Config, report func(Result)) error {
	return moveAll(ctx, config, OpenWhatsmeow, report)
}

// FromBaileys does for a folder of a program on Baileys what FromWhatsmeow does.
func FromBaileys(ctx context.Context, config Config, report func(Result)) error {
	return moveAll(ctx, config, OpenBaileys, report)
}

// FromEvolution does for the database of Evolution API what FromWhatsmeow does.
func FromEvolution(ctx context.Context, config Config, report func(Result)) error {
	return moveAll(ctx, config, OpenEvolution, report)
}

func moveAll(ctx context.Context, config Config, open func(context.Context, SourceConfig) (*Source, error), report func(Result)) (err error) {
	source := SourceConfig{From: config.From, Keys: config.Keys, Redis: config.Redis, Stopped: config.Stopped, Logger: config.Logger}
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
	if to.Source, err = open(ctx, source); err != nil {
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
