// Groups on the sandbox's phones.

package testkit

import (
	"net/http"
	"testing"
)

// Group is a group as the control API answers it.
type Group struct {
	ID           string `json:"id"`
	Subject      string `json:"subject"`
	Participants []struct {
		ID    string  `json:"id"`
		Admin *string `json:"admin"`
	} `json:"participants"`
}

// CreateGroup makes a group; members are numbers.
func (p *Phones) CreateGroup(tb testing.TB, subject, owner string, members ...string) Group {
	tb.Helper()
	participants := make([]map[string]any, len(members))
	for i, member := range members {
		participants[i] = map[string]any{"number": member}
	}
	var group Group
	p.call(tb, http.MethodPost, "/groups", map[string]any{
		"subject": subject, "description": "made by a test", "owner": owner, "participants": participants,
	}, &group)
	return group
}

// UpdateGroup changes a group: subject, description, announce, picture, and the numbers in
// add, remove, promote and demote. The number in by makes the change.
func (p *Phones) UpdateGroup(tb testing.TB, groupID string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/groups/"+groupID, change, nil)
}

// GroupSettings is what phones see of a group beside its metadata.
type GroupSettings struct {
	Announce     bool     `json:"announce"`
	Locked       bool     `json:"locked"`
	AdminsAdd    bool     `json:"adminsAdd"`
	Approval     bool     `json:"approval"`
	Disappearing int      `json:"disappearing"`
	Picture      bool     `json:"picture"`
	Invite       string   `json:"invite"`
	JoinRequests []string `json:"joinRequests"`
	Community    *string  `json:"community"`
	IsCommunity  bool     `json:"isCommunity"`
}

// GroupSettings returns what is set in a group.
func (p *Phones) GroupSettings(tb testing.TB, groupID string) GroupSettings {
	tb.Helper()
	var settings GroupSettings
	p.call(tb, http.MethodGet, "/groups/"+groupID+"/settings", nil, &settings)
	return settings
}

// Join makes a phone follow the code of an invite link. It reports whether the phone is a
// member now.
func (p *Phones) Join(tb testing.TB, number, code string) bool {
	tb.Helper()
	var answer struct {
		Joined bool `json:"joined"`
	}
	p.call(tb, http.MethodPost, "/phones/"+number+"/join", map[string]any{"invite": code}, &answer)
	return answer.Joined
}
