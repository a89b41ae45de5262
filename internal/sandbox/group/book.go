package group

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/database"
	"github.com/recado-project/recado/internal/sqlite"
)

// Book finds and changes groups. Groups that were found stay in memory.
type Book struct {
	db       *sqlite.DB
	accounts *account.Directory
	files    *account.Files
	now      func() time.Time

	changing sync.Mutex // held during a change, so that only one is made at a time

	mu    sync.RWMutex
	known map[string]*Group
}

// NewBook returns the groups in the directory's database. Their pictures are kept
// in files.
func NewBook(accounts *account.Directory, files *account.Files) *Book {
	return &Book{
		db: accounts.DB, accounts: accounts, files: files, now: accounts.Now, known: map[string]*Group{},
	}
}

// Find returns the group with an ID, or nil if there is none.
func (s *Book) Find(ctx context.Context, id string) (*Group, error) {
	s.mu.RLock()
	found := s.known[id]
	s.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	return s.load(ctx, "SELECT state FROM groups WHERE id = $1", id)
}

// invited returns the group that an invitation code leads to, or nil if there is
// none.
func (s *Book) invited(ctx context.Context, code string) (*Group, error) {
	return s.load(ctx, "SELECT state FROM groups WHERE invite = $1", code)
}

// revoked reports whether an invitation code once led to a group.
func (s *Book) revoked(ctx context.Context, code string) (bool, error) {
	ids, err := database.Strings(ctx, s.db.Reader(),
		"SELECT id FROM groups WHERE EXISTS (SELECT 1 FROM json_each(state, '$.revoked') WHERE value = $1) LIMIT 1", code)
	if err != nil {
		return false, fmt.Errorf("group: look for a revoked invitation: %w", err)
	}
	return len(ids) > 0, nil
}

// linkedTo returns the groups of a community, oldest first.
func (s *Book) linkedTo(ctx context.Context, community string) ([]*Group, error) {
	ids, err := database.Strings(ctx, s.db.Reader(),
		"SELECT id FROM groups WHERE state ->> 'parent' = $1 ORDER BY created_at, id", community)
	if err != nil {
		return nil, fmt.Errorf("group: list the groups of a community: %w", err)
	}
	return s.find(ctx, ids)
}

// load reads a group. Groups change only through the copy in memory, so the copy
// that was loaded first stays.
func (s *Book) load(ctx context.Context, query, key string) (*Group, error) {
	var state string
	err := s.db.Reader().QueryRowContext(ctx, query, key).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	loaded := &Group{}
	if err == nil {
		err = json.Unmarshal([]byte(state), loaded)
	}
	if err != nil {
		return nil, fmt.Errorf("group: load group: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.known[loaded.ID]; first != nil {
		return first, nil
	}
	s.known[loaded.ID] = loaded
	return loaded, nil
}

// all returns the groups of a number, oldest first, or every group if number is "".
func (s *Book) all(ctx context.Context, number string) ([]*Group, error) {
	ids, err := database.Strings(ctx, s.db.Reader(), `SELECT id FROM groups
		WHERE $1 = '' OR id IN (SELECT group_id FROM members WHERE number = $1) ORDER BY created_at, id`, number)
	if err != nil {
		return nil, fmt.Errorf("group: list groups: %w", err)
	}
	return s.find(ctx, ids)
}

// find returns the groups with these IDs.
func (s *Book) find(ctx context.Context, ids []string) ([]*Group, error) {
	list := make([]*Group, 0, len(ids))
	for _, id := range ids {
		found, err := s.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		if found != nil {
			list = append(list, found)
		}
	}
	return list, nil
}

// Of returns the groups of a number, oldest first.
func (s *Book) Of(ctx context.Context, number string) ([]*Group, error) {
	if number == "" {
		return nil, nil
	}
	return s.all(ctx, number)
}

// keepGroup adds to the unit that a group is kept. Other callers see it after the
// commit.
func (s *Book) keepGroup(u *account.Unit, g *Group) error {
	state, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("group: keep group: %w", err)
	}
	u.Write(func(ctx context.Context, tx *sqlite.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO groups (id, invite, created_at, state) VALUES ($1, $2, $3, $4)
			ON CONFLICT (id) DO UPDATE SET invite = excluded.invite, state = excluded.state`,
			g.ID, g.Invite, g.CreatedAt, string(state)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM members WHERE group_id = $1", g.ID); err != nil {
			return err
		}
		for _, m := range g.Members {
			if _, err := tx.ExecContext(ctx, "INSERT INTO members (number, group_id) VALUES ($1, $2)", m.Number, g.ID); err != nil {
				return err
			}
		}
		return nil
	})
	u.Then(func() {
		s.mu.Lock()
		s.known[g.ID] = g
		s.mu.Unlock()
	})
	for _, m := range g.Members {
		u.Ring(m.Number)
	}
	return nil
}
