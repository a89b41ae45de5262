// Writes for an instance, which stand on the tenure of this process.

package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/groupcommit"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/store/table"
)

// nobody is the instance of what all instances share. Any node may write it.
const nobody = ""

// writeOf runs fn in one write transaction, for an instance. See database.write.
func (s *Store) writeOf(ctx context.Context, instanceID string, fn func(ctx context.Context, q table.Querier) error) error {
	tenure := gateway.TenureOf(ctx)
	if s.fenced && tenure.InstanceID != instanceID {
		return noTenure(instanceID)
	}
	return s.db.writeUnder(ctx, []gateway.Tenure{tenure}, fn)
}

// execOf runs one statement as a transaction of its own, for an instance, and returns how
// many rows it changed.
func (s *Store) execOf(ctx context.Context, instanceID, query string, args ...any) (changed int64, err error) {
	if !s.fenced {
		return s.db.exec(ctx, query, args...)
	}
	var result sql.Result
	err = s.writeOf(ctx, instanceID, func(ctx context.Context, q table.Querier) (err error) {
		result, err = q.ExecContext(ctx, query, args...)
		return err
	})
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// execHere is execOf for the instance that the context has a tenure of.
func (s *Store) execHere(ctx context.Context, query string, args ...any) (changed int64, err error) {
	return s.execOf(ctx, gateway.TenureOf(ctx).InstanceID, query, args...)
}

// holdTenures makes the transaction fail unless all the tenures last, and makes them last
// until it ends.
func holdTenures(tx *postgres.Tx, tenures []gateway.Tenure) error {
	if len(tenures) == 0 {
		return nil
	}
	nodes, instances, epochs := make([]string, len(tenures)), make([]string, len(tenures)), make([]int64, len(tenures))
	for n, tenure := range tenures {
		nodes[n], instances[n], epochs[n] = tenure.Node, tenure.InstanceID, tenure.Epoch
	}
	return tx.ExecLater("SELECT hold_tenures($1, $2, $3)", nodes, instances, epochs)
}

// noTenure is the error for work that forgot its tenure: a mistake of this program, and safe.
func noTenure(instanceID string) error {
	return fmt.Errorf("store: a write for the instance %s without its tenure", instanceID)
}

// ownDatabase is the database as the tables of devices need it, which are written for one
// instance at a time.
type ownDatabase struct{ store *Store }

// WriteHere runs fn in one write transaction.
func (d ownDatabase) WriteHere(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error {
	return d.store.writeOf(ctx, gateway.TenureOf(ctx).InstanceID, fn)
}

// ExecHere runs one statement.
func (d ownDatabase) ExecHere(ctx context.Context, query string, args ...any) (int64, error) {
	return d.store.execHere(ctx, query, args...)
}

// WriteUnder runs fn in one write transaction, for several instances.
func (d ownDatabase) WriteUnder(
	ctx context.Context, tenures []gateway.Tenure, instanceIDs []string, fn func(ctx context.Context, q table.Querier) error,
) error {
	for n, id := range instanceIDs {
		if d.store.fenced && tenures[n].InstanceID != id {
			return noTenure(id)
		}
	}
	return d.store.db.writeUnder(ctx, tenures, fn)
}

// ExecOf runs one statement for an instance.
func (d ownDatabase) ExecOf(ctx context.Context, instanceID, query string, args ...any) (int64, error) {
	return d.store.execOf(ctx, instanceID, query, args...)
}

// InFirst is the set of texts in the first parameter.
func (d ownDatabase) InFirst() string { return d.store.dialect.inFirst() }

// Begin is a write in order with all others of an instance.
func (d ownDatabase) Begin(
	ctx context.Context, instanceID string, fn func(ctx context.Context, q table.Querier) error, committed func(),
) groupcommit.Pending {
	return d.store.db.begin(ctx, instanceID, fn, committed)
}

// Record is a write in order with all others of an instance, which may append events.
func (d ownDatabase) Record(ctx context.Context, instanceID string, fn func(ctx context.Context, r table.Recorder) error) error {
	return d.store.record(ctx, instanceID, func(ctx context.Context, r *recorder) error { return fn(ctx, r) })
}

// Reader runs queries that find a few rows.
func (d ownDatabase) Reader() table.Querier { return d.store.db.reader() }

// Scanner runs queries that may read many rows.
func (d ownDatabase) Scanner() table.Querier { return d.store.db.scanner() }
