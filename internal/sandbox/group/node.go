package group

import (
	"context"
	"time"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// People returns the accounts of a group's members, in the order of the members.
func (s *Book) People(ctx context.Context, g *Group) ([]*account.Account, error) {
	list := make([]*account.Account, 0, len(g.Members))
	for _, m := range g.Members {
		of, err := s.accounts.Ensure(ctx, m.Number)
		if err != nil {
			return nil, err
		}
		list = append(list, of)
	}
	return list, nil
}

// groupNode builds the node that describes a group to a client.
func (s *Book) groupNode(ctx context.Context, g *Group) (waBinary.Node, error) {
	owner, err := s.accounts.Ensure(ctx, g.Owner)
	if err != nil {
		return waBinary.Node{}, err
	}
	subjectBy, err := s.accounts.Ensure(ctx, g.Subject.By)
	if err != nil {
		return waBinary.Node{}, err
	}
	people, err := s.People(ctx, g)
	if err != nil {
		return waBinary.Node{}, err
	}
	var content []waBinary.Node
	for i, of := range people {
		content = append(content, participantNode(of, g.Members[i].Role))
	}
	if g.Description.Text != "" {
		by, err := s.accounts.Ensure(ctx, g.Description.By)
		if err != nil {
			return waBinary.Node{}, err
		}
		content = append(content, waBinary.Node{
			Tag:     "description",
			Attrs:   waBinary.Attrs{"id": g.Description.ID, "participant": by.LIDJID(), "participant_pn": by.ShownPN(), "t": g.Description.At},
			Content: []waBinary.Node{{Tag: "body", Content: []byte(g.Description.Text)}},
		})
	}
	return waBinary.Node{
		Tag: "group",
		Attrs: waBinary.Attrs{
			"id": g.ID, "subject": g.Subject.Text, "s_t": g.Subject.At, "s_o": subjectBy.LIDJID(), "s_o_pn": subjectBy.ShownPN(),
			"creation": g.CreatedAt, "creator": owner.LIDJID(), "creator_pn": owner.ShownPN(), "addressing_mode": "lid",
			"size": len(g.Members), "p_v_id": g.version(), "a_v_id": g.version(),
		},
		Content: append(content, g.settingNodes()...),
	}, nil
}

// settingNodes builds nodes for the switches of a group that are on.
func (g *Group) settingNodes() []waBinary.Node {
	mode := "all_member_add"
	if g.AdminsAdd {
		mode = "admin_add"
	}
	nodes := []waBinary.Node{{Tag: "member_add_mode", Content: []byte(mode)}}
	if g.Community {
		nodes = append(nodes, waBinary.Node{Tag: "parent", Attrs: waBinary.Attrs{"default_membership_approval_mode": "request_required"}})
	}
	if g.Announces {
		nodes = append(nodes, waBinary.Node{Tag: "default_sub_group"})
	}
	if g.Parent != "" {
		nodes = append(nodes, waBinary.Node{Tag: "linked_parent", Attrs: waBinary.Attrs{"jid": types.NewJID(g.Parent, types.GroupServer)}})
	}
	if g.Announcement {
		nodes = append(nodes, waBinary.Node{Tag: "announcement"})
	}
	if g.Locked {
		nodes = append(nodes, waBinary.Node{Tag: "locked"})
	}
	if g.Approval {
		nodes = append(nodes, waBinary.Node{Tag: "membership_approval_mode", Content: []waBinary.Node{
			{Tag: "group_join", Attrs: waBinary.Attrs{"state": "on"}},
		}})
	}
	if g.Ephemeral > 0 {
		nodes = append(nodes, waBinary.Node{Tag: "ephemeral", Attrs: waBinary.Attrs{"expiration": g.Ephemeral}})
	}
	return nodes
}

func participantNode(of *account.Account, as role) waBinary.Node {
	return waBinary.Node{Tag: "participant", Attrs: waBinary.Attrs{
		"jid": of.LIDJID(), "phone_number": of.ShownPN(), "type": as.String(),
	}}
}

// notifyGroup notifies people's devices of a change that a member made.
func notifyGroup(u *account.Unit, now time.Time, g *Group, by *account.Account, to []*account.Account, change waBinary.Node) error {
	for _, of := range to {
		for _, linked := range of.Companions() {
			err := u.ToDevice(linked, waBinary.Node{
				Tag: "notification",
				Attrs: waBinary.Attrs{
					"from": g.JID(), "type": "w:gp2", "id": wire.NewID(), "t": now.Unix(), "participant": by.LIDJID(),
					"participant_pn": by.ShownPN(), "notify": by.DisplayName(), "addressing_mode": "lid",
				},
				Content: []waBinary.Node{change},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
