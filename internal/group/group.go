// Package group holds the use cases of groups and communities: which there are, what is set
// in them, who is in them, and how people come in. It decides what a request may contain;
// what an account may do in a group is the platform's to say.
package group

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/required"
)

// The bounds of a group's texts, in characters, as the platform has them.
const (
	MaxSubject     = 100
	MaxDescription = 2048
)

// Sessions finds the session of an instance that is connected, and the groups of one that is not, as
// they were listed last.
type Sessions interface {
	gateway.Sessions

	KnownGroups(ctx context.Context, instanceID string) (groups []gateway.Group, known bool, err error)
}

// Directory finds the addresses of people; who has no account has neither address.
type Directory interface {
	Parties(ctx context.Context, through gateway.People, people []gateway.Recipient) ([]gateway.Party, error)
}

// Config holds what the service needs; all of it is required.
type Config struct {
	Sessions  Sessions
	Directory Directory
	Pictures  media.Pictures
	// Invite sends somebody an invitation to a group, and returns the identifier of the message.
	Invite func(ctx context.Context, instanceID string, to gateway.JID, invite gateway.GroupInvite) (messageID string, err error)
}

// Service carries out the use cases. It is safe for concurrent use. Besides the errors that
// a method names, it may return NotFound (no such group, or not for this account),
// Forbidden (only an administrator may), Conflict, PaymentRequired, RateLimited,
// PlatformFailed and PlatformTimeout.
type Service struct {
	config Config
}

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("group", config); err != nil {
		return nil, err
	}
	return &Service{config: config}, nil
}

// groups returns the part of an instance's session about groups.
func (s *Service) groups(ctx context.Context, instanceID string) (gateway.Groups, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	return session.Groups(), nil
}

// Get returns what is known about a group, with its members.
func (s *Service) Get(ctx context.Context, instanceID string, id gateway.JID) (gateway.Group, error) {
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return gateway.Group{}, err
	}
	return groups.Group(ctx, id)
}

// Filter chooses among the groups of an account.
type Filter struct {
	Subject     string // a part of it, in any case; empty: any
	Communities bool   // communities only
}

func (f Filter) takes(group gateway.Group) bool {
	return (!f.Communities || group.IsCommunity) &&
		strings.Contains(strings.ToLower(group.Subject), strings.ToLower(f.Subject))
}

// List returns a page of the groups of an account, oldest first, without their members. While the
// instance is not connected they are those that were listed last.
func (s *Service) List(ctx context.Context, instanceID string, filter Filter, page gateway.PageRequest) (gateway.Page[gateway.Group], error) {
	all, err := s.joined(ctx, instanceID)
	if err != nil {
		return gateway.Page[gateway.Group]{}, err
	}
	return pageOf(slices.DeleteFunc(all, func(group gateway.Group) bool { return !filter.takes(group) }), page), nil
}

// joined returns all groups of an account; if it is not connected and they were never listed, its error
// is the one about that.
func (s *Service) joined(ctx context.Context, instanceID string) ([]gateway.Group, error) {
	session, away := s.config.Sessions.Session(ctx, instanceID)
	if away == nil {
		return session.Groups().JoinedGroups(ctx)
	}
	all, known, err := s.config.Sessions.KnownGroups(ctx, instanceID)
	if err == nil && !known {
		return nil, away
	}
	return all, err
}

// pageOf sorts groups, oldest first, and takes a page of them.
func pageOf(groups []gateway.Group, page gateway.PageRequest) gateway.Page[gateway.Group] {
	slices.SortFunc(groups, func(a, b gateway.Group) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.ID, b.ID))
	})
	return gateway.PageOf(groups, page)
}

// Draft is a group, or a community, that is to be made.
type Draft struct {
	Subject     string
	Description string
	Picture     *media.Picture // nil for none
	People      []gateway.Recipient
	IsCommunity bool
	Community   gateway.JID // in which it is to be; empty for none
	Invite      bool        // send the platform's invitation to those who can't be added
}

// Created is a group that was made.
type Created struct {
	Group   gateway.Group
	Results []gateway.MemberResult // in the order of the people
	// Failed is what could not be set after the group was made.
	Failed []Failed
}

// Failed is a part of a group that could not be set.
type Failed struct {
	Field   string
	Refusal *gateway.Error
}

// Create makes a group. Its errors are Invalid for a text, a picture or a person that can't
// be, and nothing is made then. What fails afterwards is in the result: the group exists.
func (s *Service) Create(ctx context.Context, instanceID string, draft Draft) (Created, error) {
	if err := checkTexts(&draft.Subject, &draft.Description); err != nil {
		return Created{}, err
	}
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return Created{}, err
	}
	after := Change{}
	if draft.Description != "" {
		after.Description = &draft.Description
	}
	if draft.Picture != nil {
		after.Picture = draft.Picture
	}
	steps, err := s.steps(ctx, after)
	if err != nil {
		return Created{}, err
	}
	people, err := s.find(ctx, session.People(), draft.People)
	if err != nil {
		return Created{}, err
	}
	group, results, err := session.Groups().CreateGroup(ctx, gateway.NewGroup{
		Subject: draft.Subject, People: people.distinct, IsCommunity: draft.IsCommunity, Community: draft.Community,
	})
	if err != nil {
		return Created{}, err
	}
	if draft.Invite {
		s.invite(ctx, instanceID, group, results)
	}
	created := Created{Group: group, Results: people.results(results)}
	for _, step := range steps {
		if err := session.Groups().ChangeGroup(ctx, group.ID, step.update); err != nil {
			created.Failed = append(created.Failed, Failed{Field: step.field, Refusal: refusalOf(err)})
			continue
		}
		if step.update.Description != nil {
			created.Group.Description = *step.update.Description
		}
	}
	return created, nil
}

// Change is what is to change in a group. What is nil stays.
type Change struct {
	Subject      *string
	Description  *string        // empty: none
	Picture      *media.Picture // an empty one removes it
	AdminsWrite  *bool
	AdminsEdit   *bool
	AdminsAdd    *bool
	Approval     *bool
	Disappearing *time.Duration // 0: never
}

// step is one change of a group, with the name that requests have for it.
type step struct {
	field  string
	update gateway.GroupUpdate
}

// steps checks a change and takes it apart: the platform has a request for each field.
func (s *Service) steps(ctx context.Context, change Change) ([]step, error) {
	if err := checkTexts(change.Subject, change.Description); err != nil {
		return nil, err
	}
	var steps []step
	add := func(wanted bool, field string, update gateway.GroupUpdate) {
		if wanted {
			steps = append(steps, step{field, update})
		}
	}
	add(change.Subject != nil, "subject", gateway.GroupUpdate{Subject: change.Subject})
	add(change.Description != nil, "description", gateway.GroupUpdate{Description: change.Description})
	if change.Picture != nil {
		picture, err := s.config.Pictures.Portrait(ctx, *change.Picture)
		if err != nil {
			return nil, err
		}
		add(true, "picture", gateway.GroupUpdate{Picture: &picture})
	}
	add(change.AdminsWrite != nil, "messages", gateway.GroupUpdate{AdminsWrite: change.AdminsWrite})
	add(change.AdminsAdd != nil, "adding", gateway.GroupUpdate{AdminsAdd: change.AdminsAdd})
	add(change.Approval != nil, "approval", gateway.GroupUpdate{Approval: change.Approval})
	add(change.Disappearing != nil, "disappearing", gateway.GroupUpdate{Disappearing: change.Disappearing})
	// Last: it may take from this account what the others need.
	add(change.AdminsEdit != nil, "info", gateway.GroupUpdate{AdminsEdit: change.AdminsEdit})
	return steps, nil
}

// Change changes a group and returns it. Its errors are Invalid for a text or a picture
// that can't be, and nothing is changed then. If the platform refuses a part, the error
// says which parts were changed before.
func (s *Service) Change(ctx context.Context, instanceID string, id gateway.JID, change Change) (gateway.Group, error) {
	steps, err := s.steps(ctx, change)
	if err != nil {
		return gateway.Group{}, err
	}
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return gateway.Group{}, err
	}
	for n, step := range steps {
		if err := groups.ChangeGroup(ctx, id, step.update); err != nil {
			return gateway.Group{}, partly(err, steps, n)
		}
	}
	return groups.Group(ctx, id)
}

// partly says in an error what was changed before it, and what was not.
func partly(err error, steps []step, failed int) error {
	refusal, ok := gateway.AsError(err)
	if !ok || failed == 0 && len(steps) == 1 {
		return err
	}
	told := *refusal
	done, open := "nothing", names(steps[failed:])
	if failed > 0 {
		done = names(steps[:failed])
	}
	told.Message += "; changed: " + done + "; not changed: " + open
	return &told
}

func names(steps []step) string {
	fields := make([]string, len(steps))
	for i, step := range steps {
		fields[i] = step.field
	}
	return strings.Join(fields, ", ")
}

// Leave leaves a group.
func (s *Service) Leave(ctx context.Context, instanceID string, id gateway.JID) error {
	groups, err := s.groups(ctx, instanceID)
	if err != nil {
		return err
	}
	return groups.LeaveGroup(ctx, id)
}

// checkTexts says what is wrong with the texts of a group; nil is none.
func checkTexts(subject, description *string) error {
	var wrong []gateway.FieldError
	if subject != nil {
		switch trimmed := strings.TrimSpace(*subject); {
		case trimmed == "":
			wrong = append(wrong, gateway.FieldError{Field: "subject", Message: "must not be blank"})
		case len([]rune(*subject)) > MaxSubject:
			wrong = append(wrong, gateway.FieldError{Field: "subject", Message: "must have 100 characters or less"})
		case gateway.CleanName(*subject) != trimmed:
			wrong = append(wrong, gateway.FieldError{Field: "subject", Message: "must not contain control characters, or characters that change the direction of the text"})
		}
	}
	if description != nil && len([]rune(*description)) > MaxDescription {
		wrong = append(wrong, gateway.FieldError{Field: "description", Message: "must have 2048 characters or less"})
	}
	if len(wrong) > 0 {
		return gateway.InvalidFields(wrong...)
	}
	return nil
}
