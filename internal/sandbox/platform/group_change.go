package platform

import (
	"context"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"
)

// The codes with which a client is told that somebody could not be added or
// changed.
const (
	codeNoPerson      = 404
	codeAlreadyMember = 409
)

// newMember is somebody who is to be in a group.
type newMember struct {
	account *account
	admin   bool
}

// groupDraft is a group that is to be made.
type groupDraft struct {
	subject, description string
	key                  string // by which the client that makes it knows it again
	people               []newMember
	set                  func(g *group) // switches
}

// createGroup makes a group and tells all its members.
func (s *Server) createGroup(ctx context.Context, owner *account, draft groupDraft) (*group, error) {
	id, err := newGroupID()
	if err != nil {
		return nil, err
	}
	now := s.now().Unix()
	g := &group{
		ID: id, Owner: owner.number, CreatedAt: now, Invite: newInvite(), Version: 1,
		Subject: edition{Text: draft.subject, By: owner.number, At: now},
		Members: []member{{Number: owner.number, Role: roleOwner}},
	}
	if draft.description != "" {
		g.Description = edition{Text: draft.description, ID: newMessageID(), By: owner.number, At: now}
	}
	if draft.set != nil {
		draft.set(g)
	}
	for _, m := range draft.people {
		if g.has(m.account) {
			continue
		}
		as := roleMember
		if m.admin {
			as = roleAdmin
		}
		g.Members = append(g.Members, member{Number: m.account.number, Role: as})
	}
	if len(g.Members) > maxMembers {
		return nil, invalidf("participants", "a group has at most %d members", maxMembers)
	}
	u := s.newUnit()
	if err := u.keepGroup(g); err != nil {
		return nil, err
	}
	people, err := s.people(ctx, g)
	if err != nil {
		return nil, err
	}
	if err := s.welcomeToGroup(ctx, u, g, owner, people, draft.key); err != nil {
		return nil, err
	}
	return g, u.commit(ctx)
}

func newInvite() string { return randomHex(11) }

// welcomeToGroup tells people that they are in a group now, and which.
func (s *Server) welcomeToGroup(ctx context.Context, u *unit, g *group, by *account, people []*account, key string) error {
	node, err := s.groupNode(ctx, g)
	if err != nil {
		return err
	}
	return u.notifyGroup(g, by, people, waBinary.Node{
		Tag: "create", Attrs: waBinary.Attrs{"type": "new", "key": key}, Content: []waBinary.Node{node},
	})
}

// groupStep is one change of a group: it changes next, which nobody else has yet,
// and adds to the unit who is told. An error leaves everything as it was.
type groupStep func(ctx context.Context, u *unit, next *group, by *account) error

// changeGroup makes changes of one group, one after the other.
func (s *Server) changeGroup(ctx context.Context, id string, by *account, steps ...groupStep) (*group, error) {
	s.groups.changing.Lock()
	defer s.groups.changing.Unlock()
	current, err := s.groups.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if current == nil {
		return nil, errItemNotFound
	}
	next := current.clone()
	u := s.newUnit()
	for _, step := range steps {
		if err := step(ctx, u, next, by); err != nil {
			return nil, err
		}
	}
	if err := u.keepGroup(next); err != nil {
		return nil, err
	}
	return next, u.commit(ctx)
}

// tellAll tells all members of a change.
func (u *unit) tellAll(ctx context.Context, g *group, by *account, change waBinary.Node) error {
	people, err := u.s.people(ctx, g)
	if err != nil {
		return err
	}
	return u.notifyGroup(g, by, people, change)
}

func setSubject(text string) groupStep {
	return func(ctx context.Context, u *unit, next *group, by *account) error {
		next.Subject = edition{Text: text, By: by.number, At: u.s.now().Unix()}
		return u.tellAll(ctx, next, by, waBinary.Node{Tag: "subject", Attrs: waBinary.Attrs{
			"subject": text, "s_t": next.Subject.At, "s_o": by.lidJID(), "s_o_pn": by.shownPN(),
		}})
	}
}

func setDescription(text, id string) groupStep {
	return func(ctx context.Context, u *unit, next *group, by *account) error {
		next.Description = edition{Text: text, ID: id, By: by.number, At: u.s.now().Unix()}
		content := waBinary.Node{Tag: "body", Content: []byte(text)}
		if text == "" {
			content = waBinary.Node{Tag: "delete"}
		}
		return u.tellAll(ctx, next, by, waBinary.Node{
			Tag: "description", Attrs: waBinary.Attrs{"id": id}, Content: []waBinary.Node{content},
		})
	}
}

// setSwitch changes a switch; told is what the members hear of it.
func setSwitch(told waBinary.Node, change func(next *group)) groupStep {
	return func(ctx context.Context, u *unit, next *group, by *account) error {
		change(next)
		return u.tellAll(ctx, next, by, told)
	}
}

// setAnnouncement says whether only admins write.
func setAnnouncement(on bool) groupStep {
	name := "not_announcement"
	if on {
		name = "announcement"
	}
	return setSwitch(waBinary.Node{Tag: name, Attrs: waBinary.Attrs{"v_id": newID()}}, func(next *group) { next.Announcement = on })
}

// setGroupPicture gives the group another picture, none where the file is empty.
func setGroupPicture(file []byte) groupStep {
	return func(ctx context.Context, u *unit, next *group, by *account) error {
		hash, err := u.s.keepPicture(file)
		if err != nil {
			return err
		}
		next.Picture = hash
		people, err := u.s.people(ctx, next)
		if err != nil {
			return err
		}
		for _, of := range people {
			for _, linked := range of.companions() {
				if err := u.toDevice(linked, pictureNotification(next.jid(), by.lidJID(), hash, u.s.now().Unix())); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// setMembers adds or removes people, or makes them admins or ordinary members
// again. answer gets one node for each of them, with an error where it could not
// be done.
func setMembers(action string, people []*account, answer *[]waBinary.Node) groupStep {
	return func(ctx context.Context, u *unit, next *group, by *account) error {
		before, err := u.s.people(ctx, next)
		if err != nil {
			return err
		}
		var changed []*account
		*answer = nil
		for _, of := range people {
			node := participantNode(of, roleMember)
			if code := next.changeMember(action, of); code != 0 {
				node.Attrs["error"] = code
			} else {
				changed = append(changed, of)
			}
			*answer = append(*answer, node)
		}
		if len(changed) == 0 {
			return nil
		}
		if err := u.notifyGroup(next, by, before, membersNode(action, next, changed)); err != nil {
			return err
		}
		switch action {
		case "add":
			return u.s.welcomeToGroup(ctx, u, next, by, changed, "")
		case "remove":
			u.renewKeys(next)
		}
		return nil
	}
}

// changeMember changes one member and returns why that could not be done, 0
// where it was.
func (g *group) changeMember(action string, of *account) (code int) {
	i := g.index(of.number)
	switch action {
	case "add":
		if i >= 0 {
			return codeAlreadyMember
		}
		if !of.isRegistered() || len(g.Members) >= maxMembers {
			return codeNoPerson
		}
		g.Members = append(g.Members, member{Number: of.number})
		return 0
	case "remove":
		if i < 0 {
			return codeNoPerson
		}
		g.Members = slices.Delete(g.Members, i, i+1)
		g.keepAnAdmin()
		return 0
	case "promote":
		if i < 0 {
			return codeNoPerson
		}
		g.Members[i].Role = max(g.Members[i].Role, roleAdmin)
		return 0
	default:
		if i < 0 || g.Members[i].Role == roleOwner {
			return codeNoPerson
		}
		g.Members[i].Role = roleMember
		return 0
	}
}

// keepAnAdmin makes the first member an admin where there is none left.
func (g *group) keepAnAdmin() {
	if len(g.Members) > 0 && !slices.ContainsFunc(g.Members, func(m member) bool { return m.Role != roleMember }) {
		g.Members[0].Role = roleAdmin
	}
}

func membersNode(action string, g *group, people []*account) waBinary.Node {
	var list []waBinary.Node
	for _, of := range people {
		list = append(list, participantNode(of, roleMember))
	}
	return waBinary.Node{
		Tag: action, Attrs: waBinary.Attrs{"v_id": g.version(), "prev_v_id": g.version()}, Content: list,
	}
}

// renewKeys has the members' phones make new keys for what they write next.
func (u *unit) renewKeys(g *group) {
	u.exec("DELETE FROM distributed WHERE group_id = $1", g.ID)
}
