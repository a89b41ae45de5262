// What is set in an account's app state, as its phone reads it.

package setting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waSyncAction"
	"google.golang.org/protobuf/proto"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/appstate"
	"github.com/recado-project/recado/internal/sqlite"
)

// apply keeps the settings that mutations set, and lets the phone do what they ask for.
func (s *Service) apply(ctx context.Context, tx *sqlite.Tx, of *account.Account, mutations []appstate.Mutation) error {
	for _, mutation := range mutations {
		if err := keep(ctx, tx, of, mutation); err != nil {
			return fmt.Errorf("setting: keep %s: %w", mutation.Index[0], err)
		}
		if action := s.config.Actions[mutation.Index[0]]; action != nil {
			if err := action(ctx, tx, of, mutation); err != nil {
				return fmt.Errorf("setting: act on %s: %w", mutation.Index[0], err)
			}
		}
	}
	return nil
}

// keep keeps the newest value of an index. One that was set again comes last.
func keep(ctx context.Context, tx *sqlite.Tx, of *account.Account, mutation appstate.Mutation) error {
	name, err := json.Marshal(mutation.Index)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM settings WHERE number = $1 AND kind = $2 AND name = $3",
		of.Number, mutation.Index[0], string(name)); err != nil || mutation.Removed {
		return err
	}
	value, err := proto.Marshal(mutation.Value)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO settings (number, kind, name, value) VALUES ($1, $2, $3, $4)",
		of.Number, mutation.Index[0], string(name), value)
	return err
}

// Values returns what is set of a kind on an account's phone, in the order in which it was
// set last. The kind is the first part of the index: "pin_v1", say. Clients set what they
// like: the rest of the index may be anything.
func (s *Service) Values(ctx context.Context, of *account.Account, kind string) (all []appstate.Mutation, err error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		"SELECT name, value FROM settings WHERE number = $1 AND kind = $2 ORDER BY seq", of.Number, kind)
	if err != nil {
		return nil, fmt.Errorf("setting: read %s: %w", kind, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		var value []byte
		if err := rows.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("setting: read %s: %w", kind, err)
		}
		mutation := appstate.Mutation{Value: &waSyncAction.SyncActionValue{}}
		if err := errors.Join(json.Unmarshal([]byte(name), &mutation.Index), proto.Unmarshal(value, mutation.Value)); err != nil {
			return nil, fmt.Errorf("setting: decode %s: %w", kind, err)
		}
		all = append(all, mutation)
	}
	return all, rows.Err()
}
