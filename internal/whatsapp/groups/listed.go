// The groups of the account while it has no connection.

package groups

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/recado-project/recado/internal/gateway"
)

// maxKept bounds the list that is kept, in bytes. A longer one is not kept: it would hold up what else
// is written of the instance.
const maxStored = 4 << 20

// kept says which list was kept last.
type kept struct {
	edits uint64 // of the cache, before the list was read from it
	hash  [sha256.Size]byte
}

// keep keeps a list of all groups, unless it is the same as before.
func (g *Groups) keep(ctx context.Context, groups []gateway.Group, edits uint64) error {
	list, err := encode(groups)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(list)
	if hash != g.kept.hash {
		if err := g.store(ctx, list); err != nil {
			return err
		}
	}
	g.kept = kept{edits, hash}
	return nil
}

// group is a group in the list.
type group struct {
	ID           gateway.JID       `json:"id"`
	Subject      string            `json:"subject,omitempty"`
	Description  string            `json:"description,omitempty"`
	OwnerJID     gateway.JID       `json:"ownerJid,omitempty"`
	OwnerLID     gateway.JID       `json:"ownerLid,omitempty"`
	OwnerName    string            `json:"ownerName,omitempty"`
	CreatedAt    time.Time         `json:"createdAt"`
	Size         int               `json:"size,omitempty"`
	Role         gateway.GroupRole `json:"role,omitempty"`
	AdminsWrite  bool              `json:"adminsWrite,omitempty"`
	AdminsEdit   bool              `json:"adminsEdit,omitempty"`
	AdminsAdd    bool              `json:"adminsAdd,omitempty"`
	Approval     bool              `json:"approval,omitempty"`
	Disappearing time.Duration     `json:"disappearing,omitempty"`
	Community    gateway.JID       `json:"community,omitempty"`
	IsCommunity  bool              `json:"isCommunity,omitempty"`
	Announces    bool              `json:"announces,omitempty"`
}

// encode writes a list; nil if it is too long.
func encode(groups []gateway.Group) ([]byte, error) {
	rows := make([]group, 0, len(groups))
	for _, g := range groups {
		rows = append(rows, group{
			ID: g.ID, Subject: g.Subject, Description: g.Description, OwnerJID: g.Owner.JID, OwnerLID: g.Owner.LID, OwnerName: g.Owner.Name,
			CreatedAt: g.CreatedAt, Size: g.Size, Role: g.Role, AdminsWrite: g.Rules.AdminsWrite, AdminsEdit: g.Rules.AdminsEdit,
			AdminsAdd: g.Rules.AdminsAdd, Approval: g.Rules.Approval, Disappearing: g.Rules.Disappearing,
			Community: g.Community, IsCommunity: g.IsCommunity, Announces: g.Announces,
		})
	}
	slices.SortFunc(rows, func(a, b group) int { return cmp.Compare(a.ID, b.ID) })
	list, err := json.Marshal(rows)
	if err != nil {
		return nil, fmt.Errorf("groups: keep: %w", err)
	}
	if len(list) > maxStored {
		return nil, nil
	}
	return list, nil
}

// Decode reads a list that was kept. ok is false for one that is damaged, which is as one that was
// never kept: the platform has it.
func Decode(list []byte) (groups []gateway.Group, ok bool) {
	var rows []group
	if json.Unmarshal(list, &rows) != nil {
		return nil, false
	}
	groups = make([]gateway.Group, 0, len(rows))
	for _, r := range rows {
		groups = append(groups, gateway.Group{
			ID: r.ID, Subject: r.Subject, Description: r.Description, Owner: gateway.Party{JID: r.OwnerJID, LID: r.OwnerLID, Name: r.OwnerName},
			CreatedAt: r.CreatedAt, Size: r.Size, Role: r.Role, Community: r.Community, IsCommunity: r.IsCommunity, Announces: r.Announces,
			Rules: gateway.GroupRules{
				AdminsWrite: r.AdminsWrite, AdminsEdit: r.AdminsEdit, AdminsAdd: r.AdminsAdd, Approval: r.Approval, Disappearing: r.Disappearing,
			},
		})
	}
	return groups, true
}
