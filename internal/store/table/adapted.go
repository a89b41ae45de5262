package table

import (
	"context"
	"database/sql"
)

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
