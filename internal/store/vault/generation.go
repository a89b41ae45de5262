// The data keys, and how they and the master key are changed.

package vault

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/recado-project/recado/internal/seal"
	"github.com/recado-project/recado/internal/store/table"
)

// generation is a data key as it is stored.
type generation struct {
	number   int64
	wrapped  []byte
	complete bool
	// rewrapped says that gateways that only know an earlier master key may run.
	rewrapped bool
}

// wrappedFor is where a data key lies, for its seal.
func wrappedFor(number int64) []string {
	return []string{"data_keys", "wrapped", strconv.FormatInt(number, 10)}
}

func readGenerations(ctx context.Context, q table.Querier) ([]generation, error) {
	return table.Collect(ctx, q, table.Into(func(g *generation) []any { return []any{&g.number, &g.wrapped, &g.complete, &g.rewrapped} }),
		"SELECT generation, wrapped, complete, rewrapped FROM data_keys ORDER BY generation")
}

// addGeneration adds a data key, unless another process has added that one.
func (v *Vault) addGeneration(ctx context.Context, number int64) error {
	wrapped := v.config.Master.Wrap(seal.NewKey(), wrappedFor(number)...)
	if _, err := v.config.Database.Exec(ctx, `INSERT INTO data_keys (generation, wrapped, complete, rewrapped, created_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (generation) DO NOTHING`,
		number, wrapped, false, false, table.Millis(v.config.Now())); err != nil {
		return fmt.Errorf("vault: add a data key: %w", err)
	}
	return nil
}

// Rewrap seals the data keys with another master key, all of them or none. Afterwards the
// database is opened with that one only. Gateways that run go on.
func (v *Vault) Rewrap(ctx context.Context, master *seal.Key) error {
	if !v.Sealing() {
		return ErrPlain
	}
	err := v.config.Database.Write(ctx, func(ctx context.Context, q table.Querier) error {
		rows, err := readGenerations(ctx, q)
		if err != nil {
			return err
		}
		keys, err := unwrapAll(v.config.Master, rows)
		if err != nil {
			return err
		}
		for number, key := range keys.all {
			if _, err := q.ExecContext(ctx, "UPDATE data_keys SET wrapped = $1, rewrapped = $2 WHERE generation = $3",
				master.Wrap(key, wrappedFor(number)...), true, number); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("vault: change the master key: %w", err)
	}
	v.config.Master = master
	return nil
}

// Renew adds a data key, which every value is sealed with from now on. Reseal brings the
// older ones there. What earlier data keys have sealed can still be opened. alone says that
// no gateway runs. Otherwise its error may be ErrUnknownToGateways.
func (v *Vault) Renew(ctx context.Context, alone bool) error {
	if !v.Sealing() {
		return ErrPlain
	}
	rows, err := readGenerations(ctx, v.config.Database.Reader())
	if err != nil {
		return fmt.Errorf("vault: read the data keys: %w", err)
	}
	if !alone && slices.ContainsFunc(rows, func(row generation) bool { return row.rewrapped }) {
		return ErrUnknownToGateways
	}
	if err := v.addGeneration(ctx, v.keys.Load().current+1); err != nil {
		return err
	}
	return v.load(ctx)
}

// started notes that a gateway was started with the present master key.
func (v *Vault) started(ctx context.Context) error {
	_, err := v.config.Database.Exec(ctx, "UPDATE data_keys SET rewrapped = $1 WHERE rewrapped <> $1", false)
	return err
}

// Remove makes all values plain, and removes the data keys. No gateway may run. If it is
// interrupted, it can be called again, or a gateway started with the master key: it seals
// them anew.
func (v *Vault) Remove(ctx context.Context) (changed int, err error) {
	if !v.Sealing() {
		return 0, ErrPlain
	}
	if _, err := v.config.Database.Exec(ctx, "UPDATE data_keys SET complete = $1", false); err != nil {
		return 0, fmt.Errorf("vault: remove the seal: %w", err)
	}
	v.keys.Store(&keyring{all: v.keys.Load().all})
	if changed, err = v.change(ctx); err != nil {
		return changed, err
	}
	if _, err := v.config.Database.Exec(ctx, "DELETE FROM data_keys"); err != nil {
		return changed, fmt.Errorf("vault: remove the data keys: %w", err)
	}
	return changed, nil
}

// State says how far the sealing is.
type State struct {
	Generation int64 `json:"generation"` // of the data key; 0: nothing is sealed
	Complete   bool  `json:"complete"`   // nothing is left that is plain or sealed with an earlier one
}

// State reads how far the sealing is.
func (v *Vault) State(ctx context.Context) (State, error) {
	rows, err := readGenerations(ctx, v.config.Database.Reader())
	if err != nil || len(rows) == 0 {
		return State{}, err
	}
	last := rows[len(rows)-1]
	return State{Generation: last.number, Complete: last.complete}, nil
}
