// Package platform is the sandbox's platform server: it speaks the real wire
// protocol with real clients, and simulates the phones that those clients are
// linked to and write to.
//
// It is not a model of one client: what it expects and answers is what the
// protocol's two known client implementations need. Signal, pairing, app state
// and the transport are packages of their own; HTTP around it, control API
// included, is the business of the sandbox, its only caller.
//
// The database is the truth. Whatever was acknowledged to a client or to a
// caller is committed, together with what is still to be delivered.
package platform

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/sandbox/mediahost"
	"github.com/recado-project/recado/internal/sandbox/noise"
	"github.com/recado-project/recado/internal/sqlite"
)

// Config holds the settings of a Server.
type Config struct {
	Path      string           // the database file; a folder for media is made beside it
	Seed      *[32]byte        // the root key's seed; nil: drawn once and kept in the database
	Load      bool             // for load tests: phones neither decrypt nor keep messages
	ReadDelay time.Duration    // after which a phone reads a message; 0: one second
	Now       func() time.Time // nil: the system's clock
	Logger    *slog.Logger     // nil: nothing is logged
}

// Server is the platform. It is safe for concurrent use.
type Server struct {
	db        *sqlite.DB
	authority *noise.Authority
	logger    *slog.Logger
	now       func() time.Time
	readDelay time.Duration

	directory   *directory
	connections *connections
	pending     *pendings
	mailboxes   *mailboxes
	acks        *ackSweeper
	reads       *readClock
	faults      *faults
	groups      *groupBook
	media       *mediahost.Host
	files       *files
	presences   *presences
	activities  *activities
	observers   *observerCache
	load        *loadPhones // nil unless the server runs for load tests
	iqs         iqTable
	unknown     *iqCounter
	answered    *iqCounter
}

// New opens the database and restores what it holds. It starts nothing: Run
// does.
func New(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default of the clock that everything takes
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.ReadDelay == 0 {
		cfg.ReadDelay = time.Second
	}
	db, err := sqlite.Open(ctx, cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("platform: %w", err)
	}
	s, err := newServer(ctx, cfg, db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func newServer(ctx context.Context, cfg Config, db *sqlite.DB) (*Server, error) {
	if err := migrate(ctx, db); err != nil {
		return nil, err
	}
	seed, err := rootSeed(ctx, db, cfg.Seed)
	if err != nil {
		return nil, err
	}
	authority, err := noise.NewAuthority(seed, cfg.Now())
	if err != nil {
		return nil, fmt.Errorf("platform: %w", err)
	}
	host, kept, err := openMedia(cfg.Path)
	if err != nil {
		return nil, err
	}
	s := &Server{
		db: db, authority: authority, logger: cfg.Logger, now: cfg.Now, readDelay: cfg.ReadDelay,
		directory:   newDirectory(db, cfg.Now),
		connections: newConnections(),
		pending:     newPendings(),
		mailboxes:   newMailboxes(),
		acks:        newAckSweeper(db),
		reads:       newReadClock(),
		faults:      newFaults(),
		groups:      newGroupBook(db),
		media:       host,
		files:       kept,
		presences:   newPresences(),
		activities:  newActivities(cfg.Now),
		observers:   newObserverCache(),
		iqs:         newIQTable(),
		unknown:     newIQCounter(),
		answered:    newIQCounter(),
	}
	if cfg.Load {
		s.load = newLoadPhones()
	}
	if err := s.restore(ctx); err != nil {
		return nil, errors.Join(err, s.closeMedia())
	}
	return s, nil
}

// RootKey returns the public key that clients have to trust.
func (s *Server) RootKey() [32]byte { return s.authority.RootKey() }

// Now returns the time on the server's clock.
func (s *Server) Now() time.Time { return s.now() }

// Run does the background work: phones deal with what they receive and read it.
// It blocks until ctx ends, closes all connections then, and returns nil when
// nothing runs any more. It is called once.
func (s *Server) Run(ctx context.Context) error {
	// What connections still bring while they close is to be dealt with.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var workers sync.WaitGroup
	for range mailboxWorkers {
		workers.Go(func() { s.mailboxWorker(work) })
	}
	workers.Go(func() { s.readWorker(work) })
	workers.Go(func() { s.ackWorker(work) })
	if s.load != nil {
		workers.Go(func() { s.loadReader(work) })
	}
	<-ctx.Done()
	s.connections.shutdown()
	stop()
	workers.Wait()
	return s.acks.flush(context.WithoutCancel(ctx))
}

// Close closes the connections that are still open, and the database. Run must
// have returned.
func (s *Server) Close() error {
	s.connections.shutdown()
	if err := errors.Join(s.db.Close(), s.closeMedia()); err != nil {
		return fmt.Errorf("platform: close: %w", err)
	}
	return nil
}

// ServeWebsocket serves one client for as long as it is connected.
func (s *Server) ServeWebsocket(w http.ResponseWriter, r *http.Request) {
	s.accept(w, r)
}
