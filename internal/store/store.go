// Package store keeps the data of the program: accounts, API keys, users,
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

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store/cache"
	"github.com/recado-project/recado/internal/store/census"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/devicetable"
	"github.com/recado-project/recado/internal/store/labeltable"
	"github.com/recado-project/recado/internal/store/nodetable"
	"github.com/recado-project/recado/internal/store/presencetable"
	"github.com/recado-project/recado/internal/store/recent"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/usertable"
	"github.com/recado-project/recado/internal/store/vault"
	"github.com/recado-project/recado/internal/store/votetable"
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
	Committed func(took time.Duration) // of each write, with the wait for the disk; nil: nobody is told. It must not block
	// Migrating is told when migrations begin and end, and for whom they wait meanwhile; nil: nobody
	// is. It must not block.
	Migrating func(under bool, waits string)
	// Master seals the secrets in the database (package vault). A database whose secrets are
	// sealed can't be opened without it. nil: they are plain.
	Master *seal.Key
}

// Store is the open database. It is safe for concurrent use.
type Store struct {
	*usertable.Tables
	NodeTables
	VoteTable
	PresenceTable
	LabelTables
	*census.Taker
	DeviceTables
	WebhookTables
	AccountWebhookTable
	ChatTables

	db      database
	dialect dialect
	now     func() time.Time
	bell    *eventlog.Bell
	caches
	recent    *recent.Messages
	fenced    bool
	logger    *slog.Logger
	migrating func(under bool, waits string) // may be nil
	vault     *vault.Vault
}

// DeviceTables are the tables of devices and their keys.
type DeviceTables = *devicetable.Tables

// WebhookTables are the tables of webhooks and their deliveries.
type WebhookTables = *webhooktable.Tables

// AccountWebhookTable is the table of the webhooks of accounts.
type AccountWebhookTable = *webhooktable.AccountTable

// ChatTables are the table of chats and the index of words.
type ChatTables = *chattable.Tables

// LabelTables are the tables of labels.
type LabelTables = *labeltable.Tables

// NodeTables are the tables of nodes and tenures; only PostgreSQL has them.
type NodeTables = *nodetable.Tables

// VoteTable is the table of votes in polls.
type VoteTable = *votetable.Table

// PresenceTable is the table of subscriptions to the presence of contacts.
type PresenceTable = *presencetable.Table

// Open opens the database and brings its tables up to date. It refuses a
// database that a newer program has written.
func Open(ctx context.Context, config Config) (*Store, error) {
	s, err := open(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.vault, err = vault.Open(ctx, vault.Config{
		Database: sharedDatabase{s.db, s.dialect}, Master: config.Master, Logger: config.Logger, Now: s.now,
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.DeviceTables, s.WebhookTables = devicetable.New(ownDatabase{s}, s.vault), webhooktable.New(ownDatabase{s}, s.vault)
	s.AccountWebhookTable = webhooktable.NewAccountTable(sharedDatabase{s.db, s.dialect}, s.vault)
	return s, nil
}

// Vault is what seals the secrets of the database.
func (s *Store) Vault() *vault.Vault { return s.vault }

// Migrate brings the database up to date and closes it again. It returns the
// names of the migrations that were missing, in order.
func Migrate(ctx context.Context, config Config) ([]string, error) {
	s, err := open(ctx, config)
	if err != nil {
		return nil, err
	}
	applied, err := s.migrate(ctx)
	return applied, errors.Join(err, s.Close())
}

func open(ctx context.Context, config Config) (*Store, error) {
	if (config.Path == "") == (config.URL == "") {
		return nil, errors.New("store: need either a file or the URL of a database")
	}
	if config.Fenced && config.URL == "" {
		return nil, errors.New("store: only PostgreSQL has tenures")
	}
	s := &Store{now: config.Now, bell: config.Bell, fenced: config.Fenced, logger: config.Logger, migrating: config.Migrating}
	if s.now == nil {
		s.now = time.Now
	}
	if s.bell == nil {
		s.bell = new(eventlog.Bell)
	}
	var err error
	if s.recent, err = recent.New(); err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	if config.Path != "" {
		s.dialect = sqliteDialect()
		s.db, err = openSQLite(ctx, sqlite.Config{Path: config.Path, Committed: config.Committed})
	} else {
		s.dialect = postgresDialect()
		s.db, err = openPostgres(ctx, config)
	}
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	shared := sharedDatabase{s.db, s.dialect}
	s.Tables, s.NodeTables, s.Taker = usertable.New(shared), nodetable.New(shared), census.New(shared)
	s.VoteTable, s.PresenceTable, s.LabelTables = votetable.New(ownDatabase{s}), presencetable.New(ownDatabase{s}), labeltable.New(shared)
	if s.ChatTables, err = chattable.New(shared); err != nil {
		return nil, errors.Join(fmt.Errorf("store: open: %w", err), s.Close())
	}
	if s.caches, err = newCaches(config, s.now); err != nil {
		return nil, errors.Join(fmt.Errorf("store: open: %w", err), s.Close())
	}
	return s, nil
}

// caches keep what every request needs and what hardly changes. Only this process changes an
// instance during its tenure, so an instance is kept under the epoch of that; a process that
// has the database to itself has a single tenure, with the epoch 0. Keys are changed by the command line as well, and a key
// that is revoked must be refused at once. So on SQLite that command leaves a mark beside
// the file; on PostgreSQL, where it may run on another machine, keys are not kept at all.
type caches struct {
	keys          *cache.Cache[string, gateway.Key] // by hash; nil: they are not kept
	keysMark      *cache.Mark                       // nil where keys is
	instances     *cache.Cache[keptInstance, gateway.Instance]
	instanceLists *cache.Cache[instanceList, gateway.Page[gateway.Instance]] // nil: they are not kept
	registrations *cache.Cache[string, checkedRegistration]
}

// How many of each are kept: a few megabytes if all are.
const (
	keptKeys          = 1000
	keptInstances     = 4000
	keptInstanceLists = 100
	keptRegistrations = 8000

	// keysAge is how long a key that was revoked by a process that was killed before it
	// could leave its mark is used.
	keysAge = 5 * time.Second
	// registrationsAge is how long what this process knows of a number is used, although
	// another node may know more by now.
	registrationsAge = time.Minute
)

// keptInstance names an instance in the cache.
type keptInstance struct {
	id    string
	epoch int64
}

func newCaches(config Config, now func() time.Time) (caches, error) {
	made := caches{instances: cache.New[keptInstance, gateway.Instance](cache.Config{Most: keptInstances})}
	registrations := cache.Config{Most: keptRegistrations}
	if config.Fenced {
		registrations.Age, registrations.Now = registrationsAge, now
	} else {
		made.instanceLists = cache.New[instanceList, gateway.Page[gateway.Instance]](cache.Config{Most: keptInstanceLists})
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
	made.keys = cache.New[string, gateway.Key](cache.Config{Most: keptKeys, Age: keysAge, Foreign: made.keysMark.Changed, Now: now})
	return made, nil
}

// Ping reports whether the database answers.
//
// It does not say whether the database takes writes: Failing does.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.db.ping(ctx); err != nil {
		return fmt.Errorf("store: ping: %w", err)
	}
	return nil
}

// Kind is the name of the database: SQLite or PostgreSQL.
func (s *Store) Kind() string { return s.dialect.title }

// Size returns how many bytes the database takes.
func (s *Store) Size(ctx context.Context) (int64, error) {
	var size int64
	if err := s.db.scanner().QueryRowContext(ctx, s.dialect.size).Scan(&size); err != nil {
		return 0, fmt.Errorf("store: size: %w", err)
	}
	return size, nil
}

// Connections says how the connections to the database are doing: on SQLite those that read.
func (s *Store) Connections() sql.DBStats { return s.db.connections() }

// Close closes the database. Calls under way must have returned.
func (s *Store) Close() error {
	if err := s.db.close(); err != nil {
		return fmt.Errorf("store: close: %w", err)
	}
	return nil
}

// database is what the tables need of a database. It has more methods than five, because SQLite
// and PostgreSQL differ in each of them and in nothing else.
type database interface {
	// write runs fn in one write transaction. An error of fn is returned as it
	// is, and nothing that fn did remains. fn may run again, so it must set outer
	// variables anew each time.
	write(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error
	// begin is write for the data of one instance, which returns before fn has run. Such
	// writes are carried out in the order of the calls, and share commits with those of
	// other instances. committed is called after the commit, in the same order. It must
	// not write or block.
	begin(ctx context.Context, instanceID string, fn func(ctx context.Context, q table.Querier) error, committed func()) groupcommit.Pending
	// writeUnder is write that fails with gateway.ErrTenureOver unless all tenures last until
	// the commit. SQLite does not know tenures.
	writeUnder(ctx context.Context, tenures []gateway.Tenure, fn func(ctx context.Context, q table.Querier) error) error
	// exec runs one statement as a transaction of its own and returns how many
	// rows it changed.
	exec(ctx context.Context, query string, args ...any) (int64, error)
	// reader runs queries that find a few committed rows by an index. They may succeed
	// even after ctx has ended.
	reader() table.Querier
	// scanner runs queries that may read many rows. They stop when ctx ends.
	scanner() table.Querier
	ping(ctx context.Context) error
	// failing is for how long no write has succeeded, though some were tried.
	failing() time.Duration
	connections() sql.DBStats
	// compact removes what deleted and changed rows have left in the files. PostgreSQL does
	// that by itself, in its time.
	compact(ctx context.Context) error
	close() error
}

// sharedDatabase is the database as the tables in other rooms need it.
type sharedDatabase struct {
	database

	dialect dialect
}

// Write runs fn in one write transaction.
func (d sharedDatabase) Write(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error {
	return d.write(ctx, fn)
}

// Exec runs one statement.
func (d sharedDatabase) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return d.exec(ctx, query, args...)
}

// Reader runs queries that find a few rows.
func (d sharedDatabase) Reader() table.Querier { return d.reader() }

// Scanner runs queries that may read many rows.
func (d sharedDatabase) Scanner() table.Querier { return d.scanner() }

// InFirst is the set of texts in the first parameter.
func (d sharedDatabase) InFirst() string { return d.dialect.inFirst() }

// SQLite reports whether it is a SQLite file.
func (d sharedDatabase) SQLite() bool { return d.dialect.name == sqliteName }

// ForUpdate ends a SELECT whose row must not change.
func (d sharedDatabase) ForUpdate() string { return d.dialect.forUpdate }

// SkipLocked ends a SELECT whose rows must not change, and leaves out those that another
// transaction has.
func (d sharedDatabase) SkipLocked() string { return d.dialect.skipLocked }

// Compact removes what deleted and changed rows have left in the files.
func (d sharedDatabase) Compact(ctx context.Context) error { return d.compact(ctx) }
