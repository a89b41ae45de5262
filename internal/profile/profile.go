// Package profile holds the use cases of an instance's own messenger account: what others
// see of it, what it lets them see and do, and whom it has blocked. Package directory has
// those about other people, package access those of Recado's own accounts.
package profile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/media"
	"github.com/recado-project/recado/internal/required"
)

// Config holds what the service needs; all of it is required.
type Config struct {
	Sessions gateway.Sessions
	Pictures media.Pictures
}

// Service carries out the use cases. It is safe for concurrent use. Besides the errors that
// a method names, it may return Conflict, PaymentRequired, RateLimited, PlatformFailed and
// PlatformTimeout.
type Service struct {
	config Config
}

// New makes the service.
func New(config Config) (*Service, error) {
	if err := required.Check("profile", config); err != nil {
		return nil, err
	}
	return &Service{config: config}, nil
}

// account returns the part of an instance's session about its own account.
func (s *Service) account(ctx context.Context, instanceID string) (gateway.OwnAccount, error) {
	session, err := s.config.Sessions.Session(ctx, instanceID)
	if err != nil {
		return nil, err
	}
	return session.Account(), nil
}

// Get returns what others see of the account.
func (s *Service) Get(ctx context.Context, instanceID string) (gateway.OwnProfile, error) {
	account, err := s.account(ctx, instanceID)
	if err != nil {
		return gateway.OwnProfile{}, err
	}
	return account.OwnProfile(ctx)
}

// Change is what is to change in the profile. What is nil stays.
type Change struct {
	Name    *string
	About   *string        // empty: none
	Picture *media.Picture // an empty one removes it
}

// Change changes the profile and returns it. Its errors are Invalid for a text or a picture
// that can't be, and nothing is changed then. If the platform refuses a part, the error says
// which parts were changed before.
func (s *Service) Change(ctx context.Context, instanceID string, change Change) (gateway.OwnProfile, error) {
	if err := check(change); err != nil {
		return gateway.OwnProfile{}, err
	}
	account, err := s.account(ctx, instanceID)
	if err != nil {
		return gateway.OwnProfile{}, err
	}
	var steps []step
	add := func(wanted bool, field string, update gateway.ProfileUpdate) {
		if wanted {
			steps = append(steps, step{field, func(ctx context.Context) error { return account.ChangeProfile(ctx, update) }})
		}
	}
	add(change.Name != nil, "name", gateway.ProfileUpdate{Name: change.Name})
	add(change.About != nil, "about", gateway.ProfileUpdate{About: change.About})
	if change.Picture != nil {
		picture, err := s.config.Pictures.Portrait(ctx, *change.Picture)
		if err != nil {
			return gateway.OwnProfile{}, err
		}
		add(true, "picture", gateway.ProfileUpdate{Picture: &picture})
	}
	if err := carryOut(ctx, steps); err != nil {
		return gateway.OwnProfile{}, err
	}
	changed, err := account.OwnProfile(ctx)
	if err == nil && change.Name != nil {
		changed.Name = *change.Name // the session hears of it a moment later
	}
	return changed, err
}

// check says what is wrong with the texts of a change.
func check(change Change) error {
	var wrong []gateway.FieldError
	if change.Name != nil {
		switch trimmed := strings.TrimSpace(*change.Name); {
		case trimmed == "":
			wrong = append(wrong, gateway.FieldError{Field: "name", Message: "must not be blank"})
		case len([]rune(*change.Name)) > gateway.MaxProfileName:
			wrong = append(wrong, gateway.FieldError{Field: "name", Message: fmt.Sprintf("must have %d characters or less", gateway.MaxProfileName)})
		case gateway.CleanName(*change.Name) != trimmed:
			wrong = append(wrong, gateway.FieldError{Field: "name", Message: "must not contain control characters, or characters that change the direction of the text"})
		}
	}
	if change.About != nil && len([]rune(*change.About)) > gateway.MaxAbout {
		wrong = append(wrong, gateway.FieldError{Field: "about", Message: fmt.Sprintf("must have %d characters or less", gateway.MaxAbout)})
	}
	if len(wrong) > 0 {
		return gateway.InvalidFields(wrong...)
	}
	return nil
}

// step is one change, with the name that requests have for it: the platform has a request
// for each.
type step struct {
	field string
	do    func(ctx context.Context) error
}

// carryOut makes changes in their order. The error of one says which were made before it.
func carryOut(ctx context.Context, steps []step) error {
	for n, step := range steps {
		if err := step.do(ctx); err != nil {
			return partly(err, steps, n)
		}
	}
	return nil
}

// partly says in an error what was changed before it, and what was not.
func partly(err error, steps []step, failed int) error {
	refusal, ok := gateway.AsError(err)
	if !ok || len(steps) == 1 {
		return err
	}
	told := *refusal
	done := "nothing"
	if failed > 0 {
		done = names(steps[:failed])
	}
	told.Message += "; changed: " + done + "; not changed: " + names(steps[failed:])
	return &told
}

func names(steps []step) string {
	fields := make([]string, len(steps))
	for i, step := range steps {
		fields[i] = step.field
	}
	return strings.Join(fields, ", ")
}

// Privacy returns what the account lets others see and do.
func (s *Service) Privacy(ctx context.Context, instanceID string) (gateway.Privacy, error) {
	account, err := s.account(ctx, instanceID)
	if err != nil {
		return gateway.Privacy{}, err
	}
	return account.Privacy(ctx)
}

// StatusAudience returns who sees the status posts of the account.
func (s *Service) StatusAudience(ctx context.Context, instanceID string) (gateway.StatusAudience, error) {
	account, err := s.account(ctx, instanceID)
	if err != nil {
		return gateway.StatusAudience{}, err
	}
	return account.StatusAudience(ctx)
}

// PrivacyChange is what is to change in the privacy settings.
type PrivacyChange struct {
	Choices      map[gateway.PrivacySetting]gateway.PrivacyChoice
	Disappearing *time.Duration // nil: as before; 0: never
}

// ChangePrivacy changes settings and returns all. If the platform refuses one, the error
// says which were changed before.
func (s *Service) ChangePrivacy(ctx context.Context, instanceID string, change PrivacyChange) (gateway.Privacy, error) {
	account, err := s.account(ctx, instanceID)
	if err != nil {
		return gateway.Privacy{}, err
	}
	var updates []gateway.PrivacyUpdate
	for setting, choice := range change.Choices {
		updates = append(updates, gateway.PrivacyUpdate{Setting: setting, Choice: choice})
	}
	slices.SortFunc(updates, func(a, b gateway.PrivacyUpdate) int { return strings.Compare(string(a.Setting), string(b.Setting)) })
	if change.Disappearing != nil {
		updates = append(updates, gateway.PrivacyUpdate{Setting: gateway.PrivacyDisappearing, Disappearing: change.Disappearing})
	}
	steps := make([]step, len(updates))
	for i, update := range updates {
		steps[i] = step{string(update.Setting), func(ctx context.Context) error { return account.SetPrivacy(ctx, update) }}
	}
	if err := carryOut(ctx, steps); err != nil {
		return gateway.Privacy{}, err
	}
	return account.Privacy(ctx)
}

// Blocked returns a page of the people whom the account has blocked.
func (s *Service) Blocked(ctx context.Context, instanceID string, page gateway.PageRequest) (gateway.Page[gateway.Party], error) {
	account, err := s.account(ctx, instanceID)
	if err != nil {
		return gateway.Page[gateway.Party]{}, err
	}
	return account.Blocked(ctx, page)
}
