package group

import (
	"context"
	"errors"
	"net/http"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// Requests lists the requests that are about groups.
func (s *Book) Requests() map[string]account.Handler {
	t := map[string]account.Handler{
		"get w:g2 participating":                s.iqParticipating,
		"get w:g2 query":                        s.iqGroupQuery,
		"get w:g2 invite":                       s.iqInvite,
		"get w:g2 membership_approval_requests": s.iqJoinRequests,
		"get w:g2 sub_groups":                   s.iqSubGroups,
		"get w:g2 linked_groups_participants":   s.iqCommunityMembers,
		"set w:g2 membership_requests_action":   s.iqAnswerJoinRequests,
		"set w:g2 accept":                       s.iqAccept,
		"set w:g2 links":                        s.iqLink,
		"set w:g2 unlink":                       s.iqUnlink,
		"set w:g2 invite":                       s.iqInvite,
		"set w:g2 create":                       s.iqCreateGroup,
		"set w:g2 leave":                        s.iqLeave,
		"set w:g2 subject":                      s.iqSubject,
		"set w:g2 description":                  s.iqDescription,
	}
	for _, action := range []string{"add", "remove", "promote", "demote"} {
		t["set w:g2 "+action] = s.iqMembers
	}
	for name := range groupSwitches() {
		t["set w:g2 "+name] = s.iqSwitch
	}
	return t
}

// groupSwitches are the changes for which the name of the request says nearly
// everything.
func groupSwitches() map[string]func(g *Group, request waBinary.Node) {
	return map[string]func(g *Group, request waBinary.Node){
		"announcement":     func(g *Group, _ waBinary.Node) { g.Announcement = true },
		"not_announcement": func(g *Group, _ waBinary.Node) { g.Announcement = false },
		"locked":           func(g *Group, _ waBinary.Node) { g.Locked = true },
		"unlocked":         func(g *Group, _ waBinary.Node) { g.Locked = false },
		"ephemeral":        func(g *Group, request waBinary.Node) { g.Ephemeral = max(wire.AttrInt(request, "expiration"), 0) },
		"not_ephemeral":    func(g *Group, _ waBinary.Node) { g.Ephemeral = 0 },
		"member_add_mode":  func(g *Group, request waBinary.Node) { g.AdminsAdd = string(wire.Content(request)) == "admin_add" },
		"membership_approval_mode": func(g *Group, request waBinary.Node) {
			join, _ := wire.Child(request, "group_join")
			g.Approval = wire.AttrString(join, "state") == "on"
		},
	}
}

// groupOf returns the group that a request is sent to. It refuses clients whose
// account is not a member.
func (s *Book) groupOf(ctx context.Context, c account.Asker, iq waBinary.Node) (*Group, error) {
	found, err := s.Find(ctx, wire.AttrJID(iq, "to").User)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, wire.ErrItemNotFound
	}
	if !found.Has(c.Device.Account) {
		return nil, wire.ErrForbidden
	}
	return found, nil
}

func (s *Book) iqGroupQuery(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	if request, ok := wire.Child(iq, "query", "add_request"); ok {
		found, err := s.invitedBy(ctx, c, iq, wire.AttrString(request, "code"))
		if err != nil {
			return nil, err
		}
		return s.groupNodes(ctx, found)
	}
	found, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	return s.groupNodes(ctx, found)
}

func (s *Book) groupNodes(ctx context.Context, groups ...*Group) ([]waBinary.Node, error) {
	var nodes []waBinary.Node
	for _, g := range groups {
		node, err := s.groupNode(ctx, g)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// iqParticipating answers with the groups that the account is a member of.
func (s *Book) iqParticipating(ctx context.Context, c account.Asker, _ waBinary.Node) ([]waBinary.Node, error) {
	mine, err := s.all(ctx, c.Device.Account.Number)
	if err != nil {
		return nil, err
	}
	answer := waBinary.Node{Tag: "groups"}
	nodes, err := s.groupNodes(ctx, mine...)
	if err != nil {
		return nil, err
	}
	if len(nodes) > 0 {
		answer.Content = nodes
	}
	return []waBinary.Node{answer}, nil
}

func (s *Book) iqCreateGroup(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "create")
	draft := groupDraft{subject: wire.AttrString(request, "subject"), key: wire.AttrString(request, "key")}
	refused := []waBinary.Node{}
	draft.refused = &refused
	for _, part := range request.GetChildrenByTag("participant") {
		of, err := s.accounts.ByJID(ctx, wire.AttrJID(part, "jid"))
		if err != nil {
			return nil, err
		}
		if of == nil || !of.IsRegistered() {
			refused = append(refused, waBinary.Node{
				Tag: "participant", Attrs: waBinary.Attrs{"jid": part.Attrs["jid"], "error": codeNoPerson},
			})
			continue
		}
		draft.people = append(draft.people, newMember{account: of})
	}
	if body := wire.ChildContent(request, "description", "body"); body != nil {
		draft.description = string(body)
	}
	switches := groupSwitches()
	draft.set = func(g *Group) {
		for _, part := range request.GetChildren() {
			if change := switches[part.Tag]; change != nil {
				change(g, part)
			}
		}
	}
	if checkSubject(draft.subject) != nil {
		return nil, wire.ErrNotAcceptable
	}
	var created *Group
	var err error
	if _, community := wire.Child(request, "parent"); community {
		created, err = s.createCommunity(ctx, c.Device.Account, draft)
	} else {
		created, err = s.createGroup(ctx, c.Device.Account, draft)
	}
	if err != nil {
		return nil, groupRefusal(err)
	}
	if parent, ok := wire.Child(request, "linked_parent"); ok {
		if created, err = s.link(ctx, c.Device.Account, wire.AttrJID(parent, "jid").User, created.ID); err != nil {
			return nil, groupRefusal(err)
		}
	}
	nodes, err := s.groupNodes(ctx, created)
	if err != nil || len(refused) == 0 {
		return nodes, err
	}
	nodes[0].Content = append(nodes[0].GetChildren(), refused...)
	return nodes, nil
}

// iqMembers adds, removes, promotes or demotes people.
func (s *Book) iqMembers(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	found, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	request := iq.GetChildren()[0]
	if !found.IsAdmin(c.Device.Account) && (request.Tag != "add" || found.AdminsAdd) {
		return nil, wire.ErrForbidden
	}
	var people []*account.Account
	var unknown []waBinary.Node
	for _, part := range request.GetChildrenByTag("participant") {
		of, err := s.accounts.ByJID(ctx, wire.AttrJID(part, "jid"))
		if err != nil {
			return nil, err
		}
		if of == nil {
			unknown = append(unknown, waBinary.Node{
				Tag: "participant", Attrs: waBinary.Attrs{"jid": part.Attrs["jid"], "error": codeNoPerson},
			})
			continue
		}
		people = append(people, of)
	}
	var answer []waBinary.Node
	if _, err := s.changeGroup(ctx, found.ID, c.Device.Account, setMembers(request.Tag, people, &answer)); err != nil {
		return nil, groupRefusal(err)
	}
	return []waBinary.Node{{Tag: request.Tag, Content: append(answer, unknown...)}}, nil
}

// changeTexts changes the subject, the description or the picture. In a locked group only admins
// may do that.
func (s *Book) changeTexts(ctx context.Context, c account.Asker, iq waBinary.Node, step groupStep) error {
	found, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return err
	}
	if found.Locked && !found.IsAdmin(c.Device.Account) {
		return wire.ErrForbidden
	}
	_, err = s.changeGroup(ctx, found.ID, c.Device.Account, step)
	return groupRefusal(err)
}

func (s *Book) iqSubject(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	subject := string(wire.ChildContent(iq, "subject"))
	if checkSubject(subject) != nil {
		return nil, wire.ErrNotAcceptable
	}
	return nil, s.changeTexts(ctx, c, iq, setSubject(subject))
}

func (s *Book) iqDescription(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "description")
	id := wire.AttrString(request, "id")
	if id == "" {
		id = wire.NewMessageID()
	}
	return nil, s.changeTexts(ctx, c, iq, setDescription(string(wire.ChildContent(request, "body")), id))
}

// iqSwitch changes a switch of a group. Only admins may do that.
func (s *Book) iqSwitch(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	found, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	if !found.IsAdmin(c.Device.Account) {
		return nil, wire.ErrForbidden
	}
	request := iq.GetChildren()[0]
	change := groupSwitches()[request.Tag]
	notice := waBinary.Node{Tag: request.Tag, Attrs: waBinary.Attrs{"v_id": wire.NewID(), "expiration": request.Attrs["expiration"]}, Content: request.Content}
	_, err = s.changeGroup(ctx, found.ID, c.Device.Account, setSwitch(notice, func(next *Group) { change(next, request) }))
	return nil, groupRefusal(err)
}

// ChangePicture answers a request that sets or removes the picture of a group.
func (s *Book) ChangePicture(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	target := wire.AttrJID(iq, "target")
	iq.Attrs["to"] = target
	file := wire.ChildContent(iq, "picture")
	if len(file) > 0 && http.DetectContentType(file) != "image/jpeg" {
		return nil, wire.ErrNotAcceptable
	}
	if err := s.changeTexts(ctx, c, iq, setGroupPicture(file)); err != nil || len(file) == 0 {
		return nil, err
	}
	found, err := s.groupOf(ctx, c, iq)
	if err != nil {
		return nil, err
	}
	return []waBinary.Node{{Tag: "picture", Attrs: waBinary.Attrs{"id": found.Picture}}}, nil
}

func (s *Book) iqLeave(ctx context.Context, c account.Asker, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := wire.Child(iq, "leave")
	var left []waBinary.Node
	for _, part := range request.GetChildrenByTag("group") {
		jid := wire.AttrJID(part, "id")
		found, err := s.Find(ctx, jid.User)
		if err != nil {
			return nil, err
		}
		if found == nil || !found.Has(c.Device.Account) {
			return nil, wire.ErrItemNotFound
		}
		step := setMembers("remove", []*account.Account{c.Device.Account}, new([]waBinary.Node))
		if _, err := s.changeGroup(ctx, found.ID, c.Device.Account, step); err != nil {
			return nil, groupRefusal(err)
		}
		left = append(left, waBinary.Node{Tag: "group", Attrs: waBinary.Attrs{"id": jid}})
	}
	return []waBinary.Node{{Tag: "leave", Content: left}}, nil
}

// groupRefusal turns refusals that are meant for the control API into an error for
// clients.
func groupRefusal(err error) error {
	if _, refused := errors.AsType[*refusal.Error](err); refused {
		return wire.ErrNotAcceptable
	}
	return err
}
