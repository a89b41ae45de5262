// Writes for an instance, which stand on the tenure of this process.

package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/recado-project/recado/internal/eventlog"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/postgres"
	"github.com/recado-project/recado/internal/store/chattable"
	"github.com/recado-project/recado/internal/store/table"
)

// nobody is the instance of what all instances share. Any node may write it.
const nobody = ""

// instanceDatabase is the database as it is written for one instance at a time: under its tenure, in
// order with its other writes, and with its events.
type instanceDatabase struct {
	sharedDatabase

	fenced bool
	now    func() time.Time
	bell   *eventlog.Bell
	recent *sentMemory
	// numbers has the newest event of instances, where this process alone appends events: on SQLite.
	numbers *lru.Cache[string, int64]
	chats   *chattable.Tables
}

// writeOf runs fn in one write transaction, for an instance. See database.Write.
func (d *instanceDatabase) writeOf(ctx context.Context, instanceID string, fn func(ctx context.Context, q table.Querier) error) error {
	return d.WriteUnder(ctx, []gateway.Tenure{gateway.TenureOf(ctx)}, []string{instanceID}, fn)
}

// WriteHere is writeOf for the instance that the context has a tenure of.
func (d *instanceDatabase) WriteHere(ctx context.Context, fn func(ctx context.Context, q table.Querier) error) error {
	return d.writeOf(ctx, gateway.TenureOf(ctx).InstanceID, fn)
}

// WriteUnder runs fn in one write transaction, for several instances, each with its tenure.
func (d *instanceDatabase) WriteUnder(
	ctx context.Context, tenures []gateway.Tenure, instanceIDs []string, fn func(ctx context.Context, q table.Querier) error,
) error {
	for n, id := range instanceIDs {
		if d.fenced && tenures[n].InstanceID != id {
			return noTenure(id)
		}
	}
	return d.writeUnder(ctx, tenures, fn)
}

// ExecOf runs one statement as a transaction of its own, for an instance, and returns how
// many rows it changed.
func (d *instanceDatabase) ExecOf(ctx context.Context, instanceID, query string, args ...any) (changed int64, err error) {
	if !d.fenced {
		return d.Exec(ctx, query, args...)
	}
	var result sql.Result
	err = d.writeOf(ctx, instanceID, func(ctx context.Context, q table.Querier) (err error) {
		result, err = q.ExecContext(ctx, query, args...)
		return err
	})
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// ExecHere is ExecOf for the instance that the context has a tenure of.
func (d *instanceDatabase) ExecHere(ctx context.Context, query string, args ...any) (changed int64, err error) {
	return d.ExecOf(ctx, gateway.TenureOf(ctx).InstanceID, query, args...)
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
