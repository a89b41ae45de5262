// Who sees the status posts of an account.

package addressbook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/recado-project/recado/internal/sandbox/account"
	"github.com/recado-project/recado/internal/sandbox/refusal"
)

// maxAudience bounds the people in the list of an audience.
const maxAudience = 1000

// Audience is who sees the status posts of a phone.
type Audience struct {
	Show   string   `json:"show"`   // contacts, whitelist (only People) or blacklist (contacts except People)
	People []string `json:"people"` // numbers
	Sees   []string `json:"sees"`   // the numbers of all who see a post that is written now
}

// AudienceOf returns who sees the status posts of the phone of a number.
func (s *Service) AudienceOf(ctx context.Context, number string) (Audience, error) {
	of, err := s.accounts.Named(ctx, number)
	if err != nil {
		return Audience{}, err
	}
	people, err := s.Audience(ctx, of)
	if err != nil {
		return Audience{}, err
	}
	chosen := of.Privacy().Posts
	shown := Audience{Show: showOf(chosen), People: append([]string{}, chosen.People...), Sees: []string{}}
	for _, who := range people {
		shown.Sees = append(shown.Sees, who.Number)
	}
	return shown, nil
}

// showOf is what an account has chosen, or has by itself.
func showOf(chosen account.PostAudience) string {
	if chosen.Show == "" {
		return "contacts"
	}
	return chosen.Show
}

// Audience returns the accounts that see the status posts of an account: those in its address
// book, or as it has chosen.
func (s *Service) Audience(ctx context.Context, of *account.Account) (people []*account.Account, err error) {
	chosen := of.Privacy().Posts
	numbers := chosen.People
	if chosen.Show != "whitelist" {
		entries, err := s.Of(ctx, of.Number)
		if err != nil {
			return nil, err
		}
		numbers = nil
		for _, entry := range entries {
			who, err := s.accounts.NamedIn(ctx, "contact", entry.Contact)
			if err != nil {
				return nil, err
			}
			if chosen.Show != "blacklist" || !slices.Contains(chosen.People, who.Number) {
				numbers = append(numbers, who.Number)
			}
		}
	}
	for _, number := range numbers {
		who, err := s.accounts.Ensure(ctx, number)
		if err != nil {
			return nil, err
		}
		if who != of && who.IsRegistered() && !slices.Contains(people, who) {
			people = append(people, who)
		}
	}
	return people, nil
}

// SetAudience lets the owner of a phone choose who sees the status posts.
func (s *Service) SetAudience(ctx context.Context, number string, chosen account.PostAudience) error {
	of, err := s.accounts.Named(ctx, number)
	if err != nil {
		return err
	}
	if !slices.Contains([]string{"contacts", "whitelist", "blacklist"}, chosen.Show) {
		return refusal.Invalidf("show", "must be contacts, whitelist or blacklist")
	}
	if len(chosen.People) > maxAudience || chosen.Show == "contacts" && len(chosen.People) > 0 {
		return refusal.Invalidf("people", "must be at most %d numbers, and none with contacts", maxAudience)
	}
	privacy := of.Privacy()
	privacy.Posts = account.PostAudience{Show: chosen.Show}
	for _, name := range chosen.People {
		who, err := s.accounts.NamedIn(ctx, "people", name)
		if err != nil {
			return err
		}
		privacy.Posts.People = append(privacy.Posts.People, who.Number)
	}
	encoded, err := json.Marshal(privacy)
	if err != nil {
		return fmt.Errorf("addressbook: keep an audience: %w", err)
	}
	u := s.accounts.NewUnit()
	u.Exec("UPDATE accounts SET privacy = $1 WHERE number = $2", string(encoded), of.Number)
	u.Then(func() { of.SetPrivacy(privacy) })
	return u.Commit(ctx)
}
