package platform

import (
	"context"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// people returns the accounts of a group's members, in their order.
func (s *Server) people(ctx context.Context, g *group) ([]*account, error) {
	list := make([]*account, 0, len(g.Members))
	for _, m := range g.Members {
		of, err := s.directory.ensure(ctx, m.Number)
		if err != nil {
			return nil, err
		}
		list = append(list, of)
	}
	return list, nil
}

// groupNode describes a group to a client.
func (s *Server) groupNode(ctx context.Context, g *group) (waBinary.Node, error) {
	owner, err := s.directory.ensure(ctx, g.Owner)
	if err != nil {
		return waBinary.Node{}, err
	}
	subjectBy, err := s.directory.ensure(ctx, g.Subject.By)
	if err != nil {
		return waBinary.Node{}, err
	}
	people, err := s.people(ctx, g)
	if err != nil {
		return waBinary.Node{}, err
	}
	var content []waBinary.Node
	for i, of := range people {
		content = append(content, participantNode(of, g.Members[i].Role))
	}
	if g.Description.Text != "" {
		by, err := s.directory.ensure(ctx, g.Description.By)
		if err != nil {
			return waBinary.Node{}, err
		}
		content = append(content, waBinary.Node{
			Tag:     "description",
			Attrs:   waBinary.Attrs{"id": g.Description.ID, "participant": by.lidJID(), "participant_pn": by.shownPN(), "t": g.Description.At},
			Content: []waBinary.Node{{Tag: "body", Content: []byte(g.Description.Text)}},
		})
	}
	return waBinary.Node{
		Tag: "group",
		Attrs: waBinary.Attrs{
			"id": g.ID, "subject": g.Subject.Text, "s_t": g.Subject.At, "s_o": subjectBy.lidJID(), "s_o_pn": subjectBy.shownPN(),
			"creation": g.CreatedAt, "creator": owner.lidJID(), "creator_pn": owner.shownPN(), "addressing_mode": "lid",
			"size": len(g.Members), "p_v_id": g.version(), "a_v_id": g.version(),
		},
		Content: append(content, g.settingNodes()...),
	}, nil
}

// settingNodes lists the switches of a group that are on.
func (g *group) settingNodes() []waBinary.Node {
	mode := "all_member_add"
	if g.AdminsAdd {
		mode = "admin_add"
	}
	nodes := []waBinary.Node{{Tag: "member_add_mode", Content: []byte(mode)}}
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

func participantNode(of *account, as role) waBinary.Node {
	return waBinary.Node{Tag: "participant", Attrs: waBinary.Attrs{
		"jid": of.lidJID(), "phone_number": of.shownPN(), "type": as.String(),
	}}
}

// notifyGroup tells people's devices what somebody has changed in a group.
func (u *unit) notifyGroup(g *group, by *account, to []*account, change waBinary.Node) error {
	for _, of := range to {
		for _, linked := range of.companions() {
			err := u.toDevice(linked, waBinary.Node{
				Tag: "notification",
				Attrs: waBinary.Attrs{
					"from": g.jid(), "type": "w:gp2", "id": newID(), "t": u.s.now().Unix(), "participant": by.lidJID(),
					"participant_pn": by.shownPN(), "notify": by.displayName(), "addressing_mode": "lid",
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
