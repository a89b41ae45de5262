// Package readonly reads the data of a gateway while that gateway works with them: it writes nothing,
// makes nothing, and takes no lock that anybody waits for. It reads what a check-up asks for, from
// whichever version of the tables it finds.
package readonly

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/sqlite"
	"github.com/recado-project/recado/internal/store/census"
	"github.com/recado-project/recado/internal/store/nodetable"
	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
)

// conns is how many connections are opened to PostgreSQL at most: a check-up must fit into a
// server that is nearly full.
const conns = 2

// errReadOnly is the error of a write.
var errReadOnly = errors.New("readonly: the database is only read")

// Database is an open database. It is safe for concurrent use.
type Database struct {
	pool *sql.DB
}

// Open opens the SQLite file at path, or the PostgreSQL database at url if that is not empty.
func Open(ctx context.Context, path, url string) (*Database, error) {
	var pool *sql.DB
	var err error
	if url != "" {
		pool, err = postgres.OpenReader(ctx, url, conns)
	} else {
		pool, err = sqlite.OpenReader(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	return &Database{pool}, nil
}

// Close closes the database.
func (d *Database) Close() error { return d.pool.Close() }

// Value returns the value of a query for one value, as a text.
func (d *Database) Value(ctx context.Context, query string) (string, error) {
	var value string
	err := d.pool.QueryRowContext(ctx, query).Scan(&value)
	return value, err
}

// Number returns the value of a query for one number.
func (d *Database) Number(ctx context.Context, query string) (int64, error) {
	var value int64
	err := d.pool.QueryRowContext(ctx, query).Scan(&value)
	return value, err
}

// Lines returns the rows of a query for one column, as texts.
func (d *Database) Lines(ctx context.Context, query string) ([]string, error) {
	return table.Collect(ctx, d.Reader(), table.Value[string], query)
}

// Version is that of the newest migration; 0 for a database without data of a gateway.
func (d *Database) Version(ctx context.Context, isPostgres bool) (int, error) {
	there := "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migrations'"
	if isPostgres {
		there = "SELECT count(*) FROM pg_class WHERE oid = to_regclass('schema_migrations')"
	}
	if found, err := d.Number(ctx, there); err != nil || found == 0 {
		return 0, err
	}
	version, err := d.Number(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_migrations")
	return int(version), err
}

// Sealing is how far the secrets of a database are sealed.
type Sealing struct {
	Generation int64 // of the data key; 0: they are plain
	Complete   bool  // nothing is plain, or sealed with an earlier key
}

// Vault opens the secrets. Its error is vault.ErrSealed or vault.ErrWrongKey if the master key is
// not that of the database. A database whose secrets are plain is left plain.
func (d *Database) Vault(ctx context.Context, master *seal.Key, now func() time.Time) (*vault.Vault, Sealing, error) {
	var state Sealing
	rows, err := d.Number(ctx, "SELECT count(*) FROM data_keys")
	if err != nil {
		return nil, state, fmt.Errorf("readonly: read the data keys: %w", err)
	}
	if rows == 0 {
		master = nil // which would begin to seal
	}
	opened, err := vault.Open(ctx, vault.Config{Database: d, Master: master, Logger: slog.New(slog.DiscardHandler), Now: now})
	if err != nil {
		return nil, state, err
	}
	if rows > 0 {
		err = d.pool.QueryRowContext(ctx, "SELECT generation, complete FROM data_keys ORDER BY generation DESC LIMIT 1").Scan(&state.Generation, &state.Complete)
	}
	return opened, state, err
}

// Secret returns a secret of the program itself, and whether there is one of that name.
func (d *Database) Secret(ctx context.Context, opened *vault.Vault, name string) ([]byte, bool, error) {
	secret, found, err := table.Find(ctx, d.Reader(), func(row table.Scanner) ([]byte, error) {
		return opened.Scan(ctx, vault.Secret(name), row)
	}, "SELECT value, value_seal FROM secrets WHERE name = $1", name)
	if err != nil {
		return nil, false, fmt.Errorf("readonly: read a secret: %w", err)
	}
	return secret, found, nil
}

// filesOwnerSince is the version of the tables that knows the owner of the file storage.
const filesOwnerSince = 25

// FilesOwner returns the name of the owner of the file storage; empty if the database knows none.
func (d *Database) FilesOwner(ctx context.Context, isPostgres bool) (string, error) {
	version, err := d.Version(ctx, isPostgres)
	if err != nil || version < filesOwnerSince {
		return "", err
	}
	owners, err := d.Lines(ctx, "SELECT owner FROM file_place")
	if err != nil {
		return "", fmt.Errorf("readonly: read the owner of the files: %w", err)
	}
	return strings.Join(owners, ""), nil // there is one at most
}

// Through is a proxy, and how many instances reach the platform through it.
type Through struct {
	Proxy     gateway.Proxy
	Instances int
}

// Proxies returns the proxies that instances have.
func (d *Database) Proxies(ctx context.Context, opened *vault.Vault) ([]Through, error) {
	counts := map[gateway.Proxy]int{}
	var order []gateway.Proxy
	err := table.Each(ctx, d.Reader(), func(row table.Scanner) error {
		var id, stored string
		var generation int64
		if err := row.Scan(&id, &stored, &generation); err != nil {
			return err
		}
		text, err := opened.OpenText(ctx, vault.Proxy(id), stored, generation)
		proxy := gateway.Proxy(text)
		if counts[proxy] == 0 {
			order = append(order, proxy)
		}
		counts[proxy]++
		return err
	}, "SELECT id, proxy, proxy_seal FROM instances WHERE proxy <> '' ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("readonly: read the proxies: %w", err)
	}
	all := make([]Through, len(order))
	for i, proxy := range order {
		all[i] = Through{Proxy: proxy, Instances: counts[proxy]}
	}
	return all, nil
}

// Nodes returns the processes that share the PostgreSQL database.
func (d *Database) Nodes(ctx context.Context) ([]gateway.Node, error) {
	return nodetable.New(d).ListNodes(ctx)
}

// Census counts what is in the database.
func (d *Database) Census(ctx context.Context) (census.Census, error) {
	return census.New(d).Count(ctx)
}

// InstanceGroup is the instances of one status, for one reason.
type InstanceGroup struct {
	Status    gateway.Status
	Reason    gateway.Reason
	Instances int64
	Example   string    // the id of one
	Since     time.Time // when the first of them was written last
}

// Instances counts the instances by status and reason.
func (d *Database) Instances(ctx context.Context) ([]InstanceGroup, error) {
	found, err := table.Collect(ctx, d.Reader(), table.Into(func(g *InstanceGroup) []any {
		return []any{&g.Status, &g.Reason, &g.Instances, &g.Example, table.IntoTime(&g.Since)}
	}), "SELECT status, reason, COUNT(*), MIN(id), MIN(updated_at) FROM instances GROUP BY status, reason ORDER BY status, reason")
	if err != nil {
		return nil, fmt.Errorf("readonly: count the instances: %w", err)
	}
	return found, nil
}

// Spoken returns the keys that are not revoked and with which dialects have been spoken: their IDs, names and what was spoken.
func (d *Database) Spoken(ctx context.Context) ([]gateway.Key, error) {
	found, err := table.Collect(ctx, d.Reader(), table.Into(func(k *gateway.Key) []any {
		return []any{&k.ID, &k.Name, table.IntoList(&k.Spoken)}
	}), "SELECT id, name, spoken FROM api_keys WHERE spoken <> '' AND revoked_at = 0 ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("readonly: read who speaks dialects: %w", err)
	}
	return found, nil
}

// Behind is a webhook that does not get its events.
type Behind struct {
	ID         string
	InstanceID string
	First      bool // it is the one of webhook-config
	URL        string
	Status     string
	Reason     string
	Since      time.Time
}

// Behind returns the webhooks that fail, those first that have failed the longest, limit at most.
func (d *Database) Behind(ctx context.Context, limit int) ([]Behind, error) {
	found, err := table.Collect(ctx, d.Reader(), table.Into(func(b *Behind) []any {
		return []any{&b.ID, &b.InstanceID, &b.First, &b.URL, &b.Status, &b.Reason, table.IntoTime(&b.Since)}
	}), "SELECT id, instance_id, place = instance_id, url, status, reason, failing_since FROM webhooks WHERE active AND status <> 'ok' ORDER BY failing_since, id LIMIT $1", limit)
	if err != nil {
		return nil, fmt.Errorf("readonly: read the webhooks that fail: %w", err)
	}
	return found, nil
}

// Write is refused.
func (*Database) Write(context.Context, func(ctx context.Context, q table.Querier) error) error {
	return errReadOnly
}

// Exec is refused.
func (*Database) Exec(context.Context, string, ...any) (int64, error) { return 0, errReadOnly }

// Reader runs queries that find a few rows.
func (d *Database) Reader() table.Querier { return table.QuerierOf(d.pool) }

// Scanner runs queries that may read many rows.
func (d *Database) Scanner() table.Querier { return d.Reader() }

// SkipLocked is for writes, of which there are none.
func (*Database) SkipLocked() string { return "" }

// Compact is refused.
func (*Database) Compact(context.Context) error { return errReadOnly }
