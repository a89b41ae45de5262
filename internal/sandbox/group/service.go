package group

import (
	"context"
	"slices"
	"strings"

	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
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

// Info is a group as the control API shows it.
type Info struct {
	ID           string        `json:"id"`
	Subject      string        `json:"subject"`
	Description  *string       `json:"description"`
	Owner        *string       `json:"owner"` // a chat ID by number
	Creation     int64         `json:"creation"`
	Participants []Participant `json:"participants"`
}

func (g *Group) show() Info {
	shown := Info{
		ID: g.JID().String(), Subject: g.Subject.Text, Description: optionalText(g.Description.Text),
		Owner: new(chatID(g.Owner)), Creation: g.CreatedAt, Participants: make([]Participant, 0, len(g.Members)),
	}
	for _, m := range g.Members {
		shown.Participants = append(shown.Participants, Participant{ID: chatID(m.Number), Admin: optionalText(m.Role.String())})
	}
	return shown
}

// NewMember is somebody who is to be in a group.
type NewMember struct {
	Number string
	Admin  bool
}

// Draft is a group that is to be made.
type Draft struct {
	Subject     string
	Description string
	Owner       string // a number
	Members     []NewMember
}

// Update is a change of a group; what is nil stays as it is. People are
// named by number.
type Update struct {
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

// List returns all groups, oldest first.
func (s *Book) List(ctx context.Context) ([]Info, error) {
	all, err := s.all(ctx, "")
	if err != nil {
		return nil, err
	}
	list := make([]Info, 0, len(all))
	for _, g := range all {
		list = append(list, g.show())
	}
	return list, nil
}

// Get returns a group by its chat ID.
func (s *Book) Get(ctx context.Context, id string) (Info, error) {
	found, err := s.groupNamed(ctx, id)
	if err != nil {
		return Info{}, err
	}
	return found.show(), nil
}

func (s *Book) groupNamed(ctx context.Context, id string) (*Group, error) {
	digits, _ := strings.CutSuffix(id, "@"+types.GroupServer)
	found, err := s.Find(ctx, digits)
	if err == nil && found == nil {
		err = refusal.NotFoundf("there is no group with this id")
	}
	return found, err
}

// Create has the phone of the owner make a group.
func (s *Book) Create(ctx context.Context, wanted Draft) (Info, error) {
	owner, err := s.personIn(ctx, "owner", wanted.Owner)
	if err != nil {
		return Info{}, err
	}
	if err := checkSubject(wanted.Subject); err != nil {
		return Info{}, err
	}
	people := make([]newMember, 0, len(wanted.Members))
	for _, m := range wanted.Members {
		of, err := s.personIn(ctx, "participants", m.Number)
		if err != nil {
			return Info{}, err
		}
		people = append(people, newMember{of, m.Admin})
	}
	created, err := s.createGroup(ctx, owner, groupDraft{subject: wanted.Subject, description: wanted.Description, people: people})
	if err != nil {
		return Info{}, err
	}
	return created.show(), nil
}

// Update has somebody in the group change it. Who does is not asked for
// being an admin: that is the phone's business, and it is the caller's.
func (s *Book) Update(ctx context.Context, id string, change Update) (Info, error) {
	found, err := s.groupNamed(ctx, id)
	if err != nil {
		return Info{}, err
	}
	by, err := s.changerOf(ctx, found, change.By)
	if err != nil {
		return Info{}, err
	}
	steps, err := s.stepsOf(ctx, change)
	if err != nil {
		return Info{}, err
	}
	changed, err := s.changeGroup(ctx, found.ID, by, steps...)
	if err != nil {
		return Info{}, err
	}
	return changed.show(), nil
}

// stepsOf lists the single changes of an update.
func (s *Book) stepsOf(ctx context.Context, change Update) ([]groupStep, error) {
	var steps []groupStep
	if change.Subject != nil {
		if err := checkSubject(*change.Subject); err != nil {
			return nil, err
		}
		steps = append(steps, setSubject(*change.Subject))
	}
	if change.Description != nil {
		steps = append(steps, setDescription(*change.Description, wire.NewMessageID()))
	}
	for _, list := range []struct {
		action  string
		numbers []string
	}{{"add", change.Add}, {"remove", change.Remove}, {"promote", change.Promote}, {"demote", change.Demote}} {
		if len(list.numbers) == 0 {
			continue
		}
		people := make([]*account.Account, 0, len(list.numbers))
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
func (s *Book) changerOf(ctx context.Context, g *Group, number string) (*account.Account, error) {
	if number == "" {
		return s.adminOf(ctx, g)
	}
	by, err := s.personIn(ctx, "by", number)
	if err == nil && !g.Has(by) {
		err = refusal.Invalidf("by", "is not in the group")
	}
	return by, err
}

// personIn returns somebody who can be in a group. field is the name of what the
// caller was asked for.
func (s *Book) personIn(ctx context.Context, field, number string) (*account.Account, error) {
	of, err := s.accounts.NamedIn(ctx, field, number)
	if err != nil {
		return nil, err
	}
	if !of.IsRegistered() {
		return nil, refusal.Invalidf(field, "the number is not registered")
	}
	return of, nil
}

// adminOf returns somebody who may change the group: its owner, or else its
// first admin, or else its first member.
func (s *Book) adminOf(ctx context.Context, g *Group) (*account.Account, error) {
	if len(g.Members) == 0 {
		return nil, refusal.Conflictf("nobody is left in the group")
	}
	best := slices.MaxFunc(g.Members, func(a, b member) int { return int(a.Role) - int(b.Role) })
	if g.index(g.Owner) >= 0 {
		best.Number = g.Owner
	}
	return s.accounts.Ensure(ctx, best.Number)
}

func checkSubject(subject string) error {
	if strings.TrimSpace(subject) == "" {
		return refusal.Invalidf("subject", "must not be empty")
	}
	if len([]rune(subject)) > maxSubject {
		return refusal.Invalidf("subject", "must not have more than %d characters", maxSubject)
	}
	return nil
}

func chatID(number string) string { return types.NewJID(number, types.DefaultUserServer).String() }

func optionalText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
