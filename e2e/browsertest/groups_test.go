// The pages of groups.

package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// Groups are listed with the role of the account, and each has a page with its settings and its
// members. The link to join is there where the account administers the group.
func TestGroupsAreShown(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Update(t, customerNumber, map[string]any{"name": "Ana"})
	own := w.Phones.CreateGroup(t, "Equipe", shopNumber, customerNumber)
	other := w.Phones.CreateGroup(t, "Condomínio", customerNumber, shopNumber)
	w.Phones.UpdateGroup(t, other.ID, map[string]any{"by": customerNumber, "announce": true})
	p := w.owner()
	p.Open("/instances/" + id + "/groups")
	p.AwaitText("tbody tr", "Equipe")
	p.AwaitText("main", "2 groups")
	p.AwaitText("tbody tr:has([href$='"+own.ID+"'])", "Owner")
	p.AwaitText("tbody tr:has([href$='"+other.ID+"'])", "Member")
	p.ClickText("tbody a", "Equipe")
	p.AwaitText("#group", "Equipe")
	p.AwaitText(".described", "made by a test")
	p.AwaitText("#invite", "https://chat.whatsapp.com/"+w.Phones.GroupSettings(t, own.ID).Invite)
	p.AwaitText("tbody tr:has(.tag)", "Owner") // the account itself is first
	p.AwaitText("tbody", customerNumber)
	if n := p.Count("tbody tr"); n != 2 {
		t.Errorf("the page has %d members, want 2", n)
	}
	p.ClickText("main a", "Open chat")
	p.AwaitPath("/instances/" + id + "/chats")

	p.Open("/instances/" + id + "/groups/" + other.ID)
	p.AwaitText(".facts", "administrators")
	if n := p.Count("#invite"); n != 0 {
		t.Error("a member is given a link")
	}
	p.Open("/instances/" + id + "/groups?search=condo")
	p.AwaitText("tbody tr", "Condomínio")
	if n := p.Count("tbody tr"); n != 1 {
		t.Errorf("%d groups are found, want 1", n)
	}
	for n := range 25 {
		w.Phones.CreateGroup(t, fmt.Sprintf("Turma %d", n), customerNumber, shopNumber)
	}
	p.Open("/instances/" + id + "/groups")
	p.AwaitText("main", "27 groups")
	p.ClickText(".pages a", "Next page")
	p.AwaitTrue("the last two groups", `document.querySelectorAll("tbody tr").length === 2`)
	if err := w.Partner.StopInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	p.Open("/instances/" + id + "/groups")
	p.AwaitText("main", "27 groups, oldest first, as they were before")
}
