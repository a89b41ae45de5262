// Groups, and how phones get into them.

package phones

import (
	"net/http"
	"testing"

	"github.com/recado-project/recado/internal/sandbox/group"
)

// CreateGroup makes a group; members are numbers.
func (p *API) CreateGroup(tb testing.TB, subject, owner string, members ...string) group.Info {
	tb.Helper()
	participants := make([]map[string]any, len(members))
	for i, member := range members {
		participants[i] = map[string]any{"number": member}
	}
	return ask[group.Info](tb, p, http.MethodPost, "/groups", map[string]any{
		"subject": subject, "description": "made by a test", "owner": owner, "participants": participants,
	})
}

// UpdateGroup changes a group: subject, description, announce, picture, and the numbers in
// add, remove, promote and demote. The number in by makes the change.
func (p *API) UpdateGroup(tb testing.TB, groupID string, change map[string]any) {
	tb.Helper()
	p.call(tb, http.MethodPut, "/groups/"+groupID, change)
}

// GroupSettings returns what is set in a group.
func (p *API) GroupSettings(tb testing.TB, groupID string) group.Settings {
	tb.Helper()
	return ask[group.Settings](tb, p, http.MethodGet, "/groups/"+groupID+"/settings", nil)
}

// Join makes a phone follow the code of an invite link. It reports whether the phone is a
// member now.
func (p *API) Join(tb testing.TB, number, code string) bool {
	tb.Helper()
	return ask[map[string]bool](tb, p, http.MethodPost, "/phones/"+number+"/join", map[string]any{"invite": code})["joined"]
}
