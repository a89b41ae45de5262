// The pages of contacts.

package browsertest_test

import (
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// The people whom an account knows are listed and found, and the name that is written on the page
// of one is in the phone's address book.
func TestContactIsNamed(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	w.Phones.Update(t, customerNumber, map[string]any{"name": "Ana", "about": "Só por mensagem"})
	id := w.Link(t, shopNumber)
	const other = "5511977776664"
	w.Phones.Update(t, other, map[string]any{"name": "Bruno"})
	for _, from := range []string{customerNumber, other} {
		w.Phones.AwaitMessage(t, shopNumber, w.Phones.SendText(t, from, shopNumber, "Oi!"))
	}
	p := w.owner()
	p.Open("/instances/" + id + "/chats")
	p.AwaitText("#inbox-chats", "Bruno")
	p.AwaitText("#inbox-chats", "Ana")
	p.ClickText(".tabs a", "Contacts")
	p.AwaitText("main", "2 people")
	p.AwaitText("tbody tr:nth-child(2)", "+"+other)
	p.Open("/instances/" + id + "/contacts?search=bru")
	p.AwaitText("tbody tr", "Bruno")
	if n := p.Count("tbody tr"); n != 1 {
		t.Errorf("%d people are found, want 1", n)
	}
	p.Open("/instances/" + id + "/contacts?search=nobody")
	p.AwaitText(".empty", "No contact has “nobody”")
	p.ClickText(".empty a", "All contacts")
	p.ClickText("tbody a", "Ana")
	p.AwaitText("#contact", "Ana")
	p.AwaitText(".described", "Só por mensagem")
	p.AwaitText(".facts", customerNumber+"@s.whatsapp.net")
	p.AwaitText(".facts", "@lid")
	p.AwaitText(".facts", "not saved")
	p.Fill("#name", "Ana da padaria")
	p.ClickText("form button", "Save")
	p.AwaitText("#contact", "Ana da padaria")
	if names := w.Phones.AddressBook(t, shopNumber); names[customerNumber+"@s.whatsapp.net"] != "Ana da padaria" {
		t.Errorf("the phone has %v", names)
	}
	w.Phones.NameContact(t, shopNumber, other, "Bruno do açougue")
	p.AwaitTrue("the name that the phone has written", `fetch("/instances/`+id+`/contacts").then((r) => r.text()).then((text) => text.includes("Bruno do açougue"))`)
	// The list is there while the instance is not connected, but the platform can't be asked about anybody.
	if err := w.Partner.StopInstance(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	p.Open("/instances/" + id + "/contacts")
	p.AwaitText("main", "2 people")
	p.ClickText("tbody a", "Ana da padaria")
	p.AwaitText(".empty", "The contacts can't be read right now")
	p.Open("/audit")
	p.AwaitText("tbody", "Named a contact")
}
