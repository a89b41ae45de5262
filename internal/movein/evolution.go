// The store of Evolution API: credentials of Baileys in PostgreSQL, and keys in files or in
// Redis.

package movein

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/whatsapp/baileys"
)

// openEvolution opens the store of Evolution API. Its error is an *InUseError if it seems to run.
func (s *source) openEvolution(ctx context.Context, config Config) (foreign, error) {
	if !isPostgres(config.From) {
		return nil, errors.New("name the PostgreSQL database of Evolution API (postgres://…): other databases can't be read")
	}
	var schema string
	config.From, schema = withoutPrisma(config.From)
	tx, err := s.beginReading(ctx, config)
	if err != nil {
		return nil, err
	}
	e := &evolution{tx: tx, schema: quoted(schema)}
	ids, err := e.instances(ctx)
	if err != nil {
		return nil, err
	}
	if config.Redis != "" {
		e.keys, err = s.openRedis(ctx, config.Redis)
	} else {
		e.keys, err = s.openInstances(config.Keys)
	}
	if err != nil {
		return nil, err
	}
	devices := &baileysDevices{keys: e.keys, creds: e.creds, ids: ids, named: true, checkChanges: !config.Stopped}
	if err := devices.check(ctx); err != nil {
		return nil, err
	}
	return devices, nil
}

func (s *source) openInstances(path string) (*stateFolders, error) {
	found := &stateFolders{path: path, folders: map[string]*stateFolder{}}
	around, err := s.openFolder(path)
	if err == nil {
		err = found.addAll(around)
	}
	if err != nil {
		return nil, fmt.Errorf("read the folder of keys: %w", err)
	}
	return found, nil
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

// evolution is the database of Evolution API.
type evolution struct {
	tx     *sql.Tx
	schema string // in quotes
	keys   keyStore
}

const maxInstances = 100_000

// instances returns the ids of the instances on Baileys, by their names, which are unique; others are no
// linked devices.
func (e *evolution) instances(ctx context.Context) (ids map[string]string, err error) {
	var exists bool
	err = e.tx.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL",
		e.schema+`."Instance"`, e.schema+`."Session"`).Scan(&exists)
	if err != nil {
		return nil, fmt.Errorf("look for the tables of Evolution API: %w", err)
	}
	if !exists {
		return nil, fmt.Errorf("there are no tables of Evolution API in the schema %s of this database: its version 2 has them", e.schema)
	}
	ids = map[string]string{}
	err = table.Each(ctx, table.QuerierOf(e.tx), func(row table.Scanner) error {
		var id, name string
		err := row.Scan(&id, &name)
		ids[name] = id
		return err
	}, `SELECT id, name FROM `+e.schema+`."Instance"
		WHERE coalesce(integration, 'WHATSAPP-BAILEYS') = 'WHATSAPP-BAILEYS' ORDER BY name LIMIT $1`, maxInstances)
	if err != nil {
		return nil, fmt.Errorf("read the instances of Evolution API: %w", err)
	}
	return ids, nil
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
