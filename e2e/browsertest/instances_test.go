// The list of instances.

package browsertest_test

import (
	"testing"

	"github.com/recado-project/recado/client"
	"github.com/recado-project/recado/internal/testkit"
)

// The list is searched while somebody types, sorted and filtered; the address keeps step, and what is
// shown stays up to date.
func TestInstancesAreFoundWhileTyping(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	names := []string{"Padaria", "Açougue", "Padoca"}
	for _, name := range names {
		if _, err := w.Partner.CreateInstance(t.Context(), client.NewInstance{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	p := w.owner()
	p.Open("/instances?status=action")
	p.AwaitText(".chips [aria-current]", "Need attention 3")
	p.Fill("#search", "pad")
	p.AwaitTrue("two rows", `document.querySelectorAll("tbody tr").length === 2`)
	p.AwaitTrue("the address", `location.pathname + location.search === "/instances?search=pad&status=action"`)
	p.Choose("#sort", "name")
	p.AwaitTrue("the address with the order", `location.search === "?search=pad&sort=name&status=action"`)
	p.AwaitTrue("the focus", `document.activeElement.id === "sort" || document.activeElement.id === "search"`)
	if _, err := w.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "Padim"}); err != nil {
		t.Fatal(err)
	}
	p.AwaitTrue("a third row by itself", `document.querySelectorAll("tbody tr").length === 3`)
	p.Fill("#search", "nada")
	p.AwaitText("#listed h2", "Nothing found")
}

// On a narrow screen the menus stand where one is.
func TestMenusShowWhereOneIs(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	made, err := w.Partner.CreateInstance(t.Context(), client.NewInstance{Name: "Padaria"})
	if err != nil {
		t.Fatal(err)
	}
	p := w.owner()
	p.SetSize(390, 844)
	for _, path := range []string{"/audit", "/instances/" + made.InstanceID + "/code"} {
		p.Open(path)
		p.AwaitTrue("the active entries", `[...document.querySelectorAll("nav > [aria-current=page]")].every((one) => {
			const box = one.getBoundingClientRect();
			return box.left >= 0 && box.right <= innerWidth;
		})`)
	}
}

// The phones and the dashboard lead back to where one was on the other.
func TestPhonesLeadBackToTheInstance(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	page := "/instances/" + w.Link(t, shopNumber) + "/events"
	p := w.owner()
	p.Open(page)
	p.ClickText(".side a", "Phones")
	p.AwaitPath("/sandbox")
	p.Click(`.strip a[href*="` + shopNumber + `"]`)
	p.AwaitTrue("the phone", `location.search.includes("`+shopNumber+`")`)
	p.ClickText(".bar a", "Dashboard")
	p.AwaitPath(page)
	p.ClickText(".side a", "Phones")
	p.AwaitPath("/sandbox")
	p.AwaitTrue("the same phone", `location.search.includes("`+shopNumber+`")`)
}
