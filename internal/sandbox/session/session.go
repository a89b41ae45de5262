// Package session serves the clients that are connected. It lets them log in,
// delivers stanzas that wait for them, takes their messages and receipts, and
// answers their requests.
package session

import (
	"context"
	"log/slog"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/fault"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/link"
	"github.com/recado-project/recado/internal/sandbox/load"
	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/sandbox/presence"
	"github.com/recado-project/recado/internal/sandbox/receipt"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// Service serves clients. It is safe for concurrent use.
type Service struct {
	config Config

	db       *sqlite.DB
	now      func() time.Time
	acks     *ackSweeper
	iqs      iqTable
	answered *wire.Counter
}

// Config is what a Service needs.
type Config struct {
	Accounts    *account.Directory
	Groups      *group.Book
	Linking     *link.Service
	Presences   *presence.Service
	Receipts    *receipt.Service
	Faults      *fault.Service
	Load        *load.Phones // nil unless the server runs for load tests
	Authority   *noise.Authority
	Connections *wire.Set
	Logger      *slog.Logger
	Unknown     *wire.Counter                // counts unknown requests
	Requests    []map[string]account.Handler // the handlers of other packages

	// Welcome is called when a device has received everything that had waited for
	// it. Rename changes the name that an account gives itself.
	Welcome func(ctx context.Context, linked *account.Device) error

	// Call takes what a device says about a call.
	Call   func(ctx context.Context, linked *account.Device, n waBinary.Node) error
	Rename func(ctx context.Context, of *account.Account, name string) error
	// Channel takes what a device sends to a channel. It returns the number of the post, or
	// the code with which it is refused.
	Channel func(ctx context.Context, linked *account.Device, n waBinary.Node) (number, refusal int, err error)
}

// New returns the service.
func New(config Config) *Service {
	return &Service{
		config: config, db: config.Accounts.DB, now: config.Accounts.Now,
		acks: newAckSweeper(config.Accounts.DB), iqs: newIQTable(config.Requests...), answered: wire.NewCounter(),
	}
}

// Run deletes stanzas that clients have acknowledged. It blocks until ctx ends.
func (s *Service) Run(ctx context.Context) { s.ackWorker(ctx) }

// Flush deletes stanzas that clients had acknowledged before the call.
func (s *Service) Flush(ctx context.Context) error { return s.acks.flush(ctx) }
