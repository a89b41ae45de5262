// Bringing the database up to date without starting the gateway.

package data

import (
	"context"
	"strings"

	"github.com/recado-project/recado/internal/cli/terminal"
	"github.com/recado-project/recado/internal/store"
)

// MigrateCommand brings the database up to date.
type MigrateCommand struct {
	Location
}

// Run applies the missing migrations, and prints them.
func (c MigrateCommand) Run(ctx context.Context, t terminal.Terminal) error {
	applied, err := store.Migrate(ctx, c.config(t.Logger))
	if err != nil {
		return err
	}
	if len(applied) == 0 {
		return t.Print(map[string]any{"applied": []string{}}, "The database is up to date.")
	}
	return t.Print(map[string]any{"applied": applied}, "applied "+strings.Join(applied, "\napplied "))
}
