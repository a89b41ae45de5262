// Changes of a group that the control API asks for.

package group

import (
	"context"
	"slices"
	"strings"

	waBinary "go.mau.fi/whatsmeow/binary"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/wire"
)

const (
	maxSubject = 100
	maxMembers = 1024

	maxEphemeral = 365 * 24 * 3600 // seconds
)

// NewMember is a person who is to be a member.
type NewMember struct {
	Number string
	Admin  bool
}

// Draft is a group that is to be created.
type Draft struct {
	Subject     string
	Description string
	Owner       string // a number
	Members     []NewMember
}

// Update is a change of a group. Fields that are nil change nothing. People are
// named by number.
type Update struct {
	By          string // the member who changes it; "": its owner, or another admin
	Subject     *string
	Description *string
	Add         []string
	Remove      []string
	Promote     []string
	Demote      []string
	Announce    *bool // only admins may write
	Locked      *bool // only admins may change subject, description and picture
	AdminsAdd   *bool // only admins may add people
	Approval    *bool // who follows the link waits to be approved

	Disappearing *int     // seconds until messages vanish; 0: never
	Limit        *int     // how many members it may have; 0: the platform's limit
	ResetInvite  bool     // the link gets another code
	Approve      []string // who may join
	Reject       []string // who may not

	// If SetPicture is true, Picture becomes the group's picture. An empty one
	// removes the picture.
	SetPicture bool
	Picture    []byte
}

// check says what is wrong with the numbers of a change.
func (change Update) check() error {
	if limit := change.Limit; limit != nil && (*limit < 0 || *limit > maxMembers) {
		return refusal.Invalidf("limit", "must be between 0 and %d", maxMembers)
	}
	if seconds := change.Disappearing; seconds != nil && (*seconds < 0 || *seconds > maxEphemeral) {
		return refusal.Invalidf("disappearing", "must be between 0 and %d seconds", maxEphemeral)
	}
	return nil
}

// Create creates a group, as its owner does on a phone.
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

// Update changes a group in the name of a member. It does not check whether the
// member is an admin; the caller decides that.
func (s *Book) Update(ctx context.Context, id string, change Update) (Info, error) {
	found, err := s.groupNamed(ctx, id)
	if err != nil {
		return Info{}, err
	}
	if err := change.check(); err != nil {
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

// stepsOf returns the steps of an update.
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
	for _, list := range []struct {
		field   string
		numbers []string
	}{{"approve", change.Approve}, {"reject", change.Reject}} {
		for _, number := range list.numbers {
			of, err := s.personIn(ctx, list.field, number)
			if err != nil {
				return nil, err
			}
			steps = append(steps, answerRequests(list.field == "approve", []*account.Account{of}, new([]waBinary.Node)))
		}
	}
	return append(steps, change.switches()...), nil
}

// switches returns the steps that change settings.
func (change Update) switches() []groupStep {
	var steps []groupStep
	if change.Announce != nil {
		steps = append(steps, setAnnouncement(*change.Announce))
	}
	if on := change.Locked; on != nil {
		steps = append(steps, setSwitch(waBinary.Node{Tag: map[bool]string{true: "locked", false: "unlocked"}[*on]}, func(next *Group) { next.Locked = *on }))
	}
	if on := change.AdminsAdd; on != nil {
		mode := map[bool]string{true: "admin_add", false: "all_member_add"}[*on]
		steps = append(steps, setSwitch(waBinary.Node{Tag: "member_add_mode", Content: []byte(mode)}, func(next *Group) { next.AdminsAdd = *on }))
	}
	if on := change.Approval; on != nil {
		state := map[bool]string{true: "on", false: "off"}[*on]
		steps = append(steps, setSwitch(waBinary.Node{Tag: "membership_approval_mode", Content: []waBinary.Node{
			{Tag: "group_join", Attrs: waBinary.Attrs{"state": state}},
		}}, func(next *Group) { next.Approval = *on }))
	}
	if seconds := change.Disappearing; seconds != nil {
		notice := waBinary.Node{Tag: "ephemeral", Attrs: waBinary.Attrs{"expiration": *seconds}}
		if *seconds == 0 {
			notice = waBinary.Node{Tag: "not_ephemeral"}
		}
		steps = append(steps, setSwitch(notice, func(next *Group) { next.Ephemeral = *seconds }))
	}
	if limit := change.Limit; limit != nil {
		steps = append(steps, func(_ context.Context, ch *groupChange) error {
			ch.next.Limit = *limit
			return nil
		})
	}
	if change.ResetInvite {
		steps = append(steps, resetInvite)
	}
	if change.SetPicture {
		steps = append(steps, setGroupPicture(change.Picture))
	}
	return steps
}

// changerOf returns the member who makes a change: the one with the number, or an
// admin.
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

// personIn returns a person who can be a member. field is the field of the request
// that named the person.
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

// adminOf returns a member who may change the group: its owner, or else an admin,
// or else any member.
func (s *Book) adminOf(ctx context.Context, g *Group) (*account.Account, error) {
	if len(g.Members) == 0 {
		return nil, refusal.Conflictf("the group has no members left")
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
