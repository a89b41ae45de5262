// Package table has what all tables of the database share: how rows are read, and what
// their columns hold.
package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/sqlerror"
)

// Querier runs statements. Queries are constants, or come from a small set:
// some implementations keep each one prepared. In a write transaction of PostgreSQL, the
// error of a statement may come later (postgres.Tx); it costs a round trip to ask for its
// result before the commit.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) Scanner
}

// Database runs the statements of tables.
type Database interface {
	// Write runs fn in one write transaction, which may run again. An error of fn is
	// returned as it is, and nothing that fn did remains.
	Write(ctx context.Context, fn func(ctx context.Context, q Querier) error) error
	// Exec runs one statement as a transaction of its own, and returns how many rows it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Reader runs queries that find a few committed rows, Scanner those that may read many.
	Reader() Querier
	Scanner() Querier
}

// Rows is the result of a query, as sql.Rows is.
type Rows interface {
	Scanner
	Next() bool
	Err() error
	Close() error
}

// Wrap puts what was tried in front of an error. It is deferred:
//
//	defer table.Wrap(&err, "list keys")
func Wrap(err *error, tried string) { //nolint:gocritic // a deferred call changes it
	if *err != nil {
		*err = fmt.Errorf("store: %s: %w", tried, *err)
	}
}

// codeExists is the code of the error for what is there already. No operation of the API can cause it,
// but two programs that start at the same time can.
const codeExists = "ALREADY_EXISTS"

// Added is the error of adding what may be there already: then a gateway.Conflict that says exists.
func Added(err error, exists, tried string) error {
	if sqlerror.IsTaken(err) {
		return gateway.Errorf(gateway.Conflict, codeExists, "%s", exists)
	}
	Wrap(&err, tried)
	return err
}

// Changed is the error of a statement that was to change a row: none if it has changed no row.
func Changed(rows int64, err, none error, tried string) error {
	if err == nil && rows == 0 {
		return none
	}
	Wrap(&err, tried)
	return err
}

// Each runs a query and calls scan with each row, until it returns an error.
func Each(ctx context.Context, q Querier, scan func(row Scanner) error, query string, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Collect runs a query and scans each row. It returns nil for no rows.
func Collect[T any](ctx context.Context, q Querier, scan func(row Scanner) (T, error), query string, args ...any) (items []T, err error) {
	err = Each(ctx, q, func(row Scanner) error {
		item, err := scan(row)
		items = append(items, item)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return items, nil
}

// Find runs a query for at most one row and reports whether there was one.
func Find[T any](ctx context.Context, q Querier, scan func(row Scanner) (T, error), query string, args ...any) (T, bool, error) {
	item, err := scan(q.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		var none T
		return none, false, nil
	}
	return item, err == nil, err
}

// Scanner is one row of a result.
type Scanner interface {
	Scan(dest ...any) error
}

// List reads one page of the rows that from selects, oldest first. It counts the rows of
// all pages, unless the page shows how many there are.
func List[T any](
	ctx context.Context, q Querier, scan func(row Scanner) (T, error), request gateway.PageRequest,
	columns, from string, args ...any,
) (gateway.Page[T], error) {
	return ListBy(ctx, q, scan, request, Order[T]{By: "created_at, id"}, columns, from, args...)
}

// Order says how ListBy lists rows.
type Order[T any] struct {
	By string // the columns
	// Beyond ends a SELECT of what follows a row in the list, with its parameters; at most so many are counted then. nil: all
	// rows are counted.
	Beyond func(last T) (from string, args []any, most int)
}

// ListBy is List in an order of its own.
func ListBy[T any](
	ctx context.Context, q Querier, scan func(row Scanner) (T, error), request gateway.PageRequest, order Order[T],
	columns, from string, args ...any,
) (page gateway.Page[T], err error) {
	offset, next := request.Offset(), Parameter(len(args)+1)
	page.Items, err = Collect(ctx, q, scan, "SELECT "+columns+" "+from+" ORDER BY "+order.By+
		// A limit that is a bare parameter makes SQLite plan anew each time.
		" LIMIT "+next+" + 0 OFFSET "+Parameter(len(args)+2), append(slices.Clone(args), request.Limit, offset)...)
	if err != nil {
		return page, err
	}
	n, before := len(page.Items), 0
	if n < request.Limit && (n > 0 || offset == 0) {
		page.Total = offset + n
		return page, nil
	}
	count := "SELECT count(*) " + from
	if n > 0 && order.Beyond != nil { // what comes before the last one was counted by passing it over
		beyond, of, most := order.Beyond(page.Items[n-1])
		before, args = offset+n, append(slices.Clone(of), most)
		count = "SELECT count(*) FROM (SELECT 1 " + beyond + " LIMIT " + Parameter(len(args)) + " + 0) AS counted"
	}
	err = q.QueryRowContext(ctx, count, args...).Scan(&page.Total)
	page.Total += before
	return page, err
}

// RowsOf runs statements as a Querier does, and has its own types of rows.
type RowsOf[R Rows, O Scanner] interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (R, error)
	QueryRowContext(ctx context.Context, query string, args ...any) O
}

// adapted is a querier with another one's rows.
type adapted[R Rows, O Scanner] struct{ RowsOf[R, O] }

// QuerierOf makes a querier of what runs statements.
func QuerierOf[R Rows, O Scanner](q RowsOf[R, O]) Querier { return adapted[R, O]{q} }

// QueryContext runs a query.
func (a adapted[R, O]) QueryContext(ctx context.Context, query string, args ...any) (Rows, error) {
	found, err := a.RowsOf.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err // and no rows, not even a nil pointer to some
	}
	return found, nil
}

// QueryRowContext runs a query for one row.
func (a adapted[R, O]) QueryRowContext(ctx context.Context, query string, args ...any) Scanner {
	return a.RowsOf.QueryRowContext(ctx, query, args...)
}
