// The store of Evolution API: credentials of Baileys in PostgreSQL, and keys in files or in
// Redis.

package movein

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/recado-project/recado/internal/whatsapp/baileys"
	"github.com/recado-project/recado/internal/whatsapp/keys"
)

// keyStore is where Evolution API keeps the keys of an instance.
type keyStore interface {
	// entries are what Baileys keeps, without the credentials; values are only read if
	// the name needs one.
	entries(ctx context.Context, instance string, needsValue func(name string) bool) iter.Seq2[baileys.Entry, error]
	// creds are the credentials, nil if they are not there.
	creds(ctx context.Context, instance string) ([]byte, error)
	// check returns an *InUseError if something seems to use the keys of instances.
	check(ctx context.Context, instances []string) error
	// checkUnchanged returns one if the keys were changed since.
	checkUnchanged(instance string) error
}

// OpenEvolution opens the store of Evolution API: its database (From), with its keys in
// the folder Keys or on the server Redis. Its error is an *InUseError if it seems to run.
func OpenEvolution(ctx context.Context, config SourceConfig) (_ *Source, err error) {
	s := &Source{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if !isPostgres(config.From) {
		return s, errors.New("name the PostgreSQL database of Evolution API (postgres://…): other databases can't be read")
	}
	var schema string
	config.From, schema = withoutPrisma(config.From)
	tx, err := s.beginReading(ctx, config)
	if err != nil {
		return s, err
	}
	found := &evolution{tx: tx, schema: quoted(schema), ids: map[string]string{}, checkChanges: !config.Stopped}
	s.foreign = found
	if err := found.look(ctx); err != nil {
		return s, err
	}
	if config.Redis != "" {
		found.keys, err = s.openRedis(ctx, config.Redis)
	} else {
		found.keys, err = s.openInstances(config.Keys)
	}
	if err != nil || config.Stopped {
		return s, err
	}
	var instances []string
	for _, id := range found.ids {
		instances = append(instances, id)
	}
	return s, found.keys.check(ctx, instances)
}

// withoutPrisma takes what only Prisma understands out of the URL of a database, and
// returns the schema that it names.
func withoutPrisma(from string) (cleaned, schema string) {
	schema = "public"
	address, err := url.Parse(from)
	if err != nil {
		return from, schema // whoever connects to it says why, without the password
	}
	query := address.Query()
	if named := query.Get("schema"); named != "" {
		schema = named
	}
	for _, name := range []string{
		"schema", "connection_limit", "pool_timeout", "socket_timeout", "pgbouncer", "statement_cache_size", "sslaccept", "sslidentity",
		"max_idle_connection_lifetime", "max_connection_lifetime", "single_use_connections",
	} {
		query.Del(name)
	}
	address.RawQuery = query.Encode()
	return address.String(), schema
}

// quoted is a name in SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// evolution are the instances of Evolution API (foreign).
type evolution struct {
	tx           *sql.Tx
	schema       string            // in quotes
	ids          map[string]string // of the instances, by their names, which are unique
	keys         keyStore
	checkChanges bool
}

var _ foreign = (*evolution)(nil)

// maxInstances bounds how many instances are read.
const maxInstances = 100_000

// look reads which instances there are on Baileys; others are no linked devices.
func (e *evolution) look(ctx context.Context) (err error) {
	var exists bool
	err = e.tx.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL",
		e.schema+`."Instance"`, e.schema+`."Session"`).Scan(&exists)
	if err != nil {
		return fmt.Errorf("look for the tables of Evolution API: %w", err)
	}
	if !exists {
		return fmt.Errorf("there are no tables of Evolution API in the schema %s of this database: its version 2 has them", e.schema)
	}
	//nolint:gosec // the schema is quoted
	rows, err := e.tx.QueryContext(ctx, `SELECT id, name FROM `+e.schema+`."Instance"
		WHERE coalesce(integration, 'WHATSAPP-BAILEYS') = 'WHATSAPP-BAILEYS' ORDER BY name LIMIT $1`, maxInstances)
	if err != nil {
		return fmt.Errorf("read the instances of Evolution API: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id, name string
		if err := rows.Scan(&id, &name); err != nil {
			return fmt.Errorf("read the instances of Evolution API: %w", err)
		}
		e.ids[name] = id
	}
	return rows.Err()
}

// Devices returns the names of the instances.
func (e *evolution) Devices(context.Context) ([]string, error) {
	var names []string
	for name := range e.ids {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// Device reads an instance.
func (e *evolution) Device(ctx context.Context, name string) (keys.ForeignDevice, error) {
	id := e.ids[name]
	creds, err := e.creds(ctx, id)
	if err != nil {
		return keys.ForeignDevice{}, err
	}
	device, err := baileys.Read(creds, e.keys.entries(ctx, id, baileys.NeedsValue))
	device.Name = name
	if e.checkChanges {
		err = errors.Join(err, e.keys.checkUnchanged(id))
	}
	return device, err
}

// creds returns the credentials of an instance, from the database or from where its keys are. It refuses two
// that differ, because the settings of Evolution API decide which of them it uses.
func (e *evolution) creds(ctx context.Context, id string) ([]byte, error) {
	var kept sql.NullString
	var length sql.NullInt64
	err := e.tx.QueryRowContext(ctx, `SELECT CASE WHEN octet_length(creds) <= $2 THEN creds END, octet_length(creds) FROM `+e.schema+`."Session"
		WHERE "sessionId" = $1`, id, maxFileBytes).Scan(&kept, &length)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, errors.New("its credentials can't be read")
	}
	if length.Int64 > maxFileBytes {
		return nil, fmt.Errorf("its credentials have more than %d bytes", maxFileBytes)
	}
	withKeys, err := e.keys.creds(ctx, id)
	if err != nil {
		return nil, err
	}
	creds := unquoted(kept.String)
	switch {
	case len(creds) == 0 && len(withKeys) == 0:
		return nil, baileys.ErrNotLinked
	case len(creds) == 0:
		return withKeys, nil
	case len(withKeys) > 0 && !baileys.SameDevice(creds, withKeys):
		return nil, errors.New("it has different credentials in the database and beside its keys: remove those that Evolution API does not use")
	default:
		return creds, nil
	}
}

// unquoted returns the JSON inside a JSON string, in which Evolution API stores credentials.
func unquoted(kept string) []byte {
	var inside string
	if json.Unmarshal([]byte(kept), &inside) == nil {
		return []byte(inside)
	}
	return []byte(kept)
}

// CopyPairs copies the pairs of all instances.
func (e *evolution) CopyPairs(ctx context.Context, to keys.Store) error {
	pairs, err := keys.NewPairCopier(to)
	if err != nil {
		return err
	}
	for _, id := range e.ids {
		if err := copyPairs(ctx, pairs, e.keys.entries(ctx, id, baileys.IsPair)); err != nil {
			return err
		}
	}
	return pairs.Flush(ctx)
}

// instancesFolder is the folder instances of Evolution API (keyStore).
type instancesFolder struct {
	path    string
	folders map[string]*stateFolder // by the id of the instance
}

var _ keyStore = (*instancesFolder)(nil)

// openInstances opens the folders in a folder.
func (s *Source) openInstances(path string) (*instancesFolder, error) {
	around, err := openStateFolder(path)
	if err != nil {
		return nil, fmt.Errorf("read the folder of keys: %w", err)
	}
	s.closers = append(s.closers, around.root.Close)
	found := &instancesFolder{path: path, folders: map[string]*stateFolder{}}
	for _, id := range around.seen.folders {
		folder, err := around.inside(id)
		if err != nil {
			return nil, fmt.Errorf("read the folder of keys: %w", err)
		}
		found.folders[id] = folder
	}
	return found, nil
}

func (f *instancesFolder) entries(ctx context.Context, instance string, needsValue func(name string) bool) iter.Seq2[baileys.Entry, error] {
	folder, ok := f.folders[instance]
	if !ok {
		return func(yield func(baileys.Entry, error) bool) {
			yield(baileys.Entry{}, fmt.Errorf("there is no folder %s with its keys", instance))
		}
	}
	return folder.entries(ctx, needsValue)
}

// creds returns none: a creds.json here would be that of an older version.
func (f *instancesFolder) creds(context.Context, string) ([]byte, error) { return nil, nil }

func (f *instancesFolder) check(_ context.Context, instances []string) error {
	var used []*stateFolder
	for _, id := range instances {
		if folder, ok := f.folders[id]; ok {
			used = append(used, folder)
		}
	}
	return checkFolders(f.path, used)
}

func (f *instancesFolder) checkUnchanged(instance string) error {
	folder, ok := f.folders[instance]
	if !ok {
		return nil
	}
	return folder.checkUnchanged()
}
