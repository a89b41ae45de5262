package platform

import (
	"context"
	"slices"
	"strings"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
)

const (
	maxSubject = 100
	maxMembers = 1024
)

// Participant is somebody in a group, as the control API shows it.
type Participant struct {
	ID    string  `json:"id"`    // a chat ID by number
	Admin *string `json:"admin"` // superadmin, admin or null
}

// GroupInfo is a group as the control API shows it.
type GroupInfo struct {
	ID           string        `json:"id"`
	Subject      string        `json:"subject"`
	Description  *string       `json:"description"`
	Owner        *string       `json:"owner"` // a chat ID by number
	Creation     int64         `json:"creation"`
	Participants []Participant `json:"participants"`
}

func (g *group) show() GroupInfo {
	shown := GroupInfo{
		ID: g.jid().String(), Subject: g.Subject.Text, Description: optional(g.Description.Text),
		Owner: new(chatID(g.Owner)), Creation: g.CreatedAt, Participants: make([]Participant, 0, len(g.Members)),
	}
	for _, m := range g.Members {
		shown.Participants = append(shown.Participants, Participant{ID: chatID(m.Number), Admin: optional(m.Role.String())})
	}
	return shown
}

// NewMember is somebody who is to be in a group.
type NewMember struct {
	Number string
	Admin  bool
}

// NewGroup is a group that is to be made.
type NewGroup struct {
	Subject     string
	Description string
	Owner       string // a number
	Members     []NewMember
}

// GroupUpdate is a change of a group; what is nil stays as it is. People are
// named by number.
type GroupUpdate struct {
	By          string // who changes it; "": its owner, or another admin
	Subject     *string
	Description *string
	Add         []string
	Remove      []string
	Promote     []string
	Demote      []string
	Announce    *bool // only admins write

	// Picture, where SetPicture says so, becomes the group's picture; an empty one
	// takes it away.
	SetPicture bool
	Picture    []byte
}

// Groups returns all groups, oldest first.
func (s *Server) Groups(ctx context.Context) ([]GroupInfo, error) {
	all, err := s.groups.all(ctx, "")
	if err != nil {
		return nil, err
	}
	list := make([]GroupInfo, 0, len(all))
	for _, g := range all {
		list = append(list, g.show())
	}
	return list, nil
}

// Group returns a group by its chat ID.
func (s *Server) Group(ctx context.Context, id string) (GroupInfo, error) {
	found, err := s.groupNamed(ctx, id)
	if err != nil {
		return GroupInfo{}, err
	}
	return found.show(), nil
}

func (s *Server) groupNamed(ctx context.Context, id string) (*group, error) {
	digits, _ := strings.CutSuffix(id, "@"+types.GroupServer)
	found, err := s.groups.find(ctx, digits)
	if err == nil && found == nil {
		err = notFound("there is no group with this id")
	}
	return found, err
}

// CreateGroup has the phone of the owner make a group.
func (s *Server) CreateGroup(ctx context.Context, wanted NewGroup) (GroupInfo, error) {
	owner, err := s.personIn(ctx, "owner", wanted.Owner)
	if err != nil {
		return GroupInfo{}, err
	}
	if err := checkSubject(wanted.Subject); err != nil {
		return GroupInfo{}, err
	}
	people := make([]newMember, 0, len(wanted.Members))
	for _, m := range wanted.Members {
		of, err := s.personIn(ctx, "participants", m.Number)
		if err != nil {
			return GroupInfo{}, err
		}
		people = append(people, newMember{of, m.Admin})
	}
	created, err := s.createGroup(ctx, owner, groupDraft{subject: wanted.Subject, description: wanted.Description, people: people})
	if err != nil {
		return GroupInfo{}, err
	}
	return created.show(), nil
}

// UpdateGroup has somebody in the group change it. Who does is not asked for
// being an admin: that is the phone's business, and it is the caller's.
func (s *Server) UpdateGroup(ctx context.Context, id string, change GroupUpdate) (GroupInfo, error) {
	found, err := s.groupNamed(ctx, id)
	if err != nil {
		return GroupInfo{}, err
	}
	by, err := s.changerOf(ctx, found, change.By)
	if err != nil {
		return GroupInfo{}, err
	}
	steps, err := s.stepsOf(ctx, change)
	if err != nil {
		return GroupInfo{}, err
	}
	changed, err := s.changeGroup(ctx, found.ID, by, steps...)
	if err != nil {
		return GroupInfo{}, err
	}
	return changed.show(), nil
}

// stepsOf lists the single changes of an update.
func (s *Server) stepsOf(ctx context.Context, change GroupUpdate) ([]groupStep, error) {
	var steps []groupStep
	if change.Subject != nil {
		if err := checkSubject(*change.Subject); err != nil {
			return nil, err
		}
		steps = append(steps, setSubject(*change.Subject))
	}
	if change.Description != nil {
		steps = append(steps, setDescription(*change.Description, newMessageID()))
	}
	for _, list := range []struct {
		action  string
		numbers []string
	}{{"add", change.Add}, {"remove", change.Remove}, {"promote", change.Promote}, {"demote", change.Demote}} {
		if len(list.numbers) == 0 {
			continue
		}
		people := make([]*account, 0, len(list.numbers))
		for _, number := range list.numbers {
			of, err := s.personIn(ctx, list.action, number)
			if err != nil {
				return nil, err
			}
			people = append(people, of)
		}
		steps = append(steps, setMembers(list.action, people, new([]waBinary.Node)))
	}
	if change.Announce != nil {
		steps = append(steps, setAnnouncement(*change.Announce))
	}
	if change.SetPicture {
		steps = append(steps, setGroupPicture(change.Picture))
	}
	return steps, nil
}

// changerOf returns who changes a group: the one who is named, or an admin.
func (s *Server) changerOf(ctx context.Context, g *group, number string) (*account, error) {
	if number == "" {
		return s.adminOf(ctx, g)
	}
	by, err := s.personIn(ctx, "by", number)
	if err == nil && !g.has(by) {
		err = invalidf("by", "is not in the group")
	}
	return by, err
}

// personIn returns somebody who can be in a group. field is the name of what the
// caller was asked for.
func (s *Server) personIn(ctx context.Context, field, number string) (*account, error) {
	of, err := s.chatOf(ctx, field, number)
	if err != nil {
		return nil, err
	}
	if !of.isRegistered() {
		return nil, invalidf(field, "the number is not registered")
	}
	return of, nil
}

// adminOf returns somebody who may change the group: its owner, or else its
// first admin, or else its first member.
func (s *Server) adminOf(ctx context.Context, g *group) (*account, error) {
	if len(g.Members) == 0 {
		return nil, conflictf("nobody is left in the group")
	}
	best := slices.MaxFunc(g.Members, func(a, b member) int { return int(a.Role) - int(b.Role) })
	if g.index(g.Owner) >= 0 {
		best.Number = g.Owner
	}
	return s.directory.ensure(ctx, best.Number)
}

func checkSubject(subject string) error {
	if strings.TrimSpace(subject) == "" {
		return invalidf("subject", "must not be empty")
	}
	if len([]rune(subject)) > maxSubject {
		return invalidf("subject", "must not have more than %d characters", maxSubject)
	}
	return nil
}

func chatID(number string) string { return types.NewJID(number, types.DefaultUserServer).String() }
