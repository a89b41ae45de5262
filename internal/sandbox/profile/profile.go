// Package profile keeps and shows what people see of an account: name, picture,
// what it says about itself, linked devices. It also keeps whom the account has
// blocked.
package profile

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/group"
	"github.com/recado-project/recado/internal/sandbox/phonenumber"
	"github.com/recado-project/recado/internal/sandbox/presence"
	"github.com/recado-project/recado/internal/sandbox/refusal"
	"github.com/recado-project/recado/internal/sandbox/setting"
	"github.com/recado-project/recado/internal/sandbox/wire"
	"github.com/recado-project/recado/internal/sqlite"
)

// Service answers requests about people and changes accounts. It is safe for
// concurrent use.
type Service struct {
	config Config

	db  *sqlite.DB
	now func() time.Time
}

// Config is what a Service needs.
type Config struct {
	Accounts   *account.Directory
	Groups     *group.Book
	Settings   *setting.Service
	Presences  *presence.Service
	Holders    *account.Holders
	Activities *account.ActivityLog
	Files      *account.Files
	Unknown    *wire.Counter              // counts the queries that are not known
	Queries    map[string]account.Handler // the queries of other packages, by their IDs
	Logger     *slog.Logger
}

// New returns the service.
func New(config Config) *Service {
	return &Service{config: config, db: config.Accounts.DB, now: config.Accounts.Now}
}

// Update is a change of a phone. Fields that are nil change nothing.
type Update struct {
	Name       *string
	Registered *bool
	Online     *bool
	HideNumber *bool // the phone's stanzas do not name its number
	Passkey    *account.PasskeyRule
	About      *string
	Username   *string           // "" takes it away
	Privacy    map[string]string // choices by setting, as the platform names both
	Business   *account.Business // makes the account one

	// If SetPicture is true, Picture becomes the profile picture. An empty one
	// removes the picture.
	SetPicture bool
	Picture    []byte
}

// List returns all phones, oldest first.
func (s *Service) List(ctx context.Context) ([]account.Phone, error) {
	accounts, err := s.config.Accounts.All(ctx)
	if err != nil {
		return nil, err
	}
	phones := make([]account.Phone, 0, len(accounts))
	for _, of := range accounts {
		phones = append(phones, of.Show())
	}
	return phones, nil
}

// Get returns the phone of a number.
func (s *Service) Get(ctx context.Context, number string) (account.Phone, error) {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return account.Phone{}, err
	}
	return of.Show(), nil
}

// Look returns the phone of a number, as Get does, but creates none. found is false if
// there is no such phone yet, or can't be.
func (s *Service) Look(ctx context.Context, number string) (shown account.Phone, found bool, err error) {
	digits, err := phonenumber.Parse(number)
	if err != nil {
		return account.Phone{}, false, nil //nolint:nilerr // no phone can have this number
	}
	of, err := s.config.Accounts.Find(ctx, digits)
	if err != nil || of == nil {
		return account.Phone{}, false, err
	}
	return of.Show(), true, nil
}

// Update changes a phone and returns it. A phone that comes online works through
// its mailbox.
func (s *Service) Update(ctx context.Context, number string, change Update) (account.Phone, error) {
	of, err := s.config.Accounts.Named(ctx, number)
	if err != nil {
		return account.Phone{}, err
	}
	if change.Name != nil {
		if strings.TrimSpace(*change.Name) == "" {
			return account.Phone{}, refusal.Invalidf("name", "must not be empty")
		}
		if err := s.Rename(ctx, of, *change.Name); err != nil {
			return account.Phone{}, err
		}
	}
	if err := s.updateSettings(ctx, of, change); err != nil {
		return account.Phone{}, err
	}
	u := s.config.Accounts.NewUnit()
	if change.Business != nil {
		encoded, err := json.Marshal(change.Business)
		if err != nil {
			return account.Phone{}, fmt.Errorf("profile: keep business: %w", err)
		}
		u.Exec("UPDATE accounts SET business = $1 WHERE number = $2", string(encoded), of.Number)
		u.Then(func() { of.SetBusiness(change.Business) })
	}
	if name := change.Username; name != nil {
		if len(*name) > maxUsername {
			return account.Phone{}, refusal.Invalidf("username", "must have %d bytes or less", maxUsername)
		}
		u.Exec("UPDATE accounts SET username = $1 WHERE number = $2", *name, of.Number)
		u.Then(func() { of.SetUsername(*name) })
	}
	if change.Registered != nil {
		u.Exec("UPDATE accounts SET registered = $1 WHERE number = $2", *change.Registered, of.Number)
	}
	if change.Online != nil {
		u.Exec("UPDATE accounts SET online = $1 WHERE number = $2", *change.Online, of.Number)
		u.WakePhone(of)
	}
	if change.HideNumber != nil {
		u.Exec("UPDATE accounts SET number_hidden = $1 WHERE number = $2", *change.HideNumber, of.Number)
	}
	if rule := change.Passkey; rule != nil {
		if err := setPasskey(u, of, *rule); err != nil {
			return account.Phone{}, err
		}
	}
	if change.SetPicture {
		if err := s.setPicture(ctx, u, of, nil, change.Picture); err != nil {
			return account.Phone{}, err
		}
	}
	u.Then(func() { of.SetSwitches(change.Registered, change.Online, change.HideNumber) })
	u.Ring(of.Number)
	if err := u.Commit(ctx); err != nil {
		return account.Phone{}, err
	}
	return of.Show(), nil
}

// maxUsername bounds a username in bytes. Else it may be anything, also what no client takes for
// one.
const maxUsername = 255

// updateSettings changes what the phone says about itself, and its privacy.
func (s *Service) updateSettings(ctx context.Context, of *account.Account, change Update) error {
	if change.About != nil {
		if err := s.setAbout(ctx, of, nil, *change.About); err != nil {
			return refusal.Invalidf("about", "must have %d bytes or less", maxAbout)
		}
	}
	if len(change.Privacy) > 0 {
		_, choices := account.PrivacyChoices()
		for setting, choice := range change.Privacy {
			if len(choices[setting]) == 0 || !isWord(choice) {
				return refusal.Invalidf("privacy."+setting, "is no setting, or has no such choice")
			}
		}
		return s.setPrivacy(ctx, of, nil, change.Privacy, nil)
	}
	return nil
}

// isWord reports whether a phone may choose this. It need not be a choice that clients know:
// the platform has new ones from time to time.
func isWord(choice string) bool { return choice != "" && len(choice) <= 64 }

const (
	standardPasskeySeconds = 120
	maxPasskeySeconds      = 600
)

// setPasskey changes whether the account is asked for a passkey.
func setPasskey(u *account.Unit, of *account.Account, rule account.PasskeyRule) error {
	if rule.Seconds == 0 {
		rule.Seconds = standardPasskeySeconds
	}
	if rule.Seconds < 0 || rule.Seconds > maxPasskeySeconds {
		return refusal.Invalidf("passkey.seconds", "must be between 1 and %d", maxPasskeySeconds)
	}
	encoded, err := json.Marshal(rule)
	if err != nil {
		return fmt.Errorf("profile: keep the passkey's rule: %w", err)
	}
	u.Exec("UPDATE accounts SET passkey = $1 WHERE number = $2", string(encoded), of.Number)
	u.Then(func() { of.SetPasskey(rule) })
	return nil
}

// Rename changes the name that the account gives itself, also in its app state.
func (s *Service) Rename(ctx context.Context, of *account.Account, name string) error {
	u := s.config.Accounts.NewUnit()
	u.Exec("UPDATE accounts SET name = $1 WHERE number = $2", name, of.Number)
	u.Then(func() { of.SetName(name) })
	// The name stands in the chats of other phones too.
	u.Then(s.config.Accounts.Bell.RingAll)
	if err := u.Commit(ctx); err != nil {
		return err
	}
	return s.config.Settings.Rename(ctx, of, name)
}
