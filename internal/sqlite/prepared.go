// Statements that are prepared once for each connection.

package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// maxPrepared bounds how many statements a connection keeps. Further statements are
// prepared each time.
const maxPrepared = 256

// preparing is a driver whose connections keep their prepared statements. Parsing a
// statement costs SQLite more than running it, and code with an SQL layer of its own
// sends the same few texts again and again.
type preparing struct {
	dsn    string
	driver driver.Driver
}

// openPreparing opens a pool whose connections keep their statements.
func openPreparing(dsn string) (*sql.DB, error) {
	plain, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	// plain has no connection; it was opened only to get the registered driver.
	return sql.OpenDB(preparing{dsn, plain.Driver()}), plain.Close()
}

// Connect opens a connection.
func (p preparing) Connect(context.Context) (driver.Conn, error) {
	opened, err := p.driver.Open(p.dsn)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("sqlite: a %T can't keep statements", opened), opened.Close())
	}
	return &preparedConn{sqliteConn: conn, kept: map[string]*keptStmt{}}, nil
}

// Driver returns the driver underneath.
func (p preparing) Driver() driver.Driver { return p.driver }

// sqliteConn are the methods of the driver's connections.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// preparedConn is one connection. database/sql lets one goroutine at a time use it.
type preparedConn struct {
	sqliteConn

	kept map[string]*keptStmt
}

// keptStmt is a prepared statement of the connection. It is busy while its rows are read.
type keptStmt struct {
	stmt sqliteStmt
	busy bool
}

type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statement returns the prepared statement of a query; nil if there is none that can be
// used now.
func (c *preparedConn) statement(ctx context.Context, query string) (*keptStmt, error) {
	if kept, ok := c.kept[query]; ok {
		if kept.busy {
			return nil, nil //nolint:nilnil // its rows are still being read
		}
		return kept, nil
	}
	if len(c.kept) >= maxPrepared {
		return nil, nil //nolint:nilnil // too many statements are kept already
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	stmt, ok := prepared.(sqliteStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("sqlite: a %T can't be kept", prepared), prepared.Close())
	}
	kept := &keptStmt{stmt: stmt}
	c.kept[query] = kept
	return kept, nil
}

// ExecContext runs a statement without rows.
func (c *preparedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	kept, err := c.statement(ctx, query)
	if err != nil || kept == nil {
		return c.sqliteConn.ExecContext(ctx, query, args) // it returns the error
	}
	return kept.stmt.ExecContext(ctx, args)
}

// QueryContext runs a query.
func (c *preparedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	kept, err := c.statement(ctx, query)
	if err != nil || kept == nil {
		return c.sqliteConn.QueryContext(ctx, query, args) // it returns the error
	}
	rows, err := kept.stmt.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	kept.busy = true
	return &keptRows{Rows: rows, kept: kept}, nil
}

// Close closes the statements and the connection.
func (c *preparedConn) Close() error {
	var errs []error
	for _, kept := range c.kept {
		errs = append(errs, kept.stmt.Close())
	}
	return errors.Join(append(errs, c.sqliteConn.Close())...)
}

// keptRows are rows whose statement can be used again after Close.
type keptRows struct {
	driver.Rows

	kept *keptStmt
}

// Close frees the statement.
func (r *keptRows) Close() error {
	r.kept.busy = false
	return r.Rows.Close()
}
