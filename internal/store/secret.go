// The table of the program's own secrets.

package store

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/recado-project/recado/internal/store/table"
	"github.com/recado-project/recado/internal/store/vault"
)

// Secret returns the secret of that name. If there is none yet, it makes one of size
// random bytes. All processes on the same database get the same one.
func (s *Store) Secret(ctx context.Context, name string, size int) ([]byte, error) {
	fresh := make([]byte, size)
	if _, err := rand.Read(fresh); err != nil {
		return nil, fmt.Errorf("store: draw a secret: %w", err)
	}
	place := vault.Secret(name)
	value, generation := s.vault.Seal(place, fresh)
	var secret []byte
	err := s.db.write(ctx, func(ctx context.Context, q table.Querier) (err error) {
		if _, err := q.ExecContext(ctx,
			"INSERT INTO secrets (name, value, value_seal) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING", name, value, generation); err != nil {
			return err
		}
		secret, err = s.vault.Scan(ctx, place, q.QueryRowContext(ctx, "SELECT value, value_seal FROM secrets WHERE name = $1", name))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store: get secret: %w", err)
	}
	return secret, nil
}
