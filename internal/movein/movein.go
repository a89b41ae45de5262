// Package movein takes linked devices over from other gateways, and hands them out again:
// the link to the phone stays, and nobody scans a code. The command line calls it, on data
// that no gateway works with meanwhile.
package movein

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/recado-project/recado/internal/access"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/store"
	"github.com/recado-project/recado/internal/store/claim"
)

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

// FromWhatsmeow makes an instance of each device of a program on whatsmeow, while no gateway works with the
// data; the next start of the gateway connects it. It reports a device that can't be read, or that is here
// already, with its Problem, and goes on with the others. It calls report after each device, and can be
// called again after an interruption. Its error is ErrGatewayRuns if a gateway works with the data, and an
// *InUseError if the other program seems to run.
func FromWhatsmeow(ctx context.Context, config Config, report func(Result)) error {
	return moveAll(ctx, config, (*source).openWhatsmeow, report)
}

// FromBaileys does for the folder of a device of a program on Baileys, or a folder of such folders, what
// FromWhatsmeow does.
func FromBaileys(ctx context.Context, config Config, report func(Result)) error {
	return moveAll(ctx, config, (*source).openBaileys, report)
}

// FromEvolution does for the database of Evolution API (From), with its keys in the folder Keys or on the
// server Redis, what FromWhatsmeow does.
func FromEvolution(ctx context.Context, config Config, report func(Result)) error {
	return moveAll(ctx, config, (*source).openEvolution, report)
}

func moveAll(
	ctx context.Context, config Config, open func(*source, context.Context, Config) (foreign, error), report func(Result),
) (err error) {
	if !config.DryRun {
		release, refused := Take(ctx, config.Data)
		if refused != nil {
			return refused
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	s := new(source)
	defer func() { err = errors.Join(err, s.close()) }()
	m := &moving{now: config.Now, here: map[string]gateway.Instance{}, names: map[string]bool{}}
	if m.from, err = open(s, ctx, config); err != nil {
		return err
	}
	if config.DryRun {
		return m.all(ctx, report)
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
	m.store, m.accountID = opened, account.ID
	return m.all(ctx, report)
}

// ErrGatewayRuns is the error for data that a gateway works with.
var ErrGatewayRuns = errors.New("a gateway runs on this data: stop it first, and start it again afterwards")

// claimWait is how long to wait for the claim of a PostgreSQL database: that of a gateway that has just ended
// may last for a moment.
const claimWait = 5 * time.Second

// Take keeps gateways away from the data until release is called. Its error is
// ErrGatewayRuns if one works with it.
func Take(ctx context.Context, data store.Config) (release func() error, err error) {
	if data.URL == "" {
		release, err := claim.TakeFolder(filepath.Dir(data.Path))
		if errors.Is(err, claim.ErrFolderTaken) {
			return nil, ErrGatewayRuns
		}
		return release, err
	}
	ctx, cancel := context.WithTimeout(ctx, claimWait)
	defer cancel()
	taken, err := claim.Take(ctx, data.URL, data.Logger)
	if errors.Is(err, claim.ErrTaken) {
		return nil, ErrGatewayRuns
	}
	if err != nil {
		return nil, err
	}
	return taken.Close, nil
}
