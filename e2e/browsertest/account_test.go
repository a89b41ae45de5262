// The page of the account itself.

package browsertest_test

import (
	"testing"

	"github.com/recado-project/recado/internal/testkit"
)

// What is set on the page of the account is so on the phone: the profile, privacy, and who is
// blocked. Calls are rejected from then on.
func TestAccountIsSet(t *testing.T) {
	t.Parallel()
	w := start(t, testkit.Options{})
	id := w.Link(t, shopNumber)
	w.Phones.Get(t, customerNumber)
	p := w.owner()
	p.Open("/instances/" + id)
	p.ClickText(".tabs a", "Account")
	p.Await("#privacy")
	mark(p)
	p.Fill("#name", "Padaria")
	p.Fill("#about", "Abre às 7h")
	p.ClickText("section[aria-labelledby=profile] button", "Save")
	saved := func() {
		t.Helper()
		p.AwaitTrue("the page anew", `!window.marked && document.readyState === "complete"`)
	}
	saved()
	if phone := w.Phones.Get(t, shopNumber); phone.Name != "Padaria" || phone.About != "Abre às 7h" {
		t.Errorf("the phone has %+v", phone)
	}
	mark(p)
	p.Upload("#picture", sample(t, "photo.png", "photo.png"))
	p.ClickText("section[aria-labelledby=profile] button", "Change picture")
	saved()
	if !w.Phones.Get(t, shopNumber).ProfilePicture {
		t.Error("the phone shows no picture")
	}
	p.AwaitText("section[aria-labelledby=profile]", "Remove picture")
	mark(p)
	p.ClickText("section[aria-labelledby=profile] button", "Remove picture")
	saved()
	if w.Phones.Get(t, shopNumber).ProfilePicture {
		t.Error("the phone still shows the picture")
	}
	mark(p)
	p.Choose("#privacy-lastSeen", "contacts")
	p.Choose("#disappearing", "7")
	p.ClickText("section[aria-labelledby=privacy] button", "Save")
	saved()
	p.AwaitTrue("what was chosen", `document.querySelector("#privacy-lastSeen").value === "contacts" && document.querySelector("#disappearing").value === "7"`)
	if privacy, err := w.Client.GetPrivacy(t.Context(), id); err != nil || privacy.LastSeen == nil || *privacy.LastSeen != "contacts" || privacy.Disappearing != 604_800 {
		t.Errorf("the account has %+v, %v", privacy, err)
	}
	mark(p)
	p.AwaitText("section[aria-labelledby=status]", "all contacts")
	p.Fill("#post", "Aberto até as 20h!")
	p.ClickText("section[aria-labelledby=status] button", "Post status")
	saved()
	if posts, err := w.Client.ListStatusPosts(t.Context(), id, 1, 10); err != nil || len(posts.Data) != 1 || *posts.Data[0].Text != "Aberto até as 20h!" {
		t.Errorf("posted is %+v, %v", posts.Data, err)
	}
	p.Fill("#who", customerNumber)
	p.ClickText("section[aria-labelledby=blocked] button", "Block")
	p.AwaitText("#blocks", customerNumber)
	if blocked := w.Phones.Get(t, shopNumber).Blocked; len(blocked) != 1 {
		t.Errorf("the phone blocks %v", blocked)
	}
	p.ClickText("#blocks button", "Unblock")
	p.AwaitText("section[aria-labelledby=blocked]", "Nobody is blocked.")
	mark(p)
	p.Click("[name=reject]")
	p.Fill("#text", "Escreva, por favor.")
	p.ClickText("section[aria-labelledby=calls] button", "Save")
	saved()
	w.Phones.Call(t, customerNumber, shopNumber, false)
	p.Open("/instances/" + id + "/chats?chat=" + customerNumber + "@s.whatsapp.net")
	p.AwaitText("#inbox-log", "Escreva, por favor.")
	p.Open("/audit")
	p.AwaitText("tbody", "privacy")
}
