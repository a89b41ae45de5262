// A database that is only read, perhaps beside the programs that work with it.

package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// OpenReader connects to a database for reading alone: the server refuses every write, and
// ends a statement that takes longer than Patience. It opens conns connections at most. There
// must be no pooler in between, whose other clients would get these settings too.
func OpenReader(ctx context.Context, url string, conns int) (*sql.DB, error) {
	settings, err := ParseURL(url)
	if err != nil {
		return nil, err
	}
	// Not as a parameter of the connection: an address may ask for a server that can be
	// written to, which is then looked for in vain.
	pool := stdlib.OpenDB(*settings, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET default_transaction_read_only = on; SET statement_timeout = "+number(int(Patience.Milliseconds())))
		return err
	}))
	pool.SetMaxOpenConns(conns)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}
