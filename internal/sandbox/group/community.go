// Communities: groups that other groups belong to.

package group

import (
	"context"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// The two directions of a link between groups, as nodes name them.
const (
	linkToParent = "parent_group"
	linkToSub    = "sub_group"
)

// createCommunity creates a community, and the group in which it announces.
func (s *Book) createCommunity(ctx context.Context, owner *account.Account, draft groupDraft) (*Group, error) {
	set := draft.set
	draft.set = func(g *Group) {
		if set != nil {
			set(g)
		}
		g.Community = true
	}
	community, err := s.createGroup(ctx, owner, draft)
	if err != nil {
		return nil, err
	}
	_, err = s.createGroup(ctx, owner, groupDraft{subject: draft.subject, people: draft.people, refused: draft.refused, set: func(g *Group) {
		g.Parent, g.Announces, g.Announcement, g.Locked = community.ID, true, true, true
	}})
	return community, err
}

// CreateCommunity creates a community, as its owner does on a phone.
func (s *Book) CreateCommunity(ctx context.Context, subject, owner string) (Info, error) {
	by, err := s.personIn(ctx, "owner", owner)
	if err != nil {
		return Info{}, err
	}
	if err := checkSubject(subject); err != nil {
		return Info{}, err
	}
	created, err := s.createCommunity(ctx, by, groupDraft{subject: subject})
	if err != nil {
		return Info{}, err
	}
	return created.show(), nil
}

// link puts a group into a community. Who does it must be an admin of both; the members of
// the group become members of the community and of the group in which it announces.
func (s *Book) link(ctx context.Context, by *account.Account, community, id string) (*Group, error) {
	parent, child, err := s.pair(ctx, by, community, id)
	if err != nil {
		return nil, err
	}
	if child.Parent != "" || child.Community {
		return nil, wire.ErrNotAcceptable
	}
	linked, err := s.changeGroup(ctx, child.ID, by, func(ctx context.Context, ch *groupChange) error {
		ch.next.Parent = parent.ID
		return ch.notifyAll(ctx, linkNode("link", linkToParent, parent))
	})
	if err != nil {
		return nil, err
	}
	people, err := s.People(ctx, linked)
	if err != nil {
		return nil, err
	}
	if err := s.addToCommunity(ctx, by, parent, people); err != nil {
		return nil, err
	}
	_, err = s.changeGroup(ctx, parent.ID, by, func(ctx context.Context, ch *groupChange) error {
		return ch.notifyAll(ctx, linkNode("link", linkToSub, linked))
	})
	return linked, err
}

// addToCommunity makes people members of a community and of the group in which it
// announces.
func (s *Book) addToCommunity(ctx context.Context, by *account.Account, parent *Group, people []*account.Account) error {
	linked, err := s.linkedTo(ctx, parent.ID)
	if err != nil {
		return err
	}
	for _, g := range append(linked, parent) {
		if !g.Announces && !g.Community {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(people), g.Has)
		if len(missing) == 0 {
			continue
		}
		_, err := s.changeGroup(ctx, g.ID, by, func(ctx context.Context, ch *groupChange) error {
			before, err := ch.book.People(ctx, ch.next)
			if err != nil {
				return err
			}
			for _, of := range missing {
				ch.next.changeMember("add", of)
			}
			if err := ch.notify(before, membersNode("add", ch.next, missing)); err != nil {
				return err
			}
			return ch.book.welcomeToGroup(ctx, ch.Unit, ch.next, ch.by, missing, "")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unlink takes a group out of its community. Its members stay in the community.
func (s *Book) unlink(ctx context.Context, by *account.Account, community, id string) (*Group, error) {
	parent, child, err := s.pair(ctx, by, community, id)
	if err != nil {
		return nil, err
	}
	if child.Parent != parent.ID || child.Announces {
		return nil, wire.ErrNotAcceptable
	}
	free, err := s.changeGroup(ctx, child.ID, by, func(ctx context.Context, ch *groupChange) error {
		ch.next.Parent = ""
		return ch.notifyAll(ctx, linkNode("unlink", linkToParent, parent))
	})
	if err != nil {
		return nil, err
	}
	_, err = s.changeGroup(ctx, parent.ID, by, func(ctx context.Context, ch *groupChange) error {
		return ch.notifyAll(ctx, linkNode("unlink", linkToSub, free))
	})
	return free, err
}

// pair finds a community and a group that an admin of both wants to link or unlink.
func (s *Book) pair(ctx context.Context, by *account.Account, community, id string) (parent, child *Group, err error) {
	if parent, err = s.Find(ctx, community); err != nil {
		return nil, nil, err
	}
	if child, err = s.Find(ctx, id); err != nil {
		return nil, nil, err
	}
	switch {
	case parent == nil || child == nil:
		return nil, nil, wire.ErrItemNotFound
	case !parent.Community:
		return nil, nil, wire.ErrNotAcceptable
	case !parent.IsAdmin(by) || !child.IsAdmin(by) && child.Parent != parent.ID:
		return nil, nil, wire.ErrForbidden
	}
	return parent, child, nil
}

// linkNode is the notice that a group was linked, or unlinked.
func linkNode(action, direction string, other *Group) waBinary.Node {
	attrs := waBinary.Attrs{action + "_type": direction}
	if action == "unlink" {
		attrs["unlink_reason"] = "unlink_group"
	}
	return waBinary.Node{Tag: action, Attrs: attrs, Content: []waBinary.Node{linkedNode(other)}}
}

// linkedNode names a group to members of another one.
func linkedNode(g *Group) waBinary.Node {
	node := waBinary.Node{Tag: "group", Attrs: waBinary.Attrs{
		"id": g.ID, "jid": g.JID(), "subject": g.Subject.Text, "s_t": g.Subject.At, "size": len(g.Members),
	}}
	if g.Announces {
		node.Content = []waBinary.Node{{Tag: "default_sub_group"}}
	}
	return node
}

// iqLink puts groups into the community that the request is sent to.
func (s *Book) iqLink(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "links", "link")
	return s.changeLinks(ctx, c, iq, request, s.link, func(done []waBinary.Node) waBinary.Node {
		return waBinary.Node{Tag: "links", Content: []waBinary.Node{{Tag: "link", Attrs: waBinary.Attrs{"link_type": linkToSub}, Content: done}}}
	})
}

// iqUnlink takes groups out of the community that the request is sent to.
func (s *Book) iqUnlink(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "unlink")
	return s.changeLinks(ctx, c, iq, request, s.unlink, func(done []waBinary.Node) waBinary.Node {
		return waBinary.Node{Tag: "unlink", Attrs: waBinary.Attrs{"unlink_type": linkToSub}, Content: done}
	})
}

// changeLinks links or unlinks the groups of a request, and answers with them.
func (s *Book) changeLinks(
	ctx context.Context, c account.Asker, iq, request waBinary.Node,
	change func(ctx context.Context, by *account.Account, community, id string) (*Group, error),
	answer func(done []waBinary.Node) waBinary.Node,
) ([]waBinary.Node, error) {
	community, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	var done []waBinary.Node
	for _, part := range request.GetChildrenByTag("group") {
		jid := wire.AttrJID(part, "jid")
		if _, err := change(ctx, c.Device.Account, community.ID, jid.User); err != nil {
			return nil, groupRefusal(err)
		}
		done = append(done, waBinary.Node{Tag: "group", Attrs: waBinary.Attrs{"jid": jid}})
	}
	return []waBinary.Node{answer(done)}, nil
}

// iqSubGroups answers with the groups of a community.
func (s *Book) iqSubGroups(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	community, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	linked, err := s.linkedTo(ctx, community.ID)
	if err != nil {
		return nil, err
	}
	answer := waBinary.Node{Tag: "sub_groups"}
	var nodes []waBinary.Node
	for _, g := range linked {
		nodes = append(nodes, linkedNode(g))
	}
	if len(nodes) > 0 {
		answer.Content = nodes
	}
	return []waBinary.Node{answer}, nil
}

// iqCommunityMembers answers with the members of a community.
func (s *Book) iqCommunityMembers(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	community, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	people, err := s.People(ctx, community)
	if err != nil {
		return nil, err
	}
	var nodes []waBinary.Node
	for _, of := range people {
		nodes = append(nodes, participantNode(of, roleMember))
	}
	return []waBinary.Node{{Tag: "linked_groups_participants", Content: nodes}}, nil
}

// Move puts a group into a community, or takes it out of the one that it is in if community
// is "", in the name of the community's owner.
func (s *Book) Move(ctx context.Context, id, community string) error {
	child, err := s.groupNamed(ctx, id)
	if err != nil {
		return err
	}
	change, into := s.link, community
	if community == "" {
		change, into = s.unlink, child.Parent
	}
	parent, err := s.groupNamed(ctx, into)
	if err != nil {
		return err
	}
	by, err := s.adminOf(ctx, parent)
	if err != nil {
		return err
	}
	if _, err := change(ctx, by, parent.ID, child.ID); err != nil {
		if _, refused := err.(*wire.Error); refused { //nolint:errorlint // the value itself
			return refusal.Conflictf("the platform refuses this: the owner of the community must be an admin of the group, which is in no other community")
		}
		return err
	}
	return nil
}
