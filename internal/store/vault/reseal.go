// Values that were written before the current data key are sealed with it, while the
// gateway works.

package vault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/store/table"
)

const (
	// slice is how many rows are changed in one transaction, so that other writes need not
	// wait for long.
	slice = 200
	// look is how often a gateway looks whether there is a new data key; after a failure, it
	// waits for patience: it may have written the whole file anew before it failed.
	look, patience = 10 * time.Second, 5 * time.Minute
)

// column is one whose values are sealed. The generation of its seal is in the column that
// has its name with _seal behind it.
type column struct {
	table, value string
	row          []string // the columns of a key
	text         bool
}

// The columns with secrets. API keys, passwords, links and sign-ins are hashes already, and
// the passkeys of users are public keys.
//
//nolint:gochecknoglobals // a table
var (
	deviceKeyValue  = column{table: "device_keys", value: "value", row: []string{"device", "kind", "name"}}
	secretValue     = column{table: "secrets", value: "value", row: []string{"name"}}
	webhookSecret   = column{table: "webhooks", value: "secret", row: []string{"place"}, text: true}
	webhookPrevious = column{table: "webhooks", value: "previous_secret", row: []string{"place"}, text: true}
	webhookHeaders  = column{table: "webhooks", value: "headers", row: []string{"place"}, text: true}
	accountSecret   = column{table: "account_webhooks", value: "secret", row: []string{"id"}, text: true}
	accountPrevious = column{table: "account_webhooks", value: "previous_secret", row: []string{"id"}, text: true}
	accountHeaders  = column{table: "account_webhooks", value: "headers", row: []string{"id"}, text: true}
	appSecret       = column{table: "accounts", value: "app_secret", row: []string{"id"}, text: true}
	instanceProxy   = column{table: "instances", value: "proxy", row: []string{"id"}, text: true}
)

func columns() []*column {
	return []*column{&secretValue, &instanceProxy, &webhookSecret, &webhookPrevious, &webhookHeaders, &accountSecret, &accountPrevious, &accountHeaders, &appSecret, &deviceKeyValue}
}

// Run seals what is plain or sealed with an earlier data key, and goes on with the next data
// key when there is one, until ctx ends.
func (v *Vault) Run(ctx context.Context) error {
	if !v.Sealing() {
		<-ctx.Done()
		return nil
	}
	next := time.NewTimer(look)
	defer next.Stop()
	for first := true; ; {
		next.Reset(look)
		var err error
		if first {
			err = v.started(ctx)
		}
		if err == nil {
			first = false
			_, err = v.Follow(ctx)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrWrongKey) { // after a change of the master key, it is the next start that needs the new one
			v.config.Logger.ErrorContext(ctx, "secrets could not be sealed; it is tried again", slog.Any("error", err))
			next.Reset(patience)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
	}
}

// Follow is one step of Run: it looks for a new data key and for values that are not sealed
// with it, and returns how many it has sealed. It is called by one goroutine at a time.
func (v *Vault) Follow(ctx context.Context) (changed int, err error) {
	if err := v.load(ctx); err != nil {
		return 0, err
	}
	if current := v.keys.Load().current; current != v.followed {
		// Until now this process has sealed with the earlier one, whatever others have
		// sealed anew meanwhile.
		if changed, err = v.change(ctx); err != nil {
			return changed, err
		}
		v.followed = current
	}
	more, err := v.Reseal(ctx)
	return changed + more, err
}

// Reseal seals all values that are plain or sealed with an earlier data key, unless it is
// known that there are none, and returns how many there were. Others may read and write
// meanwhile. If it is interrupted, the next call goes on.
func (v *Vault) Reseal(ctx context.Context) (changed int, err error) {
	state, err := v.State(ctx)
	if err != nil || state.Generation == 0 || state.Complete {
		return 0, err
	}
	if changed, err = v.change(ctx); err != nil {
		return changed, err
	}
	if _, err := v.config.Database.Exec(ctx, "UPDATE data_keys SET complete = $1 WHERE generation = $2", true, v.keys.Load().current); err != nil {
		return changed, fmt.Errorf("vault: seal: %w", err)
	}
	v.config.Logger.InfoContext(ctx, "the secrets in the database are sealed", slog.Int("values", changed), slog.Int64("generation", state.Generation))
	return changed, nil
}

// change brings all values under the current data key, or none, and the files of the
// database to where nothing of the earlier values is in them.
func (v *Vault) change(ctx context.Context) (changed int, err error) {
	for clean := false; !clean; {
		// Until a whole pass finds nothing: a row that another transaction had was left out.
		clean = true
		for _, c := range columns() {
			n, err := v.changeColumn(ctx, c)
			if changed += n; err != nil {
				return changed, fmt.Errorf("vault: seal %s.%s: %w", c.table, c.value, err)
			}
			clean = clean && n == 0
		}
	}
	if err := v.config.Database.Compact(ctx); err != nil {
		return changed, fmt.Errorf("vault: remove what is left of plain values: %w", err)
	}
	return changed, nil
}

// changeColumn goes through a table once.
func (v *Vault) changeColumn(ctx context.Context, c *column) (changed int, err error) {
	var after []any
	for {
		if err := ctx.Err(); err != nil {
			return changed, err
		}
		var found []keptValue
		err := v.config.Database.Write(ctx, func(ctx context.Context, q table.Querier) (err error) {
			found, err = v.changeSlice(ctx, q, c, after)
			return err
		})
		if err != nil {
			return changed, err
		}
		if changed += len(found); len(found) < slice {
			return changed, nil
		}
		after = found[len(found)-1].row
	}
}

// keptValue is a row with a value that is to be changed.
type keptValue struct {
	row        []any // its primary key
	stored     []byte
	generation int64
}

// changeSlice changes the next rows behind one.
func (v *Vault) changeSlice(ctx context.Context, q table.Querier, c *column, after []any) ([]keptValue, error) {
	found, err := table.Collect(ctx, q, c.scan, c.selectNext(len(after) > 0, v.config.Database.SkipLocked()),
		append([]any{v.keys.Load().current, slice}, after...)...)
	if err != nil {
		return nil, err
	}
	for _, row := range found {
		stored, generation, err := v.changed(ctx, c, row)
		if err != nil {
			return nil, err
		}
		if _, err := q.ExecContext(ctx, c.update(), append([]any{stored, generation}, row.row...)...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// changed is the value of a row under the current data key.
func (v *Vault) changed(ctx context.Context, c *column, row keptValue) (stored any, generation int64, err error) {
	cell := Cell{column: c}
	for i, key := range row.row {
		cell.row[i] = fmt.Sprint(key)
	}
	if c.text {
		text, err := v.OpenText(ctx, cell, string(row.stored), row.generation)
		if err != nil {
			return nil, 0, err
		}
		stored, generation = v.SealText(cell, text)
		return stored, generation, nil
	}
	value, err := v.Open(ctx, cell, row.stored, row.generation)
	if err != nil {
		return nil, 0, err
	}
	sealed, generation := v.Seal(cell, value)
	return table.NotNull(sealed), generation, nil
}

func (c *column) scan(row table.Scanner) (keptValue, error) {
	found := keptValue{row: make([]any, len(c.row))}
	into := make([]any, 0, len(c.row)+2)
	for i := range found.row {
		into = append(into, &found.row[i])
	}
	err := row.Scan(append(into, &found.stored, &found.generation)...)
	return found, err
}

// selectNext finds the next rows under another generation than the first parameter. An
// empty text is never sealed.
func (c *column) selectNext(behind bool, lock string) string {
	key, parameters := strings.Join(c.row, ", "), make([]string, len(c.row))
	for i := range parameters {
		parameters[i] = table.Parameter(i + 3)
	}
	query := "SELECT " + key + ", " + c.value + ", " + c.value + "_seal FROM " + c.table + " WHERE " + c.value + "_seal <> $1"
	if c.text {
		query += " AND " + c.value + " <> ''"
	}
	if behind {
		query += " AND (" + key + ") > (" + strings.Join(parameters, ", ") + ")"
	}
	return query + " ORDER BY " + key + " LIMIT $2 + 0" + lock
}

func (c *column) update() string {
	rows := make([]string, len(c.row))
	for i, name := range c.row {
		rows[i] = name + " = " + table.Parameter(i+3)
	}
	return "UPDATE " + c.table + " SET " + c.value + " = $1, " + c.value + "_seal = $2 WHERE " + strings.Join(rows, " AND ")
}
