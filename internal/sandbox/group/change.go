// Clients' requests that change a group.

package group

import (
	"context"
	"slices"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

// The codes for people who could not be added or changed.
const (
	codePrivacy       = 403 // the person lets nobody add him
	codeNoPerson      = 404
	codeNotAllowed    = 406 // nobody does this to the owner
	codeAlreadyMember = 409
	codeFull          = 419
)

// newMember is a person who is to be a member.
type newMember struct {
	account *account.Account
	admin   bool
}

// groupDraft is a group that is to be created.
type groupDraft struct {
	subject, description string
	key                  string // with which the client that creates the group recognises it
	people               []newMember
	set                  func(g *Group)   // sets the switches, nil for none
	refused              *[]waBinary.Node // gets those who could not be added; nil: whoever is named is a member
}

// createGroup creates a group and notifies all its members.
func (s *Book) createGroup(ctx context.Context, owner *account.Account, draft groupDraft) (*Group, error) {
	id, err := newGroupID()
	if err != nil {
		return nil, err
	}
	now := s.now().Unix()
	g := &Group{
		ID: id, Owner: owner.Number, CreatedAt: now, Invite: newInvite(), Version: 1,
		Subject: edition{Text: draft.subject, By: owner.Number, At: now},
		Members: []member{{Number: owner.Number, Role: roleOwner}},
	}
	if draft.description != "" {
		g.Description = edition{Text: draft.description, ID: wire.NewMessageID(), By: owner.Number, At: now}
	}
	if draft.set != nil {
		draft.set(g)
	}
	for _, m := range draft.people {
		if g.Has(m.account) {
			continue
		}
		if draft.refused != nil {
			node, refused, err := s.refusal(ctx, g, m.account, owner)
			if err != nil {
				return nil, err
			}
			if refused {
				*draft.refused = append(*draft.refused, node)
				continue
			}
		}
		as := roleMember
		if m.admin {
			as = roleAdmin
		}
		g.Members = append(g.Members, member{Number: m.account.Number, Role: as})
	}
	if len(g.Members) > g.limit() {
		return nil, refusal.Invalidf("participants", "a group has at most %d members", g.limit())
	}
	u := s.accounts.NewUnit()
	if err := s.keepGroup(u, g); err != nil {
		return nil, err
	}
	people, err := s.People(ctx, g)
	if err != nil {
		return nil, err
	}
	if err := s.welcomeToGroup(ctx, u, g, owner, people, draft.key); err != nil {
		return nil, err
	}
	return g, u.Commit(ctx)
}

// welcomeToGroup notifies people that they are members of the group now.
func (s *Book) welcomeToGroup(ctx context.Context, u *account.Unit, g *Group, by *account.Account, people []*account.Account, key string) error {
	node, err := s.groupNode(ctx, g)
	if err != nil {
		return err
	}
	return notifyGroup(u, s.now(), g, by, people, waBinary.Node{
		Tag: "create", Attrs: waBinary.Attrs{"type": "new", "key": key}, Content: []waBinary.Node{node},
	})
}

// groupChange is a change of a group while it is being made.
type groupChange struct {
	Unit *account.Unit

	book *Book
	next *Group // the new version, which nobody else has yet
	by   *account.Account
}

// groupStep is one part of a change. It changes next and adds notifications to the
// unit. After an error nothing is changed.
type groupStep func(ctx context.Context, ch *groupChange) error

// changeGroup changes a group in one or more steps. Only one change is made at a
// time.
func (s *Book) changeGroup(ctx context.Context, id string, by *account.Account, steps ...groupStep) (*Group, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	current, err := s.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	if current == nil {
		return nil, wire.ErrItemNotFound
	}
	ch := &groupChange{Unit: s.accounts.NewUnit(), book: s, next: current.clone(), by: by}
	for _, step := range steps {
		if err := step(ctx, ch); err != nil {
			return nil, err
		}
	}
	if err := s.keepGroup(ch.Unit, ch.next); err != nil {
		return nil, err
	}
	return ch.next, ch.Unit.Commit(ctx)
}

// notifyAll notifies all members of a change.
func (ch *groupChange) notifyAll(ctx context.Context, change waBinary.Node) error {
	people, err := ch.book.People(ctx, ch.next)
	if err != nil {
		return err
	}
	return ch.notify(people, change)
}

// notify notifies people of a change.
func (ch *groupChange) notify(people []*account.Account, change waBinary.Node) error {
	return notifyGroup(ch.Unit, ch.book.now(), ch.next, ch.by, people, change)
}

func setSubject(text string) groupStep {
	return func(ctx context.Context, ch *groupChange) error {
		ch.next.Subject = edition{Text: text, By: ch.by.Number, At: ch.book.now().Unix()}
		return ch.notifyAll(ctx, waBinary.Node{Tag: "subject", Attrs: waBinary.Attrs{
			"subject": text, "s_t": ch.next.Subject.At, "s_o": ch.by.LIDJID(), "s_o_pn": ch.by.ShownPN(),
		}})
	}
}

func setDescription(text, id string) groupStep {
	return func(ctx context.Context, ch *groupChange) error {
		ch.next.Description = edition{Text: text, ID: id, By: ch.by.Number, At: ch.book.now().Unix()}
		content := waBinary.Node{Tag: "body", Content: []byte(text)}
		if text == "" {
			content = waBinary.Node{Tag: "delete"}
		}
		return ch.notifyAll(ctx, waBinary.Node{
			Tag: "description", Attrs: waBinary.Attrs{"id": id}, Content: []waBinary.Node{content},
		})
	}
}

// setSwitch changes a switch; members get the notice.
func setSwitch(notice waBinary.Node, change func(next *Group)) groupStep {
	return func(ctx context.Context, ch *groupChange) error {
		change(ch.next)
		return ch.notifyAll(ctx, notice)
	}
}

// setAnnouncement sets whether only admins may write.
func setAnnouncement(on bool) groupStep {
	name := "not_announcement"
	if on {
		name = "announcement"
	}
	return setSwitch(waBinary.Node{Tag: name, Attrs: waBinary.Attrs{"v_id": wire.NewID()}}, func(next *Group) { next.Announcement = on })
}

// setGroupPicture sets the picture of the group. An empty file removes it.
func setGroupPicture(file []byte) groupStep {
	return func(ctx context.Context, ch *groupChange) error {
		hash, err := ch.book.files.KeepPicture(file)
		if err != nil {
			return err
		}
		ch.next.Picture = hash
		people, err := ch.book.People(ctx, ch.next)
		if err != nil {
			return err
		}
		for _, of := range people {
			for _, linked := range of.Companions() {
				if err := ch.Unit.ToDevice(linked, account.PictureNotification(ch.next.JID(), ch.by.LIDJID(), hash, ch.book.now().Unix())); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// setMembers adds, removes, promotes or demotes people. answer gets one node for
// each of them, with an error if it could not be done.
func setMembers(action string, people []*account.Account, answer *[]waBinary.Node) groupStep {
	return func(ctx context.Context, ch *groupChange) error {
		before, err := ch.book.People(ctx, ch.next)
		if err != nil {
			return err
		}
		var changed []*account.Account
		*answer = nil
		for _, of := range people {
			node, refused, err := ch.changeMember(ctx, action, of)
			if err != nil {
				return err
			}
			if !refused {
				changed = append(changed, of)
			}
			*answer = append(*answer, node)
		}
		if len(changed) == 0 {
			return nil
		}
		if err := ch.notify(before, membersNode(action, ch.next, changed)); err != nil {
			return err
		}
		switch action {
		case "add":
			return ch.book.welcomeToGroup(ctx, ch.Unit, ch.next, ch.by, changed, "")
		case "remove":
			renewKeys(ch.Unit, ch.next)
			for _, of := range changed {
				ch.Unit.Ring(of.Number)
			}
		}
		return nil
	}
}

// changeMember changes one member, and builds the node of the answer. Whom a member
// adds is refused if he lets nobody add him, and gets an invitation instead.
func (ch *groupChange) changeMember(ctx context.Context, action string, of *account.Account) (node waBinary.Node, refused bool, err error) {
	if action == "add" && of != ch.by && !ch.next.Has(of) && of.IsRegistered() {
		if node, refused, err := ch.book.refusal(ctx, ch.next, of, ch.by); err != nil || refused {
			return node, refused, err
		}
	}
	node = participantNode(of, roleMember)
	if action == "remove" && of.Number == ch.next.Owner && of != ch.by {
		node.Attrs["error"] = codeNotAllowed
		return node, true, nil
	}
	if code := ch.next.changeMember(action, of); code != 0 {
		node.Attrs["error"] = code
		return node, true, nil
	}
	if action == "add" {
		ch.next.settle(of.Number)
	}
	return node, false, nil
}

// settle forgets the request and the invitation of somebody who is a member now.
func (g *Group) settle(number string) {
	g.Requests = slices.DeleteFunc(g.Requests, func(r joinRequest) bool { return r.Number == number })
	g.Invitations = slices.DeleteFunc(g.Invitations, func(i invitation) bool { return i.Number == number })
}

// changeMember changes one member. It returns a code if that is not possible, or 0.
func (g *Group) changeMember(action string, of *account.Account) (code int) {
	i := g.index(of.Number)
	switch action {
	case "add":
		if i >= 0 {
			return codeAlreadyMember
		}
		if !of.IsRegistered() {
			return codeNoPerson
		}
		if len(g.Members) >= g.limit() {
			return codeFull
		}
		g.Members = append(g.Members, member{Number: of.Number})
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
		if i < 0 {
			return codeNoPerson
		}
		if g.Members[i].Role == roleOwner {
			return codeNotAllowed
		}
		g.Members[i].Role = roleMember
		return 0
	}
}

// keepAnAdmin makes the first member an admin if no admin is left.
func (g *Group) keepAnAdmin() {
	if len(g.Members) > 0 && !slices.ContainsFunc(g.Members, func(m member) bool { return m.Role != roleMember }) {
		g.Members[0].Role = roleAdmin
	}
}

func membersNode(action string, g *Group, people []*account.Account) waBinary.Node {
	var list []waBinary.Node
	for _, of := range people {
		list = append(list, participantNode(of, roleMember))
	}
	return waBinary.Node{
		Tag: action, Attrs: waBinary.Attrs{"v_id": g.version(), "prev_v_id": g.version()}, Content: list,
	}
}

// renewKeys lets the members' phones use new keys for their next messages.
func renewKeys(u *account.Unit, g *Group) {
	u.Exec("DELETE FROM distributed WHERE group_id = $1", g.ID)
}
