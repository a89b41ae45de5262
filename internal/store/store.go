// Package store stores the data of the program: accounts, API keys, users,
// instances, messages, events, number look-ups and idempotency records, in a SQLite
// file or in a PostgreSQL database.
//
// An exported method is one transaction, unless it says otherwise. There are no
// business rules here: the use cases decide what may happen, and call the store through
// ports of their own. The keys of linked devices are rows without a meaning here; the
// connector reads and writes them.
//
// An error that a client may see is a *gateway.Error, and the method's comment names it.
// Every other error is internal.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/cache"
	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store/census"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/labeltable"
	"github.com/recado-project/recado/internal/store/nodetable"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/usertable"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/store/webhooktable"
)

// defaultConns is how many connections to PostgreSQL are opened at most if the
// configuration does not say.
const defaultConns = 16

// Config says where the database is. Exactly one of Path and URL is set.
type Config struct {
	Path   string           // of the SQLite file; it and its folder are created if they are missing
	URL    string           // of the PostgreSQL database: postgres://…
	Conns  int              // to PostgreSQL at most; 0 means 16
	Logger *slog.Logger     // required
	Bell   *eventlog.Bell   // rung after each commit that appended events; may be nil
	Now    func() time.Time // nil means the wall clock; it stamps events and migrations
	// Fenced refuses every write for an instance whose context has no tenure
	// (gateway.WithTenure), or one that is over. It takes PostgreSQL.
	Fenced    bool
	Committed func(took time.Duration) // called after each write, with the time up to the commit; may be nil. It must not block
	// Migrating is called when migrations begin and end, and with whom they wait for; may be nil. It
	// must not block.
	Migrating func(under bool, waits string)
	// Master seals the secrets in the database (package vault). A database whose secrets are
	// sealed can't be opened without it. nil: they are plain.
	Master *seal.Key
}

// Store is the open database. What belongs to accounts, instances, messages and events is read and
// written by its own methods; the rest has parts, which are complete when the store is. All of it is
// safe for concurrent use.
type Store struct {
	Users           *usertable.Tables          // users of the dashboard, their sign-ins and passkeys, the audit list
	Nodes           *nodetable.Tables          // nodes and tenures, which only PostgreSQL has
	Presences       *Presences                 // subscriptions to the presence of contacts
	Templates       *Templates                 // messages that are prepared
	Labels          *labeltable.Tables         // which labels there are, and what has them
	Census          *census.Counter            // counts what is there
	Devices         *Devices                   // linked devices and their keys
	Webhooks        *webhooktable.Tables       // webhooks of instances and their deliveries
	AccountWebhooks *webhooktable.AccountTable // webhooks of accounts
	Chats           *chattable.Tables          // chats, and the search through the words of messages

	db     *instanceDatabase
	now    func() time.Time
	vault  *vault.Vault
	caches caches
}

// Open opens the database and brings its tables up to date. It refuses a
// database that a newer program has written.
func Open(ctx context.Context, config Config) (*Store, error) {
	m, err := connect(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := m.migrate(ctx); err != nil {
		return nil, errors.Join(err, m.close())
	}
	s, err := newStore(ctx, m, config)
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return s, nil
}

// newStore makes the store of a database whose tables are there.
func newStore(ctx context.Context, m *migrator, config Config) (*Store, error) {
	shared := m.db
	sealing, err := vault.Open(ctx, vault.Config{Database: shared, Master: config.Master, Logger: config.Logger, Now: m.now})
	if err != nil {
		return nil, err
	}
	chats, err := chattable.New(shared)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	sent, err := newSentMemory()
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	numbers, err := lru.New[string, int64](maxNumbers)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	cached, err := newCaches(config, m.now)
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	own := &instanceDatabase{sharedDatabase: shared, fenced: config.Fenced, now: m.now, bell: config.Bell, recent: sent, chats: chats, numbers: numbers}
	if own.bell == nil {
		own.bell = new(eventlog.Bell)
	}
	return &Store{
		Users: usertable.New(shared), Nodes: nodetable.New(shared), Presences: &Presences{own}, Labels: labeltable.New(shared), Templates: &Templates{shared},
		Census: census.New(shared), Devices: &Devices{own, sealing}, Webhooks: webhooktable.New(own, sealing),
		AccountWebhooks: webhooktable.NewAccountTable(shared, sealing), Chats: chats,
		db: own, now: m.now, vault: sealing, caches: cached,
	}, nil
}

// Vault is what seals the secrets of the database.
func (s *Store) Vault() *vault.Vault { return s.vault }

// connect opens the database, whose tables may be missing or old.
func connect(ctx context.Context, config Config) (*migrator, error) {
	if (config.Path == "") == (config.URL == "") {
		return nil, errors.New("store: need either a file or the URL of a database")
	}
	if config.Fenced && config.URL == "" {
		return nil, errors.New("store: only PostgreSQL has tenures")
	}
	m := &migrator{now: config.Now, logger: config.Logger, tell: config.Migrating}
	if m.now == nil {
		m.now = time.Now
	}
	if m.tell == nil {
		m.tell = func(bool, string) {}
	}
	var err error
	if config.Path != "" {
		m.db.dialect = sqliteDialect()
		m.db.database, err = openSQLite(ctx, sqlite.Config{Path: config.Path, Committed: config.Committed})
	} else {
		m.db.dialect = postgresDialect()
		m.db.database, err = openPostgres(ctx, config)
	}
	table.Wrap(&err, "open")
	return m, err
}

// caches hold what every request needs and what hardly changes. Only this process changes an instance
// during its tenure, so an instance is cached under the epoch of that; a process that has the database
// to itself has a single tenure, with the epoch 0. The command line changes keys as well, and a revoked
// key must be refused at once. So on SQLite that command leaves a mark next to the file; on PostgreSQL,
// where it may run on another machine, keys are not cached.
type caches struct {
	keys          *cache.Cache[string, gateway.Key] // by hash; nil: they are not cached
	keysMark      *cache.Mark                       // nil where keys is
	instances     *cache.Cache[instanceKey, gateway.Instance]
	instanceLists *cache.Cache[instanceList, gateway.Page[gateway.Instance]] // nil: they are not cached
	registrations *cache.Cache[string, checkedRegistration]
}

// How many of each are cached: a few megabytes if all are.
const (
	maxKeys          = 1000
	maxInstances     = 4000
	maxInstanceLists = 100
	maxRegistrations = 8000
	maxNumbers       = 16_384 // of newest events

	// keysAge is how long a revoked key still works if the process that revoked it was killed
	// before it could leave its mark.
	keysAge = 5 * time.Second
	// registrationsAge is how long this process uses what it knows of a number, although another
	// node may know more by now.
	registrationsAge = time.Minute
)

type instanceKey struct {
	id    string
	epoch int64
}

func newCaches(config Config, now func() time.Time) (caches, error) {
	made := caches{instances: cache.New[instanceKey, gateway.Instance](cache.Config{Most: maxInstances})}
	registrations := cache.Config{Most: maxRegistrations}
	if config.Fenced {
		registrations.Age, registrations.Now = registrationsAge, now
	} else {
		made.instanceLists = cache.New[instanceList, gateway.Page[gateway.Instance]](cache.Config{Most: maxInstanceLists})
	}
	made.registrations = cache.New[string, checkedRegistration](registrations)
	path := config.Path
	if path == "" {
		return made, nil
	}
	var err error
	if made.keysMark, err = cache.NewMark(path + "-keys"); err != nil {
		return made, err
	}
	made.keys = cache.New[string, gateway.Key](cache.Config{Most: maxKeys, Age: keysAge, Foreign: made.keysMark.Changed, Now: now})
	return made, nil
}

// Ping reports whether the database answers.
//
// It does not say whether the database takes writes: Failing does.
func (s *Store) Ping(ctx context.Context) (err error) {
	defer table.Wrap(&err, "ping")
	return s.db.ping(ctx)
}

// Kind is the name of the database: SQLite or PostgreSQL.
func (s *Store) Kind() string { return s.db.title }

// Size returns how many bytes the database takes.
func (s *Store) Size(ctx context.Context) (size int64, err error) {
	defer table.Wrap(&err, "size")
	err = s.db.Scanner().QueryRowContext(ctx, s.db.size).Scan(&size)
	return size, err
}

// Connections says how the connections to the database are doing: on SQLite those that read.
func (s *Store) Connections() sql.DBStats { return s.db.connections() }

// Close closes the database. Calls under way must have returned.
func (s *Store) Close() (err error) {
	defer table.Wrap(&err, "close")
	return s.db.close()
}

// database is what the tables need of a database. It has more methods than five, because SQLite
// and PostgreSQL differ in each of them and in nothing else.
type database interface {
	// Write runs fn in one write transaction. An error of fn is returned as it
	// is, and nothing that fn did remains. fn may run again, so it must set outer
	// variables anew each time.
	Write(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error
	// Begin is Write for the data of one instance, which returns before fn has run. Such
	// writes are carried out in the order of the calls, and share commits with those of
	// other instances. committed is called after the commit, in the same order. It must
	// not write or block.
	Begin(ctx context.Context, instanceID string, fn func(ctx context.Context, q table.Querier) error, committed func()) groupcommit.Pending
	// writeUnder is Write that fails with gateway.ErrTenureOver unless all tenures last until
	// the commit. SQLite does not know tenures.
	writeUnder(ctx context.Context, tenures []gateway.Tenure, fn func(ctx context.Context, q table.Querier) error) error
	// Exec runs one statement as a transaction of its own and returns how many
	// rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Reader runs queries that find a few committed rows by an index. They may succeed
	// even after ctx has ended.
	Reader() table.Querier
	// Scanner runs queries that may read many rows. They stop when ctx ends.
	Scanner() table.Querier
	ping(ctx context.Context) error
	// failing is for how long no write has succeeded, though some were tried.
	failing() time.Duration
	connections() sql.DBStats
	// Compact removes what deleted and changed rows have left in the files. PostgreSQL does
	// that by itself, in its time.
	Compact(ctx context.Context) error
	close() error
}

// sharedDatabase is the database with its dialect, as the tables in other rooms need it.
type sharedDatabase struct {
	database
	dialect
}
