// The table of the program's own secrets.

package store

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/recado-project/recado/internal/store/table"
)

// Secret returns the secret of that name. If there is none yet, it makes one of size
// random bytes. All processes on the same database get the same one.
func (s *Store) Secret(ctx context.Context, name string, size int) ([]byte, error) {
	fresh := make([]byte, size)
	if _, err := rand.Read(fresh); err != nil {
		return nil, fmt.Errorf("store: draw a secret: %w", err)
	}
	var secret []byte
	err := s.db.write(ctx, func(ctx context.Context, q table.Querier) error {
		if _, err := q.ExecContext(ctx,
			"INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, fresh); err != nil {
			return err
		}
		return q.QueryRowContext(ctx, "SELECT value FROM secrets WHERE name = $1", name).Scan(&secret)
	})
	if err != nil {
		return nil, fmt.Errorf("store: get secret: %w", err)
	}
	return secret, nil
}
