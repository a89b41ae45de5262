package platform

import (
	"context"
	"errors"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

// addGroupIQs lists the requests that are about groups.
func (t iqTable) addGroupIQs() {
	t["get w:g2 participating"] = iqParticipating
	t["get w:g2 query"] = iqGroupQuery
	t["get w:g2 invite"] = iqInvite
	t["get w:g2 membership_approval_requests"] = iqNoJoinRequests
	t["set w:g2 invite"] = iqInvite
	t["set w:g2 create"] = iqCreateGroup
	t["set w:g2 leave"] = iqLeave
	t["set w:g2 subject"] = iqSubject
	t["set w:g2 description"] = iqDescription
	for _, action := range []string{"add", "remove", "promote", "demote"} {
		t["set w:g2 "+action] = iqMembers
	}
	for name := range groupSwitches() {
		t["set w:g2 "+name] = iqSwitch
	}
}

// groupSwitches are the changes of a group that are but a name, or nearly.
func groupSwitches() map[string]func(g *group, request waBinary.Node) {
	return map[string]func(g *group, request waBinary.Node){
		"announcement":     func(g *group, _ waBinary.Node) { g.Announcement = true },
		"not_announcement": func(g *group, _ waBinary.Node) { g.Announcement = false },
		"locked":           func(g *group, _ waBinary.Node) { g.Locked = true },
		"unlocked":         func(g *group, _ waBinary.Node) { g.Locked = false },
		"ephemeral":        func(g *group, request waBinary.Node) { g.Ephemeral = max(attrInt(request, "expiration"), 0) },
		"not_ephemeral":    func(g *group, _ waBinary.Node) { g.Ephemeral = 0 },
		"member_add_mode":  func(g *group, request waBinary.Node) { g.AdminsAdd = string(content(request)) == "admin_add" },
		"membership_approval_mode": func(g *group, request waBinary.Node) {
			join, _ := child(request, "group_join")
			g.Approval = attrString(join, "state") == "on"
		},
	}
}

// groupOf returns the group that a request is addressed to, and about which the
// client may ask.
func (c *connection) groupOf(ctx context.Context, iq waBinary.Node) (*group, error) {
	found, err := c.s.groups.find(ctx, attrJID(iq, "to").User)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errItemNotFound
	}
	if !found.has(c.device.account) {
		return nil, errForbidden
	}
	return found, nil
}

func iqGroupQuery(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	found, err := c.groupOf(ctx, iq)
	if err != nil {
		return nil, err
	}
	return c.groupNodes(ctx, found)
}

func (c *connection) groupNodes(ctx context.Context, groups ...*group) ([]waBinary.Node, error) {
	var nodes []waBinary.Node
	for _, g := range groups {
		node, err := c.s.groupNode(ctx, g)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// iqParticipating lists the groups that the account is in.
func iqParticipating(ctx context.Context, c *connection, _ waBinary.Node) ([]waBinary.Node, error) {
	mine, err := c.s.groups.all(ctx, c.device.account.number)
	if err != nil {
		return nil, err
	}
	answer := waBinary.Node{Tag: "groups"}
	nodes, err := c.groupNodes(ctx, mine...)
	if err != nil {
		return nil, err
	}
	if len(nodes) > 0 {
		answer.Content = nodes
	}
	return []waBinary.Node{answer}, nil
}

func iqCreateGroup(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := child(iq, "create")
	draft := groupDraft{subject: attrString(request, "subject"), key: attrString(request, "key")}
	for _, part := range request.GetChildrenByTag("participant") {
		of, err := c.s.directory.byJID(ctx, attrJID(part, "jid"))
		if err != nil {
			return nil, err
		}
		if of != nil && of.isRegistered() {
			draft.people = append(draft.people, newMember{account: of})
		}
	}
	if body := childContent(request, "description", "body"); body != nil {
		draft.description = string(body)
	}
	switches := groupSwitches()
	draft.set = func(g *group) {
		for _, part := range request.GetChildren() {
			if change := switches[part.Tag]; change != nil {
				change(g, part)
			}
		}
	}
	if checkSubject(draft.subject) != nil {
		return nil, errNotAcceptable
	}
	created, err := c.s.createGroup(ctx, c.device.account, draft)
	if err != nil {
		return nil, groupRefusal(err)
	}
	return c.groupNodes(ctx, created)
}

// iqMembers adds, removes, promotes or demotes people.
func iqMembers(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	found, err := c.groupOf(ctx, iq)
	if err != nil {
		return nil, err
	}
	request := iq.GetChildren()[0]
	if !found.isAdmin(c.device.account) && (request.Tag != "add" || found.AdminsAdd) {
		return nil, errForbidden
	}
	var people []*account
	var unknown []waBinary.Node
	for _, part := range request.GetChildrenByTag("participant") {
		of, err := c.s.directory.byJID(ctx, attrJID(part, "jid"))
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
	if _, err := c.s.changeGroup(ctx, found.ID, c.device.account, setMembers(request.Tag, people, &answer)); err != nil {
		return nil, groupRefusal(err)
	}
	return []waBinary.Node{{Tag: request.Tag, Content: append(answer, unknown...)}}, nil
}

// changeTexts makes a change that only admins make in a locked group.
func (c *connection) changeTexts(ctx context.Context, iq waBinary.Node, step groupStep) error {
	found, err := c.groupOf(ctx, iq)
	if err != nil {
		return err
	}
	if found.Locked && !found.isAdmin(c.device.account) {
		return errForbidden
	}
	_, err = c.s.changeGroup(ctx, found.ID, c.device.account, step)
	return groupRefusal(err)
}

func iqSubject(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	subject := string(childContent(iq, "subject"))
	if checkSubject(subject) != nil {
		return nil, errNotAcceptable
	}
	return nil, c.changeTexts(ctx, iq, setSubject(subject))
}

func iqDescription(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := child(iq, "description")
	id := attrString(request, "id")
	if id == "" {
		id = newMessageID()
	}
	return nil, c.changeTexts(ctx, iq, setDescription(string(childContent(request, "body")), id))
}

// iqSwitch changes a switch of a group, which only admins do.
func iqSwitch(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	found, err := c.groupOf(ctx, iq)
	if err != nil {
		return nil, err
	}
	if !found.isAdmin(c.device.account) {
		return nil, errForbidden
	}
	request := iq.GetChildren()[0]
	change := groupSwitches()[request.Tag]
	told := waBinary.Node{Tag: request.Tag, Attrs: waBinary.Attrs{"v_id": newID(), "expiration": request.Attrs["expiration"]}, Content: request.Content}
	_, err = c.s.changeGroup(ctx, found.ID, c.device.account, setSwitch(told, func(next *group) { change(next, request) }))
	return nil, groupRefusal(err)
}

func iqLeave(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := child(iq, "leave")
	var left []waBinary.Node
	for _, part := range request.GetChildrenByTag("group") {
		jid := attrJID(part, "id")
		found, err := c.s.groups.find(ctx, jid.User)
		if err != nil {
			return nil, err
		}
		if found == nil || !found.has(c.device.account) {
			return nil, errItemNotFound
		}
		step := setMembers("remove", []*account{c.device.account}, new([]waBinary.Node))
		if _, err := c.s.changeGroup(ctx, found.ID, c.device.account, step); err != nil {
			return nil, groupRefusal(err)
		}
		left = append(left, waBinary.Node{Tag: "group", Attrs: waBinary.Attrs{"id": jid}})
	}
	return []waBinary.Node{{Tag: "leave", Content: left}}, nil
}

// iqNoJoinRequests answers that nobody asks to be let in.
func iqNoJoinRequests(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	if _, err := c.groupOf(ctx, iq); err != nil {
		return nil, err
	}
	return []waBinary.Node{{Tag: "membership_approval_requests"}}, nil
}

// iqInvite answers, or renews, the code that leads to a group; and where it is
// asked with a code, it answers the group, or lets the account in.
func iqInvite(ctx context.Context, c *connection, iq waBinary.Node) ([]waBinary.Node, error) {
	request, _ := child(iq, "invite")
	if attrJID(iq, "to").User == "" {
		return c.useInvite(ctx, attrString(request, "code"), attrString(iq, "type") == "set")
	}
	found, err := c.groupOf(ctx, iq)
	if err != nil {
		return nil, err
	}
	if !found.isAdmin(c.device.account) {
		return nil, errNotAuthorized
	}
	if attrString(iq, "type") == "set" {
		found, err = c.s.changeGroup(ctx, found.ID, c.device.account,
			func(ctx context.Context, u *unit, next *group, by *account) error {
				next.Invite = newInvite()
				return u.tellAll(ctx, next, by, waBinary.Node{Tag: "invite", Attrs: waBinary.Attrs{"code": next.Invite}})
			})
		if err != nil {
			return nil, groupRefusal(err)
		}
	}
	return []waBinary.Node{{Tag: "invite", Attrs: waBinary.Attrs{"code": found.Invite}}}, nil
}

func (c *connection) useInvite(ctx context.Context, code string, join bool) ([]waBinary.Node, error) {
	found, err := c.s.groups.invited(ctx, code)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errNotAcceptable
	}
	if !join {
		return c.groupNodes(ctx, found)
	}
	step := setMembers("add", []*account{c.device.account}, new([]waBinary.Node))
	if _, err := c.s.changeGroup(ctx, found.ID, c.device.account, step); err != nil {
		return nil, groupRefusal(err)
	}
	return []waBinary.Node{{Tag: "group", Attrs: waBinary.Attrs{"jid": types.NewJID(found.ID, types.GroupServer)}}}, nil
}

// groupRefusal turns what a caller of the control API would be told into what a
// client is told.
func groupRefusal(err error) error {
	if _, refused := errors.AsType[*Error](err); refused {
		return errNotAcceptable
	}
	return err
}
