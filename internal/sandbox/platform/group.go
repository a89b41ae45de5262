package platform

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sqlite"
)

// role is what a member may do in a group.
type role int

const (
	roleMember role = iota
	roleAdmin
	roleOwner
)

// String returns the protocol's word, "" for an ordinary member.
func (r role) String() string {
	switch r {
	case roleAdmin:
		return "admin"
	case roleOwner:
		return "superadmin"
	default:
		return ""
	}
}

// member is somebody in a group.
type member struct {
	Number string `json:"number"`
	Role   role   `json:"role"`
}

// edition is a text of a group: who set it, and when in Unix seconds.
type edition struct {
	Text string `json:"text"`
	ID   string `json:"id,omitempty"`
	By   string `json:"by"` // a number
	At   int64  `json:"at"`
}

// keptEdition is an edition as it is kept. JSON has no form for a text that is
// not UTF-8: its bytes stand beside it.
type keptEdition struct {
	*plainEdition

	Raw []byte `json:"raw,omitempty"`
}

type plainEdition edition

// MarshalJSON implements json.Marshaler.
func (e edition) MarshalJSON() ([]byte, error) {
	kept := keptEdition{plainEdition: (*plainEdition)(&e)}
	if !utf8.ValidString(e.Text) {
		kept.Raw = []byte(e.Text)
	}
	return json.Marshal(kept)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *edition) UnmarshalJSON(raw []byte) error {
	kept := keptEdition{plainEdition: (*plainEdition)(e)}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return err
	}
	if kept.Raw != nil {
		e.Text = string(kept.Raw)
	}
	return nil
}

// group is a group as it is at one moment. A change makes a new one: what was
// handed out stays as it is.
type group struct {
	ID           string   `json:"id"` // the user part of the JID
	Subject      edition  `json:"subject"`
	Description  edition  `json:"description"`
	Owner        string   `json:"owner"` // a number; who created it
	CreatedAt    int64    `json:"createdAt"`
	Announcement bool     `json:"announcement"`      // only admins write
	Locked       bool     `json:"locked"`            // only admins change subject and description
	AdminsAdd    bool     `json:"adminsAdd"`         // only admins add members
	Approval     bool     `json:"approval"`          // who joins by invitation asks first
	Ephemeral    int      `json:"ephemeral"`         // seconds until messages disappear; 0: never
	Picture      string   `json:"picture,omitempty"` // the hash of its file
	Invite       string   `json:"invite"`
	Version      int      `json:"version"`
	Members      []member `json:"members"`
}

func (g *group) jid() types.JID { return types.NewJID(g.ID, types.GroupServer) }

func (g *group) index(number string) int {
	return slices.IndexFunc(g.Members, func(m member) bool { return m.Number == number })
}

func (g *group) has(of *account) bool { return g.index(of.number) >= 0 }

func (g *group) isAdmin(of *account) bool {
	i := g.index(of.number)
	return i >= 0 && g.Members[i].Role != roleMember
}

// clone returns a copy that may be changed.
func (g *group) clone() *group {
	next := *g
	next.Members = slices.Clone(g.Members)
	next.Version++
	return &next
}

func (g *group) version() string { return strconv.Itoa(g.Version) }

// groupBook finds groups. What was found once stays in memory.
type groupBook struct {
	db       *sqlite.DB
	changing sync.Mutex // held during a change: changes follow each other

	mu    sync.RWMutex
	known map[string]*group
}

func newGroupBook(db *sqlite.DB) *groupBook { return &groupBook{db: db, known: map[string]*group{}} }

// find returns a group by its id, nil if there is none.
func (b *groupBook) find(ctx context.Context, id string) (*group, error) {
	b.mu.RLock()
	found := b.known[id]
	b.mu.RUnlock()
	if found != nil {
		return found, nil
	}
	return b.load(ctx, "SELECT state FROM groups WHERE id = $1", id)
}

// invited returns the group that an invitation leads to, nil if it does to none.
func (b *groupBook) invited(ctx context.Context, code string) (*group, error) {
	return b.load(ctx, "SELECT state FROM groups WHERE invite = $1", code)
}

// load reads a group. It is only ever changed through the copy in memory, so the
// first one that is there stays.
func (b *groupBook) load(ctx context.Context, query, key string) (*group, error) {
	var state string
	err := b.db.Reader().QueryRowContext(ctx, query, key).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	loaded := &group{}
	if err == nil {
		err = json.Unmarshal([]byte(state), loaded)
	}
	if err != nil {
		return nil, fmt.Errorf("platform: load group: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if first := b.known[loaded.ID]; first != nil {
		return first, nil
	}
	b.known[loaded.ID] = loaded
	return loaded, nil
}

// all returns every group, oldest first; those of one number, where one is named.
func (b *groupBook) all(ctx context.Context, number string) ([]*group, error) {
	ids, err := queryStrings(ctx, b.db.Reader(), `SELECT id FROM groups
		WHERE $1 = '' OR id IN (SELECT group_id FROM members WHERE number = $1) ORDER BY created_at, id`, number)
	if err != nil {
		return nil, fmt.Errorf("platform: list groups: %w", err)
	}
	list := make([]*group, 0, len(ids))
	for _, id := range ids {
		found, err := b.find(ctx, id)
		if err != nil {
			return nil, err
		}
		if found != nil {
			list = append(list, found)
		}
	}
	return list, nil
}

// keepGroup makes a group what it is from the commit on.
func (u *unit) keepGroup(g *group) error {
	state, err := json.Marshal(g)
	if err != nil {
		return fmt.Errorf("platform: keep group: %w", err)
	}
	u.write(func(ctx context.Context, tx *sqlite.Tx) error {
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
	u.then(func() {
		u.s.groups.mu.Lock()
		u.s.groups.known[g.ID] = g
		u.s.groups.mu.Unlock()
	})
	return nil
}

// newGroupID draws the digits of a group.
func newGroupID() (string, error) {
	const prefix, span = "120363", 1_000_000_000_000
	n, err := rand.Int(rand.Reader, big.NewInt(span))
	if err != nil {
		return "", fmt.Errorf("platform: draw group id: %w", err)
	}
	return fmt.Sprintf("%s%012d", prefix, n), nil
}
