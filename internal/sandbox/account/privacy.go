// What accounts let others see and do.

package account

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/recado-project/recado/internal/sandbox/database"
)

// The privacy settings of the platform, as it names them.
const (
	PrivacyLastSeen     = "last"
	PrivacyOnline       = "online"
	PrivacyPicture      = "profile"
	PrivacyAbout        = "status"
	PrivacyReadReceipts = "readreceipts"
	PrivacyGroups       = "groupadd"
	PrivacyCalls        = "calladd"
	PrivacyMessages     = "messages"
)

// PrivacyChoices lists the settings in the platform's order, with the choices of each. The
// first one holds until somebody chooses.
func PrivacyChoices() ([]string, map[string][]string) {
	people := []string{"all", "contacts", "contact_blacklist", "none"}
	settings := []string{
		PrivacyReadReceipts, PrivacyLastSeen, PrivacyOnline, PrivacyPicture, PrivacyAbout, PrivacyGroups, PrivacyCalls, PrivacyMessages,
	}
	return settings, map[string][]string{
		PrivacyReadReceipts: {"all", "none"}, PrivacyLastSeen: people, PrivacyOnline: {"all", "match_last_seen"},
		PrivacyPicture: people, PrivacyAbout: people, PrivacyGroups: people, PrivacyCalls: {"all", "known"}, PrivacyMessages: {"all", "contacts"},
	}
}

// Privacy is what an account has chosen. The zero value lets everybody do everything.
type Privacy struct {
	Choices      map[string]string `json:"choices,omitempty"`      // by setting
	Disappearing int               `json:"disappearing,omitempty"` // seconds after which messages of new chats vanish; 0: never
	Posts        PostAudience      `json:"posts,omitzero"`
}

// PostAudience is who sees the status posts of an account. The zero value is its contacts.
type PostAudience struct {
	Show   string   `json:"show"`   // as the platform names it: contacts, whitelist, blacklist
	People []string `json:"people"` // the numbers in that list
}

func (p *Privacy) parse(text string) error {
	if text == "" {
		*p = Privacy{}
		return nil
	}
	return json.Unmarshal([]byte(text), p)
}

// Privacy returns what the account has chosen. The copy may be changed.
func (a *Account) Privacy() Privacy {
	a.mu.RLock()
	defer a.mu.RUnlock()
	chosen := a.privacy
	chosen.Choices = maps.Clone(chosen.Choices)
	return chosen
}

// SetPrivacy sets what the account has chosen.
func (a *Account) SetPrivacy(chosen Privacy) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.privacy = chosen
}

// Choice returns what the account has chosen for a setting.
func (a *Account) Choice(setting string) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if choice := a.privacy.Choices[setting]; choice != "" {
		return choice
	}
	return "all"
}

// Lets reports whether a setting of the account holds for somebody. Its contacts are the
// people to whom the account has written.
func (d *Directory) Lets(ctx context.Context, of *Account, setting string, seer *Account) (bool, error) {
	choice := of.Choice(setting)
	if choice == "match_last_seen" {
		choice = of.Choice(PrivacyLastSeen)
	}
	switch {
	case choice == "all" || of == seer:
		return true, nil
	case choice == "none":
		return false, nil
	}
	found, err := database.Strings(ctx, d.DB.Reader(),
		"SELECT chat FROM messages WHERE number = $1 AND chat = $2 AND from_me = 1 LIMIT 1", of.Number, seer.PN().String())
	if err != nil {
		return false, fmt.Errorf("account: look whether somebody is a contact: %w", err)
	}
	return len(found) > 0, nil
}
